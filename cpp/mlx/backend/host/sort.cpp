// Sorting and partitioning along an axis with the standard library, lines in parallel.
#include "mlx/primitives/sort.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "mlx/backend/common/utils.h"
#include "mlx/backend/host/encoder.h"
#include "mlx/backend/host/parallel.h"
#include "mlx/backend/metal/ops/launch.h"
#include "mlx/dtype_utils.h"

namespace mlx::core {

namespace {

constexpr size_t kParallelLine = 1 << 16;
constexpr size_t kParts = 16;  // of such a line

template <typename T>
bool is_nan(const T& x) {
  if constexpr (std::is_same_v<T, complex64_t>) {
    return std::isnan(x.real()) || std::isnan(x.imag());
  } else if constexpr (std::is_integral_v<T>) {
    return false;
  } else {
    return std::isnan(static_cast<float>(x));
  }
}

// NaNs come last.
template <typename T>
bool before(const T& a, const T& b) {
  if constexpr (std::is_integral_v<T>) {
    return a < b;
  } else if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>) {
    return before(static_cast<float>(a), static_cast<float>(b));
  } else {
    return a < b || (is_nan(b) && !is_nan(a));
  }
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

// Calls line(values, out, out_step) with each line's values in a row.
template <typename T, typename U, typename F>
void each_line(const Lines& lines, const T* in, U* out, F line) {
  cpu::parallel_for(lines.count, 1, [&](size_t first, size_t last) {
    std::vector<T> values(lines.length);
    for (size_t i = first; i < last; ++i) {
      const T* from = in + elem_to_loc(i, lines.shape, lines.in_strides);
      U* to = out + elem_to_loc(i, lines.shape, lines.out_strides);
      for (size_t k = 0; k < lines.length; ++k) {
        values[k] = from[k * lines.in_step];
      }
      line(values, to, lines.out_step);
    }
  });
}

template <typename T>
void store(const std::vector<T>& values, T* to, int64_t step) {
  for (size_t k = 0; k < values.size(); ++k) {
    to[k * step] = values[k];
  }
}

// Long lines in parts on all cores, which are then merged by twos.
template <typename T, typename F>
void sort_stably(std::vector<T>& values, F before) {
  if (values.size() < kParallelLine) {
    std::stable_sort(values.begin(), values.end(), before);
    return;
  }
  auto at = [&](size_t i) { return values.begin() + std::min(i, values.size()); };
  size_t size = values.size() / kParts + 1;
  cpu::parallel_for(kParts, 1, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) {
      std::stable_sort(at(i * size), at((i + 1) * size), before);
    }
  });
  for (size_t pairs = kParts / 2; pairs > 0; pairs /= 2, size *= 2) {
    cpu::parallel_for(pairs, 1, [&](size_t first, size_t last) {
      for (size_t i = first; i < last; ++i) {
        std::inplace_merge(at(2 * i * size), at((2 * i + 1) * size), at((2 * i + 2) * size),
                           before);
      }
    });
  }
}

// `kth` < 0: sorts.
template <typename T>
void order_values(std::vector<T>& values, int kth) {
  if (kth >= 0) {
    std::nth_element(values.begin(), values.begin() + kth, values.end(), before<T>);
  } else {
    sort_stably(values, before<T>);
  }
}

template <typename T>
std::vector<uint32_t> order_indices(const std::vector<T>& values, int kth) {
  std::vector<uint32_t> indices(values.size());
  std::iota(indices.begin(), indices.end(), 0);
  auto less = [&](uint32_t a, uint32_t b) { return before(values[a], values[b]); };
  if (kth >= 0) {
    std::nth_element(indices.begin(), indices.begin() + kth, indices.end(), less);
  } else {
    sort_stably(indices, less);
  }
  return indices;
}

void order(const array& in, array& out, int axis, int kth, Stream s) {
  allocate_output(out);
  if (out.size() == 0) {
    return;
  }
  auto lines = lines_of(in, out, axis);
  dispatch_all_types(in.dtype(), [&](auto type) {
    using T = MLX_GET_TYPE(type);
    cpu::get_command_encoder(s).dispatch([lines, kth, from = in.data<T>(), to = out.data<T>()] {
      each_line(lines, from, to, [kth](std::vector<T>& values, T* line, int64_t step) {
        if constexpr (std::is_same_v<T, bool>) {
          size_t zeros = std::count(values.begin(), values.end(), false);
          for (size_t k = 0; k < values.size(); ++k) {
            line[k * step] = k >= zeros;
          }
        } else {
          order_values(values, kth);
          store(values, line, step);
        }
      });
    });
  });
}

void arg_order(const array& in, array& out, int axis, int kth, Stream s) {
  allocate_output(out);
  if (out.size() == 0) {
    return;
  }
  auto lines = lines_of(in, out, axis);
  dispatch_all_types(in.dtype(), [&](auto type) {
    using T = MLX_GET_TYPE(type);
    cpu::get_command_encoder(s).dispatch(
        [lines, kth, from = in.data<T>(), to = out.data<uint32_t>()] {
          each_line(lines, from, to, [kth](std::vector<T>& values, uint32_t* line, int64_t step) {
            store(order_indices(values, kth), line, step);
          });
        });
  });
}

}  // namespace

MLX_EVAL(Sort) { order(inputs[0], out, axis_, -1, stream()); }
MLX_EVAL(ArgSort) { arg_order(inputs[0], out, axis_, -1, stream()); }
MLX_EVAL(Partition) { order(inputs[0], out, axis_, kth_, stream()); }
MLX_EVAL(ArgPartition) { arg_order(inputs[0], out, axis_, kth_, stream()); }

}  // namespace mlx::core
