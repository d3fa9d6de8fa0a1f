// Headers of kernels/ for kernels that are generated at run time. kernels/CMakeLists.txt makes the
// texts.
#pragma once

namespace mlx::core {

// The functors of elementwise operations. Must follow an include of kernels/utils.h.
extern const char* const kElementwiseHeaders;

// The operations and loops of reductions. Must follow the others.
extern const char* const kReduceHeaders;

}  // namespace mlx::core
