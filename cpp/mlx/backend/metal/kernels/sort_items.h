// What is sorted: keys of elements, alone or with the elements' positions.
#pragma once

#include "mlx/backend/metal/kernels/types.h"

// ---- keys: unsigned integers in the order of the elements; NaNs come last ----

template <typename T>
using key_t = conditional_t<sizeof(T) <= 4, uint, ulong>;

constant constexpr uint kSignBit = 0x80000000;
constant constexpr uint kInfinity = 0x7f800000;

// Bits are compared, since a GPU may take denormal numbers for zero.
inline bool is_nan_float(float x) { return (as_type<uint>(x) & ~kSignBit) > kInfinity; }

template <bool ZerosEqual>
inline uint key_of_float(float x) {
  const uint bits = as_type<uint>(x);
  if (is_nan_float(x)) return ~0u;
  if (ZerosEqual && bits == kSignBit) return kSignBit;
  return bits & kSignBit ? ~bits : bits | kSignBit;
}

inline float float_of_key(uint key) {
  if (key == ~0u) return NAN;
  return as_type<float>(key & kSignBit ? key & ~kSignBit : ~key);
}

template <typename T>
constant constexpr key_t<T> sign_of_key = key_t<T>(1) << (8 * sizeof(key_t<T>) - 1);

template <typename T, bool ZerosEqual>
inline key_t<T> key_of(T x) {
  if constexpr (kind<T>::is_complex) {
    if (is_nan_float(x.real) || is_nan_float(x.imag)) return ~0ul;
    return ulong(key_of_float<true>(x.real)) << 32 | key_of_float<true>(x.imag);
  } else if constexpr (kind<compute_t<T>>::is_float) {
    return key_of_float<ZerosEqual>(static_cast<float>(x));
  } else if constexpr (kind<T>::is_signed) {
    return static_cast<key_t<T>>(x) ^ sign_of_key<T>;
  } else {
    return static_cast<key_t<T>>(x);
  }
}

template <typename T>
inline T value_of(key_t<T> key) {
  if constexpr (kind<compute_t<T>>::is_float) {
    return static_cast<T>(float_of_key(key));
  } else if constexpr (kind<T>::is_signed) {
    return static_cast<T>(key ^ sign_of_key<T>);
  } else {
    return static_cast<T>(key);
  }
}

// ---- items: keys, or keys with their positions, so that equal ones keep their order ----

struct WideItem {
  ulong key;
  uint position;
};

inline bool before(uint a, uint b) { return a < b; }
inline bool before(ulong a, ulong b) { return a < b; }
inline bool before(WideItem a, WideItem b) {
  return a.key < b.key || (a.key == b.key && a.position < b.position);
}

// The items of T. Equal complex numbers can differ in the signs of their zeros, which keys do not
// tell: these are sorted by positions.
template <typename T, bool Positions>
struct Items {
  static constexpr constant bool has_position = Positions || kind<T>::is_complex;
  using type =
      conditional_t<has_position, conditional_t<sizeof(T) <= 4, ulong, WideItem>, key_t<T>>;
  using result = conditional_t<Positions, uint, T>;

  static type make(key_t<T> key, uint position) {
    if constexpr (!has_position) {
      return key;
    } else if constexpr (sizeof(T) <= 4) {
      return ulong(key) << 32 | position;
    } else {
      return WideItem{key, position};
    }
  }
  static type of(T x, uint position) { return make(key_of<T, has_position>(x), position); }
  // Comes after all elements.
  static type filling() { return make(~key_t<T>(0), ~0u); }

  static uint position_of(type item) {
    if constexpr (sizeof(T) <= 4) {
      return uint(item);
    } else {
      return item.position;
    }
  }
  static result result_of(type item, const device T* line) {
    if constexpr (Positions) {
      return position_of(item);
    } else if constexpr (has_position) {
      return line[position_of(item)];
    } else {
      return value_of<T>(item);
    }
  }
};
