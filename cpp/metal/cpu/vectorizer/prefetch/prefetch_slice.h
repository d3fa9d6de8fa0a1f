// Makes the slice of a body that prefetches from addresses that were read from memory. Processors
// cannot predict those.
#pragma once

namespace llvm {
class Function;
}

namespace metal::cpu {

// A GPU hides the latency of memory behind other threads. Here each gang first runs this function,
// a slice of the body, for the same gang of the next threadgroup. It computes such addresses and
// prefetches from them, so that the body finds the data in the cache. An address may depend on up
// to two reads, the second from an address that the first returns. It may be computed in a loop, of
// which the slice runs the first iterations. The slice reads nothing that the kernel writes.
// Returns null if there is nothing to prefetch, or if branches depend on values that the slice
// drops.
llvm::Function* make_prefetch_slice(llvm::Function& body);

// Whether the slice, after its dead code is removed, is short enough to be worth running.
bool is_quick(llvm::Function& slice);
// Whether vector code still has prefetches. The prefetch of lanes that access distant addresses is
// dropped.
bool prefetches(const llvm::Function& wide);

}  // namespace metal::cpu
