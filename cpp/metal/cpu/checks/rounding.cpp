#include "metal/cpu/checks/rounding.h"

#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/math_calls.h"
#include "metal/cpu/checks/exact_math.h"
#include "metal/cpu/checks/matrix_elements.h"
#include "metal/cpu/checks/number_tests.h"
#include "metal/cpu/checks/undefined_flow.h"

namespace metal::cpu {
namespace {

using llvm::Instruction;
using llvm::Value;

llvm::Type* exact_type(llvm::Type* type) {
  return type->getWithNewType(llvm::Type::getDoubleTy(type->getContext()));
}

// A function without steps, which LLVM has for all types of floats.
bool is_continuous(const llvm::IntrinsicInst& call) {
  switch (call.getIntrinsicID()) {
    case llvm::Intrinsic::sqrt:
    case llvm::Intrinsic::fma:
    case llvm::Intrinsic::fmuladd:
      return true;
    default:
      return only_moves(call);
  }
}

// Algorithms of the math library round numbers to integers by sums, which float64 would not.
bool is_followed(const Instruction& instruction) {
  const llvm::DILocation* location = instruction.getDebugLoc();
  if (!compiler::is_inside_math(location) || only_moves(instruction)) return true;
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&instruction);
  return llvm::isa<llvm::FPTruncInst>(instruction) ||
         (intrinsic && intrinsic->getIntrinsicID() == llvm::Intrinsic::fma &&
          !compiler::is_inside_math(location->getInlinedAt()));
}

// A result of 16 bits may be stored as a float.
ResultFormat format_of(const Value& value) {
  const auto* extended = llvm::dyn_cast<llvm::FPExtInst>(&value);
  const llvm::Type* type =
      (extended ? extended->getOperand(0) : &value)->getType()->getScalarType();
  return type->isHalfTy()     ? ResultFormat::Half
         : type->isBFloatTy() ? ResultFormat::BFloat
                              : ResultFormat::None;
}

uint64_t elements_of(const llvm::Type& type) {
  const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(&type);
  return vector ? vector->getNumElements() : 1;
}

Value* element(llvm::IRBuilder<>& b, Value* value, uint64_t number) {
  return value->getType()->isVectorTy() ? b.CreateExtractElement(value, number) : value;
}

}  // namespace

RoundingCheck::RoundingCheck(CheckBuilder& builder, const std::vector<Access>& accesses,
                             const MathCalls& math_calls)
    : builder_(builder), accesses_(accesses), math_calls_(math_calls), order_(builder.kernel()) {}

void RoundingCheck::report(Provenances& provenances) {
  for (Instruction* instruction : order_.left()) visit(*instruction);
  for (auto& [phi, exact_phi] : phis_) {
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i) {
      llvm::BasicBlock* block = phi->getIncomingBlock(i);
      llvm::IRBuilder<> b(block->getTerminator());
      const int before = exact_phi->getBasicBlockIndex(block);  // of a switch's other edge
      exact_phi->addIncoming(
          before >= 0 ? exact_phi->getIncomingValue(before) : exact(b, phi->getIncomingValue(i)),
          block);
    }
  }
  for (const Access& access : accesses_) {
    if (access.kind != AccessKind::Write) continue;
    if (stored_float(*access.instruction)) {
      store(access, provenances);
    } else if (copied_from(*access.instruction)) {
      copy(access);
    }
  }
}

Value* RoundingCheck::exact(llvm::IRBuilder<>& b, Value* value) const {
  if (Value* known = exact_.lookup(value)) return known;
  return b.CreateFPExt(value, exact_type(value->getType()));
}

void RoundingCheck::visit(Instruction& instruction) {
  if (!has_floats(*instruction.getType())) return visit_bits(instruction);
  const auto call = math_calls_.find(&instruction);
  const MathCall* math = call != math_calls_.end() ? &call->second : nullptr;
  if (math && !has_exact_math(math->name, math->operands.size())) math = nullptr;
  if (!math && !is_followed(instruction)) return;
  auto* phi = llvm::dyn_cast<llvm::PHINode>(&instruction);
  if (phi && !math) {
    llvm::IRBuilder<> b(phi);
    llvm::PHINode* exact_phi = b.CreatePHI(exact_type(phi->getType()), phi->getNumIncomingValues());
    phis_.emplace_back(phi, exact_phi);
    exact_[phi] = exact_phi;
    return;
  }
  llvm::IRBuilder<> b(phi ? &*phi->getParent()->getFirstInsertionPt() : instruction.getNextNode());
  Value* found = math ? of_math(b, *math) : of_operation(b, instruction);
  if (found) exact_[&instruction] = found;
}

// The bits of a float may be on their way to another lane, or into a matrix.
void RoundingCheck::visit_bits(Instruction& instruction) {
  if (instruction.getNumOperands() == 0) return;
  Value* operand = instruction.getOperand(0);
  Bits result{};
  if (lane_function(instruction) == LaneFunction::Product) {
    llvm::IRBuilder<> b(instruction.getNextNode());
    result = of_product(b, *checked_cast<llvm::CallInst>(&instruction));
  } else if (llvm::isa<llvm::BitCastInst>(instruction) && exact_.contains(operand) &&
             !operand->getType()->isVectorTy()) {
    result = {exact_.lookup(operand), nullptr, operand->getType()};
  } else if (instruction.getOpcode() == Instruction::Or) {
    const Bits one = bits_.lookup(operand);
    const Bits other = bits_.lookup(instruction.getOperand(1));
    result = {one.exact ? one.exact : other.exact, one.high ? one.high : other.high,
              one.type ? one.type : other.type};
  } else if (const auto found = bits_.find(operand); found != bits_.end()) {
    result = of_bits(instruction, Bits(found->second));
  }
  if (result.exact || result.high) bits_[&instruction] = result;
}

// Of an instruction whose first operand has these bits.
RoundingCheck::Bits RoundingCheck::of_bits(Instruction& instruction, const Bits& bits) {
  switch (instruction.getOpcode()) {
    case Instruction::ZExt:
    case Instruction::Trunc:
      return bits;
    case Instruction::Shl:
    case Instruction::LShr: {
      const auto* shift = llvm::dyn_cast<llvm::ConstantInt>(instruction.getOperand(1));
      if (!shift || shift->getZExtValue() != bits.type->getPrimitiveSizeInBits()) return {};
      const bool to_high = instruction.getOpcode() == Instruction::Shl;
      return {to_high ? nullptr : bits.high, to_high ? bits.exact : nullptr, bits.type};
    }
    default:
      break;
  }
  if (lane_function(instruction) != LaneFunction::Shuffle || !bits.exact) return {};
  llvm::IRBuilder<> b(instruction.getNextNode());
  return {shuffled(b, bits.exact, instruction.getOperand(1)), nullptr, bits.type};
}

// The lane's elements of a * b + c, for which it needs elements of other lanes.
RoundingCheck::Bits RoundingCheck::of_product(llvm::IRBuilder<>& b, llvm::CallInst& call) {
  Value* lane = b.CreateAnd(builder_.thread(), 31);
  Value* row = row_of_lane(b, lane);
  Value* column = column_of_lane(b, lane);
  Value* elements[6];  // two of each matrix
  for (unsigned i = 0; i < 6; ++i) elements[i] = exact(b, call.getArgOperand(i));
  Value* sums[2] = {elements[4], elements[5]};
  for (unsigned k = 0; k < 8; ++k) {
    Value* a = shuffled(b, elements[k % 2], lane_of_element(b, row, b.getInt32(k)));
    Value* of_b = lane_of_element(b, b.getInt32(k), column);
    for (unsigned i = 0; i < 2; ++i)
      sums[i] = b.CreateFAdd(sums[i], b.CreateFMul(a, shuffled(b, elements[2 + i], of_b)));
  }
  return {sums[0], sums[1], b.getFloatTy()};
}

Value* RoundingCheck::of_operation(llvm::IRBuilder<>& b, Instruction& instruction) {
  auto operand = [&](unsigned number) { return exact(b, instruction.getOperand(number)); };
  switch (instruction.getOpcode()) {
    case Instruction::FNeg:
      return b.CreateFNeg(operand(0));
    case Instruction::FAdd:
    case Instruction::FSub:
    case Instruction::FMul:
    case Instruction::FDiv:
      return b.CreateBinOp(static_cast<Instruction::BinaryOps>(instruction.getOpcode()), operand(0),
                           operand(1));
    case Instruction::FPTrunc:
    case Instruction::FPExt:
    case Instruction::Freeze:
      return exact_.lookup(instruction.getOperand(0));
    case Instruction::SIToFP:
      return b.CreateSIToFP(instruction.getOperand(0), exact_type(instruction.getType()));
    case Instruction::UIToFP:
      return b.CreateUIToFP(instruction.getOperand(0), exact_type(instruction.getType()));
    case Instruction::Select:
      return b.CreateSelect(instruction.getOperand(0), operand(1), operand(2));
    case Instruction::ExtractElement:
      return b.CreateExtractElement(operand(0), instruction.getOperand(1));
    case Instruction::InsertElement:
      return b.CreateInsertElement(operand(0), operand(1), instruction.getOperand(2));
    case Instruction::ShuffleVector:
      return b.CreateShuffleVector(
          operand(0), operand(1),
          checked_cast<llvm::ShuffleVectorInst>(&instruction)->getShuffleMask());
    case Instruction::BitCast: {
      const auto bits = bits_.find(instruction.getOperand(0));
      const bool same = bits != bits_.end() && bits->second.type == instruction.getType();
      return same ? bits->second.exact : nullptr;
    }
    case Instruction::Load:
      return loaded(b, *checked_cast<llvm::LoadInst>(&instruction));
    case Instruction::Call:
      return of_call(b, *checked_cast<llvm::CallInst>(&instruction));
    default:
      return nullptr;
  }
}

Value* RoundingCheck::of_call(llvm::IRBuilder<>& b, llvm::CallInst& call) {
  if (lane_function(call) != LaneFunction::None) return of_lanes(b, call);
  const auto* intrinsic = llvm::dyn_cast<llvm::IntrinsicInst>(&call);
  if (!intrinsic || !is_continuous(*intrinsic)) return nullptr;
  llvm::SmallVector<Value*> operands;
  for (Value* operand : call.args()) operands.push_back(exact(b, operand));
  return b.CreateIntrinsic(intrinsic->getIntrinsicID(), {exact_type(call.getType())}, operands);
}

Value* RoundingCheck::of_math(llvm::IRBuilder<>& b, const MathCall& call) {
  llvm::SmallVector<Value*, 3> operands;
  for (Value* operand : call.operands) operands.push_back(exact(b, operand));
  const auto count = static_cast<uint32_t>(operands.size());
  operands.resize(3, llvm::ConstantFP::get(b.getDoubleTy(), 0));
  return builder_.call(b, "metal_cpu_check_exact_math", b.getDoubleTy(),
                       {builder_.site(call.location, call.name), b.getInt32(count), operands[0],
                        operands[1], operands[2]});
}

Value* RoundingCheck::of_lanes(llvm::IRBuilder<>& b, llvm::CallInst& call) {
  switch (lane_function(call)) {
    case LaneFunction::Shuffle:
      return shuffled(b, exact(b, call.getArgOperand(0)), call.getArgOperand(1));
    case LaneFunction::Reduction:
    case LaneFunction::Prefix:
    case LaneFunction::ExclusivePrefix: {
      // In float32, for which there are such functions.
      const llvm::StringRef name = call.getCalledFunction()->getName().rsplit('_').first;
      Value* operand = b.CreateFPTrunc(exact(b, call.getArgOperand(0)), b.getFloatTy());
      Value* sum = builder_.lane_call(b, (name + "_f32").str(), b.getFloatTy(), {operand});
      return b.CreateFPExt(sum, b.getDoubleTy());
    }
    default:
      return nullptr;
  }
}

Value* RoundingCheck::shuffled(llvm::IRBuilder<>& b, Value* exact, Value* lane) {
  Value* bits = builder_.lane_call(b, "__metal_simd_shuffle_u64", b.getInt64Ty(),
                                   {b.CreateBitCast(exact, b.getInt64Ty()), lane});
  return b.CreateBitCast(bits, b.getDoubleTy());
}

// What the kernel has put there, or what is there.
Value* RoundingCheck::loaded(llvm::IRBuilder<>& b, llvm::LoadInst& load) {
  const auto space = static_cast<AddressSpace>(load.getPointerAddressSpace());
  if (space == AddressSpace::Constant) return nullptr;
  const uint64_t bytes =
      builder_.kernel().getDataLayout().getTypeStoreSize(load.getType()->getScalarType());
  Value* begin = b.CreatePtrToInt(load.getPointerOperand(), b.getInt64Ty());
  Value* real = b.CreateFPExt(&load, exact_type(load.getType()));
  Value* result = real;
  for (uint64_t i = 0; i < elements_of(*load.getType()); ++i) {
    Value* one = builder_.call(b, "metal_cpu_check_exact_loaded", b.getDoubleTy(),
                               {b.CreateAdd(begin, b.getInt64(i * bytes)), element(b, real, i)});
    result = load.getType()->isVectorTy() ? b.CreateInsertElement(result, one, i) : one;
  }
  return result;
}

void RoundingCheck::store(const Access& access, Provenances& provenances) {
  Value* value = stored_float(*access.instruction);
  llvm::IRBuilder<> b(access.instruction);
  const uint64_t bytes =
      builder_.kernel().getDataLayout().getTypeStoreSize(value->getType()->getScalarType());
  const ResultFormat format = is_device(*access.written) ? format_of(*value) : ResultFormat::None;
  const Provenance object = provenances.of(access.written);
  Value* address = b.CreatePtrToInt(access.written, b.getInt64Ty());
  Value* real = b.CreateFPExt(value, exact_type(value->getType()));
  Value* wanted = exact(b, value);
  for (uint64_t i = 0; i < elements_of(*value->getType()); ++i) {
    builder_.call(
        b, "metal_cpu_check_exact_stored", b.getVoidTy(),
        {builder_.site(access_location(*access.instruction, *access.written)), object.object,
         object.begin, b.CreateAdd(address, b.getInt64(i * bytes)), element(b, real, i),
         element(b, wanted, i), b.getInt32(static_cast<uint32_t>(format))});
  }
}

void RoundingCheck::copy(const Access& access) {
  llvm::IRBuilder<> b(access.instruction);
  builder_.call(
      b, "metal_cpu_check_exact_copied", b.getVoidTy(),
      {b.CreatePtrToInt(access.written, b.getInt64Ty()),
       b.CreatePtrToInt(copied_from(*access.instruction), b.getInt64Ty()), bytes_of(b, access)});
}

}  // namespace metal::cpu
