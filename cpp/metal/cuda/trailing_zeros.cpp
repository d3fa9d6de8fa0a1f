#include "metal/cuda/trailing_zeros.h"

#include <algorithm>

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cuda {
namespace {

using llvm::Instruction;
using llvm::Value;

bool has_zeros(const Value& value) {
  const llvm::Type* type = value.getType();
  return type->isPointerTy() || (type->isIntegerTy() && !type->isIntegerTy(1));
}

}  // namespace

// Starts with the assumption that all bits are zero, and takes back what does not follow from it,
// until all follows. Of values around a loop, this leaves what their steps keep.
TrailingZeros::TrailingZeros(const llvm::Function& function)
    : layout_(function.getParent()->getDataLayout()) {
  const llvm::ReversePostOrderTraversal<const llvm::Function*> blocks(&function);
  for (bool changed = true; changed;) {
    changed = false;
    for (const llvm::BasicBlock* block : blocks)
      for (const Instruction& instruction : *block)
        if (has_zeros(instruction)) changed |= update(instruction);
  }
}

unsigned TrailingZeros::of(const Value& value) const {
  if (!has_zeros(value)) return 0;
  if (llvm::isa<Instruction>(value)) {
    const auto found = zeros_.find(&value);
    return found == zeros_.end() ? kMost : found->second;
  }
  return std::min(llvm::computeKnownBits(&value, layout_).countMinTrailingZeros(), kMost);
}

bool TrailingZeros::is_multiple(const Value& value, uint64_t power_of_two) const {
  return of(value) >= llvm::Log2_64(power_of_two);
}

bool TrailingZeros::update(const Instruction& instruction) {
  const unsigned zeros = std::min(of_result(instruction), kMost);
  unsigned& known = zeros_.try_emplace(&instruction, kMost).first->second;
  const bool changed = zeros < known;
  known = std::min(known, zeros);
  return changed;
}

// The rules hold for results that overflow, too.
unsigned TrailingZeros::of_result(const Instruction& instruction) const {
  const auto operand = [&](unsigned i) { return of(*instruction.getOperand(i)); };
  const auto constant = [&](unsigned i) -> std::optional<uint64_t> {
    const auto* number = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(i));
    return number ? number->getValue().tryZExtValue() : std::nullopt;
  };
  switch (instruction.getOpcode()) {
    case Instruction::PHI:
    case Instruction::Add:
    case Instruction::Sub:
    case Instruction::Or:
    case Instruction::Xor:
    case Instruction::URem:
    case Instruction::SRem:
      return of_operands(instruction);
    case Instruction::Select:
      return std::min(operand(1), operand(2));
    case Instruction::And:
      return std::max(operand(0), operand(1));
    case Instruction::Mul:
      return operand(0) + operand(1);
    case Instruction::Shl:
      return operand(0) + static_cast<unsigned>(std::min<uint64_t>(constant(1).value_or(0), kMost));
    case Instruction::LShr:
    case Instruction::AShr: {
      const uint64_t lost = constant(1).value_or(kMost);
      return operand(0) > lost ? operand(0) - static_cast<unsigned>(lost) : 0;
    }
    case Instruction::ZExt:
    case Instruction::SExt:
    case Instruction::Trunc:
    case Instruction::PtrToInt:
    case Instruction::IntToPtr:
      return operand(0);
    case Instruction::GetElementPtr:
      return of_address(instruction);
    default:
      break;
  }
  if (llvm::isa<llvm::MinMaxIntrinsic>(instruction)) return std::min(operand(0), operand(1));
  return llvm::computeKnownBits(&instruction, layout_).countMinTrailingZeros();
}

unsigned TrailingZeros::of_operands(const Instruction& instruction) const {
  unsigned zeros = kMost;
  for (const Value* operand : instruction.operand_values()) zeros = std::min(zeros, of(*operand));
  return zeros;
}

unsigned TrailingZeros::of_address(const Instruction& address) const {
  const auto& steps = *checked_cast<llvm::GEPOperator>(&address);
  const unsigned bits = layout_.getIndexTypeSizeInBits(steps.getType());
  llvm::MapVector<Value*, llvm::APInt> scales;
  llvm::APInt offset(bits, 0);
  if (!steps.collectOffset(layout_, bits, scales, offset)) return 0;
  unsigned zeros = std::min(of(*steps.getPointerOperand()), offset.countr_zero());
  for (const auto& [index, scale] : scales)
    zeros = std::min(zeros, of(*index) + scale.countr_zero());
  return zeros;
}

}  // namespace metal::cuda
