// Shadows of memory: bits that are set where nobody has written.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "metal/cpu/checks/check_builder.h"

namespace metal::cpu {

// Shadows are as large as what they belong to: those of buffers and threadgroup memory come from
// the runtime, those of a thread's variables are variables.
class ShadowMemory {
 public:
  ShadowMemory(CheckBuilder& builder, const FunctionInfo& kernel);

  // Where the shadow of what a pointer leads to is, at a place where the pointer is known. All that
  // it may lead to must be known.
  llvm::Value* of(llvm::Value* pointer);

 private:
  llvm::Value* find(llvm::Value* pointer);
  llvm::Value* of_threadgroup(llvm::IRBuilder<>& b, llvm::Value* object);
  llvm::Value* of_variable(llvm::AllocaInst& variable);
  llvm::Value* of_table(llvm::GlobalVariable& table);
  llvm::Value* of_phi(llvm::PHINode& phi);

  CheckBuilder& builder_;
  const FunctionInfo& kernel_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> known_;
};

}  // namespace metal::cpu
