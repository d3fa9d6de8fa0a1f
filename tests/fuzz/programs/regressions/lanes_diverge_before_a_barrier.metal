// On an NVIDIA GPU, lanes that had diverged in front of a barrier waited for others of their loop that had gone on to it.
//! grid 33 1 1
//! threadgroup 33 1 1
//! buffer 0 float 256 values 1.0 -1.0 0.0 1.0 0.0 -35.0 0.0 0.5 0.0 -64.0 0.0 0.5 1.0 2.0 0.5 2.0 -1.0 -1.0 1.0 0.5 2.0 0.5 -1.0 2.0 0.5 2.0 2.0 0.0 -1.0 0.5 0.0 0.0 0.0 -1.0 1.0 -1.0 0.0 2.0 37.0 0.5 2.0 -1.0 -1.0 0.0 2.0 -54.0 2.0 0.5 2.0 1.0 -1.0 0.5 1.0 -1.0 1.0 1.0 2.0 0.0 0.5 -1.0 1.0 2.0 0.0 -1.0 -20.0 -1.0 57.0 0.0 0.0 16.0 0.0 -1.0 -1.0 -1.0 -1.0 0.5 1.0 0.5 2.0 1.0 -46.0 0.5 0.0 0.0 0.5 1.0 0.5 2.0 0.0 0.0 3.0 1.0 2.0 1.0 0.5 0.0 -35.0 0.0 0.0 -1.0 0.5 -1.0 -26.0 -1.0 0.0 1.0 9.0 2.0 -41.0 -1.0 0.5 0.5 0.0 0.5 2.0 0.0 0.0 0.0 -62.0 0.0 0.0 2.0 38.0 -27.0 0.5 2.0 0.0 2.0 1.0 2.0 2.0 0.5 0.0 0.0 0.0 63.0 1.0 1.0 1.0 0.5 -1.0 -1.0 -1.0 2.0 1.0 1.0 -1.0 2.0 0.0 2.0 0.0 0.5 1.0 0.5 -1.0 0.5 2.0 38.0 -43.0 0.5 -1.0 1.0 0.5 -46.0 0.0 0.0 35.0 0.0 -9.0 0.0 -1.0 -1.0 -1.0 1.0 -1.0 2.0 1.0 1.0 -4.0 -1.0 45.0 0.0 1.0 -41.0 1.0 0.5 2.0 56.0 2.0 0.5 63.0 2.0 2.0 0.0 1.0 0.0 -1.0 0.0 2.0 0.0 -1.0 45.0 -1.0 -19.0 -8.0 0.0 2.0 -1.0 1.0 0.0 2.0 0.5 -1.0 0.5 35.0 1.0 0.0 5.0 2.0 0.5 4.0 -14.0 0.0 0.0 -1.0 -20.0 2.0 -1.0 1.0 44.0 2.0 -1.0 2.0 0.0 0.0 1.0 1.0 -35.0 -1.0 0.5 61.0 62.0 2.0 2.0 0.5 1.0 21.0 0.5 1.0 -1.0 1.0 -1.0 -1.0 0.0 0.0 -31.0
//! buffer 1 int 16 values 4 3 6 -1175187251 4 871479776 1412670269 5 2103785863 -928307384 174375072 -1337782685 -1531020774 -145513144 1940748980 0
//! buffer 2 uint 1 fill 256
//! buffer 3 int 1 fill 0
//! buffer 4 int 1 fill 1
//! buffer 5 int 132 fill 77
int f0(float f0_0) {
  int r0 = int(float4(f0_0, 3.0f, f0_0, f0_0).z);
  uint b0[4] = {uint(r0), uint(int3(r0, r0, r0).x), uint(r0), uint(f0_0)};
  return r0;
}

int f1(int f1_0) {
  int r1 = int(uint4(32u, uint(f1_0), 257u, uint(f1_0)).z) | f1_0;
  { ulong i0 = 0ul;
    while (i0 < ulong((f1_0 - 0) & 1)) {
      float b1[4] = {float(uint(f1_0) & 127u), float(f1_0 & 127), float(i0 & 127ul) / 2.0f};
      if (long(b1[uint(r1) & 3u]) != 0l) {
      }
      ++i0;
    }
  }
  return r1;
}
kernel void program(const device float* a [[buffer(0)]], const device int* s [[buffer(1)]], const constant uint& n [[buffer(2)]], const constant int& z [[buffer(3)]], const constant int& w [[buffer(4)]], device int* o [[buffer(5)]], uint3 thread_position_in_grid [[thread_position_in_grid]], uint3 threadgroup_position_in_grid [[threadgroup_position_in_grid]], uint3 threads_per_threadgroup [[threads_per_threadgroup]], uint thread_index_in_threadgroup [[thread_index_in_threadgroup]], uint thread_index_in_simdgroup [[thread_index_in_simdgroup]]) {
#pragma STDC FP_CONTRACT ON
const uint tid = thread_position_in_grid.x;
const uint tix = thread_index_in_threadgroup;
const uint X = thread_position_in_grid.x;
const uint lane = thread_index_in_simdgroup;
const int g = threadgroup_position_in_grid.x;
o += tid * 4u;
const uint group_size = threads_per_threadgroup.x * threads_per_threadgroup.y * threads_per_threadgroup.z;
threadgroup uint tile[4];
for (uint k = tix; k < 4u; k += group_size) tile[k] = uint(k);
threadgroup_barrier(mem_flags::mem_threadgroup);
for (const device int* p = s + tix; p < s + 16; p += 64) {
  uint i = uint(p - s); uint bin = uint(s[i]) & 3u; if (i % 3 != 1) atomic_fetch_add_explicit((threadgroup atomic<uint>*)&tile[bin], uint(bin + 1u), memory_order_relaxed);
}
if (threadgroup_position_in_grid.x == 0u) {
for (int i = int(tix) - 5; i < 16; i += int(group_size)) { if (i >= 0) { uint bin = uint(s[i]) & 3u; atomic_fetch_add_explicit((threadgroup atomic<uint>*)&tile[bin], uint(1), memory_order_relaxed); } }
}
threadgroup_barrier(mem_flags::mem_threadgroup);
float acc0 = a[min(n, 255u)];
int b2[1] = {((tid - 2u) < 16u) ? s[tid - 2u] : z};
if (!((tix - 1u) >= w) && (z != 2047)) {
  acc0 += float(tile[(z * 4) + (tix - 1u)] & 127u);
}
const float v0 = simd_max(simd_prefix_inclusive_sum(float(int(uint(ulong(simd_ballot(z != z)))) & 63)));
if (((0 <= g) && (256 > g)) && (0.0f < acc0)) {
  acc0 -= a[g];
}
int3 q0 = max(int3(int(n), w, 2), int3(int(tid), w, w));
{ int i1 = 0;
  do {
    if (!(acc0 != 7.0f)) {
      const uint c0 = (tid * 3u) - 1u;
      if (16u > c0) {
        o[g] = s[c0];
        b2[g] = int(tile[0u]);
        b2[g] = int(uint3((uint3(lane, lane, tix) + uint3(2857791964u, c0, X)).x, (uint3(lane, lane, tix) + uint3(2857791964u, c0, X)).y, (uint3(lane, lane, tix) + uint3(2857791964u, c0, X)).z).z);
      }
      const int c1 = c0 % 8u;
    } else {
      if (!simd_all(bool(X))) {
        acc0 += float(w & 127);
        continue;
      }
      o[z] -= int(rhadd(((z * tid) < w) ? tile[z * tid] : tid, addsat(lane, 3u)));
      if (simd_any(!bool(tix))) {
        acc0 = sqrt((v0 < v0) ? ceil(0.0f) : acc0);
        break;
      }
    }
    if (!(2199023255551ul >= 5ul)) {
      break;
    }
    acc0 -= (max(v0 * 1.7f, bool(acc0) ? v0 : v0) * float(tix & 127u)) + float(((acc0 >= acc0) ? (-4l) : long(w)) & 127l);
  } while (++i1 < int((s[z] * X) & 3u));
}
o[0u] = int(acc0);
}
