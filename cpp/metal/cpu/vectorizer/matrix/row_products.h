// Functions that multiply 8x8 matrices of floats whose rows lie in memory, for x86 processors with
// registers of 16 floats.
#pragma once

#include <cstdint>

#include "llvm/IR/Function.h"

namespace llvm {
class TargetTransformInfo;
}

namespace metal::cpu {

// Products of each of so many A with each of so many B, and that some times over with other A and
// B, for the same sums.
struct RowProducts {
  static constexpr unsigned kMost = 2;  // A, and B: their sums fill half of the registers
  static constexpr unsigned kMostTimes = 4;
  static constexpr int64_t kDensePitch = 32;

  unsigned rows = 1;
  unsigned columns = 1;
  unsigned times = 1;
  // Bytes from one row to the next, the same for every A and for every B. Those of C are dense.
  int64_t a_pitch = kDensePitch;
  int64_t b_pitch = kDensePitch;
};

// Whether the target of `code` runs them.
bool has_row_products(const llvm::Function& code, const llvm::TargetTransformInfo& costs);

// void (a0, a1, ..., b0, b1, ..., c0, c1, ...): pointers to each A, each B and each C, which lie
// row by row; first the A and B of the first time. Adds the products to the C.
llvm::Function* get_row_products(llvm::Module& module, const RowProducts& products,
                                 const llvm::Function& like);

}  // namespace metal::cpu
