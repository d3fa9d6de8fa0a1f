#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/hardware_math.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {
namespace {

template <typename Emit>
void replace_calls(llvm::Module& module, const char* name, Emit emit) {
  llvm::Function* function = module.getFunction(name);
  if (!function) return;
  for (llvm::User* user : llvm::make_early_inc_range(function->users())) {
    auto* call = checked_cast<llvm::CallInst>(user);
    llvm::IRBuilder<> b(call);
    call->replaceAllUsesWith(emit(b, *call));
    call->eraseFromParent();
  }
  function->eraseFromParent();
}

// e^x = 2^n 2^r for an integer n near x log2(e), with n in a float's range of exponents and all the
// rest of x in r: the instruction for 2^r then gives 0 or infinity where the result is beyond that
// range, and the product rounds results under 2^-126. The instruction is right to 22 bits; r's
// error is at most 2^-25 where the result is not that small.
llvm::Value* precise_exp(llvm::IRBuilder<>& b, llvm::Value* x) {
  namespace Intrinsic = llvm::Intrinsic;
  constexpr float kLog2OfE = 0x1.715476p+0f, kRest = 0x1.4ae0c0p-26f;
  constexpr float kMagic = 0x1.8p23f + 127;  // the low bits of a sum with it are an exponent's
  constexpr int kExponentShift = 23;
  const auto number = [&](float value) { return llvm::ConstantFP::get(b.getFloatTy(), value); };
  const auto fma = [&](llvm::Value* left, llvm::Value* right, llvm::Value* term) {
    return b.CreateIntrinsic(Intrinsic::fma, {b.getFloatTy()}, {left, right, term});
  };
  llvm::Value* sum = fma(x, number(kLog2OfE), number(kMagic));
  sum = b.CreateMaxNum(sum, number(kMagic - 126));
  sum = b.CreateMinNum(sum, number(kMagic + 127));
  llvm::Value* n = b.CreateFSub(sum, number(kMagic));
  llvm::Value* r = fma(x, number(kRest), fma(x, number(kLog2OfE), b.CreateFNeg(n)));
  llvm::Value* power = b.CreateIntrinsic(Intrinsic::nvvm_ex2_approx_ftz_f, {}, {r});
  llvm::Value* bits = b.CreateShl(b.CreateBitCast(sum, b.getInt32Ty()), kExponentShift);
  return b.CreateFMul(power, b.CreateBitCast(bits, b.getFloatTy()));
}

}  // namespace

void lower_math(llvm::Module& module) {
  namespace Intrinsic = llvm::Intrinsic;
  replace_calls(module, compiler::kHardwareExp, [](llvm::IRBuilder<>& b, llvm::CallInst& call) {
    llvm::Value* exponent = b.CreateFMul(call.getArgOperand(0), call.getArgOperand(1));
    return b.CreateIntrinsic(Intrinsic::nvvm_ex2_approx_ftz_f, {}, {exponent});
  });
  // 2^x is right to 22 bits, also of results under 2^-126. The product's error is at most 2^-17 of
  // the result where that is a bfloat, and 2^-20 where it is a half.
  const auto narrow_exp = [](llvm::IRBuilder<>& b, llvm::CallInst& call) {
    llvm::Value* x = b.CreateFPCast(call.getArgOperand(0), b.getFloatTy());
    llvm::Value* exponent = b.CreateFMul(x, call.getArgOperand(1));
    llvm::Value* power = b.CreateIntrinsic(Intrinsic::nvvm_ex2_approx_f, {}, {exponent});
    return b.CreateFPCast(power, call.getType());
  };
  replace_calls(module, compiler::kHardwareExpOfHalf, narrow_exp);
  replace_calls(module, compiler::kHardwareExpOfBfloat, narrow_exp);
  replace_calls(module, compiler::kHardwareExpPrecise,
                [](llvm::IRBuilder<>& b, llvm::CallInst& call) {
                  return precise_exp(b, call.getArgOperand(0));
                });
  replace_calls(module, compiler::kHardwareLog2, [](llvm::IRBuilder<>& b, llvm::CallInst& call) {
    return b.CreateIntrinsic(Intrinsic::nvvm_lg2_approx_ftz_f, {}, {call.getArgOperand(0)});
  });
}

}  // namespace metal::cuda
