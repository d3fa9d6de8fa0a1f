// Conversions from the value of a Dtype to the Dtype, and to its C++ type in a generic function.
#pragma once

#include <iterator>
#include <stdexcept>
#include <string>
#include <string_view>

#include "mlx/dtype.h"

namespace mlx::core {

inline constexpr Dtype dtype_of(Dtype::Val val) {
  constexpr Dtype kTypes[] = {bool_, uint8, uint16,  uint32,  uint64,  int8,     int16,
                              int32, int64, float16, float32, float64, bfloat16, complex64};
  static_assert(std::size(kTypes) == static_cast<int>(Dtype::Val::complex64) + 1);
  return kTypes[static_cast<int>(val)];
}

template <typename T>
struct type_identity {
  using type = T;
};

#define MLX_GET_TYPE(x) typename decltype(x)::type
#define MLX_DISPATCH_CASE(dtype, T) \
  case Dtype::Val::dtype:           \
    return f(type_identity<T>{});
#define MLX_INTEGER_CASES             \
  MLX_DISPATCH_CASE(uint8, uint8_t)   \
  MLX_DISPATCH_CASE(uint16, uint16_t) \
  MLX_DISPATCH_CASE(uint32, uint32_t) \
  MLX_DISPATCH_CASE(uint64, uint64_t) \
  MLX_DISPATCH_CASE(int8, int8_t)     \
  MLX_DISPATCH_CASE(int16, int16_t)   \
  MLX_DISPATCH_CASE(int32, int32_t)   \
  MLX_DISPATCH_CASE(int64, int64_t)
#define MLX_FLOAT_CASES                   \
  MLX_DISPATCH_CASE(float16, float16_t)   \
  MLX_DISPATCH_CASE(bfloat16, bfloat16_t) \
  MLX_DISPATCH_CASE(float32, float)       \
  MLX_DISPATCH_CASE(float64, double)
#define MLX_BOOL_CASE MLX_DISPATCH_CASE(bool_, bool)
#define MLX_COMPLEX_CASE MLX_DISPATCH_CASE(complex64, complex64_t)

template <typename F>
decltype(auto) dispatch_all_types(Dtype dtype, F&& f) {
  switch (dtype.val()) { MLX_BOOL_CASE MLX_INTEGER_CASES MLX_FLOAT_CASES MLX_COMPLEX_CASE }
  throw std::logic_error("[dispatch_all_types] Unknown type.");
}

// These throw for other types; the message starts with the tag.
#define MLX_DISPATCH(name, types, cases)                                                        \
  template <typename F>                                                                         \
  decltype(auto) name(Dtype dtype, std::string_view tag, F&& f) {                               \
    switch (dtype.val()) {                                                                      \
      cases default : throw std::invalid_argument(std::string(tag) +                            \
                                                  " Only " types " types are supported, not " + \
                                                  dtype_to_string(dtype) + ".");                \
    }                                                                                           \
  }
MLX_DISPATCH(dispatch_int_types, "integer", MLX_INTEGER_CASES)
MLX_DISPATCH(dispatch_float_types, "real floating point", MLX_FLOAT_CASES)
MLX_DISPATCH(dispatch_int_float_types, "integer and real floating point",
             MLX_INTEGER_CASES MLX_FLOAT_CASES)
MLX_DISPATCH(dispatch_inexact_types, "floating point", MLX_FLOAT_CASES MLX_COMPLEX_CASE)
MLX_DISPATCH(dispatch_real_types, "real", MLX_BOOL_CASE MLX_INTEGER_CASES MLX_FLOAT_CASES)

#undef MLX_DISPATCH
#undef MLX_COMPLEX_CASE
#undef MLX_BOOL_CASE
#undef MLX_FLOAT_CASES
#undef MLX_INTEGER_CASES
#undef MLX_DISPATCH_CASE

}  // namespace mlx::core
