// The bound of the index is only known at the launch.
//! grid 6 1 1
//! threadgroup 6 1 1
//! buffer 0 int 64 count 64
//! buffer 1 int 1 fill 64
//! buffer 2 float 24 fill 77
kernel void program(const device int* a [[buffer(0)]], const constant int& w [[buffer(1)]],
                    device float* o [[buffer(2)]], uint tid [[thread_position_in_grid]],
                    uint tix [[thread_index_in_threadgroup]]) {
  const uint c = tix * 268435456u;
  if (c < w) o[tid * 4u] = float(a[c]);
}
