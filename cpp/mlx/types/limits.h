// numeric_limits of all element types: the standard library does not know the 16-bit floats.
#pragma once

#include <bit>
#include <limits>

#include "mlx/types/half_types.h"

namespace mlx::core {

template <typename T>
struct numeric_limits : std::numeric_limits<T> {};

namespace detail {

// Of a 16-bit float, by the bits of its largest number and of infinity.
template <typename T, uint16_t kLargest, uint16_t kInfinity>
struct HalfLimits {
  static constexpr uint16_t kSign = 0x8000;

  static constexpr T max() { return std::bit_cast<T>(kLargest); }
  static constexpr T lowest() { return std::bit_cast<T>(static_cast<uint16_t>(kLargest | kSign)); }
  static constexpr T infinity() { return std::bit_cast<T>(kInfinity); }
};

}  // namespace detail

template <>
struct numeric_limits<float16_t> : detail::HalfLimits<float16_t, 0x7bff, 0x7c00> {};
template <>
struct numeric_limits<bfloat16_t> : detail::HalfLimits<bfloat16_t, 0x7f7f, 0x7f80> {};

}  // namespace mlx::core
