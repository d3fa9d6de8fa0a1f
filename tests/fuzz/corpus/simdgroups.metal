#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;
kernel void f(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  float sum = simd_sum(x[i]) + simd_shuffle_xor(x[i], 3) + simd_prefix_exclusive_sum(x[i]);
  if (simd_any(sum > 3) && lane < 7) sum = simd_broadcast_first(sum);
  simdgroup_matrix<float, 8, 8> a(1), b, c = make_filled_simdgroup_matrix<float, 8, 8>(0);
  simdgroup_load(b, x, 8, ulong2(0, 0), true);
  simdgroup_multiply_accumulate(c, a, b, c);
  x[i] = sum + c.thread_elements()[0] + ulong(simd_vote::vote_t(simd_ballot(lane > 3)));
}
