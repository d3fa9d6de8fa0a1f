#include <metal_stdlib>
using namespace metal;
struct Tile {
  float v[4];
  METAL_FUNC thread float& at(int i) thread { return v[i]; }
  float at(int i) const threadgroup { return v[i]; }
};
template <typename T> METAL_FUNC T pick(const device T* p, int i) { return p[i]; }
template <typename T> METAL_FUNC T pick(threadgroup const T* p, int i) { return p[i] + 1; }
union Bits { float f; uint u; uchar4 c; };
enum class Mode : ushort { A, B = 3 };
using V = vec<bfloat, 4>;
kernel void f(device float* x [[buffer(0)]], const device V* w, uint i [[thread_position_in_grid]]) {
  threadgroup Tile shared[2];
  thread Tile local = {{1, 2}};
  local.at(1) += pick((const device float*)w, i);
  auto add = [&](float a) { return a + local.v[1]; };
  shared[i & 1] = local;
  Bits b; b.f = add(shared[0].at(1));
  switch (Mode(i % 4)) { case Mode::B: x[i] = b.c.w; break; default: x[i] = float3x3(2)[1].y; }
  device float* q = i > 2 ? x : x + 1;
  *(device packed_float3*)q = float3(w[0].xyz) * -1;
  array<int, 3> list = {1, 2}; for (auto e : list) x[e] *= e;
}
