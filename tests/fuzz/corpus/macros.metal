#define CAT(a, b) a##b
#define OPERATOR(op) \
  METAL_FUNC float3 operator op(thread const P& a, float b) { return a.v op b; }
struct P { metal::float3 v; };
OPERATOR(+)
#if defined(__METAL_VERSION__) && !FLAG
_Pragma("METAL fp math_mode(relaxed)")
#pragma METAL internals : enable
#endif
kernel void CAT(na, me)(device float* x, uint2 p [[thread_position_in_grid]]) {
  P q = {x[0]};
  #pragma clang loop unroll(full)
  for (short i = 0; i < 3; ++i) x[i + p.y] = (q + 1.0h).zyx[i] + as_type<float>(0x3f800000u) + 1e-3;
  [[unroll]] for (;;) break;
}
