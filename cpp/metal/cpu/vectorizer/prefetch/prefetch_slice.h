// Prefetches from addresses that are themselves read from memory: no processor foresees those.
#pragma once

namespace llvm {
class Function;
}

namespace metal::cpu {

// A GPU hides the wait for memory behind other threads. Here each gang first runs this function, a
// slice of the body, for the same gang of the next threadgroup. It computes such addresses and
// prefetches what is there, so that the body finds it in the cache. An address may depend on up to
// two reads, the second at an address that the first gives, and may be computed in a loop, whose
// first iterations the slice runs. The slice reads nothing that the kernel writes, as it may not be
// there yet. Null if there is nothing to prefetch, or if branches depend on what the slice does not
// know.
llvm::Function* make_prefetch_slice(llvm::Function& body);

// Whether what is left of a slice without its dead code is worth running.
bool is_quick(llvm::Function& slice);
// Whether vector code still prefetches: lanes that read all over memory do not.
bool prefetches(const llvm::Function& wide);

}  // namespace metal::cpu
