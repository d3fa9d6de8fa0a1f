// Lanes that leave a loop behind a SIMD-group function take part in it in their own iteration, with or
// without a variable whose scope ends there.
//! grid 64 1 1
//! threadgroup 32 1 1
//! buffer 0 int 64 values 3 1 -1 2 0 5 -2 4 1 0 2 7 -3 1 2 2 5 -1 0 3 1 1 4 -2 6 0 2 1 -1 3 2 5 0 1 3 -4 2 2 1 0 7 -1 3 2 4 1 0 -2 5 3 1 2 -3 0 6 1 2 4 -1 3 0 2 1 5
//! buffer 1 uint 64 fill 77
kernel void program(const device int* a [[buffer(0)]], device uint* o [[buffer(1)]],
                    uint tid [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
  uint r = 0u;
  int x = 1;
  for (int i = 0; i < int((lane + 1u) & 3u); ++i) {
    const int c = i - a[tid];
    if (int(tid & 15u) >= x + c) {
      r += simd_prefix_inclusive_sum(1024u);
      break;
    }
    x *= a[lane];
  }
  for (int i = 0; i < 4; ++i) {
    if (a[(tid + i) & 63u] > 2) {
      r += simd_sum(1u);
      break;
    }
  }
  o[tid] = r;
}
