// MLX's names for atomics that exist for every type.
#pragma once

#include <metal_stdlib>

template <typename T>
using mlx_atomic = metal::atomic<T>;

#define __MLX_ATOMIC(name)                                                                      \
  template <typename T>                                                                         \
  METAL_FUNC void mlx_atomic_fetch_##name##_explicit(device mlx_atomic<T>* object,              \
                                                     metal::__as_is<T> value, size_t offset) {  \
    metal::atomic_fetch_##name##_explicit(object + offset, value, metal::memory_order_relaxed); \
  }

__MLX_ATOMIC(add)
__MLX_ATOMIC(min)
__MLX_ATOMIC(max)
__MLX_ATOMIC(and)
__MLX_ATOMIC(or)

#undef __MLX_ATOMIC

template <typename T>
METAL_FUNC T mlx_atomic_load_explicit(device mlx_atomic<T>* object, size_t offset) {
  return metal::atomic_load_explicit(object + offset, metal::memory_order_relaxed);
}
template <typename T>
METAL_FUNC void mlx_atomic_store_explicit(device mlx_atomic<T>* object, metal::__as_is<T> value,
                                          size_t offset) {
  metal::atomic_store_explicit(object + offset, value, metal::memory_order_relaxed);
}
template <typename T>
METAL_FUNC bool mlx_atomic_compare_exchange_weak_explicit(device mlx_atomic<T>* object,
                                                          thread T* expected,
                                                          metal::__as_is<T> value, size_t offset) {
  return metal::atomic_compare_exchange_weak_explicit(
      object + offset, expected, value, metal::memory_order_relaxed, metal::memory_order_relaxed);
}
template <typename T>
METAL_FUNC void mlx_atomic_fetch_mul_explicit(device mlx_atomic<T>* object, metal::__as_is<T> value,
                                              size_t offset) {
  T seen = mlx_atomic_load_explicit(object, offset);
  while (!mlx_atomic_compare_exchange_weak_explicit(object, &seen, T(seen * value), offset)) {
  }
}
