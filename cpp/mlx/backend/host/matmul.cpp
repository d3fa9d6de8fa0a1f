// Matrix products with BLAS: float32, float64 and complex64; 16-bit floats through float32, but
// bfloat16 with oneDNN where the CPU multiplies it. A device with memory of its own computes its
// products itself.
#include "mlx/backend/metal/ops/matmul.h"

#include <algorithm>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/utils.h"
#include "mlx/backend/host/blas.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/host/matrices.h"
#include "mlx/backend/host/onednn.h"
#include "mlx/backend/host/parallel.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/linear.h"

namespace mlx::core {

namespace {

template <typename T>
void schedule(const cpu::Products& products, const array& a, const array& b, array& out, Stream s) {
  const uint64_t operations = out.size() * static_cast<uint64_t>(products.one.k);
  cpu::get_command_encoder(s).dispatch_counted(operations, [products, x = a.data<T>(),
                                                            y = b.data<T>(), z = out.data<T>()] {
    const cpu::BlasOnThisThread alone;
    const cpu::Product& one = products.one;
    cpu::for_each_product<T>(shape_size(products.batch), one, [&](size_t i, auto gemm) {
      gemm(one, x + elem_to_loc(i, products.batch, products.a_strides),
           y + elem_to_loc(i, products.batch, products.b_strides), z + i * one.m * size_t(one.n));
    });
  });
}

void fill_zero(array& out, Stream s) {
  cpu::get_command_encoder(s).dispatch(
      [to = out.data<char>(), bytes = out.nbytes()] { std::fill(to, to + bytes, 0); });
}

bool through_float32(Dtype dtype) {
  return cpu::is_too_short_for_blas(dtype) && !cpu::multiplies_natively(dtype);
}

}  // namespace

void cpu::multiply(const array& a, const array& b, array& out, double alpha, double beta,
                   Stream s) {
  if (a.shape(-1) == 0) {
    if (beta == 0.0) {
      fill_zero(out, s);
    }
    return;
  }
  const auto left = cpu::readable_matrices(a, s);
  const auto right = cpu::readable_matrices(b, s);
  const cpu::Products products(left, right, alpha, beta);
  const array &x = left.source, &y = right.source;
  switch (out.dtype().val()) {
    case Dtype::Val::float32:
      return schedule<float>(products, x, y, out, s);
    case Dtype::Val::float64:
      check_float64("matmul", s);
      return schedule<double>(products, x, y, out, s);
    case Dtype::Val::bfloat16:
      return cpu::multiply_bfloat16(products, x, y, out, s);
    default:
      return schedule<complex64_t>(products, x, y, out, s);
  }
}

MLX_EVAL(Matmul) {
  allocate_output(out);
  if (out.size() == 0) {
    return;
  }
  Stream s = stream();
  if (runs_on_gpu(s)) {
    return multiply_on_device(inputs[0], inputs[1], out, 1.0, 0.0, s);
  }
  if (!through_float32(out.dtype())) {
    return cpu::multiply(inputs[0], inputs[1], out, 1.0, 0.0, s);
  }
  array result(out.shape(), float32, nullptr, {});
  allocate_output(result);
  metal::get_command_encoder(s).add_temporary(result);
  cpu::multiply(cpu::widened(inputs[0], s), cpu::widened(inputs[1], s), result, 1.0, 0.0, s);
  copy_inplace(result, out, CopyType::Vector, s);
}

MLX_EVAL(AddMM) {
  allocate_output(out);
  if (out.size() == 0) {
    return;
  }
  Stream s = stream();
  if (runs_on_gpu(s)) {
    return addmm_on_device(inputs[0], inputs[1], inputs[2], out, alpha_, beta_, s);
  }
  if (!through_float32(out.dtype())) {
    copy_inplace(inputs[2], out, CopyType::General, s);
    return cpu::multiply(inputs[0], inputs[1], out, alpha_, beta_, s);
  }
  array result(out.shape(), float32, nullptr, {});
  allocate_output(result);
  metal::get_command_encoder(s).add_temporary(result);
  copy_inplace(inputs[2], result, CopyType::General, s);
  cpu::multiply(cpu::widened(inputs[0], s), cpu::widened(inputs[1], s), result, alpha_, beta_, s);
  copy_inplace(result, out, CopyType::Vector, s);
}

}  // namespace mlx::core
