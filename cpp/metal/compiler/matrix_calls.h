// The standard library's functions for a lane's part of matrices, in kernel form.
#pragma once

#include <vector>

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"

namespace llvm {
class CallInst;
class Function;
class Instruction;
class Module;
class Value;
}  // namespace llvm

namespace metal::compiler {

// Multiplies two matrices and adds a third one.
inline constexpr const char* kMatrixProduct = "__metal_simdgroup_multiply_accumulate_f32";
bool is_matrix_product(const llvm::Instruction& instruction);

// Arguments of the functions that load and store a matrix.
enum MatrixAccessArgument : unsigned {
  kMatrixPointer,
  kMatrixRowStep,     // elements
  kMatrixColumnStep,  // elements
  kMatrixLane,
  kMatrixElements  // of a store: the lane's two elements, as bits
};

bool is_matrix_access(const llvm::Function& function);
bool is_matrix_access(const llvm::CallInst& call);

// Gives the function its memory effects and keeps it from being inlined, so that a code generator
// for whole matrices can replace its calls.
void keep_matrix_access(llvm::Function& function);

// A load or store that has been inlined.
struct MatrixAccess {
  llvm::SmallVector<llvm::Value*> arguments;       // in the order above
  llvm::SmallVector<llvm::Instruction*> elements;  // the loads or stores of the lane
};

// For other code generators: inlines loads and stores, so that each lane accesses its own elements.
// The functions for which `keep` is true stay.
std::vector<MatrixAccess> inline_matrix_accesses(
    llvm::Module& module, llvm::function_ref<bool(const llvm::Function&)> keep = nullptr);

}  // namespace metal::compiler
