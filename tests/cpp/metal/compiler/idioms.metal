#include <metal_stdlib>
#include "mlx/backend/metal/kernels/utils.h"
using namespace metal;
#define CONSTEXPR_S static constant constexpr const
#define UNROLL _Pragma("clang loop unroll(full)")
constant bool has_batch [[function_constant(10)]];
constant bool use_axpby [[function_constant(100)]];
constant bool both = has_batch && use_axpby;
constant int elems_ [[function_constant(2)]];
namespace steel {
template <typename T> struct pointer_element {};
template <typename T> struct pointer_element<thread T*> { using type = remove_cv_t<T>; };
template <typename T> struct pointer_element<device T*> { using type = remove_cv_t<T>; };
template <typename T> struct pointer_element<constant T*> { using type = remove_cv_t<T>; };
template <typename T> struct pointer_element<threadgroup T*> { using type = remove_cv_t<T>; };
template <typename T> using pointer_element_t = typename pointer_element<remove_cv_t<T>>::type;
template <int v> using Int = integral_constant<int, v>;
struct Params { const int M; const int N; int K; size_t batch_stride; };
template <typename T, short BR, short BC, short ld, short tg, short align = 1>
struct Loader {
  CONSTEXPR_S short n_reads = (BR * BC) / tg;
  CONSTEXPR_S short rows = tg / (BC / n_reads);
  const int src_ld;
  const short bi, bj;
  threadgroup T* dst;
  const device T* src;
  struct alignas(align * sizeof(T)) ReadVector { uint8_t v[sizeof(T) * n_reads]; };
  METAL_FUNC Loader(const device T* src_, const int src_ld_, threadgroup T* dst_,
                    ushort sg [[simdgroup_index_in_threadgroup]], ushort lane [[thread_index_in_simdgroup]])
      : src_ld(src_ld_), bi((sg * 32 + lane) / (BC / n_reads)), bj(n_reads * ((sg * 32 + lane) % (BC / n_reads))),
        dst(dst_ + bi * ld + bj), src(src_ + bi * src_ld + bj) {}
  template <typename Op> METAL_FUNC void apply(thread const Op& op) const {
    UNROLL for (short i = 0; i < BR; i += rows) { UNROLL for (short j = 0; j < n_reads; j++) dst[i * ld + j] = op.apply(dst[i * ld + j]); }
  }
  METAL_FUNC void load_unsafe() const {
    UNROLL for (short i = 0; i < BR; i += rows) {
      *((threadgroup ReadVector*)(&dst[i * ld])) = *((const device ReadVector*)(&src[i * src_ld]));
    }
  }
  METAL_FUNC void load_safe(short2 dim) const {
    dim = dim - short2(bj, bi);
    if (dim.x <= 0 || dim.y <= 0) { UNROLL for (short j = 0; j < n_reads; j++) dst[j] = T(0); return; }
    bool valid[n_reads]; T vals[n_reads];
    UNROLL for (short j = 0; j < n_reads; j++) valid[j] = (j < dim.x);
    UNROLL for (short j = 0; j < n_reads; j++) vals[j] = src[(valid[j] ? j : 0)];
    UNROLL for (short j = 0; j < n_reads; j++) dst[j] = valid[j] ? vals[j] : T(0);
  }
  METAL_FUNC void next() { src += BC; }
};
template <typename O, typename I> struct None { static METAL_FUNC O apply(I x) { return static_cast<O>(x); } };
template <typename O, typename I> struct Axpby { const float alpha; const float beta; METAL_FUNC Axpby(const float a, const float b) : alpha(a), beta(b) {} METAL_FUNC O apply(I x, O c) const { return static_cast<O>(x * alpha + (beta * c)); } };
template <typename T> struct Frag {
  typedef metal::simdgroup_matrix<T, 8, 8> mat_type;
  typedef metal::vec<T, 2> frag_type;
  METAL_FUNC static constexpr short2 coord(ushort lane [[thread_index_in_simdgroup]]) {
    const short qid = lane / 4; const short fm = (qid & 4) + ((lane / 2) % 4); const short fn = (qid & 2) * 2 + (lane % 2) * 2; return short2{fn, fm};
  }
  template <typename P, typename SX, typename SY>
  METAL_FUNC static constexpr void load(thread frag_type& dst, P src, SX sx, SY sy) {
    UNROLL for (short i = 0; i < 1; i++) { UNROLL for (short j = 0; j < 2; j++) { dst[i * 2 + j] = static_cast<T>(src[i * sx.value + j * sy.value]); } }
  }
  template <typename A, typename B, typename D, typename C>
  METAL_FUNC static constexpr void mma(thread frag_type& D_, thread metal::vec<A,2>& A_, thread metal::vec<B,2>& B_, thread frag_type& C_) {
    mat_type Dm; metal::simdgroup_matrix<A,8,8> Am; metal::simdgroup_matrix<B,8,8> Bm; mat_type Cm;
    reinterpret_cast<thread metal::vec<A,2>&>(Am.thread_elements()) = A_;
    reinterpret_cast<thread metal::vec<B,2>&>(Bm.thread_elements()) = B_;
    reinterpret_cast<thread frag_type&>(Cm.thread_elements()) = C_;
    simdgroup_multiply_accumulate(Dm, Am, Bm, Cm);
    D_ = reinterpret_cast<thread frag_type&>(Dm.thread_elements());
  }
};
template <typename T, int R, int C, class F = Frag<T>> struct Tile {
  typename F::frag_type frags[R * C] = {typename F::frag_type(0)};
  METAL_FUNC Tile() thread {}
  METAL_FUNC constexpr void clear() { UNROLL for (short i = 0; i < R * C; ++i) frags[i] = typename F::frag_type(0); }
  METAL_FUNC constexpr thread typename F::frag_type& at(const short i, const short j) { return frags[i * C + j]; }
  METAL_FUNC constexpr const thread typename F::frag_type& at(const short i, const short j) const { return frags[i * C + j]; }
  METAL_FUNC thread T* elems() { return reinterpret_cast<thread T*>(frags); }
  template <typename U> METAL_FUNC void store(device U* dst, const int ld) const {
    UNROLL for (short i = 0; i < R; ++i) for (short j = 0; j < C; ++j) { thread const auto& f = at(i, j); dst[i * ld + j * 2] = static_cast<U>(f[0]); dst[i * ld + j * 2 + 1] = static_cast<U>(f.y); }
  }
};
}
using namespace steel;
template <typename T, int BM, int BN, bool ta>
[[kernel, max_total_threads_per_threadgroup(64)]] void gemm(
    const device T* A [[buffer(0)]], const device T* B [[buffer(1)]],
    const device T* C [[buffer(2), function_constant(use_axpby)]], device T* D [[buffer(3)]],
    const constant Params* params [[buffer(4)]], const constant int* batch_shape [[buffer(6), function_constant(has_batch)]],
    const constant int64_t* strides [[buffer(7)]],
    uint simd_lane_id [[thread_index_in_simdgroup]], uint simd_group_id [[simdgroup_index_in_threadgroup]],
    uint3 tid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
  (void)lid;
  if (params->N <= static_cast<int>(tid.x)) { return; }
  if (has_batch) { const constant auto* bs = strides + 1; ulong2 off = ulong2(elem_to_loc(tid.z, batch_shape, strides, 2), elem_to_loc(tid.z, batch_shape, bs, 2)); A += off.x; B += off.y; } else { A += params->batch_stride * tid.z; }
  threadgroup T As[BM * (BN + 16 / sizeof(T))];
  threadgroup T Bs[ta ? BM : BN * 2];
  Loader<T, BM, BN, BN + 16 / sizeof(T), 64> la(A, params->K, As, simd_group_id, simd_lane_id);
  Tile<float, 2, 2> acc, t2;
  acc.clear();
  for (int k = 0; k < params->K; k += BN) {
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (both) la.load_unsafe(); else la.load_safe(short2(BN, BM));
    threadgroup_barrier(mem_flags::mem_threadgroup);
    vec<T, 2> a, b; Frag<T>::load(a, As, Int<1>{}, Int<1>{}); Frag<T>::load(b, (const threadgroup T*)Bs, Int<1>{}, Int<1>{});
    Frag<float>::template mma<T, T, float, float>(acc.at(0, 0), a, b, acc.at(0, 0));
    la.next();
  }
  pointer_element_t<thread float*> q = 1.0; q *= 2;
  const auto lam = [&](int i) { return acc.elems()[i] * q; };
  if (use_axpby) { Axpby<float, float> op(1.0f, 2.0f); acc.elems()[0] = op.apply(lam(1), (float)C[0]); }
  for (int e = 0; e < elems_; e++) acc.elems()[e & 3] += 1;
  acc.store(D + simd_lane_id * 2, params->N);
}
#define inst(tname, type, bm, bn) template [[host_name("gemm_" #tname "_bm" #bm "_bn" #bn)]] [[kernel]] decltype(gemm<type, bm, bn, false>) gemm<type, bm, bn, false>;
inst(f32, float, 32, 16) inst(f16, half, 32, 16) inst(bf16, bfloat16_t, 32, 16)
template <typename T, typename U, typename Op, int N = 4>
[[kernel]] void reduce_rows(const device T* in [[buffer(0)]], device U* out [[buffer(1)]], const constant int64_t& n [[buffer(2)]],
   uint lsize [[threads_per_threadgroup]], uint lid [[thread_position_in_threadgroup]], uint gid [[threadgroup_position_in_grid]],
   uint sg [[simdgroup_index_in_threadgroup]], uint sl [[thread_index_in_simdgroup]], uint sgs [[simdgroups_per_threadgroup]]) {
  Op op; threadgroup U shared_vals[32]; U total = Op::init; 
  for (uint i = lid; i < n; i += lsize) total = op(total, static_cast<U>(in[gid * n + i]));
  total = simd_sum(total);
  if (sl == 0) shared_vals[sg] = total;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  total = sl < sgs ? shared_vals[sl] : Op::init;
  total = op.simd_reduce(total);
  if (lid == 0) out[gid] = total;
}
struct Sum { METAL_FUNC float simd_reduce(float v) { return simd_sum(v); } static constexpr constant float init = 0; template <typename T> T operator()(T a, T b) { return a + b; } };
instantiate_kernel("reduce_f32", reduce_rows, float, float, Sum)
template <typename T> struct Cum { static constexpr constant T init = Limits<T>::min; T operator()(T a, T b) thread const { return a > b ? a : b; } };
enum class Mode : uint8_t { a = 1, b };
union Conv { float f; uint u; uchar4 c; };
kernel void misc(device float* o [[buffer(0)]], constant float (&w)[4] [[buffer(1)]], device atomic_uint* cnt [[buffer(2)]], const device uint32_t* packed [[buffer(3)]], uint i [[thread_position_in_grid]]) {
  Conv c; c.u = packed[i]; o[i] = c.f + w[1] + (Mode::a == Mode::b) + float(c.c.z);
  const device uint8_t* bytes = (const device uint8_t*)packed; const device uint16_t* ws = (const device uint16_t*)bytes;
  o[i] += bytes[i] * ws[1] / 16.0f; half4 h4 = *(device half4*)(packed + 2); float4 f4 = float4(h4); o[1] = dot(f4, f4.wzyx);
  atomic_fetch_add_explicit(&cnt[0], 1, memory_order_relaxed);
  float2 cs = float2(cos(f4.x), sin(f4.y)); float s1; s1 = sincos(f4.x, cs.y); o[2] = select(s1, cs.x, i > 2u) + fma(s1, s1, cs.y) + as_type<float>(0x3f800000u);
  o[3] = metal::precise::exp(f4.x) + fast::log(f4.y) + M_PI_F + INFINITY + (isnan(f4.z) ? NAN : 1) + numeric_limits<half>::max() + popcount(7u) + clamp(f4.x, 0.0f, 1.0f) + simd_shuffle_xor(f4.x, 1) + ulong(1ul << 40) % 3;
  uint3 u3 = uint3(1, 2, 3); int2 i2 = int2(u3.xy); i2 += 2; o[4] = any(i2 > int2(1)) ? length(float2(i2)) : distance(float3(u3), float3(1.0));
  array<float, 3> arr = {1, 2, 3}; o[5] = arr[i % 3]; float3x3 m = float3x3(1.0); o[6] = (m * float3(1, 2, 3)).y; packed_float3 pf = packed_float3(1, 2, 3); o[7] = pf.x + float3(pf).z;
  complex64_t z = {1, 2}; z = z * complex64_t(0, 1); o[8] = z.real; bfloat16_t bb = bfloat16_t(1.5f); bb += 1; o[9] = bb; half hh = 1; hh = exp(hh); o[10] = hh; 
  o[11] = min(i, 3u) + max(0, int(i) - 1) + max(f4.x, 0) + pow(f4.x, 2) + abs(-3) + rsqrt(2) + ceildiv(7, 2);
  simd_vote v = simd_ballot(i > 3); o[12] = static_cast<simd_vote::vote_t>(v) & 1;
}
