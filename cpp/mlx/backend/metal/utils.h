// Names and sizes for launching kernels.
#pragma once

#include <Metal/Metal.hpp>
#include <algorithm>
#include <string>

#include "mlx/array.h"
#include "mlx/backend/common/utils.h"
#include "mlx/backend/metal/device.h"

namespace mlx::core {

// The type's name in kernels' names: "float32", "bool_", ...
const char* type_name(Dtype dtype);
inline std::string type_to_name(const Dtype& dtype) { return type_name(dtype); }
inline std::string type_to_name(const array& a) { return type_name(a.dtype()); }

inline MTL::Size get_block_dims(int64_t dim0, int64_t dim1, int64_t dim2, int pow2 = 10) {
  auto [x, y, z] = get_block_dims_common(dim0, dim1, dim2, pow2);
  return MTL::Size(x, y, z);
}

inline MTL::Size get_2d_grid_dims(const Shape& shape, const Strides& strides) {
  auto [x, y, z] = get_2d_grid_dims_common(shape, strides);
  return MTL::Size(x, y, z);
}

inline MTL::Size get_2d_grid_dims(const Shape& shape, const Strides& strides, size_t divisor) {
  auto [x, y, z] = get_2d_grid_dims_common(shape, strides, divisor);
  return MTL::Size(x, y, z);
}

inline size_t ceildiv(size_t n, size_t m) { return (n + m - 1) / m; }

// Elements per thread of an elementwise kernel: as many as eight bytes hold.
inline int get_work_per_thread(Dtype dtype) { return std::max(1, 8 / dtype.size()); }

// Throws if a threadgroup is larger than the kernel allows.
void check_kernel_threadgroup_size(const MTL::ComputePipelineState* kernel, MTL::Size group,
                                   const std::string& name);

// Appends the arguments to a kernel's name.
inline void concatenate(std::string&) {}
template <typename First, typename... Rest>
void concatenate(std::string& text, const First& first, const Rest&... rest) {
  if constexpr (std::is_arithmetic_v<First>) {
    text += std::to_string(first);
  } else {
    text += first;
  }
  concatenate(text, rest...);
}

}  // namespace mlx::core
