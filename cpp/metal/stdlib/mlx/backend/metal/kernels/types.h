// The type in which a kernel computes for an element type, and the conversions between both.
#pragma once

#include <metal_stdlib>

#include "mlx/backend/metal/kernels/utils.h"

using namespace metal;

// Kernels compute 16-bit floats in float and round once.
template <typename T>
struct compute_type {
  using type = T;
};
template <>
struct compute_type<half> {
  using type = float;
};
template <>
struct compute_type<bfloat16_t> {
  using type = float;
};
template <typename T>
using compute_t = typename compute_type<T>::type;

// Whether T is one of the types that the kernels treat as floating point, or as a signed integer.
template <typename T>
struct kind {
  static constexpr constant bool is_float = false;
  static constexpr constant bool is_complex = false;
  static constexpr constant bool is_signed = T(-1) < T(1);
};
template <>
struct kind<bool> {
  static constexpr constant bool is_float = false;
  static constexpr constant bool is_complex = false;
  static constexpr constant bool is_signed = false;
};
template <>
struct kind<float> {
  static constexpr constant bool is_float = true;
  static constexpr constant bool is_complex = false;
  static constexpr constant bool is_signed = true;
};
template <>
struct kind<complex64_t> {
  static constexpr constant bool is_float = false;
  static constexpr constant bool is_complex = true;
  static constexpr constant bool is_signed = true;
};

// Conversion as in astype: complex drops its imaginary part, bool is "not zero".
template <typename To, typename From>
struct Convert {
  static To apply(From x) { return static_cast<To>(x); }
};
template <typename From>
struct Convert<bool, From> {
  static bool apply(From x) { return x != static_cast<From>(0); }
};
template <>
struct Convert<bool, bool> {
  static bool apply(bool x) { return x; }
};
template <>
struct Convert<bool, complex64_t> {
  static bool apply(complex64_t x) { return x.real != 0.0f || x.imag != 0.0f; }
};
template <typename To>
struct Convert<To, complex64_t> {
  static To apply(complex64_t x) { return static_cast<To>(x.real); }
};
template <>
struct Convert<half, bfloat16_t> {
  static half apply(bfloat16_t x) { return static_cast<half>(static_cast<float>(x)); }
};
template <>
struct Convert<bfloat16_t, half> {
  static bfloat16_t apply(half x) { return static_cast<bfloat16_t>(static_cast<float>(x)); }
};
template <typename From>
struct Convert<complex64_t, From> {
  static complex64_t apply(From x) { return complex64_t(static_cast<float>(x), 0.0f); }
};
template <>
struct Convert<complex64_t, complex64_t> {
  static complex64_t apply(complex64_t x) { return x; }
};

template <typename To, typename From>
inline To convert(From x) {
  return Convert<To, From>::apply(x);
}

// ---- functors ----

// What the functors of operations have in common: `apply` takes the compute type, and a call such
// as Exp()(x) takes any element type. A comparison gives a bool, other calls the type of the
// operands.
template <typename T, typename R>
struct functor_result {
  using type = T;
};
template <typename T>
struct functor_result<T, bool> {
  using type = bool;
};

template <typename Op>
struct Functor {
  template <typename T, typename... Others>
  auto operator()(T x, Others... others) const {
    auto y = Op::apply(static_cast<compute_t<T>>(x), static_cast<compute_t<T>>(others)...);
    return convert<typename functor_result<T, decltype(y)>::type>(y);
  }
};
