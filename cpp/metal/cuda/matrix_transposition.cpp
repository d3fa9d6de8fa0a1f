#include "metal/cuda/matrix_transposition.h"

#include "llvm/IR/InlineAsm.h"

namespace metal::cuda {
namespace {

// LLVM has no intrinsic for it.
constexpr const char* kInstruction = "movmatrix.sync.aligned.m8n8.trans.b16 $0, $1;";

}  // namespace

llvm::CallInst* create_matrix_transposition(llvm::IRBuilder<>& builder, llvm::Value* elements) {
  llvm::Type* word = builder.getInt32Ty();
  auto* code = llvm::InlineAsm::get(llvm::FunctionType::get(word, {word}, false), kInstruction,
                                    "=r,r", /*hasSideEffects=*/false);
  llvm::CallInst* call = builder.CreateCall(code, {elements});
  call->setConvergent();
  call->setDoesNotAccessMemory();
  call->setDoesNotThrow();
  return call;
}

bool is_matrix_transposition(const llvm::Value* value) {
  const auto* call = llvm::dyn_cast<llvm::CallInst>(value);
  const auto* code = call ? llvm::dyn_cast<llvm::InlineAsm>(call->getCalledOperand()) : nullptr;
  return code && code->getAsmString() == kInstruction;
}

}  // namespace metal::cuda
