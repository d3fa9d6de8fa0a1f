// Marks the stores that should be non-temporal when a launch has more results than the caches hold.
#pragma once

#include <cstdint>

#include "llvm/IR/PassManager.h"

namespace llvm {
class Function;
class Module;
class StoreInst;
}  // namespace llvm

namespace metal::cpu {

// An ordinary store first reads the cache line that it writes to. A non-temporal one does not, but
// whoever reads the line soon must wait for memory. Marks stores that write each place once, to
// buffers that the kernel does not read, of at least so many bytes a thread. Whether the results
// are many, only a launch knows (Launch::cached_stores).
void mark_nontemporal_stores(llvm::Function& body, llvm::FunctionAnalysisManager& analyses,
                             uint64_t least_bytes);

bool is_nontemporal(const llvm::StoreInst& store);

// LLVM has no non-temporal stores of vectors of half for processors that compute in half, so these
// are stored as integers. It is the last step, as the optimiser would undo it.
void store_halves_as_bits(llvm::Module& module);

}  // namespace metal::cpu
