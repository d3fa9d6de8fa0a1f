// The functors of elementwise operations and what they need, in MSL, for kernels that are written
// at run time. Made of kernels/*.h by their CMakeLists.txt.
#pragma once

namespace mlx::core {

// Comes behind an include of kernels/utils.h.
extern const char* const kElementwiseHeaders;

}  // namespace mlx::core
