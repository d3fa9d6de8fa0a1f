// Checks of the arguments of linear algebra.
#pragma once

#include "mlx/array.h"
#include "mlx/errors.h"

namespace mlx::core::linalg {

inline Dtype real_type(Dtype type) { return type == complex64 ? float32 : type; }

inline void check_type(const array& a, const char* op) {
  if (a.dtype() != float32 && a.dtype() != float64 && a.dtype() != complex64) {
    invalid_argument(
        op, message("The type must be float32, float64 or complex64, not ", a.dtype(), "."));
  }
}

inline void check_matrices(const array& a, const char* op) {
  check_type(a, op);
  if (a.ndim() < 2) {
    invalid_argument(
        op, message("The array must have at least 2 dimensions, but has shape ", a.shape(), "."));
  }
}

inline void check_square(const array& a, const char* op) {
  check_matrices(a, op);
  if (a.shape(-1) != a.shape(-2)) {
    invalid_argument(op, message("The matrices must be square, but have shape ", a.shape(), "."));
  }
}

}  // namespace mlx::core::linalg
