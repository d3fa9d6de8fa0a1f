// Which of its kernels OpenBLAS uses.
#pragma once

#include <string_view>

namespace mlx::core::cpu {

struct VectorFeatures {
  bool avx2;  // and fused multiply-add
  bool avx512;
};

// OpenBLAS knows processors by their model numbers. On one that is newer than the library it uses
// kernels of 2004, which take five times as long. Returns the name of the newest kernels for the
// processor's instructions if `chosen` names such old kernels, else an empty string.
std::string_view better_blas_core(std::string_view chosen, VectorFeatures features);

}  // namespace mlx::core::cpu
