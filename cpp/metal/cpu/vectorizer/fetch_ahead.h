// Reads of memory at addresses that were themselves read from memory: no processor foresees them.
#pragma once

namespace llvm {
class Function;
}

namespace metal::cpu {

// A GPU hides the wait for memory behind other threads. Here each unit first runs this function for
// the same unit of the next threadgroup: it computes such addresses and asks for what is there,
// which the body then finds in the cache. Addresses may rest on up to two reads, one at an address
// that the other gives, and come in loops, of which it runs the first turns. It reads nothing that
// the kernel writes, as it may not be there yet. Null if there is nothing to fetch, or conditions
// depend on what it does not know.
llvm::Function* clone_for_fetching(llvm::Function& body);

// Whether what is left of such a function without its dead code is worth running.
bool is_quick(llvm::Function& fetching);
// Whether vector code still fetches: lanes that read all over memory do not.
bool fetches(const llvm::Function& wide);

}  // namespace metal::cpu
