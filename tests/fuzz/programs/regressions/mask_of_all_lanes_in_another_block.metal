// Two masks are the same vector, but what is known of their lanes was computed in different blocks.
//! grid 32 1 1
//! threadgroup 32 1 1
//! buffer 0 int 32 fill 77
kernel void program(device int* o [[buffer(0)]], uint3 thread_position_in_grid [[thread_position_in_grid]], uint thread_index_in_simdgroup [[thread_index_in_simdgroup]]) {
#pragma STDC FP_CONTRACT OFF
const uint tid = thread_position_in_grid.x;
const uint lane = thread_index_in_simdgroup;
o += tid * 1u;
for (int i0 = 0; i0 < 3; ++i0) {
  if (!simd_all(bool(tid))) {
    const uint i1 = 0u;
    o[i1] = 0u;
  } else {
    const uint c0 = lane;
    if (c0 <= 2u) {
      o[0u] = 0;
    }
  }
}
}
