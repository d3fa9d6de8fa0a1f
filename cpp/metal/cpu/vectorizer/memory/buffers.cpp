#include "metal/cpu/vectorizer/memory/buffers.h"

#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/compiler.h"

namespace metal::cpu {

using llvm::Value;

bool is_device_memory(const Value* address) {
  return address->getType()->getPointerAddressSpace() ==
         static_cast<unsigned>(AddressSpace::Device);
}

bool reads_constants(const llvm::Instruction& instruction) {
  return instruction.hasMetadata(llvm::LLVMContext::MD_invariant_load);
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
