// Maps numbers to unsigned integers of the same order, so that only those have to be sorted. NaNs
// come last and lose their payload; -0 comes before 0.
#pragma once

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "mlx/types/half_types.h"

namespace mlx::core::cpu {

template <typename T>
using SortKey = std::conditional_t<sizeof(T) <= 4, uint32_t, uint64_t>;

namespace detail {

template <typename Key>
inline constexpr Key kSignBit = Key(1) << (8 * sizeof(Key) - 1);

// Positive numbers keep their bits; negative ones take the complement and come before them.
template <typename Key, typename F>
Key key_of_float(F x) {
  if (std::isnan(x)) return ~Key(0);
  const Key bits = std::bit_cast<Key>(x);
  return bits & kSignBit<Key> ? ~bits : bits | kSignBit<Key>;
}

template <typename F, typename Key>
F float_of_key(Key key) {
  if (key == ~Key(0)) return std::numeric_limits<F>::quiet_NaN();
  return std::bit_cast<F>(key & kSignBit<Key> ? key & ~kSignBit<Key> : ~key);
}

}  // namespace detail

template <typename T>
SortKey<T> key_of(T x) {
  using Key = SortKey<T>;
  if constexpr (std::unsigned_integral<T>) {
    return x;
  } else if constexpr (std::signed_integral<T>) {
    return static_cast<Key>(static_cast<std::make_signed_t<Key>>(x)) ^ detail::kSignBit<Key>;
  } else if constexpr (std::same_as<T, double>) {
    return detail::key_of_float<Key>(x);
  } else {
    return detail::key_of_float<Key>(static_cast<float>(x));
  }
}

// Both zeros have one key, since they are equal.
template <typename T>
SortKey<T> key_among_equals(T x) {
  return key_of(x == T(0) ? T(0) : x);
}

template <typename T>
T value_of(SortKey<T> key) {
  using Key = SortKey<T>;
  if constexpr (std::unsigned_integral<T>) {
    return static_cast<T>(key);
  } else if constexpr (std::signed_integral<T>) {
    return static_cast<T>(key ^ detail::kSignBit<Key>);
  } else if constexpr (std::same_as<T, double>) {
    return detail::float_of_key<double>(key);
  } else {
    return static_cast<T>(detail::float_of_key<float>(key));
  }
}

}  // namespace mlx::core::cpu
