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
  replace_calls(module, compiler::kHardwareLog2, [](llvm::IRBuilder<>& b, llvm::CallInst& call) {
    return b.CreateIntrinsic(Intrinsic::nvvm_lg2_approx_ftz_f, {}, {call.getArgOperand(0)});
  });
}

}  // namespace metal::cuda
