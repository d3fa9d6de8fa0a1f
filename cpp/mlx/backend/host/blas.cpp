// Matrix products with BLAS; larger ones of float32 with oneDNN's sgemm, or on matrix registers.
#include "mlx/backend/host/blas.h"

#include <cblas.h>
#include <dnnl.h>

#include <algorithm>
#include <cstdlib>
#include <vector>

#include "mlx/backend/common/copy.h"
#include "mlx/backend/host/amx/float_product.h"
#include "mlx/backend/host/onednn.h"
#include "mlx/backend/metal/ops/launch.h"

namespace mlx::core::cpu {

namespace {

CBLAS_TRANSPOSE order(bool transposed) { return transposed ? CblasTrans : CblasNoTrans; }

// oneDNN's sgemm is about 10% faster than OpenBLAS's from this size on, with AVX2 and AVX-512. It
// takes long to start, and it reads the columns of a few rows one by one.
constexpr double kOnednnProduct = 1 << 20;
constexpr int kFewRows = 32;

bool is_for_onednn(const Product& p) {
  return p.multiplications() >= kOnednnProduct && !(p.ta && p.m < kFewRows);
}

// False if oneDNN has no code for this processor.
bool multiply_with_onednn(const Product& p, const float* a, const float* b, float* c) {
  const OnThisThread alone;
  auto letter = [](bool transposed) { return transposed ? 'T' : 'N'; };
  return dnnl_sgemm(letter(p.ta), letter(p.tb), p.m, p.n, p.k, static_cast<float>(p.alpha), a,
                    p.lda, b, p.ldb, static_cast<float>(p.beta), c, p.ldc) == dnnl_success;
}

// So many rows are multiplied with a vector one by one: gemv adds up in another order for some of
// the rows, which depends on their number. Calls for more rows would take longer than gemv.
constexpr int kRowsOneByOne = 32;

void multiply_rows(const Product& p, const float* a, const float* b, int step, float* c) {
  for (int64_t i = 0; i < p.m; ++i) {
    const float sum = static_cast<float>(p.alpha) * cblas_sdot(p.k, a + i * p.lda, 1, b, step);
    float& result = c[i * p.ldc];
    result = p.beta == 0 ? sum : sum + static_cast<float>(p.beta) * result;
  }
}

}  // namespace

void gemm(const Product& p, const float* a, const float* b, float* c) {
  is_for_tiles(p) ? multiply_on_tiles(p, a, b, c, true) : gemm_by_library(p, a, b, c);
}

void gemm_by_library(const Product& p, const float* a, const float* b, float* c) {
  if (p.n == 1) {
    // The right factor is a vector: its elements are ldb apart, or contiguous.
    int step = p.tb ? 1 : p.ldb;
    if (p.m <= kRowsOneByOne && !p.ta) return multiply_rows(p, a, b, step, c);
    return cblas_sgemv(CblasRowMajor, order(p.ta), p.ta ? p.k : p.m, p.ta ? p.m : p.k, p.alpha, a,
                       p.lda, b, step, p.beta, c, p.ldc);
  }
  if (p.m == 1 && !p.ta) {
    return cblas_sgemv(CblasRowMajor, order(!p.tb), p.tb ? p.n : p.k, p.tb ? p.k : p.n, p.alpha, b,
                       p.ldb, a, 1, p.beta, c, 1);
  }
  if (is_for_onednn(p) && multiply_with_onednn(p, a, b, c)) return;
  cblas_sgemm(CblasRowMajor, order(p.ta), order(p.tb), p.m, p.n, p.k, p.alpha, a, p.lda, b, p.ldb,
              p.beta, c, p.ldc);
}

void gemm(const Product& p, const double* a, const double* b, double* c) {
  cblas_dgemm(CblasRowMajor, order(p.ta), order(p.tb), p.m, p.n, p.k, p.alpha, a, p.lda, b, p.ldb,
              p.beta, c, p.ldc);
}

void gemm(const Product& p, const complex64_t* a, const complex64_t* b, complex64_t* c) {
  complex64_t alpha(static_cast<float>(p.alpha));
  complex64_t beta(static_cast<float>(p.beta));
  cblas_cgemm(CblasRowMajor, order(p.ta), order(p.tb), p.m, p.n, p.k, &alpha, a, p.lda, b, p.ldb,
              &beta, c, p.ldc);
}

namespace {

// Splits a result into tiles for the threads. For each tile BLAS reads all of a factor's rows (or
// columns), so tiles are as large as the number of threads allows.
struct Tiles {
  int rows, columns;  // of a tile
  int across, count;

  explicit Tiles(const Product& p) : rows(std::min(p.m, 256)), columns(std::min(p.n, 512)) {
    constexpr int kMin = 64;
    const int wanted = 3 * static_cast<int>(parallel_width());
    while (number(p) < wanted && std::max(rows, columns) >= 2 * kMin) {
      int& longer = rows >= columns ? rows : columns;
      longer = (longer / 2 + 15) / 16 * 16;
    }
    across = divide_up(p.n, columns);
    count = number(p);
  }

 private:
  static int divide_up(int value, int unit) { return (value + unit - 1) / unit; }
  int number(const Product& p) const { return divide_up(p.m, rows) * divide_up(p.n, columns); }
};

template <typename T>
void share(const Product& p, const T* a, const T* b, T* c) {
  if (!p.is_large()) return gemm(p, a, b, c);
  const Tiles tiles(p);
  parallel_for(tiles.count, 1, [&](size_t first, size_t last) {
    for (size_t tile = first; tile < last; ++tile) {
      const int row = static_cast<int>(tile) / tiles.across * tiles.rows;
      const int column = static_cast<int>(tile) % tiles.across * tiles.columns;
      Product part = p;
      part.m = std::min(tiles.rows, p.m - row);
      part.n = std::min(tiles.columns, p.n - column);
      gemm(part, a + int64_t(row) * (p.ta ? 1 : p.lda), b + int64_t(column) * (p.tb ? p.ldb : 1),
           c + int64_t(row) * p.ldc + column);
    }
  });
}

}  // namespace

void shared_gemm(const Product& p, const float* a, const float* b, float* c) {
  is_for_tiles(p) ? multiply_on_tiles(p, a, b, c, false) : share(p, a, b, c);
}
void shared_gemm(const Product& p, const double* a, const double* b, double* c) {
  share(p, a, b, c);
}
void shared_gemm(const Product& p, const complex64_t* a, const complex64_t* b, complex64_t* c) {
  share(p, a, b, c);
}

bool is_too_short_for_blas(Dtype dtype) { return dtype == float16 || dtype == bfloat16; }

array widened(const array& a, Stream s) {
  if (a.flags().contiguous && a.data_size() == a.size()) {
    array out(a.shape(), float32, nullptr, {});
    copy(a, out, CopyType::Vector, s);
    metal::get_command_encoder(s).add_temporary(out);
    return out;
  }
  // Elements are read in the order of memory, and repeated ones once: a transposed or broadcast
  // operand stays a view.
  std::vector<int> axes;
  for (int axis = 0; axis < a.ndim(); ++axis) {
    if (a.strides(axis) != 0) axes.push_back(axis);
  }
  std::stable_sort(axes.begin(), axes.end(), [&](int left, int right) {
    return std::abs(a.strides(left)) > std::abs(a.strides(right));
  });
  Shape shape;
  Strides from;
  for (const int axis : axes) {
    shape.push_back(a.shape(axis));
    from.push_back(a.strides(axis));
  }
  array dense(shape, float32, nullptr, {});
  allocate_output(dense);
  metal::get_command_encoder(s).add_temporary(dense);
  copy_inplace(a, dense, shape, from, dense.strides(), 0, 0, CopyType::General, s);
  array out(a.shape(), float32, nullptr, {});
  Strides of_view(a.ndim(), 0);
  for (size_t i = 0; i < axes.size(); ++i) of_view[axes[i]] = dense.strides(static_cast<int>(i));
  make_view(dense, out, of_view);
  return out;
}

}  // namespace mlx::core::cpu
