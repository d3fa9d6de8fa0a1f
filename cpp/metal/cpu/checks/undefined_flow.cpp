#include "metal/cpu/checks/undefined_flow.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "metal/compiler/kernel_form.h"
#include "metal/compiler/undefined_variables.h"
#include "metal/cpu/checks/discarded_reads.h"
#include "metal/cpu/checks/provenance.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

bool is_object(const Value* value) {
  return llvm::isa<llvm::Argument, llvm::GlobalVariable, llvm::AllocaInst>(value);
}

// Whether it may be undefined as a value: structures only carry the results of other instructions.
bool has_bits(const Value& value) {
  return value.getType()->isSingleValueType() && !value.getType()->isTokenTy();
}

bool hands_on(const Instruction& instruction) {
  return has_bits(instruction) &&
         (passes_on(instruction) || lane_function(instruction) != LaneFunction::None);
}

// Functions that call themselves are not part of the kernel's code.
bool calls_functions(const llvm::Function& kernel) {
  return llvm::any_of(llvm::instructions(kernel), [](const Instruction& instruction) {
    const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
    return call && (!call->getCalledFunction() || !call->getCalledFunction()->isDeclaration());
  });
}

bool is_update(const Access& access) {
  return access.kind == AccessKind::Atomic && !llvm::isa<llvm::StoreInst>(access.instruction);
}

}  // namespace

LaneFunction lane_function(const Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  const llvm::Function* callee = call ? call->getCalledFunction() : nullptr;
  llvm::StringRef name = callee ? callee->getName() : "";
  if (!name.consume_front(compiler::kRuntimePrefix)) return LaneFunction::None;
  if (name.starts_with("simdgroup_multiply_accumulate")) return LaneFunction::Product;
  if (!name.consume_front("simd_") || call->arg_empty()) return LaneFunction::None;
  if (name.starts_with("shuffle_")) return LaneFunction::Shuffle;
  if (name == "ballot") return LaneFunction::Ballot;
  if (name.starts_with("prefix_exclusive")) return LaneFunction::ExclusivePrefix;
  return name.starts_with("prefix_") ? LaneFunction::Prefix : LaneFunction::Reduction;
}

UndefinedFlow::UndefinedFlow(llvm::Function& kernel, const FunctionInfo& info,
                             const std::vector<Access>& accesses)
    : kernel_(kernel), info_(info) {
  writes_unknown_memory_ = calls_functions(kernel);
  if (writes_unknown_memory_) return;
  for (const Access& access : accesses) {
    if (is_tracked(*access.written)) accesses_[access.instruction].push_back(access);
  }
  find_escapes();
  find_sources();
  for (size_t i = 0; i < reached_.size(); ++i) follow(*const_cast<Value*>(reached_[i]));
  for (llvm::BasicBlock* block : llvm::ReversePostOrderTraversal<llvm::Function*>(&kernel)) {
    for (Instruction& instruction : *block) {
      if (reaches(instruction) || needed_.contains(&instruction) ||
          accesses_.contains(&instruction) || compiler::is_undefined_memory(instruction))
        order_.push_back(&instruction);
    }
  }
}

UndefinedFlow::Objects UndefinedFlow::objects_of(const Value& pointer) {
  Objects objects;
  llvm::getUnderlyingObjects(&pointer, objects, nullptr, /*MaxLookup=*/0);
  return objects;
}

bool UndefinedFlow::is_writable(const Value& object) const {
  if (const auto* argument = llvm::dyn_cast<llvm::Argument>(&object)) {
    const ArgumentInfo& info = argument_info(info_, argument->getArgNo());
    return info.kind == ArgumentKind::ThreadgroupMemory || info.writable;
  }
  const auto* variable = llvm::dyn_cast<llvm::GlobalVariable>(&object);
  return !variable || is_shared(*variable);
}

bool UndefinedFlow::is_tracked(const Value& pointer) const {
  return llvm::any_of(objects_of(pointer), [this](const Value* object) {
    return is_object(object) && is_writable(*object);
  });
}

bool UndefinedFlow::is_known(const Value& pointer) const {
  return llvm::all_of(objects_of(pointer), is_object);
}

bool UndefinedFlow::escapes(const Value& pointer) const {
  return llvm::any_of(objects_of(pointer),
                      [this](const Value* object) { return escaped_.contains(object); });
}

llvm::ArrayRef<Access> UndefinedFlow::accesses(const Instruction& instruction) const {
  const auto found = accesses_.find(&instruction);
  return found == accesses_.end() ? llvm::ArrayRef<Access>() : llvm::ArrayRef(found->second);
}

llvm::ArrayRef<Value*> UndefinedFlow::needed(const Instruction& instruction) const {
  const auto found = needed_.find(&instruction);
  return found == needed_.end() ? llvm::ArrayRef<Value*>() : llvm::ArrayRef(found->second);
}

// Addresses that are kept in memory or become numbers, and pointers that may also lead elsewhere.
void UndefinedFlow::find_escapes() {
  auto escape = [this](const Value& pointer) {
    for (const Value* object : objects_of(pointer)) {
      escaped_.insert(object);
      writes_unknown_memory_ |= llvm::isa<llvm::Argument>(object) && is_writable(*object);
    }
  };
  for (const Instruction& instruction : llvm::instructions(kernel_)) {
    if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
      if (store->getValueOperand()->getType()->isPtrOrPtrVectorTy())
        escape(*store->getValueOperand());
    } else if (llvm::isa<llvm::PtrToIntInst, llvm::InsertValueInst, llvm::InsertElementInst>(
                   instruction)) {
      for (const Value* operand : instruction.operands()) {
        if (operand->getType()->isPointerTy()) escape(*operand);
      }
    }
    for (const Value* operand : instruction.operands()) {
      if (operand->getType()->isPointerTy() && !llvm::isa<llvm::Function>(operand) &&
          !is_known(*operand) && is_tracked(*operand))
        escape(*operand);
    }
  }
}

void UndefinedFlow::find_sources() {
  for (Instruction& instruction : llvm::instructions(kernel_)) {
    if (compiler::is_undefined_value(instruction)) {
      reached_.insert(&instruction);
      continue;
    }
    for (const Access& access : accesses(instruction)) {
      if (llvm::isa<llvm::LoadInst>(instruction) && has_bits(instruction) &&
          is_known(*access.written))
        reached_.insert(&instruction);
      updates_ += is_update(access);
    }
  }
}

void UndefinedFlow::follow(Value& value) {
  for (const llvm::Use& use : value.uses()) {
    auto* user = llvm::dyn_cast<Instruction>(use.getUser());
    if (!user) continue;
    if (hands_on(*user)) {
      reached_.insert(user);
    } else if (llvm::isa<llvm::BranchInst, llvm::SwitchInst, llvm::LoadInst, llvm::AtomicRMWInst,
                         llvm::AtomicCmpXchgInst, llvm::MemIntrinsic>(user)) {
      const auto* fill = llvm::dyn_cast<llvm::MemSetInst>(user);
      if (!fill || fill->getValue() != &value) needed_[user].push_back(&value);
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      if (store->getPointerOperand() == &value || store->isAtomic())
        needed_[user].push_back(&value);
    }
  }
}

}  // namespace metal::cpu
