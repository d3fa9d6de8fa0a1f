// What MLX puts before every kernel: type names, limits, strided indexing, shuffles of more types.
#pragma once

#include <metal_stdlib>

#include "mlx/backend/metal/kernels/bf16.h"
#include "mlx/backend/metal/kernels/bf16_math.h"
#include "mlx/backend/metal/kernels/complex.h"
#include "mlx/backend/metal/kernels/defines.h"
#include "mlx/backend/metal/kernels/elem_to_loc.h"
#include "mlx/backend/metal/kernels/logging.h"

using namespace metal;

typedef half float16_t;
typedef float float32_t;

// ---- limits ----

// max and min are infinite where the type has infinities, the finite_ ones never are.
template <typename U>
struct Limits {
  static constexpr U max = is_floating_point_v<U> ? metal::numeric_limits<U>::infinity()
                                                  : metal::numeric_limits<U>::max();
  static constexpr U min = is_floating_point_v<U> ? U(-metal::numeric_limits<U>::infinity())
                                                  : metal::numeric_limits<U>::min();
  static constexpr U finite_max = metal::numeric_limits<U>::max();
  static constexpr U finite_min = metal::numeric_limits<U>::lowest();
};

// Each part has the limit of its type.
template <typename T>
struct Limits<complex_t<T>> {
  static constexpr complex_t<T> max = {Limits<T>::max, Limits<T>::max};
  static constexpr complex_t<T> min = {Limits<T>::min, Limits<T>::min};
  static constexpr complex_t<T> finite_max = {Limits<T>::finite_max, Limits<T>::finite_max};
  static constexpr complex_t<T> finite_min = {Limits<T>::finite_min, Limits<T>::finite_min};
};

// ---- work sizes ----

template <typename T, typename U>
METAL_FUNC constexpr T ceildiv(T n, U m) {
  return (n + m - 1) / m;
}

template <typename U>
struct DefaultWorkPerThread {
  static constexpr int value = sizeof(U) < 8 ? 8 / sizeof(U) : 1;
};
template <typename U>
inline constexpr int default_work_per_thread = DefaultWorkPerThread<U>::value;
template <typename U, int N = DefaultWorkPerThread<U>::value>
struct WorkPerThread {
  static_assert(sizeof(U) <= 8, "WorkPerThread: the type is wider than 8 bytes");
  static constexpr int n = N;
};

template <bool B, typename IfTrue, typename IfFalse>
using ConditionalType = metal::conditional<B, IfTrue, IfFalse>;

// ---- functions ----

// log(1 + x) without the loss of x's low bits in 1 + x.
METAL_FUNC float log1p(float x) {
  const float y = 1.0f + x;
  if (y == 1.0f) return x;
  if (y == metal::numeric_limits<float>::infinity()) return y;
  return metal::precise::log(y) * (x / (y - 1.0f));
}
METAL_FUNC half log1p(half x) { return half(log1p(float(x))); }
METAL_FUNC bfloat16_t log1p(bfloat16_t x) { return bfloat16_t(log1p(float(x))); }
// The real part is log(|1 + x|), where |1 + x|^2 - 1 has no rounded 1 + x if x is small.
METAL_FUNC complex64_t log1p(complex64_t x) {
  const float angle = metal::precise::atan2(x.imag, 1.0f + x.real);
  if (metal::precise::sqrt(x.real * x.real + x.imag * x.imag) >= 0.5f) {
    const float one_more = 1.0f + x.real;
    return {metal::precise::log(metal::precise::sqrt(one_more * one_more + x.imag * x.imag)),
            angle};
  }
  const float excess = x.real * (2.0f + x.real) + x.imag * x.imag;
  return {excess == 0.0f ? x.real : 0.5f * log1p(excess), angle};
}

// static_cast; what is not 0 becomes true, subnormal numbers and NaN too.
template <typename U, typename T>
METAL_FUNC U cast_to(T x) {
  if constexpr (!__is_same(U, bool)) {
    return static_cast<U>(x);
  } else if constexpr (is_complex_v<T>) {
    return cast_to<bool>(x.real) || cast_to<bool>(x.imag);
  } else if constexpr (__is_same(T, float)) {
    return as_type<uint>(x) << 1 != 0;
  } else if constexpr (__is_same(T, bfloat16_t) || __is_same(T, half)) {
    return ushort(as_type<ushort>(x) << 1) != 0;
  } else {
    return static_cast<U>(x);
  }
}

// ---- SIMD-group functions on complex numbers: each part on its own ----

// The lane is a ushort as in Metal's own functions. With another type, calls with a float and such
// a lane would be ambiguous.
#define __MLX_COMPLEX_SHUFFLE(function)                                          \
  template <typename T>                                                          \
  __METAL_LANES complex_t<T> function(complex_t<T> data, ushort lane) {          \
    return {metal::function(data.real, lane), metal::function(data.imag, lane)}; \
  }
#define __MLX_COMPLEX_FILL(function, lanes)                                                  \
  template <typename T>                                                                      \
  __METAL_LANES complex_t<T> function(complex_t<T> data, complex_t<T> filling, ushort delta, \
                                      ushort modulo = lanes) {                               \
    return {metal::function(data.real, filling.real, delta, modulo),                         \
            metal::function(data.imag, filling.imag, delta, modulo)};                        \
  }
#define __MLX_COMPLEX_FUNCTION(function)                             \
  template <typename T>                                              \
  __METAL_LANES complex_t<T> function(complex_t<T> data) {           \
    return {metal::function(data.real), metal::function(data.imag)}; \
  }
#define __MLX_COMPLEX_LANES(group, lanes)                  \
  __MLX_COMPLEX_SHUFFLE(group##_shuffle)                   \
  __MLX_COMPLEX_SHUFFLE(group##_broadcast)                 \
  __MLX_COMPLEX_SHUFFLE(group##_shuffle_down)              \
  __MLX_COMPLEX_SHUFFLE(group##_shuffle_up)                \
  __MLX_COMPLEX_SHUFFLE(group##_shuffle_xor)               \
  __MLX_COMPLEX_SHUFFLE(group##_shuffle_rotate_down)       \
  __MLX_COMPLEX_SHUFFLE(group##_shuffle_rotate_up)         \
  __MLX_COMPLEX_FILL(group##_shuffle_and_fill_down, lanes) \
  __MLX_COMPLEX_FILL(group##_shuffle_and_fill_up, lanes)   \
  __MLX_COMPLEX_FUNCTION(group##_broadcast_first)          \
  __MLX_COMPLEX_FUNCTION(group##_sum)

__MLX_COMPLEX_LANES(simd, 32)
__MLX_COMPLEX_LANES(quad, 4)

#undef __MLX_COMPLEX_LANES
#undef __MLX_COMPLEX_SHUFFLE
#undef __MLX_COMPLEX_FILL
#undef __MLX_COMPLEX_FUNCTION
