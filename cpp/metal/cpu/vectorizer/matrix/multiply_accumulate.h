// A function that multiplies 8x8 matrices whose elements the lanes of a SIMD-group left in memory.
#pragma once

namespace llvm {
class Function;
class TargetTransformInfo;
}  // namespace llvm

namespace metal::cpu {

// Writes the code of void (a0, a1, b0, b1, c0, c1): pointers to the lanes' first and second
// elements of A, B and C. Adds the product to C.
void write_multiply_accumulate(llvm::Function& code, const llvm::TargetTransformInfo& costs);

}  // namespace metal::cpu
