// Lanes whose addresses are farther apart than memory reaches share no block of a buffer.
//! grid 157 1 1
//! threadgroup 64 1 1
//! buffer 0 uint 3 fill 5
//! buffer 1 long 471 fill 77
kernel void program(const constant uint* s [[buffer(0)]], device long* o [[buffer(1)]], uint tid [[thread_position_in_grid]], uint tix [[thread_index_in_threadgroup]]) {
const long c0 = tid + tid;
const long c1 = tix - (c0 * (-5559867231803258712l));
if (c1 >= 0l && c1 < 3l) {
  o[tid % 3u] = s[c1];
}
}
