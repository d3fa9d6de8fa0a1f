// The standard library's functions that load and store a lane's part of a matrix.
#pragma once

namespace llvm {
class CallInst;
class Function;
class Module;
}  // namespace llvm

namespace metal::compiler {

// Arguments of these functions.
enum MatrixAccessArgument : unsigned {
  kMatrixPointer,
  kMatrixRowStep,     // elements
  kMatrixColumnStep,  // elements
  kMatrixLane,
  kMatrixElements  // of a store: a lane's two, as bits
};

bool is_matrix_access(const llvm::Function& function);
bool is_matrix_access(const llvm::CallInst& call);

// Says what it does to memory, and that it stays a call: a code generator that moves whole matrices
// takes its place.
void keep_matrix_access(llvm::Function& function);
// For all others: each lane does by itself what the functions say.
void inline_matrix_accesses(llvm::Module& module);

}  // namespace metal::compiler
