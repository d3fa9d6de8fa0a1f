// Shapes, strides and contiguity.
#include "mlx/backend/common/utils.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <stdexcept>

#include "mlx/backend/common/kept_memory.h"
#include "mlx/primitives/primitive.h"

namespace mlx::core {

Strides make_contiguous_strides(const Shape& shape) {
  Strides strides(shape.size(), 1);
  for (int i = static_cast<int>(shape.size()) - 2; i >= 0; --i) {
    strides[i] = strides[i + 1] * shape[i + 1];
  }
  return strides;
}

size_t shape_size(const Shape& shape) {
  size_t size = 1;
  for (auto length : shape) {
    size *= static_cast<size_t>(length);
  }
  return size;
}

void collapse_in_place(Shape& shape, std::span<Strides> strides, int64_t size_cap) {
  size_t count = 0;  // of the dimensions that are made; they lie before the ones that are read
  for (size_t d = 0; d < shape.size(); ++d) {
    const ShapeElem length = shape[d];
    if (length == 1) continue;
    const bool merge = count > 0 && int64_t(shape[count - 1]) * length <= size_cap &&
                       std::all_of(strides.begin(), strides.end(), [&](const Strides& steps) {
                         return steps[count - 1] == steps[d] * length;
                       });
    const size_t to = merge ? count - 1 : count++;
    shape[to] = merge ? shape[to] * length : length;
    for (Strides& steps : strides) steps[to] = steps[d];
  }
  shape.resize(count);
  if (count == 0) shape.push_back(1);
  for (Strides& steps : strides) steps.resize(shape.size());
  if (count == 0) {
    for (Strides& steps : strides) steps[0] = 0;
  }
}

std::tuple<Shape, std::vector<Strides>> collapse_contiguous_dims(
    const Shape& shape, const std::vector<Strides>& strides, int64_t size_cap) {
  std::tuple<Shape, std::vector<Strides>> collapsed{shape, strides};
  collapse_in_place(std::get<0>(collapsed), std::get<1>(collapsed), size_cap);
  return collapsed;
}

std::pair<Shape, Strides> collapse_contiguous_dims(const Shape& shape, const Strides& strides,
                                                   int64_t size_cap) {
  std::pair<Shape, Strides> collapsed{shape, strides};
  collapse_in_place(collapsed.first, {&collapsed.second, 1}, size_cap);
  return collapsed;
}

std::pair<Shape, Strides> collapse_contiguous_dims(const array& a, int64_t size_cap) {
  return collapse_contiguous_dims(a.shape(), a.strides(), size_cap);
}

std::tuple<Shape, std::vector<Strides>> collapse_contiguous_dims(const std::vector<array>& xs,
                                                                 int64_t size_cap) {
  std::vector<Strides> strides;
  for (auto& x : xs) {
    strides.push_back(x.strides());
  }
  return collapse_contiguous_dims(xs[0].shape(), strides, size_cap);
}

std::tuple<int64_t, bool, bool> check_contiguity(const Shape& shape, const Strides& strides) {
  bool row = true;
  bool col = true;
  int64_t size = 1;
  int64_t row_stride = 1;
  int64_t col_stride = 1;
  int ndim = static_cast<int>(shape.size());
  for (int i = 0, r = ndim - 1; i < ndim; ++i, --r) {
    col = col && (shape[i] == 1 || strides[i] == col_stride);
    row = row && (shape[r] == 1 || strides[r] == row_stride);
    col_stride *= shape[i];
    row_stride *= shape[r];
    size *= strides[i] == 0 ? 1 : shape[i];
  }
  return {size, row, col};
}

ContiguousIterator::ContiguousIterator(const array& a)
    : ContiguousIterator(a.shape(), a.strides(), static_cast<int>(a.ndim())) {}

ContiguousIterator::ContiguousIterator(const Shape& shape, const Strides& strides, int dims) {
  Shape leading(shape.begin(), shape.begin() + dims);
  std::tie(shape_, strides_) =
      collapse_contiguous_dims(leading, Strides(strides.begin(), strides.begin() + dims));
  position_.assign(shape_.size(), 0);
}

void ContiguousIterator::step() {
  for (size_t i = shape_.size(); i-- > 0;) {
    loc += strides_[i];
    if (++position_[i] < shape_[i]) {
      return;
    }
    loc -= strides_[i] * shape_[i];
    position_[i] = 0;
  }
}

void ContiguousIterator::seek(int64_t n) {
  loc = 0;
  for (size_t i = shape_.size(); i-- > 0;) {
    position_[i] = static_cast<ShapeElem>(n % shape_[i]);
    loc += position_[i] * strides_[i];
    n /= shape_[i];
  }
}

namespace {

// Number of elements that a view spans, and whether it sees each of them exactly once (or is a
// repeated scalar).
std::pair<size_t, bool> span_of(const Shape& shape, const Strides& strides) {
  std::vector<std::pair<int64_t, int64_t>> axes;
  int64_t extent = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != 1) {
      axes.emplace_back(strides[i], shape[i]);
      extent += std::abs(strides[i]) * (shape[i] - 1);
    }
  }
  std::sort(axes.begin(), axes.end());
  int64_t expected = 1;
  bool dense = true;
  for (auto [stride, length] : axes) {
    dense = dense && stride == expected;
    expected *= length;
  }
  return {static_cast<size_t>(extent), dense || extent == 1};
}

}  // namespace

void make_view(const array& in, array& out, const Strides& strides, int64_t offset) {
  if (out.size() == 0) {
    return out.copy_shared_buffer(in, strides, {true, true, true}, 0, offset);
  }
  auto [size, row, col] = check_contiguity(out.shape(), strides);
  auto [span, dense] = span_of(out.shape(), strides);
  out.copy_shared_buffer(in, strides, {dense, row, col}, span, offset);
}

bool fills_buffer(const array& out, const array& in) {
  constexpr size_t kWasteLimit = 16384;
  return in.buffer_size() <= out.nbytes() + kWasteLimit;
}

bool is_donatable(const array& in, const array& out) {
  // An output that gets the memory gets the strides, too.
  const bool unused = in.is_donatable() || (in.is_only_reference() && out.has_primitive() &&
                                            is_kept_only_by(in, out.primitive().stream()));
  return unused && in.itemsize() == out.itemsize() && in.ndim() == out.ndim() &&
         fills_buffer(out, in);
}

void move_or_copy(const array& in, array& out) { out.copy_shared_buffer(in); }

void move_or_copy(const array& in, array& out, const Strides& strides, array::Flags flags,
                  size_t data_size, int64_t offset) {
  out.copy_shared_buffer(in, strides, flags, data_size, offset);
}

std::pair<bool, Strides> prepare_reshape(const array& in, const array& out) {
  if (in.size() == 0 || in.flags().row_contiguous || in.size() == 1) {
    return {false, make_contiguous_strides(out.shape())};
  }
  auto [shape, strides] = collapse_contiguous_dims(in);
  // Each collapsed dimension of the input must be a product of consecutive output dimensions.
  Strides out_strides(out.ndim(), 1);
  size_t k = out.ndim();
  for (int d = static_cast<int>(shape.size()) - 1; d >= 0; --d) {
    int64_t rest = shape[d];
    int64_t stride = strides[d];
    while (rest > 1) {
      if (k == 0 || rest % out.shape(static_cast<int>(k - 1)) != 0) {
        return {true, {}};
      }
      --k;
      out_strides[k] = stride;
      stride *= out.shape(static_cast<int>(k));
      rest /= out.shape(static_cast<int>(k));
    }
  }
  return {false, std::move(out_strides)};
}

void shared_buffer_reshape(const array& in, const Strides& strides, array& out) {
  make_view(in, out, strides);
}

void allocate_output(array& out) { out.set_data(allocator::malloc(out.nbytes())); }

int64_t next_power_of_2(int64_t n) {
  int64_t p = 1;
  while (p < n) {
    p *= 2;
  }
  return p;
}

Dims get_block_dims_common(int64_t dim0, int64_t dim1, int64_t dim2, int pow2) {
  int64_t dims[3] = {dim0, dim1, dim2};
  uint32_t block[3] = {1, 1, 1};
  for (int used = 0, i = 0; i < 3; ++i) {
    while (used < pow2 && block[i] < dims[i]) {
      block[i] *= 2;
      ++used;
    }
  }
  return {block[0], block[1], block[2]};
}

Dims get_2d_grid_dims_common(const Shape& shape, const Strides& strides) {
  return get_2d_grid_dims_common(shape, strides, 1);
}

Dims get_2d_grid_dims_common(const Shape& shape, const Strides& strides, size_t divisor) {
  size_t x = 1;
  size_t y = 1;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (strides[i] == 0) {
      continue;
    }
    // Each length is divided by the factors that it has in common with the divisor.
    size_t common = std::gcd(static_cast<size_t>(shape[i]), divisor);
    size_t length = shape[i] / std::max<size_t>(common, 1);
    divisor /= std::max<size_t>(common, 1);
    if (x * length < UINT32_MAX) {
      x *= length;
    } else {
      y *= length;
    }
  }
  if (x > UINT32_MAX || y > UINT32_MAX) {
    throw std::runtime_error("The array is too large to be covered by a grid of 32-bit positions.");
  }
  return {static_cast<uint32_t>(std::max(x, y)), static_cast<uint32_t>(std::min(x, y)), 1};
}

std::pair<Dims, Dims> get_grid_and_block_common(int64_t dim0, int64_t dim1, int64_t dim2) {
  Dims block = get_block_dims_common(dim0, dim1, dim2);
  auto groups = [](int64_t length, uint32_t threads) {
    return static_cast<uint32_t>((length + threads - 1) / threads);
  };
  auto [x, y, z] = block;
  return {{groups(dim0, x), groups(dim1, y), groups(dim2, z)}, block};
}

}  // namespace mlx::core
