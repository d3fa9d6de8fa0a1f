// Prefetches the next pieces of memory of loops that read one long piece after the other.
#pragma once

#include "llvm/IR/PassManager.h"

namespace metal::cpu {

// Lanes that read a run of elements each read a long piece of memory in an iteration, and the next
// iteration reads on where it ends. Processors prefetch such a stream themselves if few
// instructions lie between its cache lines. Here, shuffles and sums of a whole gang do, and several
// jammed gangs take turns with a piece each. So each line of a later piece is prefetched where a
// line is loaded: many prefetches at once would wait for each other. What all threadgroups read is
// in the caches (shared_reads.h).
void prefetch_pieces(llvm::Module& module, llvm::FunctionAnalysisManager& analyses);

}  // namespace metal::cpu
