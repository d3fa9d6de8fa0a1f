#include "metal/cpu/checks/origins.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"

namespace metal::cpu {

using llvm::Value;

Origins::Origins(CheckBuilder& builder, const ShadowValues& shadows)
    : builder_(builder), shadows_(shadows) {}

Value* Origins::of(Value* value) const {
  Value* number = numbers_.lookup(value);
  return number ? number : llvm::ConstantInt::get(llvm::Type::getInt32Ty(value->getContext()), 0);
}

void Origins::add(llvm::Instruction& instruction) {
  if (!shadows_.of(&instruction)) return;
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
    llvm::IRBuilder<> b(phi);
    llvm::PHINode* number = b.CreatePHI(b.getInt32Ty(), phi->getNumIncomingValues());
    phis_.emplace_back(phi, number);
    numbers_[phi] = number;
    return;
  }
  // Behind the shadow.
  auto* shadow = llvm::dyn_cast<llvm::Instruction>(shadows_.of(&instruction));
  llvm::IRBuilder<> b(shadow && !llvm::isa<llvm::PHINode>(shadow) &&
                              shadow->getParent() == instruction.getParent() &&
                              instruction.comesBefore(shadow)
                          ? shadow->getNextNode()
                          : instruction.getNextNode());
  Value* number = b.getInt32(0);
  auto prefer = [&](Value* operand, Value* otherwise) {
    Value* unknown = shadows_.of(operand);
    return unknown ? b.CreateSelect(shadows_.any(b, unknown), of(operand), otherwise) : otherwise;
  };
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    number = prefer(select->getTrueValue(), prefer(select->getFalseValue(), number));
    if (!select->getCondition()->getType()->isVectorTy()) {
      number = b.CreateSelect(select->getCondition(), prefer(select->getTrueValue(), number),
                              prefer(select->getFalseValue(), number));
    }
    number = prefer(select->getCondition(), number);
  } else {
    for (Value* operand : llvm::reverse(instruction.operand_values()))
      number = prefer(operand, number);
  }
  if (lane_function(instruction) != LaneFunction::None)
    number = of_lanes(b, checked_cast<llvm::CallInst>(instruction), number);
  numbers_[&instruction] = number;
}

// Of another lane: that whose value is moved, or any one.
Value* Origins::of_lanes(llvm::IRBuilder<>& b, llvm::CallInst& call, Value* own) {
  const LaneFunction function = lane_function(call);
  if (function == LaneFunction::Product) return own;
  auto exchange = [&](const char* name, llvm::ArrayRef<Value*> operands) {
    return builder_.lane_call(b, name, b.getInt32Ty(), operands);
  };
  if (function == LaneFunction::Shuffle)
    return exchange("__metal_simd_shuffle_u32", {own, call.getArgOperand(1)});
  return exchange("__metal_simd_max_u32", {own});
}

void Origins::finish() {
  for (auto& [phi, number] : phis_) {
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      number->addIncoming(of(phi->getIncomingValue(i)), phi->getIncomingBlock(i));
  }
}

}  // namespace metal::cpu
