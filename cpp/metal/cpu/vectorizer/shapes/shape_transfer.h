// Computes the shape of an instruction's result from the shapes of its operands.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "metal/cpu/vectorizer/shapes/shape.h"

namespace llvm {
class Instruction;
class Value;
}  // namespace llvm

namespace metal::cpu {

using ShapeOf = llvm::function_ref<Shape(const llvm::Value*)>;

// Handles every instruction but phis, for `width` lanes. `guarded`: the instruction may not run in
// some lanes, perhaps not in lane 0, from which the values of other lanes are derived. Its flags
// are then ignored.
Shape result_shape(const llvm::Instruction& instruction, unsigned width, bool guarded,
                   ShapeOf shape_of);

}  // namespace metal::cpu
