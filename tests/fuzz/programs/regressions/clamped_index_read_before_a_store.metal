// Code for lanes inside the limits of a clamp read at the index before it compared it with them.
//! grid 8 2 1
//! threadgroup 8 2 1
//! buffer 0 ushort 48 fill 77
kernel void program(device ushort* o [[buffer(0)]], uint3 thread_position_in_grid [[thread_position_in_grid]]) {
#pragma STDC FP_CONTRACT OFF
const uint tid = (thread_position_in_grid.x * 2u) + thread_position_in_grid.y;
const int X = thread_position_in_grid.x;
const int Y = thread_position_in_grid.y;
const int c0 = X - 3;
o[tid * 3u + clamp(int(short(c0)), 0, 2)] *= ushort(int(ushort(Y)));
}
