// A vector that is kept over a barrier was stored without its last elements.
//! grid 80 1 1
//! threadgroup 80 1 1
//! buffer 0 ulong 320 fill 77
kernel void program(device ulong* o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  ulong value = o[i * 4 + (i & 3)];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  o[i * 4] = value;
  o[i * 4 + 1] = 0;
}
