// A quotient behind a condition in a divergent loop.
//! grid 192 1 1
//! threadgroup 96 1 1
//! buffer 0 uint 192 fill 77
kernel void program(device uint* out [[buffer(0)]], uint tid [[thread_position_in_grid]],
                    uint lane [[thread_index_in_simdgroup]]) {
  uint v = simd_max(1u), acc = 0;
  for (uint i = 0; i < tid; ++i) {
    switch (((lane != 0u ? i / lane : i) ^ 1u) % 4u) {
      case 0u: break;
      default: acc += 3u;
    }
  }
  out[tid] = acc + v;
}
