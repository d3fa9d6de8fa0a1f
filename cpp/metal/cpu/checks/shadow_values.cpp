#include "metal/cpu/checks/shadow_values.h"

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/kernel_form.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Type;
using llvm::Value;

Value* zero(Value* like) { return llvm::Constant::getNullValue(like->getType()); }

Value* is_set(llvm::IRBuilder<>& b, Value* shadow) { return b.CreateICmpNE(shadow, zero(shadow)); }

unsigned length_of(const Type* type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type);
  return vector ? vector->getNumElements() : 1;
}

Value* call_runtime(llvm::IRBuilder<>& b, const llvm::CallInst& like, llvm::StringRef name,
                    Type* result, llvm::ArrayRef<Value*> operands) {
  llvm::SmallVector<Type*> types;
  for (const Value* operand : operands) types.push_back(operand->getType());
  auto callee = b.GetInsertBlock()->getModule()->getOrInsertFunction(
      (llvm::StringRef(compiler::kRuntimePrefix) + name).str(),
      llvm::FunctionType::get(result, types, /*isVarArg=*/false));
  if (like.getCalledFunction() != callee.getCallee()) {
    checked_cast<llvm::Function>(callee.getCallee())
        ->setAttributes(llvm::AttributeList().addFnAttributes(
            b.getContext(),
            llvm::AttrBuilder(b.getContext(),
                              like.getCalledFunction()->getAttributes().getFnAttrs())));
  }
  llvm::CallInst* call = b.CreateCall(callee, operands);
  call->setAttributes(llvm::AttributeList().addFnAttributes(
      b.getContext(), llvm::AttrBuilder(b.getContext(), like.getAttributes().getFnAttrs())));
  return call;
}

}  // namespace

ShadowValues::ShadowValues(const llvm::Function& kernel) : layout_(kernel.getDataLayout()) {}

Type* ShadowValues::type_of(Type* type) const {
  Type* element =
      llvm::IntegerType::get(type->getContext(), layout_.getTypeSizeInBits(type->getScalarType()));
  if (auto* vector = llvm::dyn_cast<llvm::VectorType>(type))
    return llvm::VectorType::get(element, vector->getElementCount());
  return element;
}

Value* ShadowValues::of(Value* value) const {
  Value* shadow = shadows_.lookup(value);
  const auto* constant = llvm::dyn_cast_or_null<llvm::Constant>(shadow);
  return constant && constant->isNullValue() ? nullptr : shadow;
}

Value* ShadowValues::or_defined(Value* value) const {
  Value* shadow = of(value);
  return shadow ? shadow : llvm::Constant::getNullValue(type_of(value->getType()));
}

Value* ShadowValues::any(llvm::IRBuilder<>& b, Value* shadow) const {
  return is_set(b, shadow->getType()->isVectorTy() ? b.CreateOrReduce(shadow) : shadow);
}

void ShadowValues::add(Instruction& instruction) {
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
    llvm::IRBuilder<> b(phi);
    llvm::PHINode* shadow = b.CreatePHI(type_of(phi->getType()), phi->getNumIncomingValues());
    phis_.emplace_back(phi, shadow);
    shadows_[phi] = shadow;
    return;
  }
  llvm::IRBuilder<> b(instruction.getNextNode());
  if (Value* shadow = compute(b, instruction)) shadows_[&instruction] = shadow;
}

void ShadowValues::finish() {
  for (auto& [phi, shadow] : phis_) {
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      shadow->addIncoming(or_defined(phi->getIncomingValue(i)), phi->getIncomingBlock(i));
  }
}

Value* ShadowValues::compute(llvm::IRBuilder<>& b, Instruction& instruction) {
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) return of_select(b, *select);
  if (llvm::none_of(instruction.operands(), [this](Value* operand) { return of(operand); }))
    return nullptr;
  if (auto* operation = llvm::dyn_cast<llvm::BinaryOperator>(&instruction)) {
    if (operation->isShift()) return of_shift(b, *operation);
    if (operation->getType()->isIntOrIntVectorTy() && !operation->isIntDivRem())
      return of_bits(b, *operation);
  }
  if (auto* compare = llvm::dyn_cast<llvm::ICmpInst>(&instruction)) return of_compare(b, *compare);
  if (auto* cast = llvm::dyn_cast<llvm::CastInst>(&instruction)) return of_cast(b, *cast);
  if (llvm::isa<llvm::FreezeInst>(instruction) || instruction.getOpcode() == Instruction::FNeg)
    return of(instruction.getOperand(0));
  if (llvm::isa<llvm::ExtractElementInst, llvm::InsertElementInst, llvm::ShuffleVectorInst>(
          instruction))
    return of_element(b, instruction);
  if (lane_function(instruction) != LaneFunction::None)
    return of_lanes(b, *checked_cast<llvm::CallInst>(&instruction));
  return all_or_none(b, instruction);
}

// Bits in which both choices agree are defined, whatever is chosen.
Value* ShadowValues::of_select(llvm::IRBuilder<>& b, llvm::SelectInst& select) {
  Value* condition = select.getCondition();
  Value* yes = or_defined(select.getTrueValue());
  Value* no = or_defined(select.getFalseValue());
  Value* chosen = of(select.getTrueValue()) || of(select.getFalseValue())
                      ? b.CreateSelect(condition, yes, no)
                      : yes;
  Value* unknown = of(condition);
  if (!unknown) return chosen;
  Value* differ =
      b.CreateXor(as_bits(b, select.getTrueValue()), as_bits(b, select.getFalseValue()));
  if (!select.getType()->isIntOrIntVectorTy())  // floats and pointers are defined as a whole
    differ = where(b, is_set(b, differ), differ->getType());
  return b.CreateSelect(unknown, b.CreateOr(b.CreateOr(yes, no), differ), chosen);
}

// A bit of a product or sum is taken for defined if no operand has an undefined one there.
Value* ShadowValues::of_bits(llvm::IRBuilder<>& b, llvm::BinaryOperator& operation) {
  Value* left = or_defined(operation.getOperand(0));
  Value* right = or_defined(operation.getOperand(1));
  const auto code = operation.getOpcode();
  Value* either = b.CreateOr(left, right);
  if (code == Instruction::Mul) return where(b, is_set(b, either), either->getType());
  if (code != Instruction::And && code != Instruction::Or) return either;
  // A defined bit that decides alone makes the result defined.
  auto lets_through = [&](Value* operand, Value* shadow) {
    return b.CreateOr(code == Instruction::And ? operand : b.CreateNot(operand), shadow);
  };
  return b.CreateAnd(either, b.CreateAnd(lets_through(operation.getOperand(0), left),
                                         lets_through(operation.getOperand(1), right)));
}

Value* ShadowValues::of_shift(llvm::IRBuilder<>& b, llvm::BinaryOperator& operation) {
  Value* amount = operation.getOperand(1);
  Value* shifted =
      b.CreateBinOp(operation.getOpcode(), or_defined(operation.getOperand(0)), amount);
  Value* unknown = of(amount);
  return unknown ? b.CreateOr(shifted, where(b, is_set(b, unknown), shifted->getType())) : shifted;
}

// The answer is defined if it is the same for all values that the operands may have.
Value* ShadowValues::of_compare(llvm::IRBuilder<>& b, llvm::ICmpInst& compare) {
  Value* a = as_bits(b, compare.getOperand(0));
  Value* c = as_bits(b, compare.getOperand(1));
  Value* left = or_defined(compare.getOperand(0));
  Value* right = or_defined(compare.getOperand(1));
  Value* either = b.CreateOr(left, right);
  if (compare.isEquality()) {
    Value* known_difference = b.CreateAnd(b.CreateXor(a, c), b.CreateNot(either));
    return b.CreateAnd(is_set(b, either), b.CreateNot(is_set(b, known_difference)));
  }
  if (compare.isSigned()) {
    const unsigned bits = a->getType()->getScalarSizeInBits();
    Value* sign = llvm::ConstantInt::get(a->getType(), llvm::APInt::getSignMask(bits));
    a = b.CreateXor(a, sign);
    c = b.CreateXor(c, sign);
  }
  auto least = [&](Value* value, Value* shadow) { return b.CreateAnd(value, b.CreateNot(shadow)); };
  auto most = [&](Value* value, Value* shadow) { return b.CreateOr(value, shadow); };
  const auto predicate = compare.getUnsignedPredicate();
  return b.CreateXor(b.CreateICmp(predicate, least(a, left), most(c, right)),
                     b.CreateICmp(predicate, most(a, left), least(c, right)));
}

Value* ShadowValues::of_cast(llvm::IRBuilder<>& b, llvm::CastInst& cast) {
  Value* shadow = of(cast.getOperand(0));
  Type* type = type_of(cast.getType());
  switch (cast.getOpcode()) {
    case Instruction::Trunc:
    case Instruction::ZExt:
    case Instruction::SExt:
      return b.CreateCast(cast.getOpcode(), shadow, type);
    case Instruction::PtrToInt:
    case Instruction::IntToPtr:
    case Instruction::AddrSpaceCast:
      return b.CreateZExtOrTrunc(shadow, type);
    case Instruction::BitCast:
      return b.CreateBitCast(shadow, type);
    default:
      return where(b, is_set(b, shadow), type);
  }
}

Value* ShadowValues::of_element(llvm::IRBuilder<>& b, Instruction& instruction) {
  Value* first = or_defined(instruction.getOperand(0));
  if (auto* shuffle = llvm::dyn_cast<llvm::ShuffleVectorInst>(&instruction)) {
    return b.CreateShuffleVector(first, or_defined(shuffle->getOperand(1)),
                                 shuffle->getShuffleMask());
  }
  const bool extracts = llvm::isa<llvm::ExtractElementInst>(instruction);
  Value* index = instruction.getOperand(extracts ? 1 : 2);
  Value* shadow = extracts
                      ? b.CreateExtractElement(first, index)
                      : b.CreateInsertElement(first, or_defined(instruction.getOperand(1)), index);
  Value* unknown = of(index);
  if (!unknown) return shadow;
  return b.CreateOr(shadow, where(b, is_set(b, unknown), shadow->getType()));
}

// Of values of other lanes as well, by the same functions.
Value* ShadowValues::of_lanes(llvm::IRBuilder<>& b, llvm::CallInst& call) {
  const LaneFunction function = lane_function(call);
  Value* data = or_defined(call.getArgOperand(0));
  if (function == LaneFunction::Product) return all_or_none(b, call);
  if (function == LaneFunction::Shuffle) {
    Value* lane = call.getArgOperand(1);
    Value* moved = b.CreateCall(call.getCalledFunction(), {data, lane});
    checked_cast<llvm::CallInst>(moved)->setAttributes(call.getAttributes());
    Value* unknown = of(lane);
    return unknown ? b.CreateOr(moved, where(b, is_set(b, unknown), moved->getType())) : moved;
  }
  Value* lanes = call_runtime(b, call, "simd_ballot", b.getInt32Ty(), {is_set(b, data)});
  if (function == LaneFunction::Ballot) return lanes;
  if (function != LaneFunction::Reduction) {
    Value* mine = b.CreateCall(b.GetInsertBlock()->getModule()->getOrInsertFunction(
        "__metal_thread_index_in_simdgroup", llvm::FunctionType::get(b.getInt32Ty(), false)));
    const bool exclusive = function == LaneFunction::ExclusivePrefix;
    // Those of the lanes before this one, and of this one.
    Value* before = b.CreateNot(b.CreateShl(b.getInt32(exclusive ? ~0U : ~1U), mine));
    lanes = b.CreateAnd(lanes, before);
  }
  return where(b, is_set(b, lanes), type_of(call.getType()));
}

// Of an operation in which every bit depends on all bits of the operands: element by element if
// they are vectors of one length.
Value* ShadowValues::all_or_none(llvm::IRBuilder<>& b, Instruction& instruction) {
  Type* type = type_of(instruction.getType());
  llvm::SmallVector<Value*> tests;
  bool by_elements = true;
  for (Value* operand : instruction.operands()) {
    if (!of(operand)) continue;
    by_elements &= length_of(operand->getType()) == length_of(type) &&
                   operand->getType()->isVectorTy() == type->isVectorTy();
  }
  Value* test = nullptr;
  for (Value* operand : instruction.operands()) {
    Value* shadow = of(operand);
    if (!shadow) continue;
    Value* undefined = by_elements ? is_set(b, shadow) : any(b, shadow);
    test = test ? b.CreateOr(test, undefined) : undefined;
  }
  return where(b, test, type);
}

Value* ShadowValues::where(llvm::IRBuilder<>& b, Value* test, Type* type) const {
  if (type->isVectorTy() && !test->getType()->isVectorTy())
    test = b.CreateVectorSplat(length_of(type), test);
  return b.CreateSExt(test, type);
}

Value* ShadowValues::as_bits(llvm::IRBuilder<>& b, Value* value) const {
  Type* type = type_of(value->getType());
  return value->getType()->isPtrOrPtrVectorTy() ? b.CreatePtrToInt(value, type)
                                                : b.CreateBitCast(value, type);
}

}  // namespace metal::cpu
