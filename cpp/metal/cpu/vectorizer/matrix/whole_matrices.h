// Turns the matrix functions of a SIMD-group's lanes into operations on whole matrices.
#pragma once

#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace llvm {
class CallInst;
class Function;
}  // namespace llvm

namespace metal::cpu {

class Widener;

// Where not all lanes access a matrix, or not the same one, each lane does it by itself: the
// standard library's function is inlined.
void inline_divided_matrices(llvm::Function& body, const BodyShapes& shapes);

// Widens a matrix product, load or store that has not been inlined.
void widen_matrix_operation(Widener& w, llvm::CallInst& call);

}  // namespace metal::cpu
