#include "metal/cpu/vectorizer/shapes/shape_transfer.h"

#include <optional>

#include "llvm/Analysis/ConstantFolding.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InstVisitor.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/internal_check.h"
#include "metal/compiler/kernel_form.h"
#include "metal/cpu/markers.h"
#include "metal/cpu/vectorizer/control/assume_coherent.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"
#include "metal/cpu/vectorizer/speculation.h"

namespace metal::cpu {
namespace {

using llvm::ConstantInt;

// Elements of one buffer cannot be farther apart: addresses of user space have 47 bits. Sums of
// such offsets do not overflow.
constexpr int64_t kAddresses = int64_t{1} << 47;

int64_t wrap(int64_t value, unsigned bits) {
  return bits >= 64 ? value : llvm::SignExtend64(static_cast<uint64_t>(value), bits);
}

// Whether the operation gives all lanes the same result.
bool is_uniform_call(llvm::StringRef name) {
  if (name == kAnyLane || name == kAllLanes || name == kAllRun || name == kNever) return true;
  if (!name.consume_front(compiler::kRuntimePrefix)) return false;
  for (const char* prefix : {"simd_sum_", "simd_product_", "simd_min_", "simd_max_", "simd_and_",
                             "simd_or_", "simd_xor_", "simd_ballot", "simd_active_mask"}) {
    if (name.starts_with(prefix)) return true;
  }
  return false;
}

class ShapeTransfer : public llvm::InstVisitor<ShapeTransfer, Shape> {
 public:
  ShapeTransfer(unsigned width, bool guarded, ShapeOf shape_of)
      : width_(width), guarded_(guarded), shape_of_(shape_of) {}

  // The default: the result is uniform if all operands are, otherwise varying.
  Shape visitInstruction(llvm::Instruction& instruction) {
    bool undefined = false;
    for (const llvm::Value* operand : instruction.operands()) {
      if (llvm::isa<llvm::BasicBlock>(operand)) continue;
      const Shape shape = shape_of_(operand);
      if (!shape.is_undefined() && !shape.is_uniform()) return Shape::varying();
      undefined |= shape.is_undefined();
    }
    return undefined ? Shape::undefined() : Shape::uniform();
  }

  Shape visitBinaryOperator(llvm::BinaryOperator& operation) {
    const Shape a = shape_of_(operation.getOperand(0));
    const Shape b = shape_of_(operation.getOperand(1));
    if (grows_by_stride(operation, a, b)) return Shape::strided();
    if (a == Shape::varying() || b == Shape::varying()) return Shape::varying();
    if (a.is_undefined() || b.is_undefined()) return Shape::undefined();
    if (a.is_strided() || b.is_strided()) return Shape::varying();
    if (!operation.getType()->isIntegerTy()) return visitInstruction(operation);
    if (const auto known = fold(operation)) return *known;
    const unsigned bits = operation.getType()->getIntegerBitWidth();
    const auto* constant = llvm::dyn_cast<ConstantInt>(operation.getOperand(1));
    switch (operation.getOpcode()) {
      case llvm::Instruction::Add:
        return combine(a, b, bits, 1, flags(operation));
      case llvm::Instruction::Sub:
        return combine(a, b, bits, -1, flags(operation));
      case llvm::Instruction::Mul:
        return multiply(operation, a, b, bits);
      case llvm::Instruction::Shl:
        if (constant && constant->getValue().ult(bits)) {
          const unsigned shift = static_cast<unsigned>(constant->getZExtValue());
          const bool is_factor = shift < std::min(bits - 1, 62u);  // as a positive integer
          return scale(a, int64_t{1} << shift, shift, bits,
                       is_factor ? flags(operation) : Shape::NoWrap{});
        }
        break;
      case llvm::Instruction::Or:
      case llvm::Instruction::LShr:
      case llvm::Instruction::And:
      case llvm::Instruction::Xor:
        if (constant && bits <= 64 && a.exact() && !a.is_uniform())
          return low_bits(operation.getOpcode(), a, constant->getZExtValue(), bits);
        break;
      default:
        break;
    }
    Shape shape = visitInstruction(operation);
    if (shape.is_uniform() && constant && operation.getOpcode() == llvm::Instruction::And)
      return Shape::uniform(constant->getValue().countr_zero());
    return shape;
  }

  // If both operands grow alike, the comparison has one result.
  Shape visitICmpInst(llvm::ICmpInst& compare) {
    const Shape a = shape_of_(compare.getOperand(0));
    const Shape b = shape_of_(compare.getOperand(1));
    if (grow_alike(compare, a, b)) return Shape::uniform();
    if (a.is_uniform())
      return is_one_side(compare.getSwappedPredicate(), b, *compare.getOperand(0), a)
                 ? Shape::uniform()
                 : visitInstruction(compare);
    if (b.is_uniform() && is_one_side(compare.getPredicate(), a, *compare.getOperand(1), b))
      return Shape::uniform();
    return visitInstruction(compare);
  }

  Shape visitGetElementPtrInst(llvm::GetElementPtrInst& address) {
    Shape total = shape_of_(address.getPointerOperand());
    if (moves_by_stride(address)) return Shape::strided();
    const llvm::DataLayout& layout = address.getModule()->getDataLayout();
    for (auto item = llvm::gep_type_begin(address); item != llvm::gep_type_end(address); ++item) {
      if (item.getStructTypeOrNull()) continue;
      const Shape index = index_shape(item.getOperand(), address.getPointerOperand());
      if (total == Shape::varying() || index == Shape::varying()) return Shape::varying();
      if (total.is_undefined() || index.is_undefined()) return Shape::undefined();
      if (total.is_strided() || index.is_strided()) return Shape::varying();
      const auto size = static_cast<int64_t>(item.getSequentialElementStride(layout));
      total = combine(total, scale(index, size, 0, 64, {}), 64, 1, {});
    }
    return total.is_within(kAddresses) ? total : Shape::varying();
  }

  Shape visitCastInst(llvm::CastInst& cast) {
    const Shape shape = shape_of_(cast.getOperand(0));
    if (shape.is_strided()) {
      const bool keeps_step = llvm::isa<llvm::TruncInst, llvm::AddrSpaceCastInst>(cast);
      return keeps_step ? shape : Shape::varying();
    }
    if (shape.is_undefined() || shape.is_varying() || shape.is_uniform()) {
      return shape.is_uniform() && cast.getOpcode() != llvm::Instruction::ZExt ? Shape::uniform()
                                                                               : shape;
    }
    if (const auto known = fold(cast)) return *known;
    const unsigned from = cast.getSrcTy()->getScalarSizeInBits();
    const bool widens = cast.getDestTy()->getScalarSizeInBits() > from;
    switch (cast.getOpcode()) {
      case llvm::Instruction::Trunc: {
        Shape::Offsets offsets = shape.offsets();
        for (int64_t& offset : offsets)
          offset = wrap(offset, cast.getDestTy()->getScalarSizeInBits());
        return Shape::with_offsets(std::move(offsets), shape.zero_bits(), shape.exact(), {});
      }
      case llvm::Instruction::ZExt: {
        if (from == 1) return Shape::varying();
        const bool fits = shape.no_wrap().as_unsigned;
        return Shape::with_offsets(shape.offsets(), shape.zero_bits(), shape.exact() && fits,
                                   {fits, fits});
      }
      case llvm::Instruction::SExt: {
        if (from == 1) return Shape::varying();
        const bool fits = shape.no_wrap().as_signed;
        return Shape::with_offsets(shape.offsets(), shape.zero_bits(), shape.exact() && fits,
                                   {false, fits});
      }
      case llvm::Instruction::PtrToInt:
      case llvm::Instruction::IntToPtr:
        return widens ? Shape::varying() : shape;
      case llvm::Instruction::AddrSpaceCast:
        return shape;
      case llvm::Instruction::BitCast:
        return cast.getSrcTy() == cast.getDestTy() ? shape : Shape::varying();
      default:
        return Shape::varying();
    }
  }

  Shape visitFreezeInst(llvm::FreezeInst& freeze) { return shape_of_(freeze.getOperand(0)); }

  Shape visitSelectInst(llvm::SelectInst& select) {
    const Shape condition = shape_of_(select.getCondition());
    if (condition.is_undefined()) return condition;
    const Shape either = shape_of_(select.getTrueValue()).join(shape_of_(select.getFalseValue()));
    if (condition.is_uniform()) return either;
    if (!either.is_strided() && select.getTrueValue() == select.getFalseValue()) return either;
    return Shape::varying();
  }

  // A load from a uniform address is uniform. Lanes' copies of a private variable are at different
  // addresses.
  Shape visitLoadInst(llvm::LoadInst& load) { return visitInstruction(load); }

  // There is one alloca for the gang. The index of a lane's copy is part of the address.
  Shape visitAllocaInst(llvm::AllocaInst&) { return Shape::uniform(); }

  Shape visitAtomicRMWInst(llvm::AtomicRMWInst&) { return Shape::varying(); }
  Shape visitAtomicCmpXchgInst(llvm::AtomicCmpXchgInst&) { return Shape::varying(); }

  Shape visitCallInst(llvm::CallInst& call) {
    const llvm::Function* callee = call.getCalledFunction();
    if (callee && is_uniform_call(callee->getName())) return Shape::uniform();
    if (callee && callee->getName().starts_with(compiler::kRuntimePrefix)) {
      // A value from one lane is the same in all lanes. The zero bits of the lane number say
      // nothing about it.
      if (!callee->getName().contains("simd_shuffle")) return Shape::varying();
      const Shape source = shape_of_(call.getArgOperand(1));
      if (source.is_uniform()) return Shape::uniform();
      return source.is_undefined() ? source : Shape::varying();
    }
    if (callee && llvm::is_contained({kCoherentZExt, kCoherentSExt}, callee->getName()))
      return extended(shape_of_(call.getArgOperand(0)));
    if (const auto division = callee ? coherent_division(callee->getName()) : std::nullopt) {
      return coherent(call,
                      *division == llvm::Instruction::URem || *division == llvm::Instruction::SRem);
    }
    bool undefined = false;
    for (const llvm::Value* operand : call.args()) {
      const Shape shape = shape_of_(operand);
      if (!shape.is_undefined() && !shape.is_uniform()) return Shape::varying();
      undefined |= shape.is_undefined();
    }
    return undefined ? Shape::undefined() : Shape::uniform();
  }

 private:
  using Constants = std::vector<llvm::Constant*>;  // by lane

  // The values of all lanes, if the code generator knows them: constants, offsets from a lane 0
  // whose bits are all zero, such as lane numbers, and what is computed from these.
  std::optional<Constants> constants(const llvm::Value* value) {
    auto* type = llvm::dyn_cast<llvm::IntegerType>(value->getType());
    if (!type || type->getBitWidth() == 1 || type->getBitWidth() > 64) return std::nullopt;
    if (llvm::isa<ConstantInt>(value))
      return Constants(width_, const_cast<ConstantInt*>(checked_cast<ConstantInt>(value)));
    const Shape shape = shape_of_(value);
    if (!shape.has_offsets() || !shape.exact()) return std::nullopt;
    if (shape.zero_bits() < type->getBitWidth()) {
      const auto* operation = llvm::dyn_cast<llvm::Instruction>(value);
      return operation ? folded(*operation) : std::nullopt;
    }
    Constants values;
    for (unsigned lane = 0; lane < width_; ++lane)
      values.push_back(ConstantInt::getSigned(type, shape.offset(lane)));
    return values;
  }

  std::optional<Shape> fold(llvm::Instruction& instruction) {
    const auto values = folded(instruction);
    return values ? shape_of_values(*values) : std::nullopt;
  }

  // Folds integer operations on such values.
  std::optional<Constants> folded(const llvm::Instruction& instruction) {
    if (!llvm::isa<llvm::BinaryOperator, llvm::CastInst>(instruction) || depth_ == kMostDepth)
      return std::nullopt;
    ++depth_;
    auto values = fold_lanes(instruction);
    --depth_;
    return values;
  }

  std::optional<Constants> fold_lanes(const llvm::Instruction& instruction) {
    llvm::SmallVector<Constants, 2> operands;
    for (const llvm::Value* operand : instruction.operands()) {
      auto values = constants(operand);
      if (!values) return std::nullopt;
      operands.push_back(std::move(*values));
    }
    const llvm::DataLayout& layout = instruction.getModule()->getDataLayout();
    Constants results;
    for (unsigned lane = 0; lane < width_; ++lane) {
      llvm::SmallVector<llvm::Constant*, 2> of_lane;
      for (const Constants& values : operands) of_lane.push_back(values[lane]);
      auto* result = llvm::dyn_cast_or_null<ConstantInt>(llvm::ConstantFoldInstOperands(
          const_cast<llvm::Instruction*>(&instruction), of_lane, layout));
      if (!result) return std::nullopt;
      results.push_back(result);
    }
    return results;
  }

  static std::optional<Shape> shape_of_values(const Constants& constants) {
    std::vector<llvm::APInt> values;
    for (const llvm::Constant* constant : constants)
      values.push_back(checked_cast<ConstantInt>(constant)->getValue());
    const llvm::APInt& first = values.front();
    if (first.getBitWidth() > 64) return std::nullopt;
    Shape::Offsets offsets;
    bool as_unsigned = true;
    for (const llvm::APInt& value : values) {
      bool overflows = false;
      offsets.push_back(value.ssub_ov(first, overflows).getSExtValue());
      if (overflows) return std::nullopt;
      as_unsigned &= value.uge(first) == (offsets.back() >= 0);
    }
    return Shape::with_offsets(std::move(offsets), first.countr_zero(), true, {as_unsigned, true});
  }

  // Whether all lanes of `a` are on one side of a uniform limit: they are within one aligned block,
  // and the limit is a multiple of the block's size. Blocks of up to half of all numbers are also
  // consecutive as signed numbers.
  static bool is_one_side(llvm::CmpInst::Predicate predicate, const Shape& a,
                          const llvm::Value& limit, const Shape& limit_shape) {
    if (!a.has_offsets() || a.is_uniform() || !a.exact()) return false;
    unsigned zeros = limit_shape.zero_bits();
    switch (predicate) {
      case llvm::CmpInst::ICMP_ULT:
      case llvm::CmpInst::ICMP_UGE:
      case llvm::CmpInst::ICMP_SLT:
      case llvm::CmpInst::ICMP_SGE:
        break;
      case llvm::CmpInst::ICMP_UGT:
      case llvm::CmpInst::ICMP_ULE:
      case llvm::CmpInst::ICMP_SGT:
      case llvm::CmpInst::ICMP_SLE: {
        const auto* constant = llvm::dyn_cast<ConstantInt>(&limit);
        if (!constant) return false;
        zeros = (constant->getValue() + 1).countr_zero();
        break;
      }
      default:
        return false;
    }
    const unsigned bits = limit.getType()->getScalarSizeInBits();
    if (llvm::CmpInst::isSigned(predicate)) zeros = std::min(zeros, bits - 1);
    const int64_t range = int64_t{1} << std::min({zeros, a.zero_bits(), 32u});
    return llvm::all_of(a.offsets(),
                        [range](int64_t offset) { return offset >= 0 && offset < range; });
  }

  // Whether each lane adds the same to both operands, without wrapping around where that matters.
  static bool grow_alike(const llvm::ICmpInst& compare, const Shape& a, const Shape& b) {
    if (!a.has_offsets() || !b.has_offsets() || a.offsets() != b.offsets()) return false;
    const Shape::NoWrap no_wrap = a.no_wrap() & b.no_wrap();
    return a.exact() && b.exact() &&
           (compare.isEquality() || (compare.isSigned() ? no_wrap.as_signed : no_wrap.as_unsigned));
  }

  Shape::NoWrap flags(const llvm::BinaryOperator& operation) const {
    if (guarded_) return {};
    return {operation.hasNoUnsignedWrap(), operation.hasNoSignedWrap()};
  }

  // If 32-bit indices that grow from lane to lane wrap around, the lanes after that have negative
  // indices. Those point before the start of a buffer, so such lanes cannot run.
  Shape index_shape(const llvm::Value* index, const llvm::Value* base) {
    const Shape shape = shape_of_(index);
    const auto* extension = llvm::dyn_cast<llvm::SExtInst>(index);
    if (!extension || !shape.has_offsets() || shape.exact()) return shape;
    const bool rises = llvm::all_of(
        shape.offsets(), [](int64_t offset) { return offset >= 0 && offset < kLongestRise; });
    const bool grows = rises && extension->getSrcTy()->isIntegerTy(32) &&
                       shape_of_(extension->getOperand(0)).exact() && is_buffer_start(base);
    return grows ? shape.as_exact() : shape;
  }

  // Whether the operation keeps strides: a sum of strided values, or the product of one and a
  // uniform value. An undefined operand may still get a shape.
  static bool grows_by_stride(const llvm::BinaryOperator& operation, const Shape& a,
                              const Shape& b) {
    if (!operation.getType()->isIntegerTy() || !a.has_stride() || !b.has_stride()) return false;
    const bool strided = a.is_strided() || b.is_strided();
    switch (operation.getOpcode()) {
      case llvm::Instruction::Add:
      case llvm::Instruction::Sub:
        return strided;
      case llvm::Instruction::Mul:
        if (a.is_uniform() == b.is_uniform()) return false;
        return strided || !llvm::isa<llvm::Constant>(operation.getOperand(a.is_uniform() ? 0 : 1));
      case llvm::Instruction::Shl:
        return a.is_strided() && b.is_uniform();
      default:
        return false;
    }
  }

  bool moves_by_stride(llvm::GetElementPtrInst& address) {
    bool strided = false;
    for (const llvm::Value* operand : address.operands()) {
      const Shape shape = shape_of_(operand);
      if (!shape.has_stride()) return false;
      const bool is_short =
          operand->getType()->isIntegerTy() && operand->getType()->getIntegerBitWidth() < 64;
      if (is_short && !shape.is_uniform()) return false;
      strided |= shape.is_strided();
    }
    return strided;
  }

  // The shape after an extension to 64 bits, assuming that no lane wraps around before.
  static Shape extended(const Shape& shape) {
    if (!shape.has_offsets()) return shape;
    return shape.has_stride() ? Shape::with_offsets(shape.offsets(), 0, true, {true, true})
                              : Shape::varying();
  }

  // If all lanes have one quotient, remainders have the offsets of the dividends.
  Shape coherent(llvm::CallInst& call, bool remainder) {
    const Shape dividend = shape_of_(call.getArgOperand(0));
    const Shape divisor = shape_of_(call.getArgOperand(1));
    if (dividend.is_undefined() || divisor.is_undefined()) return Shape::undefined();
    if (!dividend.has_offsets() || !dividend.exact() || !divisor.is_uniform())
      return Shape::varying();
    return remainder ? Shape::with_offsets(dividend.offsets(), 0, true, {true, true})
                     : Shape::uniform();
  }

  // a + sign * b
  Shape combine(const Shape& a, const Shape& b, unsigned bits, int64_t sign, Shape::NoWrap flags) {
    const unsigned zeros = std::min(a.zero_bits(), b.zero_bits());
    if (a.is_uniform() && b.is_uniform()) return Shape::uniform(zeros);
    Shape::Offsets offsets(width_);
    for (unsigned lane = 0; lane < width_; ++lane) {
      int64_t offset;
      const bool overflows = sign < 0
                                 ? __builtin_sub_overflow(a.offset(lane), b.offset(lane), &offset)
                                 : __builtin_add_overflow(a.offset(lane), b.offset(lane), &offset);
      offsets[lane] = wrap(offset, bits);
      if (overflows || offsets[lane] != offset) flags = {};
    }
    return Shape::with_offsets(std::move(offsets), zeros, a.exact() && b.exact(),
                               flags & a.no_wrap() & b.no_wrap());
  }

  Shape scale(const Shape& a, int64_t factor, unsigned extra_zeros, unsigned bits,
              Shape::NoWrap flags) {
    const unsigned zeros = std::min(a.zero_bits() + extra_zeros, bits);
    if (a.is_uniform()) return Shape::uniform(zeros);
    Shape::Offsets offsets(width_);
    for (unsigned lane = 0; lane < width_; ++lane) {
      int64_t offset;
      const bool overflows = __builtin_mul_overflow(a.offset(lane), factor, &offset);
      offsets[lane] = wrap(offset, bits);
      if (overflows || offsets[lane] != offset) flags = {};
    }
    return Shape::with_offsets(std::move(offsets), zeros, a.exact(), flags & a.no_wrap());
  }

  Shape multiply(llvm::BinaryOperator& product, const Shape& a, const Shape& b, unsigned bits) {
    const unsigned zeros = std::min(a.zero_bits() + b.zero_bits(), bits);
    if (a.is_uniform() && b.is_uniform()) return Shape::uniform(zeros);
    for (const auto& [constant, other] :
         {std::pair(product.getOperand(1), &a), std::pair(product.getOperand(0), &b)}) {
      const auto* factor = llvm::dyn_cast<ConstantInt>(constant);
      if (!factor || bits > 64) continue;
      // A factor that is negative as a signed integer is large as an unsigned one.
      Shape::NoWrap no_wrap = flags(product);
      no_wrap.as_unsigned &= !factor->isNegative();
      return scale(*other, factor->getSExtValue(), factor->getValue().countr_zero(), bits, no_wrap);
    }
    return Shape::varying();
  }

  // A bitwise operation, if lane 0's value ends in zeros and the other lanes differ in just these
  // bits: nothing carries.
  Shape low_bits(unsigned opcode, const Shape& a, uint64_t constant, unsigned bits) {
    const unsigned zeros = std::min(a.zero_bits(), 32u);
    const int64_t limit = int64_t{1} << zeros;
    for (int64_t offset : a.offsets()) {
      if (offset < 0 || offset >= limit) return Shape::varying();
    }
    Shape::Offsets offsets = a.offsets();
    unsigned known_zeros = zeros;
    const uint64_t low = constant & static_cast<uint64_t>(limit - 1);
    for (int64_t& offset : offsets) {
      const auto value = static_cast<uint64_t>(offset);
      switch (opcode) {
        case llvm::Instruction::LShr:
          offset = constant >= 64 ? 0 : static_cast<int64_t>(value >> constant);
          break;
        case llvm::Instruction::And:
          offset = static_cast<int64_t>(value & low);
          break;
        case llvm::Instruction::Or:
          offset = static_cast<int64_t>(value | low);
          break;
        case llvm::Instruction::Xor:
          offset = static_cast<int64_t>(value ^ low);
          break;
        default:
          internal_error(std::string("not an operation on bits: ") +
                         llvm::Instruction::getOpcodeName(opcode));
      }
    }
    if (opcode == llvm::Instruction::And && constant == low) {
      known_zeros = bits;  // of lane 0's value
    } else if (opcode == llvm::Instruction::LShr) {
      known_zeros = constant >= zeros ? 0 : zeros - static_cast<unsigned>(constant);
    } else if (opcode != llvm::Instruction::And && low) {
      known_zeros = static_cast<unsigned>(std::countr_zero(low));
    }
    // Offsets that only fill the low zeros of lane 0's value do not wrap around.
    const bool no_wrap = opcode == llvm::Instruction::LShr || opcode == llvm::Instruction::And;
    for (int64_t& offset : offsets) offset = wrap(offset, bits);
    return Shape::with_offsets(std::move(offsets), known_zeros, true, {no_wrap, no_wrap});
  }

  static constexpr int64_t kLongestRise = int64_t{1} << 30;  // indices wrap around once at most

  static constexpr unsigned kMostDepth = 8;  // of operations that are folded at once

  unsigned width_;
  bool guarded_;
  unsigned depth_ = 0;
  ShapeOf shape_of_;
};

}  // namespace

Shape result_shape(const llvm::Instruction& instruction, unsigned width, bool guarded,
                   ShapeOf shape_of) {
  return ShapeTransfer(width, guarded, shape_of).visit(const_cast<llvm::Instruction&>(instruction));
}

}  // namespace metal::cpu
