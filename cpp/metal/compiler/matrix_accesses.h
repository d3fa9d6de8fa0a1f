// The standard library's functions that load and store a lane's part of a matrix.
#pragma once

#include <vector>

#include "llvm/ADT/SmallVector.h"

namespace llvm {
class CallInst;
class Function;
class Instruction;
class Module;
class Value;
}  // namespace llvm

namespace metal::compiler {

// Arguments of these functions.
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

// A call of one of these functions that has been inlined.
struct MatrixAccess {
  llvm::SmallVector<llvm::Value*> arguments;       // in the order above
  llvm::SmallVector<llvm::Instruction*> elements;  // the loads or stores of the lane
};

// For other code generators: inlines these functions, so that each lane accesses its own elements.
std::vector<MatrixAccess> inline_matrix_accesses(llvm::Module& module);

}  // namespace metal::compiler
