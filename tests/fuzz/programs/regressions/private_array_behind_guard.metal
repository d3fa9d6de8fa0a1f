// If all lanes read the array, the reads go beyond the end of the stack.
//! grid 16 1 1
//! threadgroup 16 1 1
//! buffer 0 int 48 fill 77
kernel void program(device int* o [[buffer(0)]], uint tid [[thread_position_in_grid]]) {
  uint acc = 0u;
  uint b[3] = {};
  if (tid <= 2u) {
    acc += b[tid];
  }
  o[tid * 3u] = acc;
}
