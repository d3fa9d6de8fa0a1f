// Makes processors see the cache lines of a stream of memory in their order.
#pragma once

namespace llvm {
class Module;
}

namespace metal::cpu {

// A vector that is longer than a register takes several loads. LLVM makes them in the order in
// which shuffles need them, and processors do not follow a stream of memory that goes back and
// forth. So where such vectors are a stream, the lines are prefetched in ascending order just
// before they are loaded: prefetches stay in their order. Blocks that have prefetches already stay
// as they are.
void read_in_order(llvm::Module& module);

}  // namespace metal::cpu
