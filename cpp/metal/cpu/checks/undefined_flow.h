// How values that nobody has given flow through a kernel.
#pragma once

#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "metal/compiler/compiler.h"
#include "metal/cpu/checks/accesses.h"

namespace metal::cpu {

// Of a kernel as it is written, before other checks put code into it.
class UndefinedFlow {
 public:
  UndefinedFlow(llvm::Function& kernel, const FunctionInfo& info,
                const std::vector<Access>& accesses);

  // The instructions that the check has to look at, in an order in which operands come first, but
  // for those of phis.
  const std::vector<llvm::Instruction*>& order() const { return order_; }

  // Whether the value may be undefined.
  bool reaches(const llvm::Value& value) const { return reached_.contains(&value); }
  // Operands that may be undefined and on which something depends: a branch, an address, a change
  // by an atomic operation. Other instructions pass undefined values on, or keep them in memory.
  llvm::ArrayRef<llvm::Value*> needed(const llvm::Instruction& instruction) const;
  // The accesses of an instruction to memory that may be undefined.
  llvm::ArrayRef<Access> accesses(const llvm::Instruction& instruction) const;
  // Whether it is known where the pointer leads to.
  bool is_known(const llvm::Value& pointer) const;
  // Whether what the pointer leads to is also used in ways that are not understood, so that it has
  // to be taken for defined.
  bool escapes(const llvm::Value& pointer) const;
  // Results may be written in ways that are not understood.
  bool writes_unknown_memory() const { return writes_unknown_memory_; }
  // How many tests the check will make.
  uint64_t tests() const { return needed_.size() + updates_; }

 private:
  using Objects = llvm::SmallVector<const llvm::Value*, 4>;

  static Objects objects_of(const llvm::Value& pointer);
  bool is_writable(const llvm::Value& object) const;
  bool is_tracked(const llvm::Value& pointer) const;
  void find_escapes();
  void find_sources();
  void follow(llvm::Value& value);

  llvm::Function& kernel_;
  const FunctionInfo& info_;
  llvm::DenseMap<const llvm::Instruction*, std::vector<Access>> accesses_;
  llvm::SmallPtrSet<const llvm::Value*, 8> escaped_;
  llvm::SetVector<const llvm::Value*> reached_;
  llvm::DenseMap<const llvm::Instruction*, llvm::SmallVector<llvm::Value*, 2>> needed_;
  uint64_t updates_ = 0;  // atomic ones, each of which is tested
  std::vector<llvm::Instruction*> order_;
  bool writes_unknown_memory_ = false;
};

// Whether the result of a call is the same function of its operand in one or all lanes.
enum class LaneFunction { None, Shuffle, Ballot, Reduction, Prefix, ExclusivePrefix, Product };
LaneFunction lane_function(const llvm::Instruction& instruction);

}  // namespace metal::cpu
