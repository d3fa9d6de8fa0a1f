// The lanes behind the last thread have indices too.
//! grid 1 1 1
//! threadgroup 1 1 1
//! buffer 0 uint 1 fill 77
kernel void program(device uint* o [[buffer(0)]], uint tid [[thread_position_in_grid]],
                    uint tix [[thread_index_in_threadgroup]]) {
  uint sum = simd_and(5u);
  int b[16] = {};
  b[tix] += 3;
  sum += b[tix];
  o[tid] = sum;
}
