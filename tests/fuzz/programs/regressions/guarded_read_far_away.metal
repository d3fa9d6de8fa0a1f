// Without its guard, the read is 256 MiB farther for every thread.
//! grid 8 1 1
//! threadgroup 8 1 1
//! buffer 0 int 16 count 16
//! buffer 1 int 8 fill 77
kernel void program(const device int* a [[buffer(0)]], device int* o [[buffer(1)]],
                    uint X [[thread_position_in_grid]]) {
  int r = -1;
  if (!((X * 67108865u) >= 16u)) r += a[X * 67108865u];
  o[X] += r;
}
