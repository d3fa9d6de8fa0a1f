#include "metal/cpu/vectorizer/widen/widen_strided.h"

#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/internal_check.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

Value* stride_of_sum(Widener& w, Instruction& sum) {
  llvm::IRBuilder<>& b = w.builder();
  Value* left = w.stride(sum.getOperand(0));
  Value* right = w.stride(sum.getOperand(1));
  return sum.getOpcode() == Instruction::Add ? b.CreateAdd(left, right) : b.CreateSub(left, right);
}

Value* stride_of_product(Widener& w, Instruction& product) {
  Value* left = product.getOperand(0);
  Value* right = product.getOperand(1);
  if (w.shape(left).is_uniform()) std::swap(left, right);
  return w.builder().CreateMul(w.stride(left), w.first(right));
}

Value* stride_of_address(Widener& w, llvm::GetElementPtrInst& address) {
  llvm::IRBuilder<>& b = w.builder();
  Value* total = w.stride(address.getPointerOperand());
  for (auto item = llvm::gep_type_begin(address); item != llvm::gep_type_end(address); ++item) {
    if (item.getStructTypeOrNull() || w.shape(item.getOperand()).is_uniform()) continue;
    const uint64_t size = item.getSequentialElementStride(w.layout());
    total = b.CreateAdd(total, b.CreateMul(w.stride(item.getOperand()), b.getInt64(size)));
  }
  return total;
}

Value* stride_of(Widener& w, Instruction& instruction) {
  llvm::IRBuilder<>& b = w.builder();
  switch (instruction.getOpcode()) {
    case Instruction::Add:
    case Instruction::Sub:
      return stride_of_sum(w, instruction);
    case Instruction::Mul:
      return stride_of_product(w, instruction);
    case Instruction::Shl:
      return b.CreateShl(w.stride(instruction.getOperand(0)), w.first(instruction.getOperand(1)));
    case Instruction::GetElementPtr:
      return stride_of_address(w, checked_cast<llvm::GetElementPtrInst>(instruction));
    case Instruction::Trunc:
      return b.CreateTrunc(w.stride(instruction.getOperand(0)), instruction.getType());
    case Instruction::AddrSpaceCast:
      return w.stride(instruction.getOperand(0));
    case Instruction::Freeze:
      return b.CreateFreeze(w.stride(instruction.getOperand(0)));
    case Instruction::Select:
      return b.CreateSelect(w.first(instruction.getOperand(0)), w.stride(instruction.getOperand(1)),
                            w.stride(instruction.getOperand(2)));
    default:
      internal_error(std::string("no stride is known of ") + instruction.getOpcodeName());
  }
}

}  // namespace

void widen_strided(Widener& w, Instruction& instruction) {
  Value* stride = stride_of(w, instruction);
  Instruction* copy = instruction.clone();
  copy->setName(instruction.getName());
  copy->dropPoisonGeneratingFlags();
  for (unsigned i = 0; i < copy->getNumOperands(); ++i)
    copy->setOperand(i, w.first(instruction.getOperand(i)));
  w.set_strided(&instruction, w.builder().Insert(copy), stride);
}

void widen_coherent_extension(Widener& w, llvm::CallInst& call, bool is_signed) {
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
  Value* stride = b.CreateSExt(w.stride(number), call.getType());
  Value* first = extend(w.first(number), call.getType());
  Value* last = b.CreateAdd(first, b.CreateMul(stride, b.getInt64(w.width() - 1)));
  Value* same = extend(b.CreateTrunc(last, b.getInt32Ty()), call.getType());
  w.assume(b.CreateICmpEQ(last, same));
  shape.is_strided() ? w.set_strided(&call, first, stride) : w.set_first(&call, first);
}

}  // namespace metal::cpu
