// Entry points around vector code.
#pragma once

#include "metal/cpu/variant.h"
#include "metal/cpu/vectorizer/shape_analysis.h"

namespace llvm {
class Function;
}

namespace metal::cpu {

// What the arguments of a kernel's body are in units of this kind.
BodyShapes shapes_of(const Variant& variant);

// A threadgroup at once: rows in units of `width` threads, the rest of each row by `body`.
llvm::Function* make_rows_entry(llvm::Function& wide, llvm::Function& body, uint32_t width);
// A threadgroup at once: all units, one after the other.
llvm::Function* make_all_units_entry(llvm::Function& wide, const Variant& variant);
// One unit.
llvm::Function* make_unit_entry(llvm::Function& wide, const Variant& variant);

}  // namespace metal::cpu
