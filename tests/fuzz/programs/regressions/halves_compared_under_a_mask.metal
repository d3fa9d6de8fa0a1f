// LLVM exchanged the operands of a comparison of halves, which was joined with another one, without "less" and "greater".
//! grid 32 1 1
//! threadgroup 32 1 1
//! buffer 0 uint 3 values 2147483647 4006167957 2077704247
//! buffer 1 int 128 fill 77
kernel void program(const constant uint* s [[buffer(0)]], device int* o [[buffer(1)]], uint3 thread_position_in_grid [[thread_position_in_grid]]) {
#pragma STDC FP_CONTRACT OFF
const uint tid = thread_position_in_grid.x;
o += tid * 4u;
half acc1 = half(0.0f);
uint v0 = 1u;
const half v3 = simd_shuffle_and_fill_down(half(1.0f), half(0.0f), 31);
const half v4 = simd_shuffle_rotate_down(acc1, 31u);
for (char i1 = char(0); i1 < char(8); ++i1) {
  v0 *= s[1u];
  if (simd_all((acc1 > v4) || (acc1 >= v3))) {
    break;
  }
}
o[2u] = v0;
}
