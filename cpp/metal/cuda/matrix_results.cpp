#include "llvm/IR/AttributeMask.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"
#include "metal/compiler/checked_cast.h"
#include "metal/compiler/matrix_calls.h"
#include "metal/cuda/lower.h"

namespace metal::cuda {
namespace {

using llvm::Value;

// The same function with two floats as its result.
llvm::Function* with_two_results(llvm::Function& product) {
  llvm::Type* element = llvm::Type::getFloatTy(product.getContext());
  auto* result = llvm::StructType::get(element, element);
  auto* type = llvm::FunctionType::get(result, product.getFunctionType()->params(), false);
  auto* function = llvm::Function::Create(type, product.getLinkage(), "", product.getParent());
  function->takeName(&product);
  function->setAttributes(product.getAttributes());
  function->removeRetAttrs(llvm::AttributeFuncs::typeIncompatible(result));
  return function;
}

Value* as_word(llvm::IRBuilder<>& b, Value* results, unsigned element) {
  Value* bits = b.CreateBitCast(b.CreateExtractValue(results, element), b.getInt32Ty());
  return b.CreateZExt(bits, b.getInt64Ty());
}

}  // namespace

void split_matrix_results(llvm::Module& module) {
  llvm::Function* product = module.getFunction(compiler::kMatrixProduct);
  if (!product) return;
  llvm::Function* function = with_two_results(*product);
  for (llvm::User* user : llvm::make_early_inc_range(product->users())) {
    auto* call = checked_cast<llvm::CallInst>(user);
    llvm::IRBuilder<> b(call);
    llvm::CallInst* results = b.CreateCall(function, llvm::SmallVector<Value*>(call->args()));
    results->setAttributes(function->getAttributes());
    Value* second = b.CreateShl(as_word(b, results, 1), 32);
    call->replaceAllUsesWith(b.CreateOr(second, as_word(b, results, 0)));
    call->eraseFromParent();
  }
  product->eraseFromParent();
}

}  // namespace metal::cuda
