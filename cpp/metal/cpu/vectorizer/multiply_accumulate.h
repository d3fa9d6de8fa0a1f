// Functions that multiply 8x8 matrices whose elements the lanes of a SIMD-group left in memory.
#pragma once

namespace llvm {
class Function;
class LLVMContext;
class TargetTransformInfo;
}  // namespace llvm

namespace metal::cpu {

// Products of each of so many A with each of so many B.
struct Products {
  unsigned rows = 1;
  unsigned columns = 1;
};

// How many one function can compute.
Products most_products(llvm::LLVMContext& context, const llvm::TargetTransformInfo& costs);

// Whether quarters of the lanes are better kept in memory in the order 0 2 1 3: those with the same
// columns, which one register then takes, lie together.
bool wants_quarters_in_order(llvm::LLVMContext& context, const llvm::TargetTransformInfo& costs);

// Writes the code of void (a0, a1, ..., b0, b1, ..., c0, c1, ...): pointers to the lanes' elements
// of each A, each B and each C, which lie row by row, first and second elements by themselves.
void write_multiply_accumulate(llvm::Function& code, const Products& products, bool in_order,
                               const llvm::TargetTransformInfo& costs);

}  // namespace metal::cpu
