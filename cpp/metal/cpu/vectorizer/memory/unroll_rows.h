// Unrolls loops in which every thread reads a row of its own.
#pragma once

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/PassManager.h"

namespace llvm {
class BasicBlock;
class TargetTransformInfo;
}  // namespace llvm

namespace metal::cpu {

struct BodyShapes;

// The lanes of such a loop read elements far apart. Unrolled, each lane also reads neighbours, up
// to a cache line, which widening loads as blocks of each lane (widen_rows.cpp). The addresses get
// a form in which neighbours are recognised. `leaves_shared`: loops that can share rows
// (share_rows.h) stay as they are. True if there is a loop of either kind.
bool unroll_rows(llvm::Function& body, const BodyShapes& shapes,
                 llvm::FunctionAnalysisManager& analyses, bool leaves_shared);
// The same for the loops with these headers.
void unroll_rows_of(llvm::Function& body, const BodyShapes& shapes,
                    llvm::FunctionAnalysisManager& analyses,
                    const llvm::SmallPtrSetImpl<const llvm::BasicBlock*>& headers);

}  // namespace metal::cpu
