// The guard excludes the divisor 0.
//! grid 200 1 1
//! threadgroup 64 1 1
//! buffer 0 uint 8 fill 0
//! buffer 1 int 200 fill 77
kernel void program(const device uint* a [[buffer(0)]], device int* out [[buffer(1)]],
                    uint i [[thread_position_in_grid]]) {
  uint n = a[0];
  int r = -1;
  if (i < 100 && n != 0) r = i / n;
  out[i] = r;
}
