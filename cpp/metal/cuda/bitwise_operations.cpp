#include <optional>

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {
namespace {

// A bitwise operation of 32 bits with a constant.
struct BitwiseStep {
  llvm::BinaryOperator* operation;
  llvm::ConstantInt* constant;

  // What it computes of each bit, given all eight combinations of three operands' bits.
  unsigned apply(unsigned left, unsigned right) const {
    switch (operation->getOpcode()) {
      case llvm::Instruction::And:
        return left & right;
      case llvm::Instruction::Or:
        return left | right;
      default:
        return left ^ right;
    }
  }
};

std::optional<BitwiseStep> find_step(llvm::Value* value) {
  auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(value);
  if (!operation || !operation->isBitwiseLogicOp() || !operation->getType()->isIntegerTy(32))
    return std::nullopt;
  auto* constant = llvm::dyn_cast<llvm::ConstantInt>(operation->getOperand(1));
  // A complement needs no operand of its own.
  if (!constant || constant->isMinusOne()) return std::nullopt;
  return BitwiseStep{operation, constant};
}

llvm::Value* create_lop3(const BitwiseStep& first, const BitwiseStep& second) {
  // The bits of three operands in all combinations: those of the table's index.
  constexpr unsigned kA = 0xf0, kB = 0xcc, kC = 0xaa;
  llvm::IRBuilder<> b(second.operation);
  llvm::Type* word = b.getInt32Ty();
  auto* type = llvm::FunctionType::get(word, {word, word, word, word}, false);
  auto* code = llvm::InlineAsm::get(type, "lop3.b32 $0, $1, $2, $3, $4;", "=r,r,n,n,n", false);
  const unsigned table = second.apply(first.apply(kA, kB), kC);
  return b.CreateCall(
      code, {first.operation->getOperand(0), first.constant, second.constant, b.getInt32(table)});
}

}  // namespace

void join_bitwise_operations(llvm::Function& entry) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(entry))) {
    const auto second = find_step(&instruction);
    const auto first = second ? find_step(instruction.getOperand(0)) : std::nullopt;
    if (!first || !first->operation->hasOneUse()) continue;
    instruction.replaceAllUsesWith(create_lop3(*first, *second));
    instruction.eraseFromParent();
    first->operation->eraseFromParent();
  }
}

}  // namespace metal::cuda
