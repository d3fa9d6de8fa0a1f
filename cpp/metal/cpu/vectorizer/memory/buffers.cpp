#include "metal/cpu/vectorizer/memory/buffers.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/compiler.h"
#include "metal/cpu/markers.h"

namespace metal::cpu {

using llvm::Value;

bool is_device_memory(const Value* address) {
  return address->getType()->getPointerAddressSpace() ==
         static_cast<unsigned>(AddressSpace::Device);
}

bool reads_constants(const llvm::Instruction& instruction) {
  return instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load);
}

std::pair<Value*, int64_t> split_constant(Value* pointer, const llvm::DataLayout& layout) {
  int64_t total = 0;
  while (auto* address = llvm::dyn_cast<llvm::GEPOperator>(pointer)) {
    llvm::APInt offset(64, 0);
    if (!address->accumulateConstantOffset(layout, offset)) break;
    total += offset.getSExtValue();
    pointer = address->getPointerOperand();
  }
  return {pointer, total};
}

std::optional<int64_t> group_member(const Value* value) {
  const auto* load = llvm::dyn_cast<llvm::LoadInst>(value);
  if (!load) return std::nullopt;
  const auto [root, offset] = split_constant(const_cast<Value*>(load->getPointerOperand()),
                                             load->getModule()->getDataLayout());
  const auto* group = llvm::dyn_cast<llvm::Argument>(root);
  return group && group->getArgNo() == kGroupArgument ? std::optional(offset) : std::nullopt;
}

void Buffers::add(const Value* address) {
  for (const std::optional<int64_t> place : places_of(address)) {
    if (place) places_.insert(*place);
    any_ |= !place;
  }
}

void Buffers::add_operands(const llvm::Instruction& instruction) {
  for (const Value* operand : instruction.operand_values()) {
    if (operand->getType()->isPointerTy() && is_device_memory(operand)) add(operand);
  }
}

bool Buffers::may_contain(const Value* address) const {
  return any_ || llvm::any_of(places_of(address), [this](std::optional<int64_t> place) {
           return !place || places_.contains(*place);
         });
}

std::optional<int64_t> Buffers::only_buffer(const Value* address) const {
  const Places places = places_of(address);
  const bool one = !places.empty() && llvm::all_equal(places);
  return one ? places.front() : std::nullopt;
}

Buffers::Places Buffers::places_of(const Value* address) const {
  llvm::SmallVector<const Value*> objects;
  llvm::getUnderlyingObjects(address, objects, &loops_, /*MaxLookup=*/0);
  Places places;
  for (const Value* object : objects) {
    places.emplace_back();
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(object);
    if (!load || !reads_constants(*load)) continue;
    const llvm::DataLayout& layout = load->getModule()->getDataLayout();
    llvm::APInt offset(layout.getIndexTypeSizeInBits(load->getPointerOperandType()), 0);
    load->getPointerOperand()->stripAndAccumulateConstantOffsets(layout, offset, true);
    places.back() = offset.getSExtValue();
  }
  return places;
}

}  // namespace metal::cpu
