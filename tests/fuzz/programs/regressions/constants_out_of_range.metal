// Constants outside the range of an integer type, shifts by more than the width, and a divisor of
// zero: each has a defined value.
//! grid 64 1 1
//! threadgroup 32 1 1
//! buffer 0 uint 128 fill 77
kernel void program(device uint* o [[buffer(0)]], uint tid [[thread_position_in_grid]]) {
  uint v = uint(-1.0f) + uint(uchar(300.0f)) + (1u >> -32767) + 7u / (8u >> 35);
  if (tid % 3u == 1u) v += uint(short(1e9f)) ^ uint4(float4(-3.0f)).y;
  o[tid * 2u] = v;
  if (v > (1u << 40)) o[tid * 2u + 1u] = uint(int(NAN));
}
