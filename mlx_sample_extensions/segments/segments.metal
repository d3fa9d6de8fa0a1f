// Kernels of segments. Rows are divided into chunks. A thread processes a chunk in one column, or
// in several that are far apart, and neighbouring threads have neighbouring columns. If there are
// few columns, a SIMD-group processes a chunk, several rows at once. The parts of segments that
// cross chunks are combined afterwards.
#include <metal_stdlib>

#include "mlx/backend/metal/kernels/utils.h"
#include "segments/sizes.h"

constant int reduction [[function_constant(0)]];  // 0 sum, 1 mean, 2 max, 3 min, 4 prod
constant bool listed [[function_constant(1)]];    // the segments' rows are listed
constant bool mean [[function_constant(2)]];
constant bool moved [[function_constant(3)]];
constant int width [[function_constant(4)]];        // columns of a thread
constant int few_columns [[function_constant(5)]];  // the number of columns if they are few, else 0
constant bool far [[function_constant(6)]];  // a device with memory of its own: reads take long

// 16-bit floats are accumulated in float32.
template <typename T>
struct Accumulator {
  using type = T;
};
template <>
struct Accumulator<half> {
  using type = float;
};
template <>
struct Accumulator<bfloat16_t> {
  using type = float;
};

template <typename A>
A identity() {
  if (reduction == 2) return Limits<A>::min;
  if (reduction == 3) return Limits<A>::max;
  return A(reduction == 4 ? 1 : 0);
}

template <typename A>
A combine(A a, A b) {
  if (reduction == 4) return a * b;
  if (reduction == 2) return b > a || b != b ? b : a;
  if (reduction == 3) return b < a || b != b ? b : a;
  return a + b;
}

// The first segment that begins at row `row` or later.
METAL_FUNC int first_beginning(const device int* offsets, int segments, int row) {
  int low = 0;
  int high = segments;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (offsets[middle] >= row) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The part of a thread: columns of a chunk and, if there are few columns, every so many rows of
// each segment.
struct Place {
  static constexpr constant int kAtOnce = 4;  // rows that a thread reads before it uses them
  int columns;  // of all
  int chunk;
  int64_t column;  // the first
  int64_t step;    // from one column to the next
  int lane;
  int rows;  // that a SIMD-group reads at once
  int first;  // rows of the chunk
  int last;
  METAL_FUNC Place(constant const SegmentSizes& sizes, uint thread_number)
      : columns(few_columns > 0 ? few_columns : sizes.columns), lane(thread_number % 32) {
    rows = few_columns > 0 ? 32 / columns : 1;
    const uint threads = few_columns > 0 ? 32 : columns / width;
    chunk = thread_number / threads;
    column = few_columns > 0 ? lane % columns : thread_number % threads;
    step = threads;
    first = chunk * sizes.chunk;
    last = metal::min(first + sizes.chunk, sizes.rows);
  }

  // Calls f(i, column) for the thread's columns.
  template <typename F>
  void each_column(F f) const {
#pragma clang loop unroll(full)
    for (int i = 0; i < SEGMENT_WIDTH; ++i) {
      if (i == 0 || i < width) f(i, column + i * step);
    }
  }
  // Calls f(i, at, read(at)) for the thread's values in the rows: `at` is their index among all.
  template <typename Read, typename F>
  void each_value(const device int* list, int start, int stop, Read read, F f) const {
    if (few_columns > 0) {
      // Neighbouring lanes read neighbouring values.
      const auto visit = [&](int t, int count) {
        if (lane >= count * columns) return;
        const int64_t row = listed ? list[t + lane / columns] : 0;
        const int64_t at = listed ? row * columns + column : t * int64_t(columns) + lane;
        f(0, at, read(at));
      };
      int t = start;
      for (; t + rows <= stop; t += rows) visit(t, rows);
      if (t < stop) visit(t, stop - t);
    } else {
      int t = start;
      if (far) {
        for (; t + kAtOnce <= stop; t += kAtOnce) rows_at_once<kAtOnce>(list, t, read, f);
      }
      for (; t < stop; ++t) rows_at_once<1>(list, t, read, f);
    }
  }
  // Several rows are read before the first one is used: no array is both read and written.
  template <int count, typename Read, typename F>
  void rows_at_once(const device int* list, int t, Read read, F f) const {
    decltype(read(0)) values[count][SEGMENT_WIDTH];
    const auto each = [&](auto visit) {
#pragma clang loop unroll(full)
      for (int r = 0; r < count; ++r) {
        const int64_t row = listed ? list[t + r] : t + r;
        each_column([&](int i, int64_t at) { visit(values[r][i], i, row * columns + at); });
      }
    };
    each([&](thread auto& value, int, int64_t at) { value = read(at); });
    each([&](thread auto& value, int i, int64_t at) { f(i, at, value); });
  }
  // Whether this thread writes the result of `over_rows`.
  METAL_FUNC bool writes() const { return few_columns == 0 || lane < columns; }
  template <typename A>
  A over_rows(A sum) const {
    if (few_columns == 0) return sum;
    for (int count = rows; count > 1;) {
      const int half_count = (count + 1) / 2;
      const A other = metal::simd_shuffle_down(sum, ushort(half_count * columns));
      if (lane < (count - half_count) * columns) sum = combine(sum, other);
      count = half_count;
    }
    return sum;
  }
};

template <typename A, typename U>
U finished(A sum, int length) {
  if (length == 0) return U(reduction == 4 ? 1 : 0);
  return reduction == 1 ? U(sum / A(length)) : U(sum);
}

// `heads`: the part of the segment that began before the chunk; `tails`: the part of the one that
// continues after it. `crossing` has the number of that segment, if it began in the chunk.
template <typename T, typename A, typename U, bool ties>
[[kernel]] void segment_parts(
    constant const SegmentSizes& sizes [[buffer(0)]],
    const device T* x [[buffer(1)]],
    const device T* y [[buffer(2)]],
    const device int* offsets [[buffer(3)]],
    const device int* rows [[buffer(4)]],
    device U* out [[buffer(5)]],
    device A* heads [[buffer(6)]],
    device A* tails [[buffer(7)]],
    device int* crossing [[buffer(8)]],
    uint thread_number [[thread_position_in_grid]]) {
  const Place place(sizes, thread_number);
  const int64_t columns = sizes.columns;
  const bool final = place.chunk == sizes.chunks - 1;
  int k = first_beginning(offsets, sizes.segments, place.first);
  const bool continued = k > 0 && offsets[k] > place.first;
  if (continued) --k;
  int crosses = -1;
  for (; k < sizes.segments; ++k) {
    const int begin = offsets[k];
    if (begin >= place.last && !(final && begin == place.last)) break;
    const int end = offsets[k + 1];
    if (begin >= place.first && end > place.last) crosses = k;
    A sums[SEGMENT_WIDTH];
    T extrema[SEGMENT_WIDTH];
    place.each_column([&](int i, int64_t column) {
      sums[i] = identity<A>();
      if (ties) extrema[i] = y[k * columns + column];
    });
    const int start = metal::max(begin, place.first);
    place.each_value(
        rows, start, metal::min(end, place.last), [&](int64_t at) { return x[at]; },
        [&](int i, int64_t, T value) {
          // The contribution of a row: its value, or whether it is equal to the extremum.
          sums[i] = combine(sums[i], ties ? A(value == extrema[i] ? 1 : 0) : A(value));
        });
    place.each_column([&](int i, int64_t column) {
      const A sum = place.over_rows(sums[i]);
      if (!place.writes()) return;
      if (begin < place.first) {
        heads[place.chunk * columns + column] = sum;
      } else if (end > place.last) {
        tails[place.chunk * columns + column] = sum;
      } else {
        out[k * columns + column] = finished<A, U>(sum, end - begin);
      }
    });
  }
  if (place.column == 0 && place.writes()) crossing[place.chunk] = crosses;
}

template <typename A, typename U, bool ties>
[[kernel]] void segment_join(
    constant const SegmentSizes& sizes [[buffer(0)]],
    const device int* offsets [[buffer(1)]],
    device U* out [[buffer(2)]],
    const device A* heads [[buffer(3)]],
    const device A* tails [[buffer(4)]],
    const device int* crossing [[buffer(5)]],
    uint thread_number [[thread_position_in_grid]]) {
  const Place place(sizes, thread_number);
  const int k = crossing[place.chunk];
  if (k < 0) return;
  const int64_t columns = sizes.columns;
  place.each_column([&](int, int64_t column) {
    A sum = tails[place.chunk * columns + column];
    for (int chunk = place.chunk + 1; chunk * sizes.chunk < offsets[k + 1]; ++chunk) {
      sum = combine(sum, heads[chunk * columns + column]);
    }
    out[k * columns + column] = finished<A, U>(sum, offsets[k + 1] - offsets[k]);
  });
}

// Calls f(k, start, stop) for the segments k of the chunk, whose rows in it begin at `start`.
template <typename F>
void for_segments(const Place place, constant const SegmentSizes& sizes, const device int* offsets,
                  F f) {
  int k = first_beginning(offsets, sizes.segments, place.first);
  if (k == sizes.segments || offsets[k] > place.first) --k;
  for (int t = place.first; t < place.last; ++k) {
    const int stop = metal::min(offsets[k + 1], place.last);
    f(k, t, stop);
    t = stop;
  }
}

template <typename T, typename A>
[[kernel]] void segment_spread(
    constant const SegmentSizes& sizes [[buffer(0)]],
    const device T* g [[buffer(1)]],
    const device int* offsets [[buffer(2)]],
    const device int* rows [[buffer(3)]],
    device T* out [[buffer(4)]],
    uint thread_number [[thread_position_in_grid]]) {
  const Place place(sizes, thread_number);
  for_segments(place, sizes, offsets, [&](int64_t k, int start, int stop) {
    T values[SEGMENT_WIDTH];
    place.each_column([&](int i, int64_t column) {
      const T value = g[k * place.columns + column];
      values[i] = mean ? T(A(value) / A(offsets[k + 1] - offsets[k])) : value;
    });
    place.each_value(
        rows, start, stop, [](int64_t) { return 0; },
        [&](int i, int64_t at, int) { out[at] = values[i]; });
  });
}

template <typename T>
[[kernel]] void segment_share(
    constant const SegmentSizes& sizes [[buffer(0)]],
    const device T* x [[buffer(1)]],
    const device T* y [[buffer(2)]],
    const device T* g [[buffer(3)]],
    const device float* counts [[buffer(4)]],
    const device int* offsets [[buffer(5)]],
    const device int* rows [[buffer(6)]],
    device T* out [[buffer(7)]],
    uint thread_number [[thread_position_in_grid]]) {
  const Place place(sizes, thread_number);
  for_segments(place, sizes, offsets, [&](int64_t k, int start, int stop) {
    T extrema[SEGMENT_WIDTH];
    T shares[SEGMENT_WIDTH];
    place.each_column([&](int i, int64_t column) {
      const int64_t of_segment = k * place.columns + column;
      extrema[i] = y[of_segment];
      shares[i] = T(float(g[of_segment]) / counts[of_segment]);
    });
    place.each_value(
        rows, start, stop, [&](int64_t at) { return x[at]; },
        [&](int i, int64_t at, T value) { out[at] = value == extrema[i] ? shares[i] : T(0); });
  });
}

// A thread for each segment and column. It multiplies the product of all earlier rows by that of
// all later rows, in two passes. With a direction u it computes with dual numbers a + b e, where e
// * e = 0, to get the derivative.
template <typename T>
[[kernel]] void segment_others(
    constant const SegmentSizes& sizes [[buffer(0)]],
    const device T* x [[buffer(1)]],
    const device T* u [[buffer(2)]],
    const device int* offsets [[buffer(3)]],
    const device int* rows [[buffer(4)]],
    device T* out [[buffer(5)]],
    device float2* before [[buffer(6)]],
    uint thread_number [[thread_position_in_grid]]) {
  const int k = thread_number / sizes.columns;
  const int column = thread_number % sizes.columns;
  const int64_t columns = sizes.columns;
  float value = 1;
  float slope = 0;
  for (int t = offsets[k]; t < offsets[k + 1]; ++t) {
    const int64_t at = (listed ? rows[t] : t) * columns + column;
    before[t * columns + column] = float2(value, slope);
    const float factor = float(x[at]);
    slope = slope * factor + (moved ? value * float(u[at]) : 0.0f);
    value *= factor;
  }
  value = 1;
  slope = 0;
  for (int t = offsets[k + 1] - 1; t >= offsets[k]; --t) {
    const int64_t at = (listed ? rows[t] : t) * columns + column;
    const float2 first = before[t * columns + column];
    out[at] = T(moved ? first.x * slope + first.y * value : first.x * value);
    const float factor = float(x[at]);
    slope = slope * factor + (moved ? value * float(u[at]) : 0.0f);
    value *= factor;
  }
}

// The offset of each index in [0, count) among sorted rows: thread t has the indices between those
// of the rows before and at t.
[[kernel]] void segment_sorted_offsets(
    constant const int& rows [[buffer(0)]],
    constant const int& count [[buffer(1)]],
    const device int* index [[buffer(2)]],
    const device int* order [[buffer(3)]],
    device int* offsets [[buffer(4)]],
    uint thread_number [[thread_position_in_grid]]) {
  const int t = thread_number;
  const int first = t == 0 ? 0 : index[order[t - 1]] + 1;
  const int last = t == rows ? count : index[order[t]];
  for (int k = first; k <= last; ++k) offsets[k] = t;
}

#define instantiate_reduction(name, type, accumulator)                                         \
  instantiate_kernel("segment_parts_" #name, segment_parts, type, accumulator, type, false)         \
  instantiate_kernel("segment_join_" #name, segment_join, accumulator, type, false)         \
  instantiate_kernel("segment_parts_ties_" #name, segment_parts, type, float, float, true)        \
  instantiate_kernel("segment_spread_" #name, segment_spread, type, accumulator)               \
  instantiate_kernel("segment_share_" #name, segment_share, type)                              \
  instantiate_kernel("segment_others_" #name, segment_others, type)

instantiate_kernel("segment_join_ties", segment_join, float, float, true)

instantiate_reduction(float32, float, float)
instantiate_reduction(float16, half, float)
instantiate_reduction(bfloat16, bfloat16_t, float)
instantiate_reduction(int32, int, int)
instantiate_reduction(uint32, uint, uint)
instantiate_reduction(int64, int64_t, int64_t)

// Sums of products in float32, as results of other types.
instantiate_kernel("segment_parts_float32_float16", segment_parts, float, float, half, false)
instantiate_kernel("segment_parts_float32_bfloat16", segment_parts, float, float, bfloat16_t, false)

// Rows of other types are only copied.
instantiate_kernel("segment_spread_8bit", segment_spread, uint8_t, uint8_t)
instantiate_kernel("segment_spread_16bit", segment_spread, uint16_t, uint16_t)
instantiate_kernel("segment_spread_64bit", segment_spread, uint64_t, uint64_t)
