// The check of what nobody has written: uses of it, and results that have none.
#pragma once

#include <memory>
#include <vector>

#include "llvm/IR/IntrinsicInst.h"
#include "metal/cpu/checks/shadow_memory.h"
#include "metal/cpu/checks/shadow_values.h"

namespace metal::cpu {

class Origins;
class Provenances;

// Keeps shadows (shadow_values.h, shadow_memory.h) beside all that may be undefined, and tests them
// where it matters.
class UninitialisedCheck {
 public:
  // Of a kernel that no check has changed so far.
  UninitialisedCheck(CheckBuilder& builder, const FunctionInfo& kernel,
                     const std::vector<Access>& accesses);
  ~UninitialisedCheck();
  UninitialisedCheck(const UninitialisedCheck&) = delete;
  UninitialisedCheck& operator=(const UninitialisedCheck&) = delete;

  uint64_t tests() const { return flow_.tests(); }
  // In a screen: undefined values are suspected where they matter.
  void screen();
  // Exact tests, after those of bounds: reports say where values come from.
  void report(Provenances& provenances);

 private:
  void run();
  void visit(llvm::Instruction& instruction);
  void visit_access(llvm::Instruction& instruction, const Access& access);
  void load(llvm::LoadInst& load, const Access& access);
  void store(llvm::Instruction& store, llvm::Value* value, const Access& access);
  void update(llvm::Instruction& instruction, const Access& access);
  void copy(llvm::MemIntrinsic& call, const Access& access);
  void undefine(llvm::CallInst& mark);
  void test(llvm::Value& needed, llvm::Instruction& effect);
  void matters(llvm::Value* shadow, llvm::Value* origin, llvm::Instruction& effect);

  llvm::Value* shadow_pointer(const Access& access);
  llvm::Value* read_origin(llvm::Value* shadow, llvm::Value* pointer, const Access& access,
                           llvm::Instruction& before);
  CheckBuilder& builder_;
  const UndefinedFlow flow_;
  ShadowMemory memory_;
  ShadowValues values_;
  std::unique_ptr<Origins> origins_;  // of exact tests
  Provenances* provenances_ = nullptr;
};

// Without the check: variables without a value have some.
void drop_marks(llvm::Module& module);

}  // namespace metal::cpu
