// Tests of floats by their bits, which no math mode folds.
#pragma once

#include "llvm/IR/IRBuilder.h"

namespace metal::cpu {

// Whether a scalar or vector is of floats that the checks know: half, bfloat, float, double.
bool has_floats(const llvm::Type& type);
// By elements, as i1.
llvm::Value* is_not_finite(llvm::IRBuilder<>& b, llvm::Value* value);
llvm::Value* is_nan(llvm::IRBuilder<>& b, llvm::Value* value);
llvm::Value* in_any_element(llvm::IRBuilder<>& b, llvm::Value* test);  // as i1

// The float that a store leaves, also where its bits are stored as an integer; else null.
llvm::Value* stored_float(llvm::Instruction& instruction);
// Whether a store of an integer, or a copy of memory, may move floats that the thread or its
// threadgroup has put into memory: then it moves them from this pointer, else null.
llvm::Value* copied_from(const llvm::Instruction& instruction);
// Whether the instruction makes an integer of a float in code of the user's.
bool converts_to_integer(const llvm::Instruction& instruction);
// Whether the instruction gives one of its operands, or a part of one, up to its sign and format.
bool only_moves(const llvm::Instruction& instruction);

}  // namespace metal::cpu
