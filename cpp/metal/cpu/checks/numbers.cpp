#include "metal/cpu/checks/numbers.h"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/math_calls.h"
#include "metal/cpu/checks/number_tests.h"
#include "metal/cpu/checks/undefined_flow.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

bool computes(const Instruction& instruction) {
  if (instruction.isBinaryOp() ||
      llvm::isa<llvm::FPTruncInst, llvm::SIToFPInst, llvm::UIToFPInst>(instruction))
    return true;
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return call && call->doesNotAccessMemory();
}

// As findings show it: an operator between its operands, or a function.
std::string name_of(const Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::FAdd:
      return "+";
    case Instruction::FSub:
      return "-";
    case Instruction::FMul:
      return "*";
    case Instruction::FDiv:
      return "/";
    case Instruction::FRem:
      return "fmod";
    case Instruction::FPTrunc:
    case Instruction::SIToFP:
    case Instruction::UIToFP: {
      const llvm::Type* type = instruction.getType()->getScalarType();
      return type->isHalfTy() ? "half" : type->isBFloatTy() ? "bfloat" : "float";
    }
    default:
      break;
  }
  const auto* call = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  if (!call) return "";
  const llvm::StringRef name = llvm::Intrinsic::getBaseName(call->getIntrinsicID());
  return name.starts_with("llvm.fmuladd") ? "fma" : name.split('.').second.str();
}

// What may depend on the float stays as it is, whatever the math mode says of it.
void allow_all_floats(llvm::Function& kernel) {
  kernel.removeFnAttr("no-nans-fp-math");
  kernel.removeFnAttr("no-infs-fp-math");
  for (Instruction& instruction : llvm::instructions(kernel)) {
    if (!llvm::isa<llvm::FPMathOperator>(instruction)) continue;
    instruction.setHasNoNaNs(false);
    instruction.setHasNoInfs(false);
  }
}

// Of a vector, the first element that is marked.
Value* marked_element(llvm::IRBuilder<>& b, Value* value, Value* marks) {
  auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  if (!vector) return value;
  Value* chosen = b.CreateExtractElement(value, uint64_t{0});
  for (unsigned i = vector->getNumElements(); i-- > 0;) {
    chosen = b.CreateSelect(b.CreateExtractElement(marks, uint64_t{i}),
                            b.CreateExtractElement(value, uint64_t{i}), chosen);
  }
  return chosen;
}

llvm::SmallVector<Value*> operands_of(Instruction& instruction) {
  auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction);
  if (call) return llvm::SmallVector<Value*>(call->args());
  return llvm::SmallVector<Value*>(instruction.operand_values());
}

}  // namespace

NumbersCheck::NumbersCheck(CheckBuilder& builder, const std::vector<Access>& accesses,
                           const MathCalls& math_calls)
    : builder_(builder), accesses_(accesses), math_calls_(math_calls), order_(builder.kernel()) {
  allow_all_floats(builder.kernel());
  for (Instruction* instruction : order_.left()) tests_ += converts_to_integer(*instruction);
  copies_ = llvm::any_of(accesses_, [](const Access& access) {
    return access.kind == AccessKind::Write && is_device(*access.written) &&
           copied_from(*access.instruction);
  });
  tests_ += llvm::count_if(accesses_, [this](const Access& access) { return counts(access); });
}

// Whether a float may get out of the kernel here, as a screen has to take it.
bool NumbersCheck::counts(const Access& access) const {
  if (access.kind == AccessKind::Read || access.kind == AccessKind::AtomicRead) return false;
  const Value* value = stored_float(*access.instruction);
  return value && !llvm::isa<llvm::Constant>(value) && (copies_ || is_device(*access.written));
}

void NumbersCheck::screen() {
  auto suspect = [this](Value* value, Instruction& before) {
    llvm::IRBuilder<> b(&before);
    builder_.suspect_if(in_any_element(b, is_not_finite(b, value)), before);
  };
  for (const Access& access : accesses_) {
    if (counts(access)) suspect(stored_float(*access.instruction), *access.instruction);
  }
  for (Instruction* instruction : order_.left()) {
    if (converts_to_integer(*instruction)) suspect(instruction->getOperand(0), *instruction);
  }
}

void NumbersCheck::report(Provenances& provenances) {
  provenances_ = &provenances;
  const std::vector<Instruction*> instructions = order_.left();
  for (Instruction* instruction : instructions) visit(*instruction);
  for (auto& [phi, number] : phis_) {
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      number->addIncoming(number_or_none(phi->getIncomingValue(i)), phi->getIncomingBlock(i));
  }
  for (const Access& access : accesses_) {
    if (access.kind == AccessKind::Read || access.kind == AccessKind::AtomicRead) continue;
    if (stored_float(*access.instruction)) {
      store(access);
    } else if (copied_from(*access.instruction)) {
      copy(access);
    }
  }
  for (Instruction* instruction : instructions) {
    if (converts_to_integer(*instruction)) convert(*instruction);
  }
}

Value* NumbersCheck::number_or_none(Value* value) const {
  Value* number = number_of(value);
  return number ? number
                : llvm::ConstantInt::get(llvm::Type::getInt32Ty(builder_.kernel().getContext()), 0);
}

void NumbersCheck::visit(Instruction& instruction) {
  if (!has_floats(*instruction.getType())) {
    if (Value* number = of_bits(instruction)) numbers_[&instruction] = number;
    return;
  }
  if (const auto found = math_calls_.find(&instruction); found != math_calls_.end()) {
    const MathCall& call = found->second;
    llvm::IRBuilder<> b(llvm::isa<llvm::PHINode>(instruction)
                            ? &*instruction.getParent()->getFirstInsertionPt()
                            : instruction.getNextNode());
    numbers_[&instruction] =
        made(b, instruction, call.operands, call.name, call.location, inherited(b, call.operands));
    return;
  }
  // Conversions there are those of the results of other types.
  if (compiler::is_inside_math(instruction.getDebugLoc()) && !only_moves(instruction) &&
      !llvm::isa<llvm::FPTruncInst>(instruction))
    return;
  if (auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction)) {
    llvm::IRBuilder<> b(phi);
    llvm::PHINode* number = b.CreatePHI(b.getInt32Ty(), phi->getNumIncomingValues());
    phis_.emplace_back(phi, number);
    numbers_[phi] = number;
  } else if (auto* read = llvm::dyn_cast<llvm::LoadInst>(&instruction)) {
    load(*read);
  } else if (lane_function(instruction) != LaneFunction::None) {
    numbers_[&instruction] = of_lanes(*checked_cast<llvm::CallInst>(&instruction));
  } else if (Value* number = of_operation(instruction)) {
    numbers_[&instruction] = number;
  }
}

// Of the bits of a float, on their way to another lane, or in a matrix, whose elements go by pairs.
Value* NumbersCheck::of_bits(Instruction& instruction) {
  switch (instruction.getOpcode()) {
    case Instruction::BitCast:
    case Instruction::ZExt:
    case Instruction::Trunc:
    case Instruction::Shl:
    case Instruction::LShr:
      return number_of(instruction.getOperand(0));
    case Instruction::Or: {
      llvm::IRBuilder<> b(instruction.getNextNode());
      return inherited(b, {instruction.getOperand(0), instruction.getOperand(1)});
    }
    default:
      break;
  }
  const LaneFunction function = lane_function(instruction);
  if (function == LaneFunction::Shuffle || function == LaneFunction::Product)
    return of_lanes(*checked_cast<llvm::CallInst>(&instruction));
  return nullptr;
}

// What the kernel has put there, or 0.
void NumbersCheck::load(llvm::LoadInst& load) {
  const auto space = static_cast<AddressSpace>(load.getPointerAddressSpace());
  if (space == AddressSpace::Constant) return;
  llvm::IRBuilder<> b(load.getNextNode());
  Value* test = in_any_element(b, is_not_finite(b, &load));
  const llvm::DataLayout& layout = builder_.kernel().getDataLayout();
  numbers_[&load] = rarely(b, test, b.getInt32(0), [&](llvm::IRBuilder<>& c) {
    return builder_.call(
        c, "metal_cpu_check_number_loaded", c.getInt32Ty(),
        {c.CreatePtrToInt(load.getPointerOperand(), c.getInt64Ty()),
         c.getInt64(layout.getTypeStoreSize(load.getType()).getFixedValue()),
         c.getInt64(layout.getTypeStoreSize(load.getType()->getScalarType()).getFixedValue())});
  });
}

// A number that is computed where the test is true, and elsewhere is this one.
Value* NumbersCheck::rarely(llvm::IRBuilder<>& b, Value* test, Value* otherwise,
                            llvm::function_ref<Value*(llvm::IRBuilder<>&)> number) {
  Instruction& rest = *b.GetInsertPoint();
  llvm::BasicBlock* before = rest.getParent();
  Instruction* then = builder_.unlikely_if(test, rest);
  llvm::IRBuilder<> c(then);
  Value* computed = number(c);
  b.SetInsertPoint(&rest);
  llvm::PHINode* phi = b.CreatePHI(b.getInt32Ty(), 2);
  phi->addIncoming(otherwise, before);
  phi->addIncoming(computed, then->getParent());
  return phi;
}

Value* NumbersCheck::inherited(llvm::IRBuilder<>& b, llvm::ArrayRef<Value*> operands) const {
  Value* number = nullptr;
  for (Value* operand : operands) {
    Value* other = number_of(operand);
    if (other) number = number ? b.CreateSelect(b.CreateIsNotNull(number), number, other) : other;
  }
  return number;
}

Value* NumbersCheck::of_operation(Instruction& instruction) {
  const llvm::SmallVector<Value*> operands = operands_of(instruction);
  llvm::IRBuilder<> b(instruction.getNextNode());
  if (auto* select = llvm::dyn_cast<llvm::SelectInst>(&instruction)) {
    Value* yes = select->getTrueValue();
    Value* no = select->getFalseValue();
    if (!number_of(yes) && !number_of(no)) return nullptr;
    if (!select->getCondition()->getType()->isVectorTy())
      return b.CreateSelect(select->getCondition(), number_or_none(yes), number_or_none(no));
  }
  Value* before = inherited(b, operands);
  if (computes(instruction) && !only_moves(instruction))
    return made(b, instruction, operands, name_of(instruction), instruction.getDebugLoc(), before);
  if (!before || !only_moves(instruction)) return nullptr;
  return b.CreateSelect(in_any_element(b, is_not_finite(b, &instruction)), before, b.getInt32(0));
}

// `b` stands behind the result.
Value* NumbersCheck::made(llvm::IRBuilder<>& b, Instruction& result,
                          llvm::ArrayRef<Value*> operands, const std::string& name,
                          const llvm::DebugLoc& location, Value* inherited) {
  llvm::Type* type = result.getType();
  Value* not_finite = is_not_finite(b, &result);
  Value* nan = is_nan(b, &result);
  Value* from_finite = not_finite;
  Value* from_numbers = nan;
  for (Value* operand : operands) {
    if (!has_floats(*operand->getType())) continue;
    from_finite = b.CreateAnd(from_finite, b.CreateNot(is_not_finite(b, operand)));
    from_numbers = b.CreateAnd(from_numbers, b.CreateNot(is_nan(b, operand)));
  }
  Value* elements = b.CreateOr(from_finite, from_numbers);
  Value* none = b.getInt32(0);
  Value* otherwise =
      inherited ? b.CreateSelect(in_any_element(b, not_finite), inherited, none) : none;
  // A NaN that infinities become comes from what made these.
  Value* known = b.CreateIsNotNull(otherwise);
  Value* test = b.CreateAnd(in_any_element(b, elements), b.CreateNot(known));

  auto one = [&](llvm::IRBuilder<>& c, Value* value) -> Value* {
    value = marked_element(c, value, elements);
    if (value->getType()->isIntegerTy()) return c.CreateSIToFP(value, c.getDoubleTy());
    return value->getType()->isDoubleTy() ? value : c.CreateFPExt(value, c.getDoubleTy());
  };
  return rarely(b, test, otherwise, [&](llvm::IRBuilder<>& c) {
    llvm::SmallVector<Value*> values;
    for (Value* operand : operands) {
      const llvm::Type* element = operand->getType()->getScalarType();
      const bool shown = operand->getType()->isVectorTy() == type->isVectorTy() &&
                         (has_floats(*element) || element->isIntegerTy());
      if (shown && values.size() < 3) values.push_back(one(c, operand));
    }
    const unsigned count = values.size();
    values.resize(3, llvm::ConstantFP::get(c.getDoubleTy(), 0));
    return builder_.call(c, "metal_cpu_check_number_made", c.getInt32Ty(),
                         {builder_.site(location, name), one(c, &result), c.getInt32(count),
                          values[0], values[1], values[2]});
  });
}

Value* NumbersCheck::of_shuffle(llvm::CallInst& call) {
  llvm::IRBuilder<> b(call.getNextNode());
  Value* own = number_of(call.getArgOperand(0));
  if (!own) return nullptr;
  Value* given = builder_.lane_call(b, "__metal_simd_shuffle_u32", b.getInt32Ty(),
                                    {own, call.getArgOperand(1)});
  if (!has_floats(*call.getType())) return given;
  return b.CreateSelect(in_any_element(b, is_not_finite(b, &call)), given, b.getInt32(0));
}

// Of values of other lanes as well. Sums overflow, too, and infinities become NaNs.
Value* NumbersCheck::of_lanes(llvm::CallInst& call) {
  const LaneFunction function = lane_function(call);
  if (function == LaneFunction::Shuffle) return of_shuffle(call);
  llvm::IRBuilder<> b(call.getNextNode());
  llvm::SmallVector<Value*> operands(call.args());
  auto largest = [&](Value* number) {
    return builder_.lane_call(b, "__metal_simd_max_u32", b.getInt32Ty(), {number});
  };
  Value* own = inherited(b, operands);
  Value* before = largest(own ? own : b.getInt32(0));
  auto any_lane_gives = [&](Value* (&is)(llvm::IRBuilder<>&, Value*)) {
    Value* gives = b.getFalse();
    for (Value* operand : operands) {
      if (has_floats(*operand->getType()))
        gives = b.CreateOr(gives, in_any_element(b, is(b, operand)));
    }
    return b.CreateIsNotNull(largest(b.CreateZExt(gives, b.getInt32Ty())));
  };
  Value* result = &call;
  if (function == LaneFunction::Product)
    result = b.CreateBitCast(&call, llvm::FixedVectorType::get(b.getFloatTy(), 2));
  Value* nans = is_nan(b, result);
  Value* elements = is_not_finite(b, result);
  Value* not_finite = in_any_element(b, elements);
  Value* from_finite = b.CreateAnd(not_finite, b.CreateNot(any_lane_gives(is_not_finite)));
  Value* from_numbers = b.CreateAnd(in_any_element(b, nans), b.CreateNot(any_lane_gives(is_nan)));
  elements = b.CreateSelect(from_finite, elements, nans);
  Value* test = b.CreateAnd(b.CreateOr(from_finite, from_numbers), b.CreateIsNull(before));
  Value* otherwise = b.CreateSelect(not_finite, before, b.getInt32(0));
  return rarely(b, test, otherwise, [&](llvm::IRBuilder<>& c) {
    Value* zero = llvm::ConstantFP::get(c.getDoubleTy(), 0);
    result = marked_element(c, result, elements);
    if (!result->getType()->isDoubleTy()) result = c.CreateFPExt(result, c.getDoubleTy());
    const llvm::StringRef full = call.getCalledFunction()->getName();
    const std::string name = function == LaneFunction::Product
                                 ? "simdgroup_multiply_accumulate"
                                 : full.drop_front(full.find("simd_")).rsplit('_').first.str();
    return builder_.call(
        c, "metal_cpu_check_number_made", c.getInt32Ty(),
        {builder_.site(call.getDebugLoc(), name), result, c.getInt32(0), zero, zero, zero});
  });
}

void NumbersCheck::store(const Access& access) {
  Value* value = stored_float(*access.instruction);
  llvm::IRBuilder<> b(access.instruction);
  Value* test = in_any_element(b, is_not_finite(b, value));
  b.SetInsertPoint(builder_.unlikely_if(test, *access.instruction));
  const uint64_t element =
      builder_.kernel().getDataLayout().getTypeStoreSize(value->getType()->getScalarType());
  const Provenance object = provenances_->of(access.written);
  builder_.call(
      b, "metal_cpu_check_number_stored", b.getVoidTy(),
      {builder_.site(access_location(*access.instruction, *access.written)), object.object,
       object.begin, b.CreatePtrToInt(access.written, b.getInt64Ty()), b.getInt64(access.bytes),
       b.getInt64(element), number_or_none(value), b.getInt1(is_device(*access.written))});
}

void NumbersCheck::copy(const Access& access) {
  Value* source = copied_from(*access.instruction);
  llvm::IRBuilder<> b(access.instruction);
  const Provenance object = provenances_->of(access.written);
  builder_.call(b, "metal_cpu_check_numbers_copied", b.getVoidTy(),
                {builder_.site(access_location(*access.instruction, *access.written)),
                 object.object, object.begin, b.CreatePtrToInt(access.written, b.getInt64Ty()),
                 b.CreatePtrToInt(source, b.getInt64Ty()), bytes_of(b, access),
                 b.getInt1(is_device(*access.written))});
}

void NumbersCheck::convert(Instruction& instruction) {
  Value* value = instruction.getOperand(0);
  Value* number = number_of(value);
  if (!number) return;
  llvm::IRBuilder<> b(&instruction);
  Value* test = b.CreateAnd(in_any_element(b, is_not_finite(b, value)), b.CreateIsNotNull(number));
  b.SetInsertPoint(builder_.unlikely_if(test, instruction));
  builder_.call(b, "metal_cpu_check_number_converted", b.getVoidTy(),
                {builder_.site(instruction.getDebugLoc()), number});
}

}  // namespace metal::cpu
