// Loops for any processor of the architecture, and the choice among all.
#define HOST_KERNELS baseline
#define VECTOR_FLOATS 4
#include "sparse_products/host_loops.h"

namespace mlx_sample {

const HostKernels& host_kernels() {
#if defined(__x86_64__)
  static const HostKernels& best = __builtin_cpu_supports("avx512f") ? host::avx512
                                   : __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")
                                       ? host::avx2
                                       : host::baseline;
  return best;
#else
  return host::baseline;
#endif
}

}  // namespace mlx_sample
