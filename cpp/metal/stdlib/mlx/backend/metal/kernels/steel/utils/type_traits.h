// Type traits that MLX adds to Metal's.
#pragma once

#include <metal_stdlib>

namespace metal {

template <typename T>
struct is_empty : bool_constant<__is_empty(T)> {};
template <typename T>
inline constexpr bool is_empty_v = is_empty<T>::value;

template <typename... T>
struct make_void {
  using type = void;
};
template <typename... T>
using void_t = typename make_void<T...>::type;

// A type without state: its value is known from the type, as that of an integral constant.
template <typename T>
struct is_static : is_empty<remove_cv_t<T>> {};
template <typename T>
inline constexpr bool is_static_v = is_static<T>::value;

// What a pointer points to, without its address space.
template <typename T>
struct pointer_element {};
template <typename T>
struct pointer_element<thread T*> {
  using type = remove_cv_t<T>;
};
template <typename T>
struct pointer_element<device T*> {
  using type = remove_cv_t<T>;
};
template <typename T>
struct pointer_element<constant T*> {
  using type = remove_cv_t<T>;
};
template <typename T>
struct pointer_element<threadgroup T*> {
  using type = remove_cv_t<T>;
};
template <typename T>
using pointer_element_t = typename pointer_element<remove_cv_t<T>>::type;

}  // namespace metal
