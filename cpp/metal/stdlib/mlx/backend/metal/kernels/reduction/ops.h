// Reductions: the neutral element, how two values combine, those of a SIMD-group, and a value with
// one in memory.
#pragma once

#include <metal_simdgroup>
#include <metal_stdlib>

#include "mlx/backend/metal/kernels/atomic.h"
#include "mlx/backend/metal/kernels/utils.h"

static constexpr uint8_t simd_size = 32;

// Four booleans that change together.
union bool4_or_uint {
  bool4 b;
  unsigned int i;
};

// The values of all lanes, where Metal has no function for them. All lanes must be active.
template <typename Op, typename T>
__METAL_LANES T __mlx_reduce_lanes(thread const Op& op, T value) {
  for (ushort distance = simd_size / 2; distance > 0; distance /= 2)
    value = op(value, simd_shuffle_xor(value, distance));
  return value;
}

template <typename T>
METAL_FUNC bool __mlx_is_nan(T x) {
  if constexpr (is_complex_v<T>) {
    return metal::isnan(x.real) || metal::isnan(x.imag);
  } else if constexpr (metal::is_floating_point_v<T>) {
    return metal::isnan(x);
  } else {
    return false;
  }
}

// Stores a value as it is.
struct None {
  template <typename T>
  METAL_FUNC void atomic_update(device mlx_atomic<T>* out, T val, size_t offset = 0) {
    mlx_atomic_store_explicit(out, val, offset);
  }
};

template <typename U = bool>
struct And {
  static constexpr constant bool init = true;

  __METAL_LANES bool simd_reduce(bool val) { return simd_all(val); }
  METAL_FUNC bool operator()(bool a, bool b) const { return a && b; }

  // Byte elem_idx of a word.
  METAL_FUNC void atomic_update(device mlx_atomic<unsigned int>* out, bool val, int elem_idx,
                                size_t offset = 0) {
    if (val) return;
    mlx_atomic_fetch_and_explicit(out, ~(0xffu << 8 * elem_idx), offset);
  }
  METAL_FUNC void atomic_update(device mlx_atomic<bool>* out, bool val, size_t offset = 0) {
    if (!val) mlx_atomic_store_explicit(out, false, offset);
  }
  METAL_FUNC void update(device bool* out, bool val) { *out = *out && val; }
};

template <typename U = bool>
struct Or {
  static constexpr constant bool init = false;

  __METAL_LANES bool simd_reduce(bool val) { return simd_any(val); }
  METAL_FUNC bool operator()(bool a, bool b) const { return a || b; }

  // Byte elem_idx of a word.
  METAL_FUNC void atomic_update(device mlx_atomic<unsigned int>* out, bool val, int elem_idx,
                                size_t offset = 0) {
    if (val) mlx_atomic_fetch_or_explicit(out, 1u << 8 * elem_idx, offset);
  }
  METAL_FUNC void atomic_update(device mlx_atomic<bool>* out, bool val, size_t offset = 0) {
    if (val) mlx_atomic_store_explicit(out, true, offset);
  }
  METAL_FUNC void update(device bool* out, bool val) { *out = *out || val; }
};

template <typename U>
struct Sum {
  static constexpr constant U init = U(0);

  template <typename T>
  __METAL_LANES T simd_reduce(T val) {
    return simd_sum(val);
  }
  METAL_FUNC U operator()(U a, U b) const { return a + b; }

  template <typename T>
  METAL_FUNC void atomic_update(device mlx_atomic<T>* out, T val, size_t offset = 0) {
    mlx_atomic_fetch_add_explicit(out, val, offset);
  }
};

template <typename U>
struct Prod {
  static constexpr constant U init = U(1);

  template <typename T>
  __METAL_LANES T simd_reduce(T val) {
    if constexpr (is_complex_v<T>) {
      return __mlx_reduce_lanes(*this, val);
    } else {
      return simd_product(val);
    }
  }
  METAL_FUNC U operator()(U a, U b) const { return a * b; }

  template <typename T>
  METAL_FUNC void atomic_update(device mlx_atomic<T>* out, T val, size_t offset = 0) {
    mlx_atomic_fetch_mul_explicit(out, val, offset);
  }
};

// The result is NaN if a value is.
#define __MLX_EXTREME(Name, operation, order, neutral)                                       \
  template <typename U>                                                                      \
  struct Name {                                                                              \
    static constexpr constant U init = neutral;                                              \
                                                                                             \
    template <typename T>                                                                    \
    __METAL_LANES T simd_reduce(T val) {                                                     \
      if constexpr (is_complex_v<T>) {                                                       \
        return __mlx_reduce_lanes(*this, val);                                               \
      } else if constexpr (metal::is_floating_point_v<T>) {                                  \
        const T all = simd_##operation(val);                                                 \
        return simd_any(metal::isnan(val)) ? metal::numeric_limits<T>::quiet_NaN() : all;    \
      } else {                                                                               \
        return simd_##operation(val);                                                        \
      }                                                                                      \
    }                                                                                        \
    METAL_FUNC U operator()(U a, U b) const { return __mlx_is_nan(a) || a order b ? a : b; } \
                                                                                             \
    template <typename T>                                                                    \
    METAL_FUNC void atomic_update(device mlx_atomic<T>* out, T val, size_t offset = 0) {     \
      mlx_atomic_fetch_##operation##_explicit(out, val, offset);                             \
    }                                                                                        \
  };

__MLX_EXTREME(Min, min, <, Limits<U>::max)
__MLX_EXTREME(Max, max, >, Limits<U>::min)

#undef __MLX_EXTREME
