// Calls a function of LAPACK for each matrix of a batch, on a stream.
#pragma once

#include <algorithm>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/blas_threads.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/host/lapack.h"
#include "mlx/backend/host/parallel.h"
#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core::lapack {

// Throws if LAPACK's code says that it failed.
inline void check(int code, const char* op, const char* what) {
  if (code != 0) {
    throw std::runtime_error(std::string("[") + op + "] " + what + " (LAPACK's code " +
                             std::to_string(code) + ").");
  }
}

// Allocates the outputs and calls body(T()) with the input's type T.
template <typename Body>
void decompose(const char* op, const std::vector<array>& inputs, std::vector<array>& outputs,
               const Stream& s, Body&& body) {
  for (auto& out : outputs) allocate_output(out);
  // LAPACK must not refuse infinities and NaNs: they are results like others.
  static const bool once = [] { return LAPACKE_set_nancheck(0), true; }();
  (void)once;
  switch (inputs[0].dtype().val()) {
    case Dtype::Val::float64:
      check_float64(op, s);
      return body(double());
    case Dtype::Val::complex64:
      return body(complex64_t());
    default:
      return body(float());
  }
}

// LAPACK itself spreads larger matrices over the cores.
constexpr int kLargeMatrix = 512;

// Calls one(number) for each matrix of a batch, on the stream. The cores share a batch of small
// matrices.
template <typename One>
void for_each_matrix(const array& in, const Stream& s, One&& one) {
  constexpr size_t kElementsPerPart = 1024;  // enough that handing out a part costs little
  const int rows = in.shape(-2), columns = in.shape(-1);
  const size_t grain = kElementsPerPart / std::max<size_t>(1, size_t(rows) * columns) + 1;
  const Shape& shape = in.shape();
  const auto count =
      std::accumulate(shape.begin(), shape.end() - 2, size_t{1}, std::multiplies<size_t>());
  cpu::get_command_encoder(s).dispatch([=] {
    if (std::min(rows, columns) >= kLargeMatrix) {
      for (size_t i = 0; i < count; ++i) one(i);
      return;
    }
    const cpu::BlasOnThisThread alone;
    cpu::parallel_for(count, grain, [&one](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) one(i);
    });
  });
}

}  // namespace mlx::core::lapack
