// An element that is read before a barrier is written after the next one.
//! grid 120 1 1
//! threadgroup 40 1 1
//! buffer 0 ulong 480 fill 77
kernel void program(device ulong* o [[buffer(0)]], uint tid [[thread_position_in_grid]],
                    uint tix [[thread_index_in_threadgroup]]) {
  threadgroup int sh[40];
  sh[tix] = int(((tix - 1u) <= 3u) ? o[tid * 4u + (tix - 1u)] : 0ul);
  threadgroup_barrier(mem_flags::mem_threadgroup);
  o[tid * 4u + 3] = sh[1u];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  o[tid * 4u] = 0u;
}
