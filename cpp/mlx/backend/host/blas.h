// Matrix products with BLAS.
#pragma once

#include "mlx/backend/host/blas_threads.h"
#include "mlx/backend/host/matrices.h"
#include "mlx/backend/host/parallel.h"

namespace mlx::core::cpu {

// c = alpha a b + beta c, row by row, on this thread. The caller has a BlasOnThisThread.
void gemm(const Product& p, const float* a, const float* b, float* c);
void gemm(const Product& p, const double* a, const double* b, double* c);
void gemm(const Product& p, const complex64_t* a, const complex64_t* b, complex64_t* c);

// The same for one product after the other: large ones are spread over the cores.
void shared_gemm(const Product& p, const float* a, const float* b, float* c);
void shared_gemm(const Product& p, const double* a, const double* b, double* c);
void shared_gemm(const Product& p, const complex64_t* a, const complex64_t* b, complex64_t* c);

// multiply(i, gemm or shared_gemm) for each of so many products alike: side by side, if there are
// enough of them to keep the cores busy.
template <typename T, typename Multiply>
void for_each_product(size_t count, const Product& like, Multiply&& multiply) {
  using Gemm = void (*)(const Product&, const T*, const T*, T*);
  if (count < 3 * parallel_width() && like.is_large()) {
    for (size_t i = 0; i < count; ++i) multiply(i, static_cast<Gemm>(shared_gemm));
    return;
  }
  parallel_for(count, 1, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) multiply(i, static_cast<Gemm>(gemm));
  });
}

// Whether numbers are widened to float32 for BLAS, which has none of 16 bits.
bool is_too_short_for_blas(Dtype dtype);
// float32 with the same strides where the array is dense, so that transposed operands stay views.
array widened(const array& a, Stream s);

}  // namespace mlx::core::cpu
