// Kernels of segments. Rows are dealt out in chunks; a thread walks a chunk in one column, and
// neighbouring threads have neighbouring columns. Segments that cross chunks are joined afterwards.
#include <metal_stdlib>

#include "mlx/backend/metal/kernels/utils.h"
#include "segments/sizes.h"

constant int reduction [[function_constant(0)]];  // 0 sum, 1 mean, 2 max, 3 min, 4 prod
constant bool listed [[function_constant(1)]];    // the segments' rows are listed
constant bool mean [[function_constant(2)]];
constant bool moved [[function_constant(3)]];

// 16-bit floats are float32 in sums.
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

// A thread's chunk and column.
struct Place {
  int chunk;
  int column;
  int first;  // rows
  int last;
  METAL_FUNC Place(constant const SegmentSizes& sizes, uint thread_number)
      : chunk(thread_number / sizes.columns),
        column(thread_number % sizes.columns),
        first(chunk * sizes.chunk),
        last(metal::min(first + sizes.chunk, sizes.rows)) {}
};

// What row t adds to the value of its segment, k: itself, or whether it holds the extremum y.
template <bool ties, typename T, typename A>
A value_at(const device T* x, const device T* y, const device int* rows, int64_t t, int64_t k,
           int column, int columns) {
  const int64_t row = listed ? rows[t] : t;
  const T value = x[row * columns + column];
  if (ties) return A(value == y[k * columns + column] ? 1 : 0);
  return A(value);
}

template <typename A, typename U>
U finished(A sum, int length) {
  if (length == 0) return U(reduction == 4 ? 1 : 0);
  return reduction == 1 ? U(sum / A(length)) : U(sum);
}

// `heads`: of the segment that began before the chunk; `tails`: of the one that goes on after it.
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
    uint thread_number [[thread_position_in_grid]]) {
  const Place place(sizes, thread_number);
  const bool final = place.chunk == sizes.chunks - 1;
  int k = first_beginning(offsets, sizes.segments, place.first);
  const bool continued = k > 0 && offsets[k] > place.first;
  if (continued) --k;
  int t = place.first;
  for (; k < sizes.segments; ++k) {
    const int begin = offsets[k];
    if (begin >= place.last && !(final && begin == place.last)) break;
    const int end = offsets[k + 1];
    const int stop = metal::min(end, place.last);
    A sum = identity<A>();
    for (t = metal::max(begin, place.first); t < stop; ++t) {
      sum = combine(sum, value_at<ties, T, A>(x, y, rows, t, k, place.column, sizes.columns));
    }
    if (begin < place.first) {
      heads[place.chunk * int64_t(sizes.columns) + place.column] = sum;
    } else if (end > place.last) {
      tails[place.chunk * int64_t(sizes.columns) + place.column] = sum;
    } else {
      out[k * int64_t(sizes.columns) + place.column] = finished<A, U>(sum, end - begin);
    }
  }
}

template <typename A, typename U, bool ties>
[[kernel]] void segment_join(
    constant const SegmentSizes& sizes [[buffer(0)]],
    const device int* offsets [[buffer(1)]],
    device U* out [[buffer(2)]],
    const device A* heads [[buffer(3)]],
    const device A* tails [[buffer(4)]],
    uint thread_number [[thread_position_in_grid]]) {
  const Place place(sizes, thread_number);
  const int k = first_beginning(offsets, sizes.segments, place.last) - 1;
  if (k < 0 || offsets[k] < place.first || offsets[k + 1] <= place.last) return;
  const int64_t columns = sizes.columns;
  A sum = tails[place.chunk * columns + place.column];
  for (int chunk = place.chunk + 1; chunk * sizes.chunk < offsets[k + 1]; ++chunk) {
    sum = combine(sum, heads[chunk * columns + place.column]);
  }
  out[k * columns + place.column] = finished<A, U>(sum, offsets[k + 1] - offsets[k]);
}

// Calls f(k, t) for the chunk's rows t and their segments k.
template <typename F>
void for_rows(const Place place, constant const SegmentSizes& sizes, const device int* offsets,
              F f) {
  int k = first_beginning(offsets, sizes.segments, place.first);
  if (k == sizes.segments || offsets[k] > place.first) --k;
  for (int t = place.first; t < place.last; ++k) {
    for (const int stop = metal::min(offsets[k + 1], place.last); t < stop; ++t) f(k, t);
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
  const int64_t columns = sizes.columns;
  for_rows(place, sizes, offsets, [&](int64_t k, int64_t t) {
    const T value = g[k * columns + place.column];
    const int64_t row = listed ? rows[t] : t;
    out[row * columns + place.column] =
        mean ? T(A(value) / A(offsets[k + 1] - offsets[k])) : value;
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
  const int64_t columns = sizes.columns;
  for_rows(place, sizes, offsets, [&](int64_t k, int64_t t) {
    const int64_t of_segment = k * columns + place.column;
    const int64_t at = (listed ? rows[t] : t) * columns + place.column;
    out[at] = x[at] == y[of_segment] ? T(float(g[of_segment]) / counts[of_segment]) : T(0);
  });
}

// A thread for each segment and column; two sweeps, as the host's code explains.
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

// Rows of other types are only moved.
instantiate_kernel("segment_spread_8bit", segment_spread, uint8_t, uint8_t)
instantiate_kernel("segment_spread_16bit", segment_spread, uint16_t, uint16_t)
instantiate_kernel("segment_spread_64bit", segment_spread, uint64_t, uint64_t)
