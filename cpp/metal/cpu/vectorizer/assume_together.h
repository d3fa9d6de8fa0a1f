// A second body for units whose lanes stay together in divisions of indices.
#pragma once

#include "llvm/IR/PassManager.h"
#include "metal/cpu/vectorizer/shape_analysis.h"

namespace metal::cpu {

// Calls that stand for udiv and urem of an index by a size, where all lanes have one quotient. If
// they do not, the unit gives up: it has done nothing yet.
inline constexpr const char* kTogetherQuotient = "simd.together.quotient";
inline constexpr const char* kTogetherRemainder = "simd.together.remainder";
// i64 (i32): extensions of what grows from lane to lane by a step, where no lane wraps around.
inline constexpr const char* kTogetherZExt = "simd.together.zext";
inline constexpr const char* kTogetherSExt = "simd.together.sext";

// Takes the first turn out of loops that divide an index by one size after the other. Says whether
// there were any.
bool peel_index_loops(llvm::Function& body, const BodyShapes& shapes,
                      llvm::FunctionAnalysisManager& analyses);

// Kernels take their thread's index apart by dividing it by the sizes of an array. Where the
// innermost size is not smaller than a unit, most units have just one quotient, and what follows
// from it is uniform. Null if the body does not divide so before it has effects.
llvm::Function* clone_assuming_together(llvm::Function& body, const BodyShapes& shapes);

}  // namespace metal::cpu
