// Shapes, strides and contiguity: what every backend needs to walk arrays.
#pragma once

#include <concepts>
#include <filesystem>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "mlx/array.h"

namespace mlx::core {

// Offset, in elements, of the element with row-major index `elem`.
inline int64_t elem_to_loc(int64_t elem, const Shape& shape, const Strides& strides) {
  int64_t loc = 0;
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    loc += (elem % shape[i]) * strides[i];
    elem /= shape[i];
  }
  return loc;
}

// The same for older callers, which pass unsigned strides.
inline int64_t elem_to_loc(int64_t elem, const Shape& shape, const std::vector<size_t>& strides) {
  int64_t loc = 0;
  for (int i = static_cast<int>(shape.size()) - 1; i >= 0; --i) {
    loc += (elem % shape[i]) * static_cast<int64_t>(strides[i]);
    elem /= shape[i];
  }
  return loc;
}

inline int64_t elem_to_loc(int64_t elem, const array& a) {
  return a.flags().row_contiguous ? elem : elem_to_loc(elem, a.shape(), a.strides());
}

Strides make_contiguous_strides(const Shape& shape);

// Number of elements of a shape.
size_t shape_size(const Shape& shape);

// Merges neighbouring dimensions that are contiguous with each other in all operands, and drops
// those of length 1. No merged dimension is longer than `size_cap`. The result has at least one
// dimension.
void collapse_in_place(Shape& shape, std::span<Strides> strides, int64_t size_cap = INT32_MAX);
std::tuple<Shape, std::vector<Strides>> collapse_contiguous_dims(
    const Shape& shape, const std::vector<Strides>& strides, int64_t size_cap = INT32_MAX);
std::pair<Shape, Strides> collapse_contiguous_dims(const Shape& shape, const Strides& strides,
                                                   int64_t size_cap = INT32_MAX);
std::pair<Shape, Strides> collapse_contiguous_dims(const array& a, int64_t size_cap = INT32_MAX);
std::tuple<Shape, std::vector<Strides>> collapse_contiguous_dims(const std::vector<array>& xs,
                                                                 int64_t size_cap = INT32_MAX);
template <std::same_as<array>... Others>
auto collapse_contiguous_dims(const array& first, const array& second, const Others&... others) {
  return collapse_contiguous_dims(std::vector<array>{first, second, others...});
}

// The number of elements without repetitions, and whether the elements lie in row-major or
// column-major order without gaps.
std::tuple<int64_t, bool, bool> check_contiguity(const Shape& shape, const Strides& strides);

// Iterates over the elements in row-major order: `loc` is the offset of the current one.
class ContiguousIterator {
 public:
  ContiguousIterator() = default;
  explicit ContiguousIterator(const array& a);
  // Moves over the first `dims` dimensions only.
  explicit ContiguousIterator(const Shape& shape, const Strides& strides, int dims);

  void step();
  void seek(int64_t n);  // to element n
  void reset() { seek(0); }

  int64_t loc{0};

 private:
  Shape shape_;
  Strides strides_;
  Shape position_;
};

// Makes `out` a view of `in`'s buffer; `offset` counts elements from the start of `in`.
void make_view(const array& in, array& out, const Strides& strides, int64_t offset = 0);

// Whether `out` needs nearly all of `in`'s buffer. A small output would keep the whole of it alive.
bool fills_buffer(const array& out, const array& in);

// Whether `in`'s buffer can hold an output of `out`'s item size: it is large enough, and nobody
// else uses it but earlier work of the stream that computes `out`.
bool is_donatable(const array& in, const array& out);

// Makes `out` a view of the same elements as `in`.
void move_or_copy(const array& in, array& out);
void move_or_copy(const array& in, array& out, const Strides& strides, array::Flags flags,
                  size_t data_size, int64_t offset = 0);

// Whether a reshape of `in` to `out` needs no copy, and the strides if so.
std::pair<bool, Strides> prepare_reshape(const array& in, const array& out);
void shared_buffer_reshape(const array& in, const Strides& strides, array& out);

// Gives `out` fresh row-contiguous memory.
void allocate_output(array& out);

inline bool is_power_of_2(int64_t n) { return n > 0 && (n & (n - 1)) == 0; }
int64_t next_power_of_2(int64_t n);

// Threads per dimension, powers of two, of a threadgroup with at most 2^pow2 threads.
using Dims = std::tuple<uint32_t, uint32_t, uint32_t>;
Dims get_block_dims_common(int64_t dim0, int64_t dim1, int64_t dim2, int pow2 = 10);
// Splits the product of a shape's lengths, without repetitions, into two factors that fit 32 bits
// each. The second form first divides the product by `divisor`, which must divide it.
Dims get_2d_grid_dims_common(const Shape& shape, const Strides& strides);
Dims get_2d_grid_dims_common(const Shape& shape, const Strides& strides, size_t divisor);
// Threadgroups that cover the dimensions, and threads in each.
std::pair<Dims, Dims> get_grid_and_block_common(int64_t dim0, int64_t dim1, int64_t dim2);

}  // namespace mlx::core
