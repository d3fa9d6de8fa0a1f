// Grids for kernels, and parameters of strided operands.
#include "mlx/backend/metal/ops/launch.h"

#include <cstdlib>
#include <stdexcept>

#include "metal/driver.h"
#include "mlx/backend/metal/kernels/shared_row.h"

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
    throw std::invalid_argument(
        "[" + std::string(op) +
        "] float64 is not supported on the GPU: use stream=mx.cpu or another type.");
  }
}

void dispatch_grid(metal::CommandEncoder& encoder, size_t x, size_t y, size_t z, size_t limit,
                   size_t row) {
  if (x == 0 || y == 0 || z == 0) {
    return;
  }
  // Splits a row that is longer than a threadgroup into equal parts of whole SIMD-groups.
  row = std::min(row, limit);
  size_t parts = (x + row - 1) / row;
  size_t width = (x + parts - 1) / parts;
  if (parts > 1) {
    width = std::min(row, (width + kLanes - 1) / kLanes * kLanes);
  }
  size_t height = std::min(y, limit / width);
  size_t depth = std::min(z, limit / (width * height));
  encoder.dispatch_threads(MTL::Size(x, y, z), MTL::Size(width, height, depth));
}

array temporary(Shape shape, Dtype dtype, Stream s) {
  array made(std::move(shape), dtype, nullptr, {});
  allocate_output(made);
  metal::get_command_encoder(s).add_temporary(made);
  return made;
}

bool runs_on_gpu() {
  static const bool own_memory = ::metal::default_driver().device_memory() != nullptr;
  return own_memory;
}

bool runs_on_gpu(Stream s) { return s.device.type == Device::gpu && runs_on_gpu(); }

SharedRows shared_rows(size_t length) {
  constexpr size_t kShortRow = 256, kMostThreads = 1024;
  if (!runs_on_gpu() || length <= kShortRow) return {"", kLanes};
  if (length > kMostThreads * kHeldElements) return {"Shared", kMostThreads};
  const size_t threads = (length + kHeldElements - 1) / kHeldElements;
  return {"Held", (threads + kLanes - 1) / kLanes * kLanes};
}

StridedWalk::StridedWalk(const Shape& full_shape, const std::vector<Strides>& full_strides) {
  std::tie(shape, strides) = collapse_contiguous_dims(full_shape, full_strides);
}

size_t StridedWalk::layers() const {
  size_t product = 1;
  for (size_t d = 0; d + 2 < shape.size(); ++d) {
    product *= shape[d];
  }
  return product;
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

void dispatch_walk(const StridedWalk& walk, metal::CommandEncoder& encoder) {
  auto& shape = walk.shape;
  size_t ndim = shape.size();
  // An operand with a large innermost stride is read in square tiles, so that its cache lines serve
  // several rows.
  bool jumps = false;
  for (auto& s : walk.strides) {
    jumps = jumps || std::abs(s.back()) > 1;
  }
  dispatch_grid(encoder, shape[ndim - 1], ndim > 1 ? shape[ndim - 2] : 1, walk.layers(), 1024,
                jumps && ndim > 1 ? 32 : 1024);
}

}  // namespace detail

void StridedWalk::run_deep(metal::CommandEncoder& encoder, int index) const {
  int ndim = static_cast<int>(shape.size());
  Strides all;
  for (auto& s : strides) {
    all.insert(all.end(), s.begin(), s.end());
  }
  encoder.set_vector_bytes(shape, index);
  encoder.set_vector_bytes(all, index + 1);
  encoder.set_bytes(ndim, index + 2);
  detail::dispatch_walk(*this, encoder);
}

}  // namespace mlx::core
