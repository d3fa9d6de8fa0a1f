// The check of rounding: results of 16 bits beside the same computation in float64.
#pragma once

#include <vector>

#include "metal/cpu/checks/accesses.h"
#include "metal/cpu/checks/check_builder.h"
#include "metal/cpu/checks/instruction_order.h"
#include "metal/cpu/checks/math_operands.h"
#include "metal/cpu/checks/provenance.h"

namespace metal::cpu {

// Beside each float there is an exact value: what the same operations give with float64. Branches,
// conversions to integers and functions with steps, such as floor, follow the kernel's own numbers;
// their results, the kernel's inputs and what operations give that are not listed count as exact.
class RoundingCheck {
 public:
  // Of a kernel that no check has changed so far.
  RoundingCheck(CheckBuilder& builder, const std::vector<Access>& accesses,
                const MathCalls& math_calls);

  void report(Provenances& provenances);

 private:
  // The bits of a float as an integer, or of two elements of a matrix: either may be missing.
  struct Bits {
    llvm::Value* exact;
    llvm::Value* high;  // the exact value of the upper half
    llvm::Type* type;   // of the float
  };

  void visit(llvm::Instruction& instruction);
  void visit_bits(llvm::Instruction& instruction);
  llvm::Value* of_operation(llvm::IRBuilder<>& b, llvm::Instruction& instruction);
  llvm::Value* of_call(llvm::IRBuilder<>& b, llvm::CallInst& call);
  llvm::Value* of_math(llvm::IRBuilder<>& b, const MathCall& call);
  llvm::Value* of_lanes(llvm::IRBuilder<>& b, llvm::CallInst& call);
  Bits of_bits(llvm::Instruction& instruction, const Bits& bits);
  Bits of_product(llvm::IRBuilder<>& b, llvm::CallInst& call);
  // The exact value in another lane.
  llvm::Value* shuffled(llvm::IRBuilder<>& b, llvm::Value* exact, llvm::Value* lane);
  llvm::Value* loaded(llvm::IRBuilder<>& b, llvm::LoadInst& load);
  void store(const Access& access, Provenances& provenances);
  void copy(const Access& access);
  // The exact value, which is the value itself where nothing else is known.
  llvm::Value* exact(llvm::IRBuilder<>& b, llvm::Value* value) const;

  CheckBuilder& builder_;
  std::vector<Access> accesses_;
  const MathCalls& math_calls_;
  InstructionOrder order_;
  llvm::DenseMap<llvm::Value*, llvm::Value*> exact_;
  llvm::DenseMap<llvm::Value*, Bits> bits_;
  std::vector<std::pair<llvm::PHINode*, llvm::PHINode*>> phis_;
};

}  // namespace metal::cpu
