// A gang that found out in one way of a switch that its lanes have different remainders ran another way twice.
//! grid 4 1 1
//! threadgroup 4 1 1
//! buffer 0 uint 12 fill 77
kernel void program(device uint* o [[buffer(0)]], uint tid [[thread_position_in_grid]],
                    uint tix [[thread_index_in_threadgroup]],
                    uint lane [[thread_index_in_simdgroup]]) {
  o += tid * 3u;
  switch (uint(long(lane))) {
    default: o[0] *= tid; break;
    case 1: o[tix % 3u] = 0; [[fallthrough]];
    case 2: break;
  }
}
