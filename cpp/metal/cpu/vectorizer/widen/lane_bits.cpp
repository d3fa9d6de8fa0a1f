#include "metal/cpu/vectorizer/widen/lane_bits.h"

#include "llvm/IR/PatternMatch.h"
#include "metal/cpu/vectorizer/control/comparisons.h"

namespace metal::cpu {
namespace {

using llvm::ICmpInst;
using llvm::Instruction;
using llvm::Value;
using Order = LaneBits::Order;

// Lane 0's integer, or its address as an integer.
Value* first_number(Widener& w, Value* value) {
  Value* first = w.first(value);
  llvm::Type* type = first->getType();
  return type->isPointerTy() ? w.builder().CreatePtrToInt(first, w.layout().getIntPtrType(type))
                             : first;
}

// Whether lane 0's value plus the largest offset does not wrap around; null if that is certain.
Value* does_not_wrap(Widener& w, Shape::NoWrap no_wrap, Value* first, uint64_t largest,
                     bool is_signed) {
  if (is_signed ? no_wrap.as_signed : no_wrap.as_unsigned) return nullptr;
  const unsigned bits = first->getType()->getIntegerBitWidth();
  const llvm::APInt top =
      is_signed ? llvm::APInt::getSignedMaxValue(bits) : llvm::APInt::getMaxValue(bits);
  return w.builder().CreateICmp(is_signed ? ICmpInst::ICMP_SLE : ICmpInst::ICMP_ULE, first,
                                llvm::ConstantInt::get(first->getType(), top - largest));
}

LaneBits bits_of_comparison(Widener& w, ICmpInst& compare) {
  const auto order = order_of(compare);
  if (!order) return {};
  ICmpInst::Predicate predicate = *order;
  Value* index = compare.getOperand(0);
  Value* bound = compare.getOperand(1);
  if (w.shape(index).is_uniform()) {
    std::swap(index, bound);
    predicate = ICmpInst::getSwappedPredicate(predicate);
  }
  const Shape shape = w.shape(index);
  if (!w.shape(bound).is_uniform() || !shape.has_offsets() || shape.is_uniform() ||
      !shape.exact() || !llvm::is_sorted(shape.offsets()))
    return {};
  llvm::IRBuilder<>& b = w.builder();
  Value* first = first_number(w, index);
  Value* limit = first_number(w, bound);
  const auto largest = static_cast<uint64_t>(shape.offset(w.width() - 1));
  Value* last = b.CreateAdd(first, llvm::ConstantInt::get(first->getType(), largest));
  Value* first_bit = b.CreateICmp(predicate, first, limit);
  Value* last_bit = b.CreateICmp(predicate, last, limit);
  const bool from_first = ICmpInst::isLT(predicate) || ICmpInst::isLE(predicate);
  Value* all = from_first ? last_bit : first_bit;
  // A pointer is within its object or at its end, and no object is so close to the end of the
  // address space that its neighbours' addresses wrap around.
  const bool is_address = index->getType()->isPointerTy() && !ICmpInst::isSigned(predicate);
  Value* grows =
      is_address ? nullptr
                 : does_not_wrap(w, shape.no_wrap(), first, largest, ICmpInst::isSigned(predicate));
  if (grows) return {b.CreateAnd(all, grows), nullptr, Order::Unknown};
  return {all, from_first ? first_bit : last_bit, from_first ? Order::First : Order::Last};
}

// The order of both operands if the lanes of one are among those of the other.
Order common_order(Order a, Order b) {
  if (a == b || b == Order::Uniform) return a;
  return a == Order::Uniform ? b : Order::Unknown;
}

LaneBits bits_of_logic(llvm::IRBuilder<>& b, bool is_and, const LaneBits& x, const LaneBits& y) {
  const Order order = common_order(x.order, y.order);
  const bool nested = order != Order::Unknown;
  if (is_and)
    return {b.CreateAnd(x.all, y.all), nested ? b.CreateAnd(x.any, y.any) : nullptr, order};
  if (!nested) return {};  // the lanes of both may make up the gang
  return {b.CreateOr(x.all, y.all), b.CreateOr(x.any, y.any), order};
}

LaneBits inverted(llvm::IRBuilder<>& b, const LaneBits& bits) {
  if (!bits.any) return {};
  Order order = bits.order;
  if (order == Order::First || order == Order::Last)
    order = order == Order::First ? Order::Last : Order::First;
  return {b.CreateNot(bits.any), b.CreateNot(bits.all), order};
}

LaneBits bits_of_operand(Widener& w, Value* operand) {
  if (!w.shape(operand).is_uniform()) return w.known_bits(w.vector(operand));
  Value* bit = w.first(operand);
  return {bit, bit, Order::Uniform};
}

LaneBits frozen(llvm::IRBuilder<>& b, const LaneBits& bits) {
  return {b.CreateFreeze(bits.all), bits.any ? b.CreateFreeze(bits.any) : nullptr, bits.order};
}

LaneBits bits_of(Widener& w, Instruction& instruction) {
  using namespace llvm::PatternMatch;
  if (auto* compare = llvm::dyn_cast<ICmpInst>(&instruction))
    return bits_of_comparison(w, *compare);
  Value* x = nullptr;
  Value* y = nullptr;
  if (match(&instruction, m_Not(m_Value(x)))) return inverted(w.builder(), bits_of_operand(w, x));
  const bool is_and = match(&instruction, m_LogicalAnd(m_Value(x), m_Value(y)));
  if (!is_and && !match(&instruction, m_LogicalOr(m_Value(x), m_Value(y)))) return {};
  const LaneBits first = bits_of_operand(w, x);
  LaneBits second = bits_of_operand(w, y);
  if (!first.all || !second.all) return {};
  // A select ignores a second operand that is poison where the first one decides.
  if (llvm::isa<llvm::SelectInst>(instruction)) second = frozen(w.builder(), second);
  return bits_of_logic(w.builder(), is_and, first, second);
}

}  // namespace

void record_lane_bits(Widener& w, Instruction& instruction, Value* wide) {
  if (!instruction.getType()->isIntegerTy(1)) return;
  // A mask may be simplified to one of another block, or to a constant. What is known of that one
  // must not come from here, as it is used where this block has not run.
  const auto* made = llvm::dyn_cast<Instruction>(wide);
  if (!made || made->getParent() != w.builder().GetInsertBlock() || w.known_bits(wide).all) return;
  const LaneBits bits = bits_of(w, instruction);
  if (bits.all) w.set_bits(wide, bits);
}

}  // namespace metal::cpu
