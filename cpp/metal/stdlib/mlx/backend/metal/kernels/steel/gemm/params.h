// What the host tells kernels that multiply matrices. Leading dimensions and strides count
// elements.
#pragma once

#ifndef __METAL_VERSION__
#include <cstdint>
#endif

namespace mlx {
namespace steel {

// D (M, N) = A (M, K) B (K, N)
struct GEMMParams {
  const int M;
  const int N;
  const int K;

  const int lda;
  const int ldb;
  const int ldd;

  const int tiles_n;
  const int tiles_m;

  const int64_t batch_stride_a;
  const int64_t batch_stride_b;
  const int64_t batch_stride_d;

  const int swizzle_log;                // see BlockSwizzle
  const int gemm_k_iterations_aligned;  // whole blocks of K

  const int batch_ndim;
};

// Threadgroups share the sum over K: each computes a partition of it.
struct GEMMSpiltKParams {
  const int M;
  const int N;
  const int K;

  const int lda;
  const int ldb;
  const int ldc;

  const int tiles_n;
  const int tiles_m;

  const int split_k_partitions;
  const int split_k_partition_stride;  // between the results of partitions
  const int split_k_partition_size;    // columns of A

  const int swizzle_log;  // see BlockSwizzle
  const int gemm_k_iterations_aligned;
};

// D = alpha A B + beta C
struct GEMMAddMMParams {
  const int ldc;  // between rows of C
  const int fdc;  // between columns of C

  const int64_t batch_stride_c;

  const float alpha;
  const float beta;
};

}  // namespace steel
}  // namespace mlx
