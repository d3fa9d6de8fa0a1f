// `or disjoint` replaces a sum, which is only valid behind the guard: lane 0's index is -1.
//! grid 64 64 1
//! threadgroup 32 8 1
//! buffer 0 float 4096 count 4096
//! buffer 1 float 4096 fill 77
kernel void program(const device float* x [[buffer(0)]], device float* out [[buffer(1)]],
                    uint3 at [[thread_position_in_grid]]) {
  int X = at.x, Y = at.y;
  float s = 0;
  int c = X - 1;
  if (c >= 0 && c < 64) s += x[Y * 64 + c];
  out[Y * 64 + X] = s;
}
