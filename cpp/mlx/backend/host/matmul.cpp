// Matrix products with BLAS: float32, float64 and complex64; 16-bit floats through float32.
#include <cblas.h>

#include <algorithm>
#include <vector>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/common/utils.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/host/parallel.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/primitives/linear.h"

namespace mlx::core {

namespace {

// A batch of matrices that BLAS can read: rows or columns are contiguous.
struct Matrices {
  array source;
  bool transposed;
  int64_t leading;  // distance between rows (or columns, if transposed)
  Shape batch_shape;
  Strides batch_strides;
};

Matrices readable(const array& a, Stream s) {
  auto describe = [](const array& x, bool transposed) {
    int rows = x.shape(-2);
    int cols = x.shape(-1);
    // A single row or column may have any stride; BLAS wants the leading dimension to cover a row.
    int64_t leading = transposed ? x.strides(-1) : x.strides(-2);
    if ((transposed ? cols : rows) == 1) {
      leading = transposed ? rows : cols;
    }
    return Matrices{x, transposed, std::max<int64_t>(leading, 1),
                    Shape(x.shape().begin(), x.shape().end() - 2),
                    Strides(x.strides().begin(), x.strides().end() - 2)};
  };
  int64_t row = a.strides(-2);
  int64_t col = a.strides(-1);
  if ((col == 1 || a.shape(-1) == 1) && (row >= a.shape(-1) || a.shape(-2) == 1)) {
    return describe(a, false);
  }
  if ((row == 1 || a.shape(-2) == 1) && (col >= a.shape(-2) || a.shape(-1) == 1)) {
    return describe(a, true);
  }
  // Only the matrices themselves need the copy: repeated batches are not multiplied out.
  array out(a.shape(), a.dtype(), nullptr, {});
  copy(a, out, CopyType::General, s);
  metal::get_command_encoder(s).add_temporary(out);
  return describe(out, false);
}

struct Product {
  int m, n, k;
  bool ta, tb;
  int lda, ldb;
  double alpha, beta;
};

void gemm(const Product& p, const float* a, const float* b, float* c) {
  auto t = [](bool transposed) { return transposed ? CblasTrans : CblasNoTrans; };
  if (p.n == 1) {
    // A vector on the right: its elements are ldb apart, or next to each other.
    int step = p.tb ? 1 : p.ldb;
    return cblas_sgemv(CblasRowMajor, t(p.ta), p.ta ? p.k : p.m, p.ta ? p.m : p.k, p.alpha, a,
                       p.lda, b, step, p.beta, c, 1);
  }
  if (p.m == 1 && !p.ta) {
    return cblas_sgemv(CblasRowMajor, t(!p.tb), p.tb ? p.n : p.k, p.tb ? p.k : p.n, p.alpha, b,
                       p.ldb, a, 1, p.beta, c, 1);
  }
  cblas_sgemm(CblasRowMajor, t(p.ta), t(p.tb), p.m, p.n, p.k, p.alpha, a, p.lda, b, p.ldb, p.beta,
              c, p.n);
}

void gemm(const Product& p, const double* a, const double* b, double* c) {
  auto t = [](bool transposed) { return transposed ? CblasTrans : CblasNoTrans; };
  cblas_dgemm(CblasRowMajor, t(p.ta), t(p.tb), p.m, p.n, p.k, p.alpha, a, p.lda, b, p.ldb, p.beta,
              c, p.n);
}

void gemm(const Product& p, const complex64_t* a, const complex64_t* b, complex64_t* c) {
  auto t = [](bool transposed) { return transposed ? CblasTrans : CblasNoTrans; };
  complex64_t alpha(static_cast<float>(p.alpha));
  complex64_t beta(static_cast<float>(p.beta));
  cblas_cgemm(CblasRowMajor, t(p.ta), t(p.tb), p.m, p.n, p.k, &alpha, a, p.lda, b, p.ldb, &beta, c,
              p.n);
}

// Many small products share the cores among them; a large one is spread by BLAS itself.
constexpr double kLargeProduct = 1 << 21;

template <typename T>
void schedule(const Matrices& a, const Matrices& b, array& out, Product p, Stream s) {
  Shape batch = a.batch_shape;
  Strides a_strides = a.batch_strides;
  Strides b_strides = b.batch_strides;
  // One matrix on the right for all on the left: their rows are those of one tall matrix.
  bool shared =
      std::all_of(b_strides.begin(), b_strides.end(), [](int64_t stride) { return stride == 0; });
  if (shared && !a.transposed && !batch.empty()) {
    auto [shape, strides] = collapse_contiguous_dims(a.batch_shape, a.batch_strides);
    if (shape.size() == 1 && (strides[0] == a.leading * p.m || shape[0] == 1)) {
      p.m *= shape[0];
      batch = {};
    }
  }
  cpu::get_command_encoder(s).dispatch(
      [=, x = a.source.data<T>(), y = b.source.data<T>(), z = out.data<T>()] {
        size_t count = shape_size(batch);
        auto some = [&](size_t first, size_t last) {
          for (size_t i = first; i < last; ++i) {
            gemm(p, x + elem_to_loc(i, batch, a_strides), y + elem_to_loc(i, batch, b_strides),
                 z + i * p.m * size_t(p.n));
          }
        };
        // Large ones are spread over the cores by gemm itself.
        const bool small = double(p.m) * p.n * p.k < kLargeProduct;
        cpu::parallel_for(count, small ? 1 : count, some);
      });
}

void fill_zero(array& out, Stream s) {
  cpu::get_command_encoder(s).dispatch(
      [to = out.data<char>(), bytes = out.nbytes()] { std::fill(to, to + bytes, 0); });
}

// out = alpha a b + beta out, in one of BLAS's types.
void multiply(const array& a, const array& b, array& out, double alpha, double beta, Stream s) {
  if (a.shape(-1) == 0) {
    if (beta == 0.0) {
      fill_zero(out, s);
    }
    return;
  }
  auto left = readable(a, s);
  auto right = readable(b, s);
  Product p{a.shape(-2),
            b.shape(-1),
            a.shape(-1),
            left.transposed,
            right.transposed,
            static_cast<int>(left.leading),
            static_cast<int>(right.leading),
            alpha,
            beta};
  if (out.dtype() == float32) {
    schedule<float>(left, right, out, p, s);
  } else if (out.dtype() == float64) {
    check_float64("matmul", s);
    schedule<double>(left, right, out, p, s);
  } else {
    schedule<complex64_t>(left, right, out, p, s);
  }
}

bool through_float32(Dtype dtype) { return dtype == float16 || dtype == bfloat16; }

// float32 with the same strides where the array is dense, so that transposed operands stay views.
array widened(const array& a, Stream s) {
  array out(a.shape(), float32, nullptr, {});
  copy(a, out,
       a.flags().contiguous && a.data_size() == a.size() ? CopyType::Vector : CopyType::General, s);
  metal::get_command_encoder(s).add_temporary(out);
  return out;
}

}  // namespace

MLX_EVAL(Matmul) {
  allocate_output(out);
  if (out.size() == 0) {
    return;
  }
  Stream s = stream();
  if (!through_float32(out.dtype())) {
    return multiply(inputs[0], inputs[1], out, 1.0, 0.0, s);
  }
  array result(out.shape(), float32, nullptr, {});
  allocate_output(result);
  metal::get_command_encoder(s).add_temporary(result);
  multiply(widened(inputs[0], s), widened(inputs[1], s), result, 1.0, 0.0, s);
  copy_inplace(result, out, CopyType::Vector, s);
}

MLX_EVAL(AddMM) {
  allocate_output(out);
  if (out.size() == 0) {
    return;
  }
  Stream s = stream();
  if (!through_float32(out.dtype())) {
    copy_inplace(inputs[2], out, CopyType::General, s);
    return multiply(inputs[0], inputs[1], out, alpha_, beta_, s);
  }
  array result(out.shape(), float32, nullptr, {});
  allocate_output(result);
  metal::get_command_encoder(s).add_temporary(result);
  copy_inplace(inputs[2], result, CopyType::General, s);
  multiply(widened(inputs[0], s), widened(inputs[1], s), result, alpha_, beta_, s);
  copy_inplace(result, out, CopyType::Vector, s);
}

}  // namespace mlx::core
