// Overloads of functions for other arguments than float: mixed scalar types, and vectors by
// component.
#pragma once

#include "../metal_types"
#include "math_base.h"

namespace metal {

template <typename T>
inline constexpr bool __scalar_type = __is_arithmetic(T) || __is_enum(T);
template <typename T>
inline constexpr bool __whole_type = __scalar_type<T> && !__is_floating_point(T);

// The common type of two scalar types: as in C, but half with an integer is half, and bfloat
// likewise.
template <typename T, typename U>
  requires(__scalar_type<T> && __scalar_type<U>)
constexpr auto __meet() {
  if constexpr (__whole_type<T> && __whole_type<U>) {
    if constexpr (__is_same(T, U) && __is_integral(T) && !__is_same(T, bool)) {
      return T();
    } else {
      return T() + U();
    }
  } else if constexpr (__is_same(T, U) || __whole_type<U>) {
    return T();
  } else if constexpr (__whole_type<T>) {
    return U();
  } else {
    return 0.0f;
  }
}
template <typename T, typename U>
using __common = decltype(__meet<T, U>());
template <typename T, typename U, typename V>
using __common3 = __common<__common<T, U>, V>;

// The type in which a floating-point function computes scalars: float for integers.
template <typename T>
struct __to_float {
  using type = float;
};
template <>
struct __to_float<half> {
  using type = half;
};
template <>
struct __to_float<bfloat> {
  using type = bfloat;
};
template <typename T, typename U>
using __float_common = typename __to_float<__common<T, U>>::type;
template <typename T, typename U, typename V>
using __float_common3 = typename __to_float<__common3<T, U, V>>::type;

// The vector type among a function's arguments. The other arguments have as many components or are
// scalars.
template <typename T>
struct __vector_among_impl {};
template <typename T, int N>
struct __vector_among_impl<vec<T, N>> {
  using type = vec<T, N>;
  using element = T;
  static constexpr int size = N;
};
template <typename T, int N>
struct __vector_among_impl<packed_vec<T, N>> : __vector_among_impl<vec<T, N>> {};

template <typename A, typename... B>
struct __vector_among : __vector_among_impl<A> {};
template <typename A, typename B, typename... C>
  requires(__components<A> == 1)
struct __vector_among<A, B, C...> : __vector_among<B, C...> {};

template <int N, typename A>
inline constexpr bool __fits = (__components<A> == N && N > 1) || __scalar_type<A>;
template <typename... A>
inline constexpr bool __are_vectors = false;
template <typename... A>
  requires(((__components<A> > 1) || ...))
inline constexpr bool __are_vectors<A...> = (__fits<__vector_among<A...>::size, A> && ...);

template <typename... A>
using __vector = typename __vector_among<A...>::type;
template <typename... A>
using __element = typename __vector_among<A...>::element;

// Component i of a vector, or a scalar, converted to the vector's element type.
template <typename T, typename A>
METAL_FUNC constexpr T __part(const A& a, int i) {
  if constexpr (__components<A> == 1) {
    return T(a);
  } else if constexpr (__is_same(typename __vector_among<A>::type, A)) {
    return a.__at(i);
  } else {
    return a.__unpack().__at(i);
  }
}

// Returns the vector __R of the results for each component: call(name, i) for component i of __n.
#define __METAL_BY_COMPONENT(call, name)                                    \
  if constexpr (__n == 2) {                                                 \
    return __R(call(name, 0), call(name, 1));                               \
  } else if constexpr (__n == 3) {                                          \
    return __R(call(name, 0), call(name, 1), call(name, 2));                \
  } else if constexpr (__n == 4) {                                          \
    return __R(call(name, 0), call(name, 1), call(name, 2), call(name, 3)); \
  } else {                                                                  \
    __R r(call(name, 0));                                                   \
    for (int i = 1; i < __n; ++i) r.__at(i) = call(name, i);                \
    return r;                                                               \
  }

// The vector forms of functions of one, two and three arguments, from the forms for scalars.
#define __METAL_CALL_1(name, i) name(__part<__E>(x, i))
#define __METAL_VECTOR_1(name)                 \
  template <typename A>                        \
    requires(__are_vectors<A>)                 \
  METAL_FUNC constexpr __vector<A> name(A x) { \
    using __E = __element<A>;                  \
    using __R = __vector<A>;                   \
    constexpr int __n = __components<A>;       \
    __METAL_BY_COMPONENT(__METAL_CALL_1, name) \
  }

#define __METAL_CALL_2(name, i) name(__part<__E>(x, i), __part<__E>(y, i))
#define __METAL_VECTOR_2(name)                         \
  template <typename A, typename B>                    \
    requires(__are_vectors<A, B>)                      \
  METAL_FUNC constexpr __vector<A, B> name(A x, B y) { \
    using __E = __element<A, B>;                       \
    using __R = __vector<A, B>;                        \
    constexpr int __n = __vector_among<A, B>::size;    \
    __METAL_BY_COMPONENT(__METAL_CALL_2, name)         \
  }

#define __METAL_CALL_3(name, i) name(__part<__E>(x, i), __part<__E>(y, i), __part<__E>(z, i))
#define __METAL_VECTOR_3(name)                                 \
  template <typename A, typename B, typename C>                \
    requires(__are_vectors<A, B, C>)                           \
  METAL_FUNC constexpr __vector<A, B, C> name(A x, B y, C z) { \
    using __E = __element<A, B, C>;                            \
    using __R = __vector<A, B, C>;                             \
    constexpr int __n = __vector_among<A, B, C>::size;         \
    __METAL_BY_COMPONENT(__METAL_CALL_3, name)                 \
  }

// Functions of floating-point numbers. The overloads that are no templates also accept what
// converts to float. Half and bfloat are computed in float and rounded once.
#define __METAL_FLOAT_1(name, compute) __METAL_FLOAT_1_NARROW(name, compute, compute, compute)

// The same for functions with own versions for half and bfloat.
#define __METAL_FLOAT_1_NARROW(name, compute, of_half, of_bfloat)   \
  METAL_FUNC float name(float x) { return compute(x); }             \
  METAL_FUNC half name(half x) { return half(of_half(float(x))); }  \
  METAL_FUNC bfloat name(bfloat x) { return bfloat(of_bfloat(x)); } \
  template <typename T>                                             \
    requires(__whole_type<T>)                                       \
  METAL_FUNC float name(T x) {                                      \
    return compute(float(x));                                       \
  }                                                                 \
  __METAL_VECTOR_1(name)

#define __METAL_FLOAT_2(name, compute)                              \
  METAL_FUNC float name(float x, float y) { return compute(x, y); } \
  template <typename T, typename U>                                 \
    requires(__scalar_type<T> && __scalar_type<U>)                  \
  METAL_FUNC __float_common<T, U> name(T x, U y) {                  \
    return __float_common<T, U>(compute(float(x), float(y)));       \
  }                                                                 \
  __METAL_VECTOR_2(name)

#define __METAL_FLOAT_3(name, compute)                                          \
  METAL_FUNC float name(float x, float y, float z) { return compute(x, y, z); } \
  template <typename T, typename U, typename V>                                 \
    requires(__scalar_type<T> && __scalar_type<U> && __scalar_type<V>)          \
  METAL_FUNC __float_common3<T, U, V> name(T x, U y, V z) {                     \
    return __float_common3<T, U, V>(compute(float(x), float(y), float(z)));     \
  }                                                                             \
  __METAL_VECTOR_3(name)

}  // namespace metal
