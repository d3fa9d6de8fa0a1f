// Offsets of lanes cancel, but the extension of a negative number to 64 bits has wrapped around.
//! grid 96 1 1
//! threadgroup 96 1 1
//! buffer 0 long 96 fill 77
kernel void program(device long* out [[buffer(0)]], uint tix [[thread_index_in_threadgroup]]) {
  uint down = 0u;
  down += 0ul - ulong(tix);
  out[tix] = tix;
  out[tix] += down;
}
