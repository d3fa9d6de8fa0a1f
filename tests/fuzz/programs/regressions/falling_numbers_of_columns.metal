// A number falls from each thread to the one behind it.
//! grid 8 1 32
//! threadgroup 8 1 8
//! buffer 0 int 256 fill 77
kernel void program(device int* o [[buffer(0)]], uint3 thread_position_in_grid [[thread_position_in_grid]]) {
#pragma STDC FP_CONTRACT OFF
const uint tid = (thread_position_in_grid.x * 32u) + thread_position_in_grid.z;
const int Z = thread_position_in_grid.z;
o += tid * 1u;
int acc0 = (-382071671) - Z;
o[0u] = acc0;
}
