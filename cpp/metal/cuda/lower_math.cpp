#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicsNVPTX.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PatternMatch.h"
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

// Of floats. An instruction for x / y has no intrinsic; unlike div.approx, it is right for all y.
llvm::Value* approximate_quotient(llvm::IRBuilder<>& b, llvm::Value* x, llvm::Value* y) {
  namespace Intrinsic = llvm::Intrinsic;
  namespace Match = llvm::PatternMatch;
  llvm::Value* square;
  if (!Match::match(x, Match::m_FPOne())) {
    llvm::Type* real = b.getFloatTy();
    auto* type = llvm::FunctionType::get(real, {real, real}, false);
    return b.CreateCall(llvm::InlineAsm::get(type, "div.full.f32 $0, $1, $2;", "=f,f,f", false),
                        {x, y});
  }
  if (Match::match(y, Match::m_Sqrt(Match::m_Value(square))))
    return b.CreateIntrinsic(Intrinsic::nvvm_rsqrt_approx_f, {}, {square});
  return b.CreateIntrinsic(Intrinsic::nvvm_rcp_approx_ftz_f, {}, {y});
}

}  // namespace

void lower_divisions(llvm::Function& entry) {
  for (llvm::Instruction& instruction : llvm::make_early_inc_range(llvm::instructions(entry))) {
    const bool is_quotient = instruction.getOpcode() == llvm::Instruction::FDiv &&
                             instruction.getType()->isFloatTy() && instruction.hasAllowReciprocal();
    if (!is_quotient) continue;
    llvm::IRBuilder<> b(&instruction);
    instruction.replaceAllUsesWith(
        approximate_quotient(b, instruction.getOperand(0), instruction.getOperand(1)));
    instruction.eraseFromParent();
  }
}

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
