// Grids and strided walks.
#include "mlx/backend/metal/ops/launch.h"

#include <stdexcept>

namespace mlx::core {

const char* size_name(Dtype dtype) {
  switch (dtype.size()) {
    case 1:
      return "size1";
    case 2:
      return "size2";
    case 4:
      return "size4";
    default:
      return "size8";
  }
}

void check_float64(const char* op, Stream s) {
  if (s.device.type == Device::gpu) {
    throw std::invalid_argument("[" + std::string(op) + "] float64 is not supported on the GPU.");
  }
}

void dispatch_grid(metal::CommandEncoder& encoder, size_t x, size_t y, size_t z, size_t limit) {
  if (x == 0 || y == 0 || z == 0) {
    return;
  }
  // Equal shares of a row that is longer than a threadgroup, in whole SIMD-groups.
  size_t parts = (x + limit - 1) / limit;
  size_t width = (x + parts - 1) / parts;
  if (parts > 1) {
    width = std::min(limit, (width + 31) / 32 * 32);
  }
  size_t height = std::min(y, limit / width);
  size_t depth = std::min(z, limit / (width * height));
  encoder.dispatch_threads(MTL::Size(x, y, z), MTL::Size(width, height, depth));
}

StridedWalk::StridedWalk(const Shape& full_shape, const std::vector<Strides>& full_strides) {
  std::tie(shape, strides) = collapse_contiguous_dims(full_shape, full_strides);
}

namespace detail {

void fill_strides4(const StridedWalk& walk, int64_t (*strides)[4], uint32_t& third_extent) {
  int ndim = static_cast<int>(walk.shape.size());
  for (size_t k = 0; k < walk.strides.size(); ++k) {
    for (int d = 0; d < ndim; ++d) {
      strides[k][d] = walk.strides[k][ndim - 1 - d];
    }
  }
  third_extent = ndim > 2 ? walk.shape[ndim - 3] : 1;
}

void run_deep(const StridedWalk& walk, metal::CommandEncoder& encoder, int index) {
  int ndim = static_cast<int>(walk.shape.size());
  Strides all;
  for (auto& s : walk.strides) {
    all.insert(all.end(), s.begin(), s.end());
  }
  encoder.set_vector_bytes(walk.shape, index);
  encoder.set_vector_bytes(all, index + 1);
  encoder.set_bytes(ndim, index + 2);
  dispatch_walk(walk.shape, encoder);
}

void dispatch_walk(const Shape& shape, metal::CommandEncoder& encoder) {
  size_t ndim = shape.size();
  size_t z = 1;
  for (size_t d = 0; d + 2 < ndim; ++d) {
    z *= shape[d];
  }
  dispatch_grid(encoder, shape[ndim - 1], ndim > 1 ? shape[ndim - 2] : 1, z);
}

}  // namespace detail

}  // namespace mlx::core
