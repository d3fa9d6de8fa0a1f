// Comparisons of integers in the forms in which LLVM leaves them.
#pragma once

#include <optional>

#include "llvm/IR/Instructions.h"

namespace metal::cpu {

class ShapeAnalysis;

// LLVM compares the bitwise or of two integers with a power of two, or with zero, instead of both:
// `row >= 0 && column >= 0` becomes `(row | column) >= 0`. This undoes that. A row is often uniform
// where a column grows from lane to lane, so each comparison alone may need no vector, and
// assume_inside.h knows it. The bits are the same for all integers, so that this is right in lanes
// that would not come here as well.
void split_comparisons(llvm::Function& body);

// The predicate of a comparison that says which operand is larger. Of unsigned integers, those that
// differ from zero are larger than it. None if the operands are only compared for equality.
std::optional<llvm::ICmpInst::Predicate> order_of(const llvm::ICmpInst& compare);

// Whether the comparison is one of an index, which grows from lane to lane, with a bound that all
// lanes share.
bool compares_index(const ShapeAnalysis& shapes, const llvm::Value* index,
                    const llvm::Value* bound);

}  // namespace metal::cpu
