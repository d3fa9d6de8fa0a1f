// Unrolls loops in which every thread reads a row of its own.
#pragma once

#include "llvm/IR/PassManager.h"

namespace llvm {
class TargetTransformInfo;
}

namespace metal::cpu {

struct BodyShapes;

// The lanes of such a loop read elements far apart. Unrolled, each lane also reads neighbours, up
// to a cache line, which widening loads as blocks of each lane (widen_rows.cpp). The addresses get
// a form in which neighbours are recognised. True if a loop was unrolled.
bool unroll_rows(llvm::Function& body, const BodyShapes& shapes,
                 llvm::FunctionAnalysisManager& analyses);

}  // namespace metal::cpu
