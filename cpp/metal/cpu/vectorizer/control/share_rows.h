// Lets the lanes of a gang work together on one lane's row after the other.
#pragma once

#include "llvm/IR/PassManager.h"

namespace llvm {
class Argument;
}

namespace metal::cpu {

struct BodyShapes;

// A thread often has a row of its own: for (i = 0; i < n; ++i) o[row * n + i] = f(x[row * n + i]).
// If no iteration needs the one before, the lanes can share each row: each of them takes an
// iteration of the first lane's row, then one of the next iterations, and at the end of the row
// they turn to that of the next lane. So memory is read and written in long pieces, one row after
// the other, and nothing is transposed. The same holds for a maximum, or for another reduction
// whose order does not matter. The loop itself stays for gangs in which a lane does not run it.
//
// Rows may be ragged: for (j = first[row]; j < first[row + 1]; ++j) most = max(most, v[j]). A lane
// whose row is empty also works on those of the others.
//
// Threads that do not wait for each other may run in any order, so a lane's row may be finished
// before that of the next lane is begun.
// True if there was such a loop.
bool share_rows(llvm::Function& body, const BodyShapes& shapes, llvm::Argument& lane,
                llvm::FunctionAnalysisManager& analyses);

}  // namespace metal::cpu
