// A small number behind a guard, extended to an index and the index to an address: both may wrap around.
//! grid 32 1 1
//! threadgroup 32 1 1
//! buffer 0 ushort 64 fill 0
//! buffer 1 int 128 fill 77
kernel void program(const device ushort* a [[buffer(0)]], device int* o [[buffer(1)]], uint3 thread_position_in_grid [[thread_position_in_grid]], uint3 threadgroup_position_in_grid [[threadgroup_position_in_grid]]) {
#pragma STDC FP_CONTRACT OFF
const uint tid = thread_position_in_grid.x;
const uint X = thread_position_in_grid.x;
const uint g = threadgroup_position_in_grid.x;
const char c0 = X - 31u;
if ((c0 > char(-1)) && (c0 < char(4))) {
  o[tid * 4u + c0] = a[g + c0];
}
}
