// Shadows of values: bits that are set where a bit of the value is undefined.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/IRBuilder.h"
#include "metal/cpu/checks/undefined_flow.h"

namespace metal::cpu {

// A shadow has the type of its value, with integers in the place of floats and pointers. Values
// without a shadow are defined.
class ShadowValues {
 public:
  explicit ShadowValues(const llvm::Function& kernel);

  llvm::Type* type_of(llvm::Type* type) const;
  llvm::Value* of(llvm::Value* value) const;                          // null: it is defined
  llvm::Value* or_defined(llvm::Value* value) const;                  // all zero then
  llvm::Value* any(llvm::IRBuilder<>& b, llvm::Value* shadow) const;  // as i1
  void set(llvm::Value* value, llvm::Value* shadow) { shadows_[value] = shadow; }

  // Computes that of an instruction behind it, from those of its operands. A phi gets its operands
  // at the end.
  void add(llvm::Instruction& instruction);
  void finish();

 private:
  llvm::Value* compute(llvm::IRBuilder<>& b, llvm::Instruction& instruction);
  llvm::Value* of_select(llvm::IRBuilder<>& b, llvm::SelectInst& select);
  llvm::Value* of_bits(llvm::IRBuilder<>& b, llvm::BinaryOperator& operation);
  llvm::Value* of_shift(llvm::IRBuilder<>& b, llvm::BinaryOperator& operation);
  llvm::Value* of_compare(llvm::IRBuilder<>& b, llvm::ICmpInst& compare);
  llvm::Value* of_cast(llvm::IRBuilder<>& b, llvm::CastInst& cast);
  llvm::Value* of_element(llvm::IRBuilder<>& b, llvm::Instruction& instruction);
  llvm::Value* of_lanes(llvm::IRBuilder<>& b, llvm::CallInst& call);
  llvm::Value* all_or_none(llvm::IRBuilder<>& b, llvm::Instruction& instruction);

  // All bits where the test holds; `test` is i1, or a vector of them as long as the type.
  llvm::Value* where(llvm::IRBuilder<>& b, llvm::Value* test, llvm::Type* type) const;
  llvm::Value* as_bits(llvm::IRBuilder<>& b, llvm::Value* value) const;

  const llvm::DataLayout& layout_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> shadows_;
  std::vector<std::pair<llvm::PHINode*, llvm::PHINode*>> phis_;
};

}  // namespace metal::cpu
