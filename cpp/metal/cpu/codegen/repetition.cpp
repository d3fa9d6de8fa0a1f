#include "metal/cpu/codegen/repetition.h"

#include "llvm/ADT/SCCIterator.h"
#include "llvm/Analysis/CallGraph.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/barriers.h"
#include "metal/compiler/compiler.h"

namespace metal::cpu {
namespace {

template <typename Graph>
bool has_cycle(const Graph& graph) {
  for (auto part = llvm::scc_begin(graph); !part.isAtEnd(); ++part) {
    if (part.hasCycle()) return true;
  }
  return false;
}

bool calls_unknown(const llvm::Function& function) {
  return llvm::any_of(llvm::instructions(function), [](const llvm::Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call && !call->getCalledFunction();
  });
}

}  // namespace

bool any_instruction(const llvm::Module& kernel,
                     llvm::function_ref<bool(const llvm::Instruction&)> test) {
  return llvm::any_of(kernel, [&](const llvm::Function& function) {
    return llvm::any_of(llvm::instructions(function), test);
  });
}

bool may_repeat(const llvm::Module& kernel) {
  for (const llvm::Function& function : kernel) {
    if (function.isDeclaration()) continue;
    if (has_cycle(&function) || calls_unknown(function)) return true;
  }
  llvm::CallGraph calls(const_cast<llvm::Module&>(kernel));
  return has_cycle(&calls);
}

bool reads_threadgroup_memory(const llvm::Instruction& instruction) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
  return load && load->getPointerAddressSpace() == static_cast<unsigned>(AddressSpace::Threadgroup);
}

bool rereads_threadgroup_memory(const llvm::Module& kernel) {
  return may_repeat(kernel) && any_instruction(kernel, reads_threadgroup_memory);
}

bool waits_often(const llvm::Module& kernel) {
  constexpr unsigned kBarriersOfExchange = 2;
  unsigned barriers = 0;
  return any_instruction(kernel, [&](const llvm::Instruction& instruction) {
    return compiler::is_threadgroup_barrier(instruction) && ++barriers > kBarriersOfExchange;
  });
}

bool has_atomics(const llvm::Module& kernel) {
  return any_instruction(kernel, [](const llvm::Instruction& instruction) {
    return instruction.isAtomic() && !llvm::isa<llvm::FenceInst>(instruction);
  });
}

}  // namespace metal::cpu
