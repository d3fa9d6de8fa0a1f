// float16_t and bfloat16_t: 16-bit floats on the host. They compute in float and round once per
// operation.
#pragma once

#include <bit>
#include <compare>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace mlx::core {

namespace detail {

// IEEE binary16, round to nearest even.
constexpr uint16_t float_to_half_bits(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  uint32_t sign = (bits >> 16) & 0x8000u;
  uint32_t magnitude = bits & 0x7fffffffu;
  if (magnitude >= 0x47800000u) {  // beyond half's range: inf, or a quiet NaN
    bool nan = magnitude > 0x7f800000u;
    return static_cast<uint16_t>(sign | 0x7c00u |
                                 (nan ? 0x200u | ((magnitude >> 13) & 0x3ffu) : 0u));
  }
  if (magnitude < 0x38800000u) {  // subnormal in half: adding a float aligns and rounds it
    float shifted = std::bit_cast<float>(magnitude) + 0.5f;
    return static_cast<uint16_t>(sign | (std::bit_cast<uint32_t>(shifted) - 0x3f000000u));
  }
  uint32_t rounded = magnitude - 0x38000000u + 0xfffu + ((magnitude >> 13) & 1u);
  return static_cast<uint16_t>(sign | (rounded >> 13));
}

constexpr float half_bits_to_float(uint16_t half) {
  uint32_t sign = static_cast<uint32_t>(half & 0x8000u) << 16;
  uint32_t exponent = (half >> 10) & 0x1fu;
  uint32_t mantissa = half & 0x3ffu;
  if (exponent == 0x1fu) {
    return std::bit_cast<float>(sign | 0x7f800000u | (mantissa << 13));
  }
  if (exponent == 0) {
    float subnormal = static_cast<float>(mantissa) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(subnormal));
  }
  return std::bit_cast<float>(sign | ((exponent + 112u) << 23) | (mantissa << 13));
}

constexpr uint16_t float_to_bfloat_bits(float value) {
  uint32_t bits = std::bit_cast<uint32_t>(value);
  if ((bits & 0x7fffffffu) > 0x7f800000u) {
    return static_cast<uint16_t>((bits >> 16) | 0x40u);
  }
  return static_cast<uint16_t>((bits + 0x7fffu + ((bits >> 16) & 1u)) >> 16);
}

constexpr float bfloat_bits_to_float(uint16_t bits) {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

}  // namespace detail

struct _MLX_Float16 {
  uint16_t bits_;

  _MLX_Float16() = default;
  template <typename T, typename = std::enable_if_t<std::is_convertible_v<T, float> &&
                                                    !std::is_same_v<T, _MLX_Float16>>>
  constexpr _MLX_Float16(T value) : bits_(detail::float_to_half_bits(static_cast<float>(value))) {}
  constexpr operator float() const { return detail::half_bits_to_float(bits_); }
};

struct _MLX_BFloat16 {
  uint16_t bits_;

  _MLX_BFloat16() = default;
  template <typename T, typename = std::enable_if_t<std::is_convertible_v<T, float> &&
                                                    !std::is_same_v<T, _MLX_BFloat16>>>
  constexpr _MLX_BFloat16(T value)
      : bits_(detail::float_to_bfloat_bits(static_cast<float>(value))) {}
  constexpr operator float() const { return detail::bfloat_bits_to_float(bits_); }
};

using float16_t = _MLX_Float16;
using bfloat16_t = _MLX_BFloat16;

// Operators of two 16-bit floats, or of one and a C++ arithmetic value of float's rank or below,
// give the 16-bit type.
#define MLX_HALF_OPERATOR(T, op)                                                                  \
  constexpr T operator op(T a, T b) { return T(static_cast<float>(a) op static_cast<float>(b)); } \
  template <typename S, typename = std::enable_if_t<std::is_arithmetic_v<S>>>                     \
  constexpr auto operator op(T a, S b) {                                                          \
    return static_cast<float>(a) op b;                                                            \
  }                                                                                               \
  template <typename S, typename = std::enable_if_t<std::is_arithmetic_v<S>>>                     \
  constexpr auto operator op(S a, T b) {                                                          \
    return a op static_cast<float>(b);                                                            \
  }                                                                                               \
  template <typename S>                                                                           \
  constexpr T& operator op##=(T & a, const S & b) {                                               \
    return a = T(static_cast<float>(a) op static_cast<float>(b));                                 \
  }
#define MLX_HALF_OPERATORS(T) \
  MLX_HALF_OPERATOR(T, +)     \
  MLX_HALF_OPERATOR(T, -)     \
  MLX_HALF_OPERATOR(T, *)     \
  MLX_HALF_OPERATOR(T, /)     \
  constexpr T operator-(T a) { return T(-static_cast<float>(a)); }

MLX_HALF_OPERATORS(_MLX_Float16)
MLX_HALF_OPERATORS(_MLX_BFloat16)
#undef MLX_HALF_OPERATOR
#undef MLX_HALF_OPERATORS

// Two of one type are compared here, because they convert to complex64_t as well as to float. These
// are templates, so that nothing else is converted for them.
template <typename T>
concept HalfFloat = std::is_same_v<T, _MLX_Float16> || std::is_same_v<T, _MLX_BFloat16>;

template <HalfFloat T>
constexpr bool operator==(T a, T b) {
  return static_cast<float>(a) == static_cast<float>(b);
}

template <HalfFloat T>
constexpr std::partial_ordering operator<=>(T a, T b) {
  return static_cast<float>(a) <=> static_cast<float>(b);
}

static_assert(sizeof(float16_t) == 2 && std::is_trivially_copyable_v<float16_t>);
static_assert(sizeof(bfloat16_t) == 2 && std::is_trivially_copyable_v<bfloat16_t>);

}  // namespace mlx::core
