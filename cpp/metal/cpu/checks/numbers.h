// The check of numbers: NaNs and infinities that operations make and that leave the kernel.
#pragma once

#include <string>
#include <vector>

#include "metal/cpu/checks/accesses.h"
#include "metal/cpu/checks/check_builder.h"
#include "metal/cpu/checks/instruction_order.h"
#include "metal/cpu/checks/math_operands.h"
#include "metal/cpu/checks/provenance.h"

namespace metal::cpu {

// An operation makes an infinity if its operands are finite, and a NaN if none of them is one.
// Beside each float that is not finite there is a number for the operation that made the first one:
// 0 if none did, as the kernel got it or names it. It counts where the float is stored in device
// memory or becomes an integer.
class NumbersCheck {
 public:
  // Of a kernel that no check has changed so far.
  NumbersCheck(CheckBuilder& builder, const std::vector<Access>& accesses,
               const MathCalls& math_calls);

  // In a screen: what may count is suspected. Nothing is followed.
  void screen();
  uint64_t tests() const { return tests_; }
  // Exact tests.
  void report(Provenances& provenances);

 private:
  bool counts(const Access& access) const;

  void visit(llvm::Instruction& instruction);
  void load(llvm::LoadInst& load);
  void store(const Access& access);
  void copy(const Access& access);
  void convert(llvm::Instruction& instruction);
  llvm::Value* of_operation(llvm::Instruction& instruction);
  llvm::Value* of_bits(llvm::Instruction& instruction);
  llvm::Value* of_lanes(llvm::CallInst& call);
  llvm::Value* of_shuffle(llvm::CallInst& call);
  llvm::Value* made(llvm::IRBuilder<>& b, llvm::Instruction& result,
                    llvm::ArrayRef<llvm::Value*> operands, const std::string& name,
                    const llvm::DebugLoc& location, llvm::Value* inherited);
  llvm::Value* rarely(llvm::IRBuilder<>& b, llvm::Value* test, llvm::Value* otherwise,
                      llvm::function_ref<llvm::Value*(llvm::IRBuilder<>&)> number);
  llvm::Value* inherited(llvm::IRBuilder<>& b, llvm::ArrayRef<llvm::Value*> operands) const;
  // Null if there is none.
  llvm::Value* number_of(llvm::Value* value) const { return numbers_.lookup(value); }
  llvm::Value* number_or_none(llvm::Value* value) const;

  CheckBuilder& builder_;
  std::vector<Access> accesses_;
  const MathCalls& math_calls_;
  InstructionOrder order_;
  bool copies_ = false;  // floats get into device memory as bytes, too
  llvm::DenseMap<llvm::Value*, llvm::Value*> numbers_;
  std::vector<std::pair<llvm::PHINode*, llvm::PHINode*>> phis_;
  Provenances* provenances_ = nullptr;
  uint64_t tests_ = 0;
};

}  // namespace metal::cpu
