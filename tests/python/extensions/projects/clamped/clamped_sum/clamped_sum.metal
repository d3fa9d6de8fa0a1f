#include <metal_stdlib>

#include "mlx/backend/metal/kernels/bf16.h"
#include "mlx/backend/metal/kernels/utils.h"

template <typename T>
[[kernel]] void clamped_sum_general(
    device const T* a [[buffer(0)]],
    device const T* b [[buffer(1)]],
    device T* out [[buffer(2)]],
    constant const float& low [[buffer(3)]],
    constant const float& high [[buffer(4)]],
    constant const int* shape [[buffer(5)]],
    constant const size_t* a_strides [[buffer(6)]],
    constant const size_t* b_strides [[buffer(7)]],
    constant const int& ndim [[buffer(8)]],
    uint index [[thread_position_in_grid]]) {
  auto a_offset = elem_to_loc(index, shape, a_strides, ndim);
  auto b_offset = elem_to_loc(index, shape, b_strides, ndim);
  out[index] = static_cast<T>(clamp(float(a[a_offset] + b[b_offset]), low, high));
}

#define instantiate_clamped_sum(type_name, type)                  \
  template [[host_name("clamped_sum_general_" #type_name)]]       \
  [[kernel]] void clamped_sum_general<type>(                      \
      device const type* a [[buffer(0)]],                         \
      device const type* b [[buffer(1)]],                         \
      device type* out [[buffer(2)]],                             \
      constant const float& low [[buffer(3)]],                    \
      constant const float& high [[buffer(4)]],                   \
      constant const int* shape [[buffer(5)]],                    \
      constant const size_t* a_strides [[buffer(6)]],             \
      constant const size_t* b_strides [[buffer(7)]],             \
      constant const int& ndim [[buffer(8)]],                     \
      uint index [[thread_position_in_grid]]);

instantiate_clamped_sum(float32, float);
instantiate_clamped_sum(float16, half);
instantiate_clamped_sum(bfloat16, bfloat16_t);
