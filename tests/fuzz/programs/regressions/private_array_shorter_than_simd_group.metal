// Only some lanes have an element in the arrays.
//! grid 320 1 1
//! threadgroup 32 1 1
//! buffer 0 float 20 fill 77
kernel void program(device float* o [[buffer(0)]], uint3 group [[threadgroup_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
  float lp[3];
  uint b[2];
  for (uint k = 0; k < 3; ++k) lp[k] = simd_sum(float(k));
  for (uint k = 0; k < 2; ++k) b[k] = simd_max(lane + k);
  if (lane < 2) o[group.x * 2 + lane] = b[lane] + lp[lane];
}
