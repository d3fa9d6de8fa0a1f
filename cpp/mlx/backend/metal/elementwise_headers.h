// The functors of elementwise operations in MSL, for kernels that are generated at run time.
// kernels/CMakeLists.txt makes the text out of kernels/*.h.
#pragma once

namespace mlx::core {

// Must follow an include of kernels/utils.h.
extern const char* const kElementwiseHeaders;

}  // namespace mlx::core
