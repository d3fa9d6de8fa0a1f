// Code for gangs whose every lane passes the guard took the division behind it for a proof that all do.
//! grid 8 1 1
//! threadgroup 8 1 1
//! buffer 0 uint 16 fill 77
kernel void program(device uint* o [[buffer(0)]], uint3 thread_position_in_grid [[thread_position_in_grid]]) {
#pragma STDC FP_CONTRACT OFF
const uint tid = thread_position_in_grid.x;
const uint Y = thread_position_in_grid.y;
if ((tid + Y) > 0u) {
  o[tid * 2u + 1u] = Y / (tid + Y);
}
}
