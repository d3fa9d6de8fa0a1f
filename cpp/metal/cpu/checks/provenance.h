// Which object a pointer of a kernel points into.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "metal/cpu/checks/check_builder.h"

namespace metal::cpu {

// Of the kernel's pointer argument in this position.
const ArgumentInfo& argument_info(const FunctionInfo& kernel, unsigned position);

// As values at run time, since a pointer may come from one of several objects.
struct Provenance {
  llvm::Value* begin = nullptr;  // address as i64
  llvm::Value* bytes = nullptr;  // i64
  llvm::Value* object =
      nullptr;  // CheckObject, null where it is not known: then nothing is outside
};

// Follows pointers back to arguments, variables and tables, through arithmetic, choices and loops.
class Provenances {
 public:
  Provenances(CheckBuilder& builder, const FunctionInfo& kernel);

  Provenance of(llvm::Value* pointer);
  // Of the pointer in its object, in bytes: as far as it can be computed from indices, from these.
  llvm::Value* offset(llvm::IRBuilder<>& b, llvm::Value* pointer);
  // Where the stamps (stamp.h) of the last writes, or reads, of the object begin, which is one of
  // those that the pointer may lead to. They are as many as it has granules.
  llvm::Value* stamps(llvm::IRBuilder<>& b, llvm::Value* pointer, const llvm::Value& object,
                      bool reads);
  uint64_t alignment(const llvm::Value& object) const;  // of its begin
  // Whether the access lies inside of a variable, as can be seen without running it.
  bool is_inside(const llvm::Value* pointer, uint64_t bytes) const;

 private:
  Provenance find(llvm::Value* pointer);
  Provenance of_argument(llvm::Argument& argument);
  Provenance of_variable(llvm::Value* variable, llvm::Type* type, uint64_t bytes, ObjectKind kind);
  Provenance of_phi(llvm::PHINode& phi);
  Provenance of_select(llvm::SelectInst& select);
  Provenance unknown();

  CheckBuilder& builder_;
  const FunctionInfo& kernel_;
  llvm::DenseMap<llvm::Value*, Provenance> known_;
};

}  // namespace metal::cpu
