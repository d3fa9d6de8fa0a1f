// Runs a loop of each lane as scalar code, one lane after the other.
#pragma once

#include "llvm/IR/PassManager.h"

namespace llvm {
class Argument;
}

namespace metal::cpu {

struct BodyShapes;

// The rows of a sparse matrix differ in length, and say where else to read:
// for (j = first[row]; j < first[row + 1]; ++j) sum += v[j] * x[column[j]]. If each lane has such a
// row, a gang runs until the end of the longest one, and every load reads an element for each lane
// from another place. Scalar code reads them as fast, waits for no other row, and reads rows in the
// order of memory. The loop itself stays for gangs in which a lane does not run it, and for short
// rows. Threads that do not wait for each other may run in any order, so a lane's loop may end
// before that of the next lane begins. True if there was such a loop.
bool run_lanes_in_turn(llvm::Function& body, const BodyShapes& shapes, llvm::Argument& lane,
                       llvm::FunctionAnalysisManager& analyses);

}  // namespace metal::cpu
