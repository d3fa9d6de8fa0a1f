// A thread's array is indexed before a barrier and after it.
//! grid 4 16 1
//! threadgroup 4 16 1
//! buffer 0 uint 1 fill 1
//! buffer 1 int 192 fill 77
kernel void program(const constant uint& w [[buffer(0)]], device int* o [[buffer(1)]], uint3 thread_position_in_grid [[thread_position_in_grid]], uint3 threadgroup_position_in_grid [[threadgroup_position_in_grid]], uint3 threads_per_threadgroup [[threads_per_threadgroup]], uint thread_index_in_threadgroup [[thread_index_in_threadgroup]]) {
#pragma STDC FP_CONTRACT OFF
const uint tid = (thread_position_in_grid.x * 16u) + thread_position_in_grid.y;
const uint tix = thread_index_in_threadgroup;
const uint Y = thread_position_in_grid.y;
const uint g = threadgroup_position_in_grid.x;
const uint group_size = threads_per_threadgroup.x * threads_per_threadgroup.y * threads_per_threadgroup.z;
threadgroup int sh[256];
for (uint k = tix; k < 256u; k += group_size) sh[k] = int(k);
threadgroup_barrier(mem_flags::mem_threadgroup);
int b1[2] = {};
if (w > Y) {
  b1[Y] -= 1;
}
sh[tix] = 0;
threadgroup_barrier(mem_flags::mem_threadgroup);
o[tid * 3u + w] = b1[g];
threadgroup_barrier(mem_flags::mem_threadgroup);
}
