// Turns what the lanes of a SIMD-group do with their parts of a matrix into operations on the
// whole.
#pragma once

#include "metal/cpu/vectorizer/shapes/shape_analysis.h"

namespace llvm {
class CallInst;
class Function;
class Instruction;
}  // namespace llvm

namespace metal::cpu {

class Widener;

// Where only some lanes load or store a matrix, or not the same one, each does so by itself: what
// the standard library says becomes part of the linear code.
void inline_divided_matrices(llvm::Function& body, const BodyShapes& shapes);

// Whether a lane multiplies matrices here.
bool is_matrix_product(const llvm::Instruction& instruction);

// Products, and the loads and stores that are left.
void widen_matrix_operation(Widener& w, llvm::CallInst& call);

}  // namespace metal::cpu
