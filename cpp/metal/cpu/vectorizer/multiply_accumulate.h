// Functions that multiply 8x8 matrices whose elements the lanes of a SIMD-group left in memory.
#pragma once

namespace llvm {
class Function;
class LLVMContext;
class TargetTransformInfo;
}  // namespace llvm

namespace metal::cpu {

// How many products with the same A one function can compute.
unsigned most_products(llvm::LLVMContext& context, const llvm::TargetTransformInfo& costs);

// Writes the code of void (a0, a1, b0, b1, c0, c1 [, b0, b1, c0, c1 ...]): pointers to the lanes'
// elements of A, and of B and C of every product, first and second elements by themselves.
void write_multiply_accumulate(llvm::Function& code, const llvm::TargetTransformInfo& costs);

}  // namespace metal::cpu
