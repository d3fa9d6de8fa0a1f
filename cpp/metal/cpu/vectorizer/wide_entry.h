// Entry points around vector code.
#pragma once

#include "llvm/IR/IRBuilder.h"
#include "metal/cpu/variant.h"
#include "metal/cpu/vectorizer/shape_analysis.h"

namespace metal::cpu {

// What the arguments of a kernel's body are in units of this kind.
BodyShapes shapes_of(const Variant& variant);

// What runs a unit. All but the first may be missing.
struct UnitCode {
  llvm::Function* wide = nullptr;     // called as GeneralCode where there is hopeful code
  llvm::Function* hopeful = nullptr;  // tried first: it may give up
  llvm::Function* far = nullptr;      // tried even before, for several units at once
  llvm::Function* fetch = nullptr;    // fetches what a unit will read, or what `far` will
};

// A threadgroup at once: rows in units of `width` threads, the rest of each row by `body`.
llvm::Function* make_rows_entry(const UnitCode& code, llvm::Function& body, uint32_t width);
// A threadgroup at once: all units, one after the other.
llvm::Function* make_all_units_entry(const UnitCode& code, const Variant& variant);
// How many units a threadgroup has.
llvm::Value* unit_count(llvm::IRBuilder<>& builder, llvm::Value* group, const Variant& variant);
// What vector code is called with for one unit.
llvm::SmallVector<llvm::Value*> unit_arguments(llvm::IRBuilder<>& builder, llvm::Value* group,
                                               llvm::Value* unit, const Variant& variant);

}  // namespace metal::cpu
