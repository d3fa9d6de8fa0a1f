// clang-format off
#include "mlx/backend/metal/kernels/utils.h"
#include "src/params.h"

using namespace metal;

constant bool is_contiguous [[function_constant(20)]];
constant bool is_general = !is_contiguous;

template <typename T>
[[kernel]] void softcap(
    device const T* x [[buffer(0)]],
    device T* out [[buffer(1)]],
    constant const float& cap [[buffer(2)]],
    constant const int* shape [[buffer(3), function_constant(is_general)]],
    constant const int64_t* strides [[buffer(4), function_constant(is_general)]],
    constant const int& ndim [[buffer(5), function_constant(is_general)]],
    uint index [[thread_position_in_grid]]) {
  auto loc = is_contiguous ? size_t(index) : size_t(elem_to_loc(index, shape, strides, ndim));
  out[index] = static_cast<T>(cap * precise::tanh(static_cast<float>(x[loc]) / cap));
}

[[kernel]] void capped_rows(
    device const float* x [[buffer(0)]],
    device float* out [[buffer(1)]],
    device float* rows [[buffer(2)]],
    constant const float& cap [[buffer(3)]],
    constant const int& length [[buffer(4)]],
    threadgroup float* partial [[threadgroup(0)]],
    uint row [[threadgroup_position_in_grid]],
    uint lid [[thread_position_in_threadgroup]],
    uint lsize [[threads_per_threadgroup]],
    uint lane [[thread_index_in_simdgroup]],
    uint group [[simdgroup_index_in_threadgroup]]) {
  x += size_t(row) * length;
  out += size_t(row) * length;
  float largest = 0;
  for (int i = lid; i < length; i += lsize) {
    largest = max(largest, abs(x[i]));
    out[i] = cap * precise::tanh(x[i] / cap);
  }
  largest = simd_max(largest);
  if (lane == 0) {
    partial[group] = largest;
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (group == 0) {
    largest = simd_max(lane < MAX_SIMDGROUPS ? partial[lane] : 0.0f);
    if (lane == 0) {
      rows[row] = largest;
    }
  }
}

#define instantiate_softcap(type_name, type) \
  instantiate_kernel("softcap_" #type_name, softcap, type)

instantiate_softcap(float32, float)
instantiate_softcap(float16, half)
instantiate_softcap(bfloat16, bfloat16_t)
