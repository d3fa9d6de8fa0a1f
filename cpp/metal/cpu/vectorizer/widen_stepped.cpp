#include "metal/cpu/vectorizer/widen_stepped.h"

#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/MDBuilder.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/internal_check.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

Value* step_of_sum(Widener& w, Instruction& sum) {
  llvm::IRBuilder<>& b = w.builder();
  Value* left = w.step(sum.getOperand(0));
  Value* right = w.step(sum.getOperand(1));
  return sum.getOpcode() == Instruction::Add ? b.CreateAdd(left, right) : b.CreateSub(left, right);
}

Value* step_of_product(Widener& w, Instruction& product) {
  Value* left = product.getOperand(0);
  Value* right = product.getOperand(1);
  if (w.shape(left).is_uniform()) std::swap(left, right);
  return w.builder().CreateMul(w.step(left), w.first(right));
}

Value* step_of_address(Widener& w, llvm::GetElementPtrInst& address) {
  llvm::IRBuilder<>& b = w.builder();
  Value* total = w.step(address.getPointerOperand());
  for (auto item = llvm::gep_type_begin(address); item != llvm::gep_type_end(address); ++item) {
    if (item.getStructTypeOrNull() || w.shape(item.getOperand()).is_uniform()) continue;
    const uint64_t size = item.getSequentialElementStride(w.layout());
    total = b.CreateAdd(total, b.CreateMul(w.step(item.getOperand()), b.getInt64(size)));
  }
  return total;
}

Value* step_of(Widener& w, Instruction& instruction) {
  llvm::IRBuilder<>& b = w.builder();
  switch (instruction.getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
      return step_of_sum(w, instruction);
    case Instruction::Mul:
      return step_of_product(w, instruction);
    case Instruction::Shl:
      return b.CreateShl(w.step(instruction.getOperand(0)), w.first(instruction.getOperand(1)));
    case Instruction::GetElementPtr:
      return step_of_address(w, checked_cast<llvm::GetElementPtrInst>(instruction));
    case Instruction::Trunc:
      return b.CreateTrunc(w.step(instruction.getOperand(0)), instruction.getType());
    case Instruction::AddrSpaceCast:
      return w.step(instruction.getOperand(0));
    case Instruction::Freeze:
      return b.CreateFreeze(w.step(instruction.getOperand(0)));
    case Instruction::Select:
      return b.CreateSelect(w.first(instruction.getOperand(0)), w.step(instruction.getOperand(1)),
                            w.step(instruction.getOperand(2)));
    default:
      internal_error(std::string("no step is known of ") + instruction.getOpcodeName());
  }
}

}  // namespace

void widen_stepped(Widener& w, Instruction& instruction) {
  Value* step = step_of(w, instruction);
  Instruction* copy = instruction.clone();
  copy->setName(instruction.getName());
  copy->dropPoisonGeneratingFlags();
  for (unsigned i = 0; i < copy->getNumOperands(); ++i)
    copy->setOperand(i, w.first(instruction.getOperand(i)));
  w.set_stepped(&instruction, w.builder().Insert(copy), step);
}

void widen_extension_together(Widener& w, llvm::CallInst& call, bool is_signed,
                              llvm::BasicBlock* give_up) {
  llvm::IRBuilder<>& b = w.builder();
  Value* number = call.getArgOperand(0);
  auto extend = [&](Value* value, llvm::Type* type) {
    return is_signed ? b.CreateSExt(value, type) : b.CreateZExt(value, type);
  };
  const Shape shape = w.shape(&call);
  if (shape == Shape::varying()) {
    w.set_vector(&call, extend(w.vector(number), w.wide_type(call.getType())));
    return;
  }
  Value* step = b.CreateSExt(w.step(number), call.getType());
  Value* first = extend(w.first(number), call.getType());
  Value* last = b.CreateAdd(first, b.CreateMul(step, b.getInt64(w.width() - 1)));
  Value* same = extend(b.CreateTrunc(last, b.getInt32Ty()), call.getType());
  auto* next = llvm::BasicBlock::Create(b.getContext(), "together", &w.function());
  next->moveAfter(b.GetInsertBlock());
  b.CreateCondBr(b.CreateICmpEQ(last, same), next, give_up,
                 llvm::MDBuilder(b.getContext()).createLikelyBranchWeights());
  b.SetInsertPoint(next);
  shape.is_stepped() ? w.set_stepped(&call, first, step) : w.set_first(&call, first);
}

}  // namespace metal::cpu
