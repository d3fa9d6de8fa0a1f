// Marks the stores that should go past the caches, where results are too many for these.
#pragma once

#include "llvm/IR/PassManager.h"

namespace llvm {
class Function;
class Module;
class StoreInst;
}  // namespace llvm

namespace metal::cpu {

// A store in the usual way first reads the line it writes to. Past the caches it does not; but then
// whoever wants the line soon must wait for memory. Marks the stores of one thread that write each
// place once, to buffers that the kernel does not read: whether their results are many, only a
// launch knows (Launch::cached_stores).
void mark_nontemporal_stores(llvm::Function& body, llvm::FunctionAnalysisManager& analyses);

bool is_nontemporal(const llvm::StoreInst& store);

// LLVM has no instructions that store vectors of half past the caches, where a processor computes
// in half: they are stored as integers of the same bits. A last step, as the optimiser would take
// that back.
void store_halves_as_bits(llvm::Module& module);

}  // namespace metal::cpu
