// Small kernels, one for each form that vector code has: vector_code.txt says what becomes of each.
#include <metal_stdlib>
using namespace metal;

constant float table[8] = {1, 2, 4, 8, 16, 32, 64, 128};
constant uint rows[4] = {3, 1, 2, 0};

struct Point {
  float x, y, z;
  uint kind;
};
struct Small {
  half a;
  uchar b;
};

#define KERNEL(name, ...)                                                                           \
  kernel void name(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],              \
                   device const uint* k [[buffer(2)]], constant uint& n [[buffer(3)]],              \
                   uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {    \
    __VA_ARGS__                                                                                       \
  }
#define TYPED(name, T, ...)                                                                         \
  kernel void name##_##T(device const T* x [[buffer(0)]], device T* y [[buffer(1)]],                \
                         uint i [[thread_position_in_grid]]) {                                      \
    __VA_ARGS__                                                                                       \
  }
#define FLOATS(name, ...) TYPED(name, half, __VA_ARGS__) TYPED(name, bfloat, __VA_ARGS__) TYPED(name, float, __VA_ARGS__)
#define INTEGERS(name, ...)                                                                        \
  TYPED(name, char, __VA_ARGS__) TYPED(name, ushort, __VA_ARGS__) TYPED(name, int, __VA_ARGS__) TYPED(name, ulong, __VA_ARGS__)
#define GROUP(name, ...)                                                                            \
  kernel void name(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],              \
                   uint3 p [[thread_position_in_grid]],                                             \
                   uint t [[thread_index_in_threadgroup]], uint g [[threadgroup_position_in_grid]],  \
                   uint lane [[thread_index_in_simdgroup]],                                         \
                   uint simd [[simdgroup_index_in_threadgroup]]) {                                  \
    threadgroup float shared[256];                                                                  \
    __VA_ARGS__                                                                                       \
  }

// ---- loads and stores ----

FLOATS(copied, y[i] = x[i];)
INTEGERS(shifted, y[i] = x[i + 1];)
FLOATS(pairs, y[i] = x[2 * i] + x[2 * i + 1];)
INTEGERS(triples, y[i] = x[3 * i] + x[3 * i + 1] + x[3 * i + 2];)
FLOATS(spread, y[4 * i] = x[i]; y[4 * i + 1] = -x[i];)
INTEGERS(interleaved, y[2 * i] = x[i] + 1; y[2 * i + 1] = x[i] - 1;)
KERNEL(reversed, y[i] = x[n - i];)
KERNEL(down, y[1000 - i] = x[1000 - i];)
KERNEL(every_fifth, y[i] = x[5 * i + 2];)
KERNEL(far_apart, y[i] = x[4096 * i];)
KERNEL(by_stride, y[i] = x[n * i];)
KERNEL(by_index, y[i] = x[k[i]];)
KERNEL(to_index, y[k[i]] = x[i];)
KERNEL(of_all, y[i] = x[n] + x[0];)
KERNEL(rows_of_four, y[i] = x[i / 4] * x[i % 4];)
KERNEL(rows_of_64, y[i] = x[i / 64] * x[i % 64];)
KERNEL(rows_of_n, y[i] = x[i / n] * x[i % n];)
KERNEL(odd_and_even, y[i] = x[i ^ 1] + x[i & ~1u] + x[i | 1];)
KERNEL(clamped, y[i] = x[min(i, n - 1)] + x[max(i, 1u) - 1];)
KERNEL(guarded, if (i < n) y[i] = x[i];)
KERNEL(guarded_by_value, if (x[i] > 0) y[i] = sqrt(x[i]);)
KERNEL(guarded_index, y[i] = k[i] < n ? x[k[i]] : 0;)
KERNEL(stored_twice, y[i] = x[i]; y[i + 1] = x[i + 1];)
KERNEL(block_of_eight, float s = 0; for (uint j = 0; j < 8; ++j) s += x[8 * i + j]; y[i] = s;)
KERNEL(stored_block, for (uint j = 0; j < 4; ++j) y[4 * i + j] = x[i] * j;)
KERNEL(of_two_lanes, y[i] = x[i / 2 * 2] - x[i / 2 * 2 + 1];)
KERNEL(negative_stride, y[i] = x[4096 - 2 * i];)
KERNEL(long_index, ulong at = ulong(i) * n + 3; y[i] = x[at];)
KERNEL(signed_index, int at = int(i) - 3; y[i] = x[at];)
KERNEL(short_index, ushort at = ushort(i) + 1; y[i] = x[at];)
KERNEL(as_bytes, y[i] = ((device const uchar*)x)[i];)
KERNEL(points, Point p = ((device const Point*)x)[i]; y[i] = p.x * p.y + p.z + p.kind;)
KERNEL(points_out, Point p{x[i], 1, 2, i}; ((device Point*)y)[i] = p;)
KERNEL(small_structs, Small s = ((device const Small*)x)[i]; y[i] = s.a + s.b;)
KERNEL(tables, y[i] = table[i % 8] + table[k[i] % 8];)
KERNEL(rows_of_table, y[i] = x[rows[i % 4] + 4 * (i / 4)];)

// ---- vectors of MSL ----

KERNEL(float2s, ((device float2*)y)[i] = ((device const float2*)x)[i] * 2.0f + 1.0f;)
KERNEL(float3s, ((device float3*)y)[i] = ((device const float3*)x)[i].zyx;)
KERNEL(packed, ((device packed_float3*)y)[i] = ((device const packed_float3*)x)[i] + 1.0f;)
KERNEL(float4s, float4 v = ((device const float4*)x)[i]; ((device float4*)y)[i] = v.wzyx * v;)
KERNEL(half4s, half4 v = ((device const half4*)x)[i]; ((device half4*)y)[i] = fma(v, v, v);)
KERNEL(uchar4s, uchar4 v = ((device const uchar4*)x)[i]; ((device uchar4*)y)[i] = v + v.yxwz;)
KERNEL(dots, float4 v = ((device const float4*)x)[i]; y[i] = dot(v, v) + length(v.xyz);)
KERNEL(complex, float2 v = ((device const float2*)x)[i]; ((device float2*)y)[i] = float2(v.x * v.x - v.y * v.y, 2 * v.x * v.y);)
KERNEL(component, float4 v = ((device const float4*)x)[i]; y[i] = v[k[i] % 4] + v[n % 4];)
KERNEL(unpacked, float4 v = unpack_unorm4x8_to_float(k[i]); ((device float4*)y)[i] = v;)

// ---- arithmetic ----

FLOATS(polynomial, auto v = x[i]; y[i] = v * v * v - v / (v + v);)
INTEGERS(divided, y[i] = x[i] / x[i + 1] + x[i] % x[i + 1];)
INTEGERS(divided_by_seven, y[i] = x[i] / 7 + x[i] % 7;)
INTEGERS(shifts, y[i] = (x[i] << (x[i + 1] & 7)) ^ (x[i] >> 3);)
KERNEL(divided_position, y[i] = i / n + i % n + (i + 5) / 3;)
KERNEL(functions, y[i] = exp(x[i]) + sin(x[i]) * log(x[i]) + pow(x[i], 3.5f) + tanh(x[i]);)
KERNEL(roundings, y[i] = floor(x[i]) + ceil(x[i]) + rint(x[i]) + trunc(x[i]) + fract(x[i]);)
KERNEL(comparisons, y[i] = (x[i] < 1) + (x[i] != x[i]) + isinf(x[i]) + signbit(x[i]);)
KERNEL(chosen, y[i] = x[i] > 0 ? x[i] : -x[i] * 0.1f;)
KERNEL(chosen_by_bits, y[i] = select(x[i], x[i + 1], (k[i] & 4) != 0 && x[i] > 1);)
KERNEL(bits, y[i] = popcount(k[i]) + clz(k[i]) + ctz(k[i]) + reverse_bits(k[i]);)
KERNEL(high_product, y[i] = mulhi(k[i], n) + madsat(k[i], n, 3u) + rotate(k[i], 5u);)
KERNEL(saturated, y[i] = uchar(x[i]) + short(x[i]) + int(x[i]) + uint(x[i]) + long(x[i]) + ulong(x[i]);)
KERNEL(from_integers, y[i] = float(uchar(k[i])) + half(k[i]) + bfloat(float(k[i])) + float(long(k[i]) << 9);)
KERNEL(words, y[i] = as_type<float>(as_type<uint>(x[i]) & 0x7fffffff) + as_type<half2>(k[i]).x;)
KERNEL(narrowed, y[i] = half(x[i]) + bfloat(x[i]);)

// ---- control flow ----

KERNEL(returns, if (i >= n) return; if (x[i] < 0) return; y[i] = x[i];)
KERNEL(branches, if (x[i] > 0) { y[i] = exp(x[i]); } else if (n > 3) { y[i] = k[i]; } else { y[i] = 2; })
KERNEL(uniform_branch, if (n > 3) y[i] = x[i]; else y[i] = x[2 * i];)
KERNEL(switches, switch (k[i]) { case 0: y[i] = 1; break; case 1: case 2: y[i] = x[i]; break; case 9: y[i] = x[i + 1]; default: y[i + 2] = 3; })
KERNEL(uniform_switch, switch (n) { case 0: y[i] = 1; break; case 1: y[i] = x[i]; break; default: y[i] = 3; })
KERNEL(sums, float s = 0; for (uint j = 0; j < n; ++j) s += x[j * 64 + i]; y[i] = s;)
KERNEL(sums_of_rows, float s = 0; for (uint j = 0; j < n; ++j) s += x[i * n + j]; y[i] = s;)
KERNEL(sums_of_parts, float s = 0; for (uint j = lane; j < n; j += 32) s += x[i / 32 * n + j]; y[i] = s;)
KERNEL(varying_count, float s = 0; for (uint j = 0; j < k[i]; ++j) s += x[j]; y[i] = s;)
KERNEL(breaks, float s = 0; for (uint j = 0; j < n; ++j) { if (x[j] > s + k[i]) break; s += x[j]; } y[i] = s;)
KERNEL(continues, float s = 0; for (uint j = 0; j < n; ++j) { if (x[i + j] < 0) continue; s += sqrt(x[i + j]); } y[i] = s;)
KERNEL(while_loop, uint a = k[i]; uint c = 0; while (a != 1) { a = a % 2 ? 3 * a + 1 : a / 2; ++c; } y[i] = c;)
KERNEL(do_loop, float v = x[i]; do { v = v * 0.5f; } while (v > 1); y[i] = v;)
KERNEL(nested_loops, float s = 0; for (uint a = 0; a < n; ++a) for (uint b = 0; b < k[i]; ++b) s += x[a * n + b] * x[b]; y[i] = s;)
KERNEL(bisection, uint low = 0, high = n; while (low < high) { uint mid = (low + high) / 2; if (x[mid] < x[i]) low = mid + 1; else high = mid; } y[i] = low;)
KERNEL(loop_of_stores, for (uint j = 0; j < n; ++j) y[i * n + j] = x[j];)
KERNEL(unlikely, if (__builtin_expect(x[i] > 1e30f, 0)) y[i] = 0; else y[i] = x[i];)
KERNEL(early_division, if (k[i] != 0) y[i] = n / k[i];)

// ---- private and threadgroup memory ----

KERNEL(private_array, float a[8]; for (uint j = 0; j < 8; ++j) a[j] = x[i * 8 + j]; y[i] = a[k[i] % 8];)
KERNEL(private_counts, uint c[4] = {0, 0, 0, 0}; for (uint j = 0; j < n; ++j) ++c[k[i * n + j] % 4]; y[i] = c[1] + c[3];)
KERNEL(private_bytes, uchar a[16]; for (uint j = 0; j < 16; ++j) a[j] = k[i + j]; y[i] = a[k[i] % 16] + a[n % 16];)
KERNEL(private_rows, float a[4][4]; for (uint r = 0; r < 4; ++r) for (uint c = 0; c < 4; ++c) a[r][c] = x[i + r * c]; y[i] = a[n % 4][k[i] % 4];)
KERNEL(sorted, float a[5]; for (int j = 0; j < 5; ++j) a[j] = x[5 * i + j]; for (int j = 1; j < 5; ++j) { float v = a[j]; int at = j - 1; while (at >= 0 && a[at] > v) { a[at + 1] = a[at]; --at; } a[at + 1] = v; } y[i] = a[2];)
KERNEL(copied_struct, Point p[2]; p[0] = ((device const Point*)x)[i]; p[1] = ((device const Point*)x)[i + 1]; y[i] = p[k[i] % 2].y;)
GROUP(tile, shared[t] = x[p.x]; threadgroup_barrier(mem_flags::mem_threadgroup); y[p.x] = shared[255 - t];)
GROUP(transposed, shared[t] = x[p.x]; threadgroup_barrier(mem_flags::mem_threadgroup); y[p.x] = shared[t % 16 * 16 + t / 16];)
GROUP(tree, shared[t] = x[p.x]; for (uint s = 128; s > 0; s /= 2) { threadgroup_barrier(mem_flags::mem_threadgroup); if (t < s) shared[t] += shared[t + s]; } if (t == 0) y[g] = shared[0];)
GROUP(in_parts, float v = simd_sum(x[p.x]); if (lane == 0) shared[simd] = v; threadgroup_barrier(mem_flags::mem_threadgroup); if (simd == 0) { v = simd_sum(shared[lane]); if (lane == 0) y[g] = v; })
GROUP(histogram, threadgroup atomic_uint counts[64]; if (t < 64) atomic_store_explicit(&counts[t], 0, memory_order_relaxed); threadgroup_barrier(mem_flags::mem_threadgroup); atomic_fetch_add_explicit(&counts[uint(x[p.x]) % 64], 1, memory_order_relaxed); threadgroup_barrier(mem_flags::mem_threadgroup); if (t < 64) y[g * 64 + t] = atomic_load_explicit(&counts[t], memory_order_relaxed);)

// ---- SIMD-groups ----

KERNEL(folds, y[i] = simd_sum(x[i]) + simd_max(x[i]) - simd_min(x[i]) + simd_product(x[i]);)
KERNEL(integer_folds, y[i] = simd_sum(k[i]) + simd_and(k[i]) + simd_or(k[i]) + simd_xor(k[i]) + simd_max(int(k[i]));)
KERNEL(scans, y[i] = simd_prefix_inclusive_sum(x[i]) + simd_prefix_exclusive_sum(k[i]) + simd_prefix_inclusive_product(x[i]);)
KERNEL(shuffles, y[i] = simd_shuffle(x[i], k[i] % 32) + simd_shuffle_xor(x[i], 4) + simd_shuffle_down(x[i], 3) + simd_shuffle_up(x[i], 5) + simd_broadcast(x[i], 7) + simd_broadcast_first(x[i]);)
KERNEL(rotations, y[i] = simd_shuffle_rotate_down(x[i], 3) + simd_shuffle_rotate_up(x[i], 9) + simd_shuffle_and_fill_down(x[i], x[i + 1], 2);)
KERNEL(votes, y[i] = simd_all(x[i] > 0) + simd_any(x[i] < -1) + simd_is_first() + float(ulong(simd_ballot(x[i] > 2)) & 0xffff) + float(ulong(simd_active_threads_mask()));)
KERNEL(quads, y[i] = quad_sum(x[i]) + quad_shuffle_xor(x[i], 1) + quad_broadcast(x[i], 2) + quad_max(k[i]);)
KERNEL(folds_of_some, if (x[i] > 0) y[i] = simd_sum(x[i]) + simd_prefix_exclusive_sum(x[i]);)
KERNEL(folds_in_loop, float s = 0; for (uint j = 0; j < n; ++j) s += simd_sum(x[j * n + lane]); y[i] = s;)
KERNEL(half_folds, half v = half(x[i]); y[i] = simd_sum(v) + simd_max(v); bfloat b = bfloat(x[i]); y[i] += simd_sum(float(b));)

// ---- atomics ----

KERNEL(atomic_add, atomic_fetch_add_explicit((device atomic_uint*)y + k[i], i, memory_order_relaxed);)
KERNEL(atomic_and, atomic_fetch_and_explicit((device atomic_uint*)y + k[i], i, memory_order_relaxed);)
KERNEL(atomic_or, atomic_fetch_or_explicit((device atomic_uint*)y + k[i], i, memory_order_relaxed);)
KERNEL(atomic_xor, atomic_fetch_xor_explicit((device atomic_uint*)y + k[i], i, memory_order_relaxed);)
KERNEL(atomic_max, atomic_fetch_max_explicit((device atomic_uint*)y + k[i], i, memory_order_relaxed);)
KERNEL(atomic_min, atomic_fetch_min_explicit((device atomic_uint*)y + k[i], i, memory_order_relaxed);)
KERNEL(atomic_signed, atomic_fetch_max_explicit((device atomic_int*)y + k[i], int(x[i]), memory_order_relaxed);)
KERNEL(atomic_total, atomic_fetch_add_explicit((device atomic_uint*)y, k[i], memory_order_relaxed);)
KERNEL(atomic_results, y[i] = atomic_fetch_add_explicit((device atomic_uint*)y + n, k[i], memory_order_relaxed);)
KERNEL(atomic_floats, atomic_fetch_add_explicit((device atomic_float*)y + k[i], x[i], memory_order_relaxed);)
KERNEL(atomic_float_row, atomic_fetch_add_explicit((device atomic_float*)y + k[i / 32] + lane, x[i], memory_order_relaxed);)
KERNEL(atomic_float_total, atomic_fetch_add_explicit((device atomic_float*)y, x[i], memory_order_relaxed);)
KERNEL(atomic_loop, uint old = atomic_load_explicit((device atomic_uint*)y + k[i], memory_order_relaxed); while (!atomic_compare_exchange_weak_explicit((device atomic_uint*)y + k[i], &old, old * 3, memory_order_relaxed, memory_order_relaxed));)
KERNEL(atomic_moves, y[i] = atomic_exchange_explicit((device atomic_uint*)y + k[i], i, memory_order_relaxed);)

// ---- matrices ----

#define TILES(name, T, ...) \
  kernel void name##_##T(device const T* a [[buffer(0)]], device const T* b [[buffer(1)]], device T* c [[buffer(2)]], \
                         constant uint& n [[buffer(3)]], uint g [[threadgroup_position_in_grid]], \
                         uint lane [[thread_index_in_simdgroup]]) { __VA_ARGS__ }
TILES(product, float, simdgroup_float8x8 A; simdgroup_float8x8 B; simdgroup_float8x8 C(0); for (uint j = 0; j < n; j += 8) { simdgroup_load(A, a + j, n); simdgroup_load(B, b + j * n, n); simdgroup_multiply_accumulate(C, A, B, C); } simdgroup_store(C, c, n);)
TILES(product, half, simdgroup_half8x8 A; simdgroup_half8x8 B; simdgroup_float8x8 C(0); for (uint j = 0; j < n; j += 8) { simdgroup_load(A, a + j, n); simdgroup_load(B, b + j * n, n, 0, true); simdgroup_multiply_accumulate(C, A, B, C); } simdgroup_half8x8 D; D.thread_elements()[0] = half(C.thread_elements()[0]); D.thread_elements()[1] = half(C.thread_elements()[1]); simdgroup_store(D, c, n);)
TILES(block, float, simdgroup_float8x8 A[2]; simdgroup_float8x8 B[2]; simdgroup_float8x8 C[2][2]; for (uint r = 0; r < 2; ++r) for (uint s = 0; s < 2; ++s) C[r][s] = simdgroup_float8x8(0); for (uint j = 0; j < n; j += 8) { for (uint r = 0; r < 2; ++r) { simdgroup_load(A[r], a + r * 8 * n + j, n); simdgroup_load(B[r], b + j * n + 8 * r, n); } for (uint r = 0; r < 2; ++r) for (uint s = 0; s < 2; ++s) simdgroup_multiply_accumulate(C[r][s], A[r], B[s], C[r][s]); } for (uint r = 0; r < 2; ++r) for (uint s = 0; s < 2; ++s) simdgroup_store(C[r][s], c + r * 8 * n + 8 * s, n);)
TILES(scaled, float, simdgroup_float8x8 A; simdgroup_load(A, a, n); A.thread_elements()[0] *= 2; A.thread_elements()[1] = exp(A.thread_elements()[1]); simdgroup_store(A, c, n, 0, true);)
TILES(diagonal, float, simdgroup_float8x8 A = make_filled_simdgroup_matrix<float, 8, 8>(3); simdgroup_float8x8 D(2); simdgroup_float8x8 C; simdgroup_multiply(C, A, D); simdgroup_store(C, c + lane / 32 * n, n);)

// ---- functions ----

constant uint mode [[function_constant(0)]];
constant bool has_mode = is_function_constant_defined(mode);
__attribute__((noinline)) float outlined(float v, uint n) { return n > 3 ? exp(v) : v * v; }
float descends(float v, uint n) { return n == 0 ? v : descends(v * 0.5f, n - 1) + 1; }
void order(thread float& a, thread float& b) {
  if (a > b) {
    float t = a;
    a = b;
    b = t;
  }
}
float at(device const float* x, uint i, bool second) { return (second ? x + 64 : x)[i]; }

KERNEL(calls, y[i] = outlined(x[i], n);)
KERNEL(calls_of_some, if (x[i] > 0) y[i] = outlined(x[i], k[i]);)
KERNEL(recursion, y[i] = descends(x[i], n);)
KERNEL(with_constants, y[i] = has_mode && mode == 2 ? x[i] : x[2 * i];)
KERNEL(ordered, float a = x[3 * i], b = x[3 * i + 1], c = x[3 * i + 2]; order(a, b); order(b, c); order(a, b); y[i] = b;)
KERNEL(chosen_pointers, y[i] = at(x, i, n > 3) + at(x, i, k[i] > 3);)
KERNEL(pointer_in_loop, device const float* p = x + i; float s = 0; for (uint j = 0; j < n; ++j) { s += *p; p += 32; } y[i] = s;)
KERNEL(lambda, auto f = [&](uint j) { return x[i + j] * j; }; y[i] = f(1) + f(2) + f(3);)

// ---- more grids ----

#define GRID(name, ...)                                                                             \
  kernel void name(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],              \
                   constant uint& n [[buffer(2)]], uint3 p [[thread_position_in_grid]],             \
                   uint3 size [[threads_per_grid]], uint3 t [[thread_position_in_threadgroup]],      \
                   uint3 groups [[threads_per_threadgroup]]) {                                      \
    __VA_ARGS__                                                                                     \
  }
GRID(planes, y[p.x + size.x * (p.y + size.y * p.z)] = x[p.x + size.x * (p.y + size.y * p.z)];)
GRID(swapped, y[p.y * n + p.x] = x[p.x * n + p.y];)
GRID(stencil, float s = 0; for (int a = -1; a <= 1; ++a) for (int b = -1; b <= 1; ++b)
     s += x[clamp(int(p.y) + a, 0, int(n) - 1) * n + clamp(int(p.x) + b, 0, int(n) - 1)]; y[p.y * n + p.x] = s;)
GRID(inner_stencil, if (p.x > 0 && p.x + 1 < n && p.y > 0) y[p.y * n + p.x] =
     x[p.y * n + p.x - 1] + x[p.y * n + p.x + 1] + x[(p.y - 1) * n + p.x];)
GRID(of_groups, y[p.x] = x[t.x + groups.x * t.y] + groups.x;)
GRID(product_of_matrices, float s = 0; for (uint j = 0; j < n; ++j) s += x[p.y * n + j] * x[j * n + p.x]; y[p.y * n + p.x] = s;)
GRID(columns, y[p.x] = x[p.x % 8 * n + p.x / 8];)
GRID(images, uint c = p.x % 3, q = p.x / 3; y[p.x] = x[q * 4 + c] * 0.5f;)

// ---- more types ----

KERNEL(byte_sums, device const uchar* b = (device const uchar*)x; uint s = 0; for (uint j = 0; j < n; ++j) s += b[i * n + j]; y[i] = s;)
KERNEL(byte_products, device const char* b = (device const char*)x; int s = 0; for (uint j = 0; j < 16; ++j) s += b[i * 16 + j] * b[j]; y[i] = s;)
KERNEL(nibbles, uint w = k[i]; float s = 0; for (uint j = 0; j < 8; ++j) s += x[8 * i + j] * float((w >> (4 * j)) & 15); y[i] = s;)
KERNEL(half_sums, device const half* h = (device const half*)x; half s = 0; for (uint j = 0; j < n; ++j) s += h[i + j * 32]; y[i] = s;)
KERNEL(bfloat_sums, device const bfloat* h = (device const bfloat*)x; float s = 0; for (uint j = 0; j < n; ++j) s += h[i * n + j]; y[i] = s;)
KERNEL(longs, long a = long(k[i]) * n - 5; y[i] = a > 0 ? a / 3 : a % 7; y[i + 1] = popcount(ulong(a)) + clz(a);)
KERNEL(booleans, device const bool* b = (device const bool*)x; y[i] = b[i] && !b[i + 1] ? 1 : 2;)
KERNEL(bools_out, ((device bool*)y)[i] = x[i] > 0;)
KERNEL(bit_fields, y[i] = extract_bits(k[i], 3, 5) + insert_bits(k[i], n, 8, 4) + extract_bits(int(k[i]), 7, 9);)
KERNEL(absolutes, y[i] = abs(int(k[i])) + absdiff(k[i], n) + max3(x[i], x[i + 1], 0.5f) + clamp(x[i], 0.0f, 1.0f);)
KERNEL(saturating, y[i] = addsat(char(k[i]), char(n)) + subsat(ushort(k[i]), ushort(n)) + addsat(k[i], n) + hadd(k[i], n);)
KERNEL(short_vectors, short4 v = ((device const short4*)x)[i]; ((device short4*)y)[i] = v * v.x + short4(n);)
KERNEL(bool_vectors, float4 v = ((device const float4*)x)[i]; y[i] = all(v > 0) + any(v < 1) + dot(select(v, -v, v < 0), v);)
KERNEL(matrix_types, float4x4 m(x[i]); float4 v = m * float4(1, 2, 3, x[n]); ((device float4*)y)[i] = transpose(m) * v;)
KERNEL(small_differences, y[i] = (int(k[i]) - int(k[i + 1])) >> 2; y[i + n] = uchar(k[i] + 200) / 3;)

// ---- more control flow ----

KERNEL(returns_in_loop, for (uint j = 0; j < n; ++j) { if (x[i + j] > 5) { y[i] = j; return; } } y[i] = -1;)
KERNEL(two_breaks, float s = 0; for (uint a = 0; a < n; ++a) { for (uint b = 0; b < n; ++b) { if (x[a + b] > k[i]) break; s += x[b]; }
       if (s > 100) break; } y[i] = s;)
KERNEL(switch_in_loop, float s = x[i]; for (uint j = 0; j < n; ++j) switch (k[j]) { case 0: s += 1; break; case 1: s *= 2; break; default: s = -s; } y[i] = s;)
KERNEL(uniform_in_varying, if (k[i] > 3) { for (uint j = 0; j < n; ++j) y[i * n + j] = x[j]; } else if (n > 7) { y[i] = 0; })
KERNEL(varying_start, float s = 0; for (uint j = k[i]; j < k[i + 1]; ++j) s += x[j] * x[n + j]; y[i] = s;)
KERNEL(counts_down, float s = 0; for (int j = int(n) - 1; j >= 0; j -= 2) s += x[j * 32 + i]; y[i] = s;)
KERNEL(two_counters, float s = 0; for (uint a = 0, b = n; a < b; ++a, --b) s += x[a * 32 + i] * x[b * 32 + i]; y[i] = s;)
KERNEL(recurrence, float s = 0; for (uint j = 0; j < n; ++j) { s = s * 0.5f + x[j * 64 + i]; y[j * 64 + i] = s; })
KERNEL(conditions, y[i] = (x[i] > 0 && x[i + 1] > 0) || (k[i] == 3 && n > 4) ? 1 : 0;)
KERNEL(stores_of_some, if (k[i] & 1) { y[2 * i] = 1; y[2 * i + 1] = 2; } else y[i + n] = 3;)
KERNEL(minimum, uint best = 0; for (uint j = 1; j < n; ++j) if (x[i * n + j] < x[i * n + best]) best = j; y[i] = best;)

// ---- more memory ----

KERNEL(private_vectors, float4 a[3]; for (uint j = 0; j < 3; ++j) a[j] = ((device const float4*)x)[i + j]; y[i] = a[n % 3].y + a[k[i] % 3].z;)
KERNEL(private_stack, uint s[32]; uint top = 0; s[top++] = i; float sum = 0; while (top > 0) { uint v = s[--top]; sum += x[v];
       if (v > n && top < 30) { s[top++] = v / 2; s[top++] = v / 3; } } y[i] = sum;)
KERNEL(escapes, float a[2] = {x[i], x[i + 1]}; thread float* p = k[i] ? &a[0] : &a[1]; *p = 7; y[i] = a[0] - a[1];)
KERNEL(unrolled, float s[4] = {0, 0, 0, 0}; for (uint j = 0; j < n; ++j) for (uint c = 0; c < 4; ++c) s[c] += x[j * 128 + c * 32 + i];
       y[i] = s[0] + s[1] + s[2] + s[3];)
GROUP(shared_floats, threadgroup atomic_float sum; if (t == 0) atomic_store_explicit(&sum, 0.0f, memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup); atomic_fetch_add_explicit(&sum, x[p.x], memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup); y[p.x] = atomic_load_explicit(&sum, memory_order_relaxed) + shared[0];)
GROUP(rows_and_columns, threadgroup float tile[16][17]; tile[t / 16][t % 16] = x[p.x]; threadgroup_barrier(mem_flags::mem_threadgroup);
      y[p.x] = tile[t % 16][t / 16] + shared[t];)
GROUP(barriers_in_loop, float s = 0; for (uint j = 0; j < 4; ++j) { shared[t] = x[p.x + j * 256]; threadgroup_barrier(mem_flags::mem_threadgroup);
      for (uint b = 0; b < 16; ++b) s += shared[t / 16 * 16 + b]; threadgroup_barrier(mem_flags::mem_threadgroup); } y[p.x] = s;)
GROUP(simd_barrier, shared[t] = x[p.x]; simdgroup_barrier(mem_flags::mem_threadgroup); y[p.x] = shared[t ^ 1];)
GROUP(vectors_of_shared, ((threadgroup float4*)shared)[t % 64] = ((device const float4*)x)[p.x]; threadgroup_barrier(mem_flags::mem_threadgroup);
      y[p.x] = shared[4 * (t % 64)] + shared[4 * (t % 64) + 3];)
