// What MLX puts before every kernel: type names, limits, strided indexing, shuffles of more types.
#pragma once

#include <metal_stdlib>

#include "mlx/backend/metal/kernels/bf16.h"
#include "mlx/backend/metal/kernels/bf16_math.h"
#include "mlx/backend/metal/kernels/complex.h"
#include "mlx/backend/metal/kernels/defines.h"
#include "mlx/backend/metal/kernels/elem_to_loc.h"

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

template <>
struct Limits<complex64_t> {
  static constexpr complex64_t max = {metal::numeric_limits<float>::infinity(),
                                      metal::numeric_limits<float>::infinity()};
  static constexpr complex64_t min = {-metal::numeric_limits<float>::infinity(),
                                      -metal::numeric_limits<float>::infinity()};
  static constexpr complex64_t finite_max = {metal::numeric_limits<float>::max(),
                                             metal::numeric_limits<float>::max()};
  static constexpr complex64_t finite_min = {metal::numeric_limits<float>::lowest(),
                                             metal::numeric_limits<float>::lowest()};
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

// ---- SIMD-group functions on complex numbers: each part on its own ----

// The lane is a ushort as in Metal's own functions. With another type, calls with a float and such
// a lane would be ambiguous.
#define __MLX_COMPLEX_SHUFFLE(function)                                          \
  __METAL_LANES complex64_t function(complex64_t data, ushort lane) {            \
    return {metal::function(data.real, lane), metal::function(data.imag, lane)}; \
  }
#define __MLX_COMPLEX_FILL(function, lanes)                                               \
  __METAL_LANES complex64_t function(complex64_t data, complex64_t filling, ushort delta, \
                                     ushort modulo = lanes) {                             \
    return {metal::function(data.real, filling.real, delta, modulo),                      \
            metal::function(data.imag, filling.imag, delta, modulo)};                     \
  }
#define __MLX_COMPLEX_FUNCTION(function)                             \
  __METAL_LANES complex64_t function(complex64_t data) {             \
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
