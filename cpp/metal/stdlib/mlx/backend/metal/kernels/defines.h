// Macros and tuning constants of MLX's kernels.
#pragma once

#include <metal_config>

#define MTL_CONST METAL_CONST

static constexpr int MAX_REDUCE_SPECIALIZED_DIMS = 4;
static constexpr int REDUCE_N_READS = 4;
static constexpr int REDUCE_N_WRITES = 4;
static constexpr int SOFTMAX_N_READS = 4;
static constexpr int RMS_N_READS = 4;
static constexpr int RMS_LOOPED_LIMIT = 4096;
static constexpr int CROSS_ENTROPY_N_READS = 4;

#define MLX_MTL_PRAGMA_UNROLL _Pragma("clang loop unroll(full)")

// instantiate_kernel("name", function, arguments...): the kernel function<arguments...> under a
// host name.
#define instantiate_kernel(host, function, ...) \
  template [[host_name(host)]] [[kernel]] decltype(function<__VA_ARGS__>) function<__VA_ARGS__>;
