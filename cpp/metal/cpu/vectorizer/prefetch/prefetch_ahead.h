// Prefetches what will be read at a known distance: in later iterations of a loop, on the next
// page, by the next threadgroup.
#pragma once

#include "llvm/IR/PassManager.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace llvm {
class IntrinsicInst;
}

namespace metal::cpu {

// Processors prefetch by themselves what is close to their reads. This pass prefetches the rest.
//
// In a loop whose reads of device memory are all far apart from one iteration to the next, it
// prefetches for a later iteration. Such loops are common: the threads of a gang read neighbouring
// elements, and in the next iteration elements as many further as the threadgroup has threads. If a
// gang's iterations follow each other in memory, there is nothing to prefetch: it marks such reads
// (kReadsOn) for later steps. Of reads within a cache line, one is prefetched. In a loop with
// barriers, which fills tiles, it prefetches the far reads for a tile that comes soon.
//
// Where the threads of a threadgroup wait for each other and each reads a few elements that are far
// apart, it prefetches for the next threadgroup: processors do not follow what gangs read one after
// the other.
//
// In code with non-temporal stores, it prefetches a page ahead of what each thread reads once:
// processors follow such a stream only within a page. If threadgroups do not run in their natural
// order, it prefetches for the threadgroup that runs next; at the end of a row of an interchanged
// loop, for the next iteration.
class PrefetchAheadPass : public llvm::PassInfoMixin<PrefetchAheadPass> {
 public:
  explicit PrefetchAheadPass(const BodyShapes& shapes) : shapes_(shapes) {}
  llvm::PreservedAnalyses run(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);

 private:
  const BodyShapes& shapes_;
};

// Whether the prefetch is one of a stream: gangs beside each other prefetch on where the one before
// ends.
bool is_of_stream(const llvm::IntrinsicInst& prefetch);

}  // namespace metal::cpu
