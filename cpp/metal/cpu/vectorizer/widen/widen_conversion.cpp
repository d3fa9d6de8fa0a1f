#include "metal/cpu/vectorizer/widen/widen_conversion.h"

#include <cmath>

#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/TargetParser/Triple.h"

namespace metal::cpu {
namespace {

using llvm::ConstantFP;
using llvm::ConstantInt;
using llvm::Value;

// The values of an integer type: from `least` to before `end`.
struct Range {
  Range(unsigned bits, bool is_signed)
      : least(is_signed ? -std::exp2(bits - 1) : 0), end(std::exp2(bits - (is_signed ? 1 : 0))) {}

  double least;
  double end;
};

class Conversion {
 public:
  Conversion(llvm::IRBuilder<>& builder, llvm::Type* to, bool is_signed)
      : b_(builder),
        to_(to),
        bits_(to->getScalarSizeInBits()),
        signed_(is_signed),
        range_(bits_, is_signed) {}

  Value* convert(Value* x) { return bits_ < 32 ? clamp_before(x) : select_after(x); }

 private:
  // Clamps to the range before the conversion, for small types, whose bounds are floats. For NaN
  // all comparisons are false, and the result is to be 0.
  Value* clamp_before(Value* x) {
    if (signed_) x = b_.CreateSelect(b_.CreateFCmpORD(x, x), x, number(x, 0));
    Value* least = number(x, range_.least);
    Value* most = number(x, range_.end - 1);
    x = b_.CreateSelect(b_.CreateFCmpOGT(x, least), x, least);
    x = b_.CreateSelect(b_.CreateFCmpOLT(x, most), x, most);
    return b_.CreateTrunc(b_.CreateFPToSI(x, to_->getWithNewType(b_.getInt32Ty())), to_);
  }

  // Replaces the results that are out of range after the conversion, which are undefined.
  Value* select_after(Value* x) {
    Value* integer = b_.CreateFreeze(signed_ ? b_.CreateFPToSI(x, to_) : b_.CreateFPToUI(x, to_));
    Value* zero = ConstantInt::get(to_, 0);
    integer = b_.CreateSelect(b_.CreateFCmpOGE(x, number(x, range_.end)),
                              ConstantInt::get(to_, largest()), integer);
    if (!signed_) return b_.CreateSelect(b_.CreateFCmpOGE(x, number(x, 0)), integer, zero);
    integer =
        b_.CreateSelect(b_.CreateFCmpOLT(x, number(x, range_.least)),
                        ConstantInt::get(to_, llvm::APInt::getSignedMinValue(bits_)), integer);
    return b_.CreateSelect(b_.CreateFCmpORD(x, x), integer, zero);
  }

  llvm::APInt largest() const {
    return signed_ ? llvm::APInt::getSignedMaxValue(bits_) : llvm::APInt::getMaxValue(bits_);
  }

  static Value* number(const Value* like, double value) {
    return ConstantFP::get(like->getType(), value);
  }

  llvm::IRBuilder<>& b_;
  llvm::Type* to_;
  const unsigned bits_;
  const bool signed_;
  const Range range_;
};

}  // namespace

bool is_conversion(const llvm::IntrinsicInst& call) {
  const llvm::Intrinsic::ID id = call.getIntrinsicID();
  return (id == llvm::Intrinsic::fptosi_sat || id == llvm::Intrinsic::fptoui_sat) &&
         llvm::Triple(call.getModule()->getTargetTriple()).isX86();
}

void widen_conversion(Widener& w, llvm::IntrinsicInst& call) {
  Conversion conversion(w.builder(), w.wide_type(call.getType()),
                        call.getIntrinsicID() == llvm::Intrinsic::fptosi_sat);
  w.set_vector(&call, conversion.convert(w.vector(call.getArgOperand(0))));
}

}  // namespace metal::cpu
