#include "metal/cpu/checks/number_tests.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "metal/compiler/compiler.h"
#include "metal/compiler/math_calls.h"
#include "metal/cpu/checks/accesses.h"

namespace metal::cpu {
namespace {

using llvm::Value;

llvm::Constant* exponent_bits(llvm::Type* type) {
  const llvm::APInt infinity =
      llvm::APFloat::getInf(type->getScalarType()->getFltSemantics()).bitcastToAPInt();
  return llvm::ConstantInt::get(
      type->getWithNewType(llvm::IntegerType::get(type->getContext(), infinity.getBitWidth())),
      infinity);
}

Value* magnitude_bits(llvm::IRBuilder<>& b, Value* value, llvm::Constant* exponent) {
  const unsigned bits = exponent->getType()->getScalarSizeInBits();
  return b.CreateAnd(
      b.CreateBitCast(value, exponent->getType()),
      llvm::ConstantInt::get(exponent->getType(), llvm::APInt::getLowBitsSet(bits, bits - 1)));
}

}  // namespace

bool has_floats(const llvm::Type& type) {
  const llvm::Type* scalar = type.getScalarType();
  return scalar->isFloatTy() || scalar->isHalfTy() || scalar->isBFloatTy() || scalar->isDoubleTy();
}

Value* is_not_finite(llvm::IRBuilder<>& b, Value* value) {
  llvm::Constant* exponent = exponent_bits(value->getType());
  return b.CreateICmpUGE(magnitude_bits(b, value, exponent), exponent);
}

Value* is_nan(llvm::IRBuilder<>& b, Value* value) {
  llvm::Constant* exponent = exponent_bits(value->getType());
  return b.CreateICmpUGT(magnitude_bits(b, value, exponent), exponent);
}

Value* in_any_element(llvm::IRBuilder<>& b, Value* test) {
  return test->getType()->isVectorTy() ? b.CreateOrReduce(test) : test;
}

Value* stored_float(llvm::Instruction& instruction) {
  Value* value = nullptr;
  if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    value = store->getValueOperand();
  } else if (auto* update = llvm::dyn_cast<llvm::AtomicRMWInst>(&instruction)) {
    value = update->getValOperand();
  }
  if (!value) return nullptr;
  auto* bits = llvm::dyn_cast<llvm::BitCastInst>(value);
  if (bits && !has_floats(*value->getType())) value = bits->getOperand(0);
  return has_floats(*value->getType()) ? value : nullptr;
}

Value* copied_from(const llvm::Instruction& instruction) {
  Value* source = nullptr;
  if (const auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(&instruction)) {
    source = copy->getRawSource();
  } else if (const auto* store = llvm::dyn_cast<llvm::StoreInst>(&instruction)) {
    const auto* load = llvm::dyn_cast<llvm::LoadInst>(store->getValueOperand());
    if (load && !has_floats(*load->getType()) && !load->getType()->isPtrOrPtrVectorTy())
      source = const_cast<Value*>(load->getPointerOperand());
  }
  if (!source) return nullptr;
  const auto space = static_cast<AddressSpace>(source->getType()->getPointerAddressSpace());
  return space == AddressSpace::Thread || space == AddressSpace::Threadgroup ? source : nullptr;
}

bool converts_to_integer(const llvm::Instruction& instruction) {
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  const bool converts = llvm::isa<llvm::FPToSIInst, llvm::FPToUIInst>(instruction) ||
                        (call && (call->getIntrinsicID() == llvm::Intrinsic::fptosi_sat ||
                                  call->getIntrinsicID() == llvm::Intrinsic::fptoui_sat));
  return converts && has_floats(*instruction.getOperand(0)->getType()) &&
         !compiler::is_inside_math(instruction.getDebugLoc());
}

bool only_moves(const llvm::Instruction& instruction) {
  if (llvm::isa<llvm::SelectInst, llvm::FreezeInst, llvm::ExtractElementInst,
                llvm::InsertElementInst, llvm::ShuffleVectorInst, llvm::FPExtInst,
                llvm::BitCastInst>(instruction) ||
      instruction.getOpcode() == llvm::Instruction::FNeg)
    return true;
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return false;
  switch (call->getIntrinsicID()) {
    case llvm::Intrinsic::fabs:
    case llvm::Intrinsic::copysign:
    case llvm::Intrinsic::minnum:
    case llvm::Intrinsic::maxnum:
    case llvm::Intrinsic::minimum:
    case llvm::Intrinsic::maximum:
      return true;
    default:
      return false;
  }
}

}  // namespace metal::cpu
