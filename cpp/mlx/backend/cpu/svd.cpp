// Singular value decomposition with LAPACK.
#include <lapacke.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/linear.h"

namespace mlx::core {

namespace {

lapack_int gesdd(char job, int rows, int cols, float* a, float* s, float* u, float* vt, lapack_int ldu, lapack_int ldvt) {
  return LAPACKE_sgesdd(LAPACK_COL_MAJOR, job, rows, cols, a, rows, s, u, ldu, vt, ldvt);
}

lapack_int gesdd(char job, int rows, int cols, double* a, double* s, double* u, double* vt, lapack_int ldu,
                 lapack_int ldvt) {
  return LAPACKE_dgesdd(LAPACK_COL_MAJOR, job, rows, cols, a, rows, s, u, ldu, vt, ldvt);
}

// LAPACK reads our rows as columns and decomposes the transpose: its left vectors are our right ones.
template <typename T>
void svd(const array& in, std::vector<array>& outputs, bool vectors, Stream s) {
  int m = in.shape(-2);
  int n = in.shape(-1);
  int k = std::min(m, n);
  T* u = vectors ? outputs[0].data<T>() : nullptr;
  T* values = outputs[vectors ? 1 : 0].data<T>();
  T* vt = vectors ? outputs[2].data<T>() : nullptr;
  cpu::get_command_encoder(s).dispatch([=, from = in.data<T>(), count = in.size() / (size_t(m) * n)] {
    std::vector<T> work(size_t(m) * n);
    for (size_t i = 0; i < count; ++i) {
      std::copy(from + i * m * n, from + (i + 1) * m * n, work.begin());
      T* left = vectors ? vt + i * n * n : nullptr;
      T* right = vectors ? u + i * m * m : nullptr;
      auto info = gesdd(vectors ? 'A' : 'N', n, m, work.data(), values + i * k, left, right, n, m);
      if (info != 0) {
        throw std::runtime_error("[linalg::svd] The decomposition failed with LAPACK's code " + std::to_string(info) +
                                 ".");
      }
    }
  });
}

}  // namespace

MLX_EVAL_MULTI(SVD) {
  for (auto& out : outputs) {
    allocate_output(out);
  }
  if (inputs[0].size() == 0) {
    return;
  }
  array in = row_contiguous(inputs[0], stream());
  if (in.dtype() == float64) {
    check_float64("linalg::svd", stream());
    svd<double>(in, outputs, compute_uv_, stream());
  } else {
    svd<float>(in, outputs, compute_uv_, stream());
  }
}

}  // namespace mlx::core
