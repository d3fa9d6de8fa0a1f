// Matrix products with BLAS.
#pragma once

#include "mlx/backend/host/blas_threads.h"
#include "mlx/backend/host/matrices.h"
#include "mlx/backend/host/parallel.h"

namespace mlx::core::cpu {

// c = alpha a b + beta c, row by row, on this thread. The caller holds a BlasOnThisThread.
void gemm(const Product& p, const float* a, const float* b, float* c);
void gemm(const Product& p, const double* a, const double* b, double* c);
void gemm(const Product& p, const complex64_t* a, const complex64_t* b, complex64_t* c);

// The same without matrix registers.
void gemm_by_library(const Product& p, const float* a, const float* b, float* c);

// The same for a single product, which is spread over the cores if it is large.
void shared_gemm(const Product& p, const float* a, const float* b, float* c);
void shared_gemm(const Product& p, const double* a, const double* b, double* c);
void shared_gemm(const Product& p, const complex64_t* a, const complex64_t* b, complex64_t* c);

// Calls multiply(i, gemm or shared_gemm) for each of `count` equal products, concurrently if there
// are enough of them to keep all cores busy.
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

// Whether elements are converted to float32 because BLAS has no 16-bit types.
bool is_too_short_for_blas(Dtype dtype);
// Converts to float32. Transposed and broadcast operands stay views.
array widened(const array& a, Stream s);

}  // namespace mlx::core::cpu
