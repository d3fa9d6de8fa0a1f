// A thread's slot is read if both bounds hold, and written if one of them does.
//! grid 96 1 1
//! threadgroup 48 1 1
//! buffer 0 int 64 fill 5
//! buffer 1 int 384 fill 77
kernel void program(const device int* a [[buffer(0)]], device int* o [[buffer(1)]], uint tid [[thread_position_in_grid]]) {
  const int c = int(tid % 24u) - 2;
  int kept[4] = {1, 2, 3, 4};
  if (c >= 0 && c < 4) kept[c] = a[c * 2] + int(tid);
  if (c > -1) o[tid * 4u + uint(c & 3)] = (c < 4) ? kept[c] : -1;
  if (c + 1 >= 0 && c + 1 < 4) o[tid * 4u + 3u] = kept[c + 1] + o[tid * 4u];
}
