// Where undefined values come from, for reports.
#pragma once

#include "metal/cpu/checks/check_builder.h"
#include "metal/cpu/checks/shadow_values.h"

namespace metal::cpu {

// The number of a finding beside each shadow, which counts where the shadow is not zero.
class Origins {
 public:
  Origins(CheckBuilder& builder, const ShadowValues& shadows);

  llvm::Value* of(llvm::Value* value) const;  // i32
  void set(llvm::Value* value, llvm::Value* number) { numbers_[value] = number; }

  // As those of ShadowValues, which come first.
  void add(llvm::Instruction& instruction);
  void finish();

 private:
  llvm::Value* of_lanes(llvm::IRBuilder<>& b, llvm::CallInst& call, llvm::Value* own);

  CheckBuilder& builder_;
  const ShadowValues& shadows_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> numbers_;
  std::vector<std::pair<llvm::PHINode*, llvm::PHINode*>> phis_;
};

}  // namespace metal::cpu
