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

// All bits are those of the sign bit.
template <typename Key>
Key spread_sign(Key bits) {
  return static_cast<Key>(static_cast<std::make_signed_t<Key>>(bits) >> (8 * sizeof(Key) - 1));
}

// Positive numbers keep their bits; negative ones take the complement and come before them. There
// are no branches, so that loops become vector code.
template <typename Key, typename F>
Key key_of_float(F x) {
  const Key bits = std::bit_cast<Key>(x);
  const Key key = bits ^ (spread_sign(bits) | kSignBit<Key>);
  const Key infinity = std::bit_cast<Key>(std::numeric_limits<F>::infinity());
  const Key magnitude = bits & ~kSignBit<Key>;
  return magnitude > infinity ? ~Key(0) : key;
}

template <typename F, typename Key>
F float_of_key(Key key) {
  const Key bits = key ^ (~spread_sign(key) | kSignBit<Key>);
  const Key quiet_nan = std::bit_cast<Key>(std::numeric_limits<F>::quiet_NaN());
  return std::bit_cast<F>(key == ~Key(0) ? quiet_nan : bits);
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
