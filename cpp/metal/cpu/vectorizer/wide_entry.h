// Entry points around vector code.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "metal/cpu/variant.h"
#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace metal::cpu {

// What the arguments of a kernel's body are in gangs of this kind.
BodyShapes shapes_of(const Variant& variant);

// What runs a gang. All but the first may be missing.
struct GangCode {
  llvm::Function* wide = nullptr;           // called as GeneralCode where there is speculative code
  llvm::Function* speculative = nullptr;    // tried first: it may bail out
  llvm::Function* several_gangs = nullptr;  // tried even before, for several gangs at once
  llvm::Function* prefetch_slice = nullptr;  // for a gang, or for what `several_gangs` runs
};

// A threadgroup at once: rows in gangs of `width` threads, the rest of each row by `body`.
llvm::Function* make_rows_entry(const GangCode& code, llvm::Function& body, uint32_t width);
// A threadgroup at once: all gangs, one after the other.
llvm::Function* make_all_gangs_entry(const GangCode& code, const Variant& variant);
// How many gangs a threadgroup has.
llvm::Value* gang_count(llvm::IRBuilder<>& builder, llvm::Value* group, const Variant& variant);
// What vector code is called with for one gang.
llvm::SmallVector<llvm::Value*> gang_arguments(llvm::IRBuilder<>& builder, llvm::Value* group,
                                               llvm::Value* gang, const Variant& variant);

}  // namespace metal::cpu
