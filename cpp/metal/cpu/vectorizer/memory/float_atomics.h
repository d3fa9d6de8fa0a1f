// Atomic additions to floats. Processors have no instruction for them, so the runtime uses locks.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"

namespace metal::cpu {

bool is_float_add(const llvm::AtomicRMWInst& operation);

// Whether additions to floats are the only atomic changes that the kernel makes to device memory.
// Then locks are enough, and neighbouring lanes can add to neighbouring floats under one lock.
bool adds_floats_only(llvm::Function& body);

llvm::Value* call_locked_add(llvm::IRBuilder<>& builder, llvm::Value* group, llvm::Value* pointer,
                             llvm::Value* value);

// Marks additions that may be deferred: their results are not used, and the body uses their buffers
// in no other way.
void mark_deferred_additions(llvm::Function& body);
bool is_deferred(const llvm::AtomicRMWInst& operation);

// Defers an addition to one float, those of all lanes, or of a vector to a row. Each
// Additions::kRow floats of the row must be in one region. The lanes' pointers are vectors or
// scalars.
void defer_addition(llvm::IRBuilder<>& builder, llvm::Value* group, llvm::Value* pointer,
                    llvm::Value* value);
void defer_lanes(llvm::IRBuilder<>& builder, llvm::Value* group,
                 llvm::ArrayRef<llvm::Value*> pointers, llvm::Value* values);
void defer_row(llvm::IRBuilder<>& builder, llvm::Value* group, llvm::Value* row,
               llvm::Value* addends);

// Makes the additions of scalar code take locks.
void lock_float_adds(llvm::Function& body);

}  // namespace metal::cpu
