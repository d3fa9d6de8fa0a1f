// 64-bit quotients, uniform and varying.
//! grid 69 1 1
//! threadgroup 69 1 1
//! buffer 0 long 138 fill 77
kernel void program(device long* o [[buffer(0)]], uint tid [[thread_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
  long sum = simd_prefix_inclusive_product(1l);
  if (lane > 0u) sum += simd_prefix_inclusive_sum(7l) / lane;
  if ((lane & 2u) != 0u) sum += clz(27791l + tid) / (lane & 2u);
  o[tid * 2u] = sum;
}
