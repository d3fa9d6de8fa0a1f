// Control flow that the compiler once rejected.
//! grid 243 1 1
//! threadgroup 40 1 1
//! buffer 0 uint 1024 random 1
//! buffer 1 uint 8 count 8
//! buffer 2 uint 243 fill 77
kernel void program(const device uint* a [[buffer(0)]], const device uint* s [[buffer(1)]],
                    device uint* o [[buffer(2)]], uint tid [[thread_position_in_grid]],
                    uint tix [[thread_position_in_threadgroup]]) {
  uint lane = tix % 32u;
  const uint n = 1024u;
  uint acc = 1u, v1 = tid;
  switch (lane) { case 0u: {
    if (s[6] > 2u) {
      for (uint i3 = 0; i3 < 1u; ++i3) {
        uint b6 = tid % 5u;
        for (uint i5 = 0; i5 < b6; ++i5) {
          if (uint(uchar(4294967295u >> (i5 & 31u))) != ((i5 - 3u) < n ? a[i5 - 3u] : ((i3 - 3u) < n ? a[i3 - 3u] : a[5u]))) continue;
          uint v7 = (((v1 > 7u) && (lane < acc)) ? ((i3 * 65537u) < n ? a[i3 * 65537u] : s[5]) : ((i5 != 7u) ? 32u : 8u)) << ((s[2] * tix + uint(uchar(i5))) & 31u);
        }
        acc += 1u;
      }
    }
    { o[tid] = acc + ((tix - 3u) < n ? a[tix - 3u] : mulhi(s[1], acc)); return; }
  } }
}
