// Loops for any processor of the architecture, and the choice among all.
#define HOST_KERNELS baseline
#define VECTOR_FLOATS 4
#include "sparse_products/host_loops.h"

namespace mlx_sample {

const HostKernels& host_kernels() {
#if defined(__x86_64__)
  auto choose = []() -> const HostKernels& {
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl")) {
      return host::avx512;
    }
    bool modern = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    return modern ? host::avx2 : host::baseline;  // all that have AVX2 convert halves too
  };
  static const HostKernels& best = choose();
  return best;
#else
  return host::baseline;
#endif
}

}  // namespace mlx_sample
