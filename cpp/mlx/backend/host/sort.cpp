// Sorts along an axis, lines in parallel, by Highway's quicksort.
#include "mlx/primitives/sort.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <type_traits>
#include <vector>

#include "hwy/contrib/sort/vqsort.h"
#include "hwy/targets.h"
#include "mlx/backend/common/utils.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/host/parallel.h"
#include "mlx/backend/host/sort_keys.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/backend/metal/ops/sort.h"
#include "mlx/dtype_utils.h"

namespace mlx::core {

namespace {

constexpr size_t kShortLine = 64;  // longer lines are sorted by vector code

bool is_nan(const complex64_t& x) { return std::isnan(x.real()) || std::isnan(x.imag()); }

// NaNs come last.
bool before(const complex64_t& a, const complex64_t& b) {
  return a < b || (is_nan(b) && !is_nan(a));
}

struct Lines {
  Shape shape;  // without the axis
  Strides in_strides;
  Strides out_strides;
  int64_t in_step;
  int64_t out_step;
  size_t length;
  size_t count;
};

Lines lines_of(const array& in, const array& out, int axis) {
  Lines lines{in.shape(),
              in.strides(),
              out.strides(),
              in.strides(axis),
              out.strides(axis),
              static_cast<size_t>(in.shape(axis)),
              0};
  lines.shape.erase(lines.shape.begin() + axis);
  lines.in_strides.erase(lines.in_strides.begin() + axis);
  lines.out_strides.erase(lines.out_strides.begin() + axis);
  lines.count = shape_size(lines.shape);
  return lines;
}

// Calls line(from, to) with the first element of each line. The function that `make_line` returns
// may own memory for the lines of one thread.
template <typename T, typename U, typename F>
void each_line(const Lines& lines, const T* in, U* out, F make_line) {
  cpu::parallel_for(lines.count, 1, [&](size_t first, size_t last) {
    auto line = make_line();
    for (size_t i = first; i < last; ++i) {
      line(in + elem_to_loc(i, lines.shape, lines.in_strides),
           out + elem_to_loc(i, lines.shape, lines.out_strides));
    }
  });
}

// AMD's processors take 15 times as long to compress a vector into memory as into a register (Zen
// 4), and Highway 1.0's code for AVX-512 does that. Its code for AVX2 sorts 3 to 7 times as fast
// there.
void choose_instructions() {
#if defined(__x86_64__)
  [[maybe_unused]] static const bool chosen = [] {
    __builtin_cpu_init();
    if (__builtin_cpu_is("amd")) hwy::DisableTargets(HWY_AVX3 | HWY_AVX3_DL);
    return true;
  }();
#endif
}

hwy::Sorter make_sorter() {
  choose_instructions();
  return {};
}

template <typename Key>
void sort_keys(const hwy::Sorter& sorter, std::vector<Key>& keys) {
  if (keys.size() < kShortLine) {
    std::sort(keys.begin(), keys.end());
  } else {
    sorter(keys.data(), keys.size(), hwy::SortAscending());
  }
}

void sort_keys(const hwy::Sorter& sorter, std::vector<hwy::uint128_t>& keys) {
  sorter(keys.data(), keys.size(), hwy::SortAscending());
}

// Sorts the first `count` elements of the order to the front. A heap holds the first ones so far;
// blocks of others are compared with their last before any element is looked at.
template <typename Key, typename Before>
void select_first(Key* begin, size_t count, Key* end, Before before) {
  constexpr ptrdiff_t kBlock = 32;
  Key* const middle = begin + count;
  std::make_heap(begin, middle, before);
  for (Key* block = middle; block != end;) {
    const ptrdiff_t length = std::min(kBlock, end - block);
    Key hits = 0;
    for (ptrdiff_t k = 0; k < length; ++k) hits |= before(block[k], *begin);
    for (ptrdiff_t k = 0; hits && k < length; ++k) {
      if (!before(block[k], *begin)) continue;
      std::pop_heap(begin, middle, before);
      std::swap(middle[-1], block[k]);
      std::push_heap(begin, middle, before);
    }
    block += length;
  }
  std::sort_heap(begin, middle, before);
}

// Partitions a line at `kth`, or sorts it if `kth` is negative. Few smallest or largest elements
// are selected. Otherwise all are sorted, which is a partition too: vector code
// sorts in less time than a quickselect takes.
template <typename Key>
void order_keys(const hwy::Sorter& sorter, std::vector<Key>& keys, int kth) {
  constexpr size_t kFew = 16;  // few means at most n / kFew
  const size_t n = keys.size();
  if constexpr (std::is_integral_v<Key>) {
    Key* const begin = keys.data();
    if (kth >= 0 && (kth + 1) * kFew <= n)
      return select_first(begin, kth + 1, begin + n, std::less());
    if (kth >= 0 && (n - kth) * kFew <= n) {
      select_first(begin, n - kth, begin + n, std::greater());
      return std::reverse(begin, begin + n);
    }
  }
  sort_keys(sorter, keys);
}

// Calls f(k, step * k) for a line's elements; a step of 1 is a constant there, for vector code.
template <typename F>
void for_each_of_line(size_t length, int64_t step, F f) {
  if (step == 1) {
    for (size_t k = 0; k < length; ++k) f(k, k);
  } else {
    for (size_t k = 0; k < length; ++k) f(k, k * step);
  }
}

// ---- values ----

template <typename T>
auto line_sorter(const Lines& lines, int kth) {
  return [&lines, kth, keys = std::vector<cpu::SortKey<T>>(lines.length), sorter = make_sorter()](
             const T* from, T* to) mutable {
    for_each_of_line(keys.size(), lines.in_step,
                     [&](size_t k, int64_t at) { keys[k] = cpu::key_of(from[at]); });
    order_keys(sorter, keys, kth);
    for_each_of_line(keys.size(), lines.out_step,
                     [&](size_t k, int64_t at) { to[at] = cpu::value_of<T>(keys[k]); });
  };
}

template <>
auto line_sorter<bool>(const Lines& lines, int) {
  return [&lines](const bool* from, bool* to) {
    size_t zeros = 0;
    for (size_t k = 0; k < lines.length; ++k) zeros += !from[k * lines.in_step];
    for (size_t k = 0; k < lines.length; ++k) to[k * lines.out_step] = k >= zeros;
  };
}

template <>
auto line_sorter<complex64_t>(const Lines& lines, int) {
  return [&lines, values = std::vector<complex64_t>(lines.length)](const complex64_t* from,
                                                                   complex64_t* to) mutable {
    for (size_t k = 0; k < values.size(); ++k) values[k] = from[k * lines.in_step];
    std::stable_sort(values.begin(), values.end(), before);
    for (size_t k = 0; k < values.size(); ++k) to[k * lines.out_step] = values[k];
  };
}

// ---- indices ----

// A key with its index behind it: equal keys keep their order.
uint64_t with_index(uint32_t key, uint32_t index) { return uint64_t(key) << 32 | index; }
hwy::uint128_t with_index(uint64_t key, uint32_t index) { return {index, key}; }
uint32_t index_of(uint64_t pair) { return static_cast<uint32_t>(pair); }
uint32_t index_of(hwy::uint128_t pair) { return static_cast<uint32_t>(pair.lo); }

template <typename T>
auto line_arg_sorter(const Lines& lines, int kth) {
  using Pair = decltype(with_index(cpu::SortKey<T>(), 0));
  return [&lines, kth, pairs = std::vector<Pair>(lines.length), sorter = make_sorter()](
             const T* from, uint32_t* to) mutable {
    for_each_of_line(pairs.size(), lines.in_step, [&](size_t k, int64_t at) {
      pairs[k] = with_index(cpu::key_among_equals(from[at]), static_cast<uint32_t>(k));
    });
    order_keys(sorter, pairs, kth);
    for_each_of_line(pairs.size(), lines.out_step,
                     [&](size_t k, int64_t at) { to[at] = index_of(pairs[k]); });
  };
}

template <>
auto line_arg_sorter<complex64_t>(const Lines& lines, int) {
  return [&lines, indices = std::vector<uint32_t>(lines.length)](const complex64_t* from,
                                                                 uint32_t* to) mutable {
    std::iota(indices.begin(), indices.end(), 0);
    std::stable_sort(indices.begin(), indices.end(), [&](uint32_t a, uint32_t b) {
      return before(from[a * lines.in_step], from[b * lines.in_step]);
    });
    for (size_t k = 0; k < indices.size(); ++k) to[k * lines.out_step] = indices[k];
  };
}

constexpr uint64_t kOperationsPerElement = 64;  // when few are sorted

// Metal has no float64.
bool sorts_on_device(const array& in, Stream s) { return runs_on_gpu(s) && in.dtype() != float64; }

void order_on_device(const array& in, array& out, int axis, int kth, bool positions, Stream s) {
  if (kth < 0) return sort_on_device(in, out, axis, positions, s);
  partition_on_device(in, out, axis, kth, positions, s);
}

void order(const array& in, array& out, int axis, int kth, Stream s) {
  allocate_output(out);
  if (out.size() == 0) return;
  if (sorts_on_device(in, s)) return order_on_device(in, out, axis, kth, false, s);
  auto lines = lines_of(in, out, axis);
  dispatch_all_types(in.dtype(), [&](auto type) {
    using T = MLX_GET_TYPE(type);
    cpu::get_command_encoder(s).dispatch_counted(
        in.size() * kOperationsPerElement, [lines, kth, from = in.data<T>(), to = out.data<T>()] {
          each_line(lines, from, to, [&] { return line_sorter<T>(lines, kth); });
        });
  });
}

void arg_order(const array& in, array& out, int axis, int kth, Stream s) {
  allocate_output(out);
  if (out.size() == 0) return;
  if (sorts_on_device(in, s)) return order_on_device(in, out, axis, kth, true, s);
  auto lines = lines_of(in, out, axis);
  dispatch_all_types(in.dtype(), [&](auto type) {
    using T = MLX_GET_TYPE(type);
    cpu::get_command_encoder(s).dispatch_counted(
        in.size() * kOperationsPerElement,
        [lines, kth, from = in.data<T>(), to = out.data<uint32_t>()] {
          each_line(lines, from, to, [&] { return line_arg_sorter<T>(lines, kth); });
        });
  });
}

}  // namespace

MLX_EVAL(Sort) { order(inputs[0], out, axis_, -1, stream()); }
MLX_EVAL(ArgSort) { arg_order(inputs[0], out, axis_, -1, stream()); }
MLX_EVAL(Partition) { order(inputs[0], out, axis_, kth_, stream()); }
MLX_EVAL(ArgPartition) { arg_order(inputs[0], out, axis_, kth_, stream()); }

}  // namespace mlx::core
