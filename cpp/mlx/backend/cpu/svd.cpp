// Singular value decomposition with LAPACK.
#include <lapack.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/cpu/encoder.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/linear.h"

namespace mlx::core {

namespace {

void gesdd(char job, int m, int n, float* a, float* s, float* u, float* vt, float* work, int lwork,
           int* iwork, int* info) {
  LAPACK_sgesdd(&job, &m, &n, a, &m, s, u, &m, vt, &n, work, &lwork, iwork, info);
}

void gesdd(char job, int m, int n, double* a, double* s, double* u, double* vt, double* work,
           int lwork, int* iwork, int* info) {
  LAPACK_dgesdd(&job, &m, &n, a, &m, s, u, &m, vt, &n, work, &lwork, iwork, info);
}

// LAPACK reads our rows as columns and decomposes the transpose: its left vectors are our right
// ones.
template <typename T>
void svd(const array& in, std::vector<array>& outputs, bool vectors, Stream s) {
  int m = in.shape(-2);
  int n = in.shape(-1);
  int k = std::min(m, n);
  T* u = vectors ? outputs[0].data<T>() : nullptr;
  T* values = outputs[vectors ? 1 : 0].data<T>();
  T* vt = vectors ? outputs[2].data<T>() : nullptr;
  cpu::get_command_encoder(s).dispatch(
      [=, from = in.data<T>(), count = in.size() / (size_t(m) * n)] {
        char job = vectors ? 'A' : 'N';
        int info = 0;
        T size = 0;
        std::vector<T> matrix(size_t(m) * n);
        std::vector<int> integers(8 * size_t(k));
        gesdd(job, n, m, matrix.data(), values, vt, u, &size, -1, integers.data(), &info);
        std::vector<T> work(static_cast<size_t>(size));
        for (size_t i = 0; i < count; ++i) {
          std::copy(from + i * m * n, from + (i + 1) * m * n, matrix.begin());
          T* left = vectors ? vt + i * n * n : nullptr;
          T* right = vectors ? u + i * m * m : nullptr;
          gesdd(job, n, m, matrix.data(), values + i * k, left, right, work.data(),
                static_cast<int>(work.size()), integers.data(), &info);
          if (info != 0) {
            throw std::runtime_error("[linalg::svd] The decomposition failed with LAPACK's code " +
                                     std::to_string(info) + ".");
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
