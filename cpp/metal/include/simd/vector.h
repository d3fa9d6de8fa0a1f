// simd::vec<T, N>: a vector of the host with named components, and arithmetic on them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <type_traits>

namespace simd {

// A vector of three components takes the room of four.
template <typename T, int N>
struct vec;

template <typename T>
struct alignas(2 * sizeof(T)) vec<T, 2> {
  T x, y;

  vec() = default;
  constexpr vec(T s) : x(s), y(s) {}
  constexpr vec(T x, T y) : x(x), y(y) {}
  constexpr T& operator[](size_t i) { return i == 0 ? x : y; }
  constexpr const T& operator[](size_t i) const { return i == 0 ? x : y; }
};

template <typename T>
struct alignas(4 * sizeof(T)) vec<T, 3> {
  T x, y, z;

  vec() = default;
  constexpr vec(T s) : x(s), y(s), z(s) {}
  constexpr vec(T x, T y, T z) : x(x), y(y), z(z) {}
  constexpr vec(vec<T, 2> v, T z) : x(v.x), y(v.y), z(z) {}
  constexpr T& operator[](size_t i) { return i == 0 ? x : i == 1 ? y : z; }
  constexpr const T& operator[](size_t i) const { return i == 0 ? x : i == 1 ? y : z; }
};

template <typename T>
struct alignas(4 * sizeof(T)) vec<T, 4> {
  T x, y, z, w;

  vec() = default;
  constexpr vec(T s) : x(s), y(s), z(s), w(s) {}
  constexpr vec(T x, T y, T z, T w) : x(x), y(y), z(z), w(w) {}
  constexpr vec(vec<T, 2> v, T z, T w) : x(v.x), y(v.y), z(z), w(w) {}
  constexpr vec(vec<T, 3> v, T w) : x(v.x), y(v.y), z(v.z), w(w) {}
  constexpr T& operator[](size_t i) { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
  constexpr const T& operator[](size_t i) const { return i == 0 ? x : i == 1 ? y : i == 2 ? z : w; }
};

// The value of an argument that decides nothing about the type of a template's parameter.
template <typename T>
using scalar_of = std::type_identity_t<T>;

#define SIMD_ELEMENTWISE(op)                                          \
  template <typename T, int N>                                        \
  constexpr vec<T, N>& operator op##=(vec<T, N>& a, vec<T, N> b) {    \
    for (int i = 0; i < N; ++i) a[i] = static_cast<T>(a[i] op b[i]);  \
    return a;                                                         \
  }                                                                   \
  template <typename T, int N>                                        \
  constexpr vec<T, N>& operator op##=(vec<T, N>& a, scalar_of<T> b) { \
    return a op## = vec<T, N>(b);                                     \
  }                                                                   \
  template <typename T, int N>                                        \
  constexpr vec<T, N> operator op(vec<T, N> a, vec<T, N> b) {         \
    return a op## = b;                                                \
  }                                                                   \
  template <typename T, int N>                                        \
  constexpr vec<T, N> operator op(vec<T, N> a, scalar_of<T> b) {      \
    return a op## = vec<T, N>(b);                                     \
  }                                                                   \
  template <typename T, int N>                                        \
  constexpr vec<T, N> operator op(scalar_of<T> a, vec<T, N> b) {      \
    return vec<T, N>(a) op b;                                         \
  }

SIMD_ELEMENTWISE(+)
SIMD_ELEMENTWISE(-)
SIMD_ELEMENTWISE(*)
SIMD_ELEMENTWISE(/)

#undef SIMD_ELEMENTWISE

template <typename T, int N>
constexpr vec<T, N> operator-(vec<T, N> a) {
  return vec<T, N>(T(0)) - a;
}

template <typename T, int N>
constexpr T reduce_add(vec<T, N> a) {
  T sum = a[0];
  for (int i = 1; i < N; ++i) sum = static_cast<T>(sum + a[i]);
  return sum;
}
template <typename T, int N>
constexpr bool equal(vec<T, N> a, vec<T, N> b) {
  for (int i = 0; i < N; ++i) {
    if (a[i] != b[i]) return false;
  }
  return true;
}
template <typename T, int N>
constexpr vec<T, N> min(vec<T, N> a, vec<T, N> b) {
  for (int i = 0; i < N; ++i) a[i] = std::min(a[i], b[i]);
  return a;
}
template <typename T, int N>
constexpr vec<T, N> max(vec<T, N> a, vec<T, N> b) {
  for (int i = 0; i < N; ++i) a[i] = std::max(a[i], b[i]);
  return a;
}
template <typename T, int N>
constexpr vec<T, N> clamp(vec<T, N> a, vec<T, N> low, vec<T, N> high) {
  return min(max(a, low), high);
}
template <typename T, int N>
constexpr vec<T, N> mix(vec<T, N> a, vec<T, N> b, vec<T, N> t) {
  return a + (b - a) * t;
}
template <typename T, int N>
constexpr T dot(vec<T, N> a, vec<T, N> b) {
  return reduce_add(a * b);
}
template <typename T>
constexpr vec<T, 3> cross(vec<T, 3> a, vec<T, 3> b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <typename T, int N>
constexpr T length_squared(vec<T, N> a) {
  return dot(a, a);
}
template <typename T, int N>
T length(vec<T, N> a) {
  return std::sqrt(length_squared(a));
}
template <typename T, int N>
T distance(vec<T, N> a, vec<T, N> b) {
  return length(a - b);
}
template <typename T, int N>
vec<T, N> normalize(vec<T, N> a) {
  return a / length(a);
}

}  // namespace simd

// The names of C for a type, and functions that make vectors of it.
#define SIMD_VECTOR(T, name, N)           \
  namespace simd {                        \
  using name##N = vec<T, N>;              \
  }                                       \
  typedef simd::vec<T, N> simd_##name##N; \
  typedef simd::vec<T, N> vector_##name##N;
#define SIMD_VECTORS(T, name)                                                                \
  SIMD_VECTOR(T, name, 2)                                                                    \
  SIMD_VECTOR(T, name, 3)                                                                    \
  SIMD_VECTOR(T, name, 4)                                                                    \
  constexpr simd_##name##2 simd_make_##name##2(T x, T y) { return {x, y}; }                  \
  constexpr simd_##name##3 simd_make_##name##3(T x, T y, T z) { return {x, y, z}; }          \
  constexpr simd_##name##3 simd_make_##name##3(simd_##name##2 v, T z) { return {v, z}; }     \
  constexpr simd_##name##3 simd_make_##name##3(simd_##name##4 v) { return {v.x, v.y, v.z}; } \
  constexpr simd_##name##4 simd_make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }  \
  constexpr simd_##name##4 simd_make_##name##4(simd_##name##3 v, T w) { return {v, w}; }

SIMD_VECTORS(signed char, char)
SIMD_VECTORS(unsigned char, uchar)
SIMD_VECTORS(short, short)
SIMD_VECTORS(unsigned short, ushort)
SIMD_VECTORS(int, int)
SIMD_VECTORS(unsigned int, uint)
SIMD_VECTORS(long, long)
SIMD_VECTORS(unsigned long, ulong)
SIMD_VECTORS(float, float)
SIMD_VECTORS(double, double)

#undef SIMD_VECTORS
#undef SIMD_VECTOR

// The functions under the names that C has.
#define SIMD_FUNCTION(name)            \
  template <typename... V>             \
  constexpr auto simd_##name(V... v) { \
    return simd::name(v...);           \
  }

SIMD_FUNCTION(reduce_add)
SIMD_FUNCTION(equal)
SIMD_FUNCTION(min)
SIMD_FUNCTION(max)
SIMD_FUNCTION(clamp)
SIMD_FUNCTION(mix)
SIMD_FUNCTION(dot)
SIMD_FUNCTION(cross)
SIMD_FUNCTION(length_squared)
SIMD_FUNCTION(length)
SIMD_FUNCTION(distance)
SIMD_FUNCTION(normalize)
