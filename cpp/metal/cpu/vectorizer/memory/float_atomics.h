// Atomic additions to floats: processors have no instruction for them, so the runtime uses locks.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace metal::cpu {

bool is_float_add(const llvm::AtomicRMWInst& operation);

// Whether all that the kernel changes atomically in device memory are floats that it adds to: then
// nobody minds locks, which let neighbouring lanes add to neighbouring floats together.
bool adds_floats_only(llvm::Function& body);

llvm::Value* call_locked_add(llvm::IRBuilder<>& builder, llvm::Value* group, llvm::Value* pointer,
                             llvm::Value* value);

// Marks additions of the body whose results nobody sees before it ends: those to buffers that it
// does nothing else with. They may wait.
void mark_deferred_additions(llvm::Function& body);
bool is_deferred(const llvm::AtomicRMWInst& operation);

// Lets additions wait: of one scalar, or of a vector to a row whose parts of Additions::kRow floats
// lie in one region each.
void defer_addition(llvm::IRBuilder<>& builder, llvm::Value* group, llvm::Value* pointer,
                    llvm::Value* value);
void defer_row(llvm::IRBuilder<>& builder, llvm::Value* group, llvm::Value* row,
               llvm::Value* addends);

// In code of single threads.
void lock_float_adds(llvm::Function& body);

}  // namespace metal::cpu
