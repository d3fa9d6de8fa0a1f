// The shape of an instruction's result from those of its operands.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "metal/cpu/vectorizer/shapes/shape.h"

namespace llvm {
class Instruction;
class Value;
}  // namespace llvm

namespace metal::cpu {

using ShapeOf = llvm::function_ref<Shape(const llvm::Value*)>;

// For every instruction but phis. `width` lanes. `guarded`: lanes may be kept out of it, and then
// its flags say nothing about lane 0, from which the values of other lanes are derived.
Shape result_shape(const llvm::Instruction& instruction, unsigned width, bool guarded,
                   ShapeOf shape_of);

}  // namespace metal::cpu
