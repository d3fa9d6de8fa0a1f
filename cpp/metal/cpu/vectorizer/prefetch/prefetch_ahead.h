// Prefetches what will be read at a known distance: in later iterations of a loop, on the next
// page, by the next threadgroup.
#pragma once

#include "llvm/IR/PassManager.h"

namespace llvm {
class IntrinsicInst;
}

namespace metal::cpu {

// Processors prefetch by themselves what is near to what they read. This is for the rest.
//
// A loop all of whose reads of device memory go far from one iteration to the next also prefetches
// what they will read some iterations later. Threads of a gang read side by side, and other gangs
// come back for what lies between: the threads of a GPU share out a row by such a loop.
//
// Beside non-temporal stores, what each thread reads once is prefetched a page ahead: processors
// follow such a stream by themselves, but find out anew on every page. Where threadgroups do not
// run in their natural order, the prefetch is for the threadgroup that runs next.
class PrefetchAheadPass : public llvm::PassInfoMixin<PrefetchAheadPass> {
 public:
  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);
};

// Whether it is beside non-temporal stores.
bool is_of_stream(const llvm::IntrinsicInst& prefetch);

}  // namespace metal::cpu
