#include "metal/cpu/vectorizer/memory/separate_memory.h"

#include <map>

#include "llvm/ADT/DepthFirstIterator.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/CFG.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"
#include "metal/cpu/codegen/lower.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/memory/buffers.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::MDNode;
using llvm::Value;

bool is_threadgroup_memory(const Value* address) {
  return address->getType()->getPointerAddressSpace() == kThreadgroupMemory;
}

bool changes_threadgroup_memory(const Instruction& instruction) {
  const auto* operation = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction);
  return operation && is_threadgroup_memory(operation->getPointerOperand());
}

// The address of a plain load or store, or of an atomic operation in threadgroup memory. Others
// stay unmarked.
const Value* address_of(const Instruction& instruction) {
  if (changes_threadgroup_memory(instruction)) return instruction.getOperand(0);
  if (const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction))
    return load->isSimple() ? load->getPointerOperand() : nullptr;
  const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction);
  return store && store->isSimple() ? store->getPointerOperand() : nullptr;
}

// Whether it is a plain access to a variable of the thread.
bool accesses_variable(const Instruction& instruction) {
  const Value* address = address_of(instruction);
  return address && llvm::isa<llvm::AllocaInst>(llvm::getUnderlyingObject(address, 0));
}

// Whether it is a plain access to memory that threads share.
bool accesses_shared_memory(const Instruction& instruction) {
  const Value* address = address_of(instruction);
  return address && (is_device_memory(address) || is_threadgroup_memory(address));
}

// The scopes of a body: threadgroup memory, and each buffer or all of device memory.
class Scopes {
 public:
  Scopes(llvm::Function& body, bool separate_buffers)
      : names_(body.getContext()),
        domain_(names_.createAnonymousAliasScopeDomain("kernel memory")),
        dominators_(body),
        loops_(dominators_),
        buffers_(loops_),
        separate_buffers_(separate_buffers) {}

  // The scope of the memory that the address points into; null if it is not known.
  MDNode* scope_of(const Value* address) {
    if (is_threadgroup_memory(address)) return scope(kThreadgroup);
    if (!is_device_memory(address)) return nullptr;
    if (!separate_buffers_) return scope(kDevice);
    const auto buffer = buffers_.only_buffer(address);
    return buffer ? scope(*buffer) : nullptr;
  }

  void mark(Instruction& access, MDNode* scope) {
    llvm::SmallVector<llvm::Metadata*> others;
    for (const auto& [place, other] : scopes_) {
      if (other != scope) others.push_back(other);
    }
    if (others.empty()) return;
    access.setMetadata(llvm::LLVMContext::MD_alias_scope, MDNode::get(access.getContext(), scope));
    access.setMetadata(llvm::LLVMContext::MD_noalias, MDNode::get(access.getContext(), others));
  }

 private:
  // Besides the offsets of buffers in the launch, which are not negative.
  static constexpr int64_t kThreadgroup = -1;
  static constexpr int64_t kDevice = -2;

  MDNode* scope(int64_t place) {
    auto& [known, node] = *scopes_.insert({place, nullptr}).first;
    if (!node) node = names_.createAnonymousAliasScope(domain_, "memory");
    return node;
  }

  llvm::MDBuilder names_;
  MDNode* domain_;
  llvm::DominatorTree dominators_;
  llvm::LoopInfo loops_;
  Buffers buffers_;
  bool separate_buffers_;
  std::map<int64_t, MDNode*> scopes_;
};

bool touches_device_memory(const Instruction& instruction) {
  if (!instruction.mayReadOrWriteMemory() || reads_constants(instruction)) return false;
  if (const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
    return !llvm::isa<llvm::IntrinsicInst>(call) || !call->onlyAccessesInaccessibleMemory();
  const Value* address = llvm::getPointerOperand(&instruction);
  return !address || is_device_memory(address);
}

}  // namespace

void mark_separate_memory(llvm::Function& body, bool separate_buffers) {
  Scopes scopes(body, separate_buffers);
  llvm::SmallVector<std::pair<Instruction*, MDNode*>> found;
  for (Instruction& instruction : llvm::instructions(body)) {
    const Value* address = address_of(instruction);
    if (!address || reads_constants(instruction)) continue;
    if (MDNode* scope = scopes.scope_of(address)) found.emplace_back(&instruction, scope);
  }
  for (const auto& [access, scope] : found) scopes.mark(*access, scope);
}

void mark_unwritten_buffers(llvm::Function& body) {
  const llvm::DominatorTree dominators(body);
  llvm::LoopInfo loops(dominators);
  Buffers written(loops);
  for (const Instruction& instruction : llvm::instructions(body)) {
    if (instruction.mayWriteToMemory()) written.add_operands(instruction);
  }
  for (Instruction& instruction : llvm::instructions(body)) {
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (!load || !load->isSimple() || !is_device_memory(load->getPointerOperand())) continue;
    if (!written.may_contain(load->getPointerOperand()))
      instruction.setMetadata(kUnwritten, MDNode::get(body.getContext(), {}));
  }
}

bool are_separate(const Instruction& one, const Instruction& other) {
  if (reads_constants(one) || reads_constants(other)) return true;
  if ((accesses_variable(one) && accesses_shared_memory(other)) ||
      (accesses_variable(other) && accesses_shared_memory(one)))
    return true;
  const MDNode* scopes = one.getMetadata(llvm::LLVMContext::MD_alias_scope);
  const MDNode* others = other.getMetadata(llvm::LLVMContext::MD_noalias);
  if (!scopes || !others) return false;
  return llvm::all_of(scopes->operands(), [&](const llvm::MDOperand& scope) {
    return llvm::is_contained(others->operands(), scope);
  });
}

bool reads_unwritten_buffer(const Instruction& instruction) {
  return instruction.hasMetadata(kUnwritten);
}

bool depends_on_overlap(const llvm::Module& kernel) {
  for (const llvm::Function& function : kernel) {
    if (llvm::any_of(llvm::instructions(function), changes_threadgroup_memory)) return true;
    for (const llvm::BasicBlock& block : function) {
      bool written = false;
      for (const Instruction& instruction : block) {
        if (!touches_device_memory(instruction)) continue;
        if (written) return true;
        written = instruction.mayWriteToMemory();
      }
      if (!written) continue;
      for (const llvm::BasicBlock* next : llvm::successors(&block)) {
        for (const llvm::BasicBlock* later : llvm::depth_first(next)) {
          if (llvm::any_of(*later, touches_device_memory)) return true;
        }
      }
    }
  }
  return false;
}

}  // namespace metal::cpu
