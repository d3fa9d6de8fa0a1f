// What the passes of checked code share: the constants that they pass to the runtime, and its
// calls.
#pragma once

#include <map>
#include <string>

#include "llvm/IR/DebugLoc.h"
#include "llvm/IR/IRBuilder.h"
#include "metal/compiler/compiler.h"
#include "metal/cpu/checks/check_abi.h"

namespace llvm {
class Instruction;
class Module;
}  // namespace llvm

namespace metal::cpu {

class CheckBuilder {
 public:
  explicit CheckBuilder(llvm::Function& kernel);

  llvm::Function& kernel() const { return kernel_; }
  llvm::Value* group() const { return group_; }
  // Where values that all checks use are computed: behind `group`, before any check.
  llvm::Instruction* start() const { return start_; }

  // A CheckSite for a place in the user's source; `what` names a function that is called there.
  llvm::Constant* site(const llvm::DebugLoc& location, const std::string& what = "");
  llvm::Constant* line(const llvm::DILocation& place);  // a CheckSite without a column
  llvm::Constant* object(const std::string& name, ObjectKind kind, uint64_t element_bytes);
  llvm::Constant* access(AccessKind kind);

  // A variable of the thread.
  llvm::AllocaInst* local(const char* name, llvm::Value* initial);
  llvm::Value* thread();  // its index in the threadgroup, as i32

  // Code before an instruction that is only run if the condition holds: where it ends.
  llvm::Instruction* if_true(llvm::Value* condition, llvm::Instruction& before);
  llvm::Instruction* unlikely_if(llvm::Value* condition, llvm::Instruction& before);
  // There the thread leaves the kernel.
  void suspect_if(llvm::Value* condition, llvm::Instruction& before);

  // Calls a function of check_abi.h with the group and these arguments.
  llvm::CallInst* call(llvm::IRBuilder<>& b, const char* name, llvm::Type* result,
                       llvm::ArrayRef<llvm::Value*> arguments);

  // Calls a function of SIMD-groups.
  llvm::CallInst* lane_call(llvm::IRBuilder<>& b, llvm::StringRef name, llvm::Type* result,
                            llvm::ArrayRef<llvm::Value*> arguments);

  // A constant with these members, or with one value.
  llvm::Constant* variable(llvm::ArrayRef<llvm::Constant*> members);

 private:
  llvm::CallInst* declared_call(llvm::IRBuilder<>& b, llvm::StringRef name, llvm::Type* result,
                                llvm::ArrayRef<llvm::Value*> arguments);
  llvm::Constant* text(const std::string& text);
  llvm::Constant* site(const std::string& file, unsigned line, unsigned column,
                       const std::string& what);

  llvm::Function& kernel_;
  llvm::Instruction* group_;
  llvm::Instruction* start_;
  llvm::Value* thread_ = nullptr;
  std::map<std::string, llvm::Constant*> texts_;
  std::map<std::string, llvm::Constant*> known_;
};

// Where the address was computed tells more than where it is used: the name of what is indexed.
const llvm::DebugLoc& access_location(const llvm::Instruction& access, const llvm::Value& pointer);

}  // namespace metal::cpu
