// The loops are simple enough for the compiler to make vector code of them.
#include "mlx/distributed/combine.h"

#include <cstdint>
#include <type_traits>

#include "mlx/dtype_utils.h"

namespace mlx::core::distributed {

namespace {

// 16-bit floats are compared as float.
template <typename T>
auto comparable(const T& x) {
  if constexpr (std::is_same_v<T, float16_t> || std::is_same_v<T, bfloat16_t>) {
    return static_cast<float>(x);
  } else {
    return x;
  }
}

template <typename T>
bool is_not_a_number(const T& x) {
  return comparable(x) != comparable(x);
}

template <typename T>
T sum_of(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, bool>) {
    return a || b;
  } else if constexpr (std::is_integral_v<T>) {  // it may wrap around
    return static_cast<T>(uint64_t(a) + uint64_t(b));
  } else {
    return a + b;
  }
}

template <typename T>
T larger_of(const T& a, const T& b) {
  return comparable(a) > comparable(b) || is_not_a_number(a) ? a : b;
}

template <typename T>
T smaller_of(const T& a, const T& b) {
  return comparable(a) < comparable(b) || is_not_a_number(a) ? a : b;
}

template <typename T, typename F>
void combine_elements(F of, const char* a, const char* b, char* to, size_t count) {
  const T* first = reinterpret_cast<const T*>(a);
  const T* second = reinterpret_cast<const T*>(b);
  T* result = reinterpret_cast<T*>(to);
  for (size_t i = 0; i < count; ++i) result[i] = of(first[i], second[i]);
}

}  // namespace

void combine(Reduction reduction, Dtype dtype, const char* a, const char* b, char* to,
             size_t count) {
  dispatch_all_types(dtype, [&](auto type) {
    using T = MLX_GET_TYPE(type);
    switch (reduction) {
      case Reduction::sum:
        return combine_elements<T>(&sum_of<T>, a, b, to, count);
      case Reduction::max:
        return combine_elements<T>(&larger_of<T>, a, b, to, count);
      case Reduction::min:
        return combine_elements<T>(&smaller_of<T>, a, b, to, count);
    }
  });
}

}  // namespace mlx::core::distributed
