"""Matrix products and attention written with the classes of MLX's kernel headers: `steel/gemm`, `steel/attn`."""

import struct
from itertools import product
from math import erf

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one, share, to_numpy

FLOATS = {"float": mx.float32, "half": mx.float16, "bfloat16_t": mx.bfloat16}
TOLERANCE = {"float": 1e-4, "half": 5e-3, "bfloat16_t": 3e-2}
KERNELS = "mlx/backend/metal/kernels/"
GEMM = f'#include "{KERNELS}utils.h"\n#include "{KERNELS}steel/gemm/gemm.h"\n'
ATTENTION = f'#include "{KERNELS}utils.h"\n' + "".join(
    f'#include "{KERNELS}steel/attn/{name}.h"\n'
    for name in ("params", "loader", "mma", "transforms")
)


def array(rng: np.random.Generator, name: str, *shape: int) -> tuple[mx.array, np.ndarray]:
    """Random numbers, and the same in higher precision."""
    made = mx.array(rng.standard_normal(shape).astype(np.float32)).astype(FLOATS[name])
    return made, to_numpy(made).astype(np.float64)


def close(got: np.ndarray, want: np.ndarray, name: str) -> None:
    tolerance = TOLERANCE[name]
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * np.abs(want).max())


def up(size: int, block: int) -> int:
    return -(-size // block)


# ---- products ----

WHOLE = """
    using namespace mlx::steel;
    template <typename T, int BM, int BN, int BK, int WM, int WN, bool ta, bool tb, bool MN_aligned,
              bool K_aligned>
    [[kernel, max_total_threads_per_threadgroup(WM * WN * 32)]] void product(
        const device T* A [[buffer(0)]], const device T* B [[buffer(1)]], device T* D [[buffer(2)]],
        const constant GEMMParams* params [[buffer(3)]],
        uint simd_lane_id [[thread_index_in_simdgroup]],
        uint simd_group_id [[simdgroup_index_in_threadgroup]],
        uint3 tid [[threadgroup_position_in_grid]], uint3 lid [[thread_position_in_threadgroup]]) {
      using gemm_kernel = GEMMKernel<T, T, BM, BN, BK, WM, WN, ta, tb, MN_aligned, K_aligned>;
      threadgroup T As[gemm_kernel::tgp_mem_size_a];
      threadgroup T Bs[gemm_kernel::tgp_mem_size_b];
      gemm_kernel::run(A, B, D, params, As, Bs, simd_lane_id, simd_group_id, tid, lid);
    }
"""
# Rows, columns and depth; rows, columns and depth of a block; SIMD-groups; see BlockSwizzle.
SIZES = [
    ((64, 64, 64), (32, 32, 16, 2, 2), 0),
    ((70, 45, 37), (64, 32, 32, 2, 2), 1),
    ((3, 129, 33), (32, 64, 16, 1, 2), 2),
    ((100, 64, 96), (16, 32, 8, 1, 1), 0),
    ((65, 50, 20), (64, 64, 16, 2, 2), 1),
]
# Two sizes for each type and each transposition.
PRODUCTS = [
    (name, ta, tb, *SIZES[(2 * i + j) % len(SIZES)])
    for i, (name, ta, tb) in enumerate(product(FLOATS, (False, True), (False, True)))
    for j in range(2)
]


@pytest.mark.parametrize(("name", "ta", "tb", "size", "blocks", "swizzle"), share(PRODUCTS))
def test_products(rng, name, ta, tb, size, blocks, swizzle):
    """A whole kernel, whose parameters come from the host."""
    m, n, k = size
    bm, bn, bk, wm, wn = blocks
    a, a64 = array(rng, name, *((k, m) if ta else (m, k)))
    b, b64 = array(rng, name, *((n, k) if tb else (k, n)))
    a64, b64 = a64.T if ta else a64, b64.T if tb else b64
    tiles_m, tiles_n = up(m, bm), up(n, bn)
    numbers = (m, n, k, m if ta else k, k if tb else n, n, tiles_n, tiles_m)
    params = struct.pack("8i3q3i4x", *numbers, 0, 0, 0, swizzle, k // bk, 1)
    aligned = (m % bm == 0 and n % bn == 0, k % bk == 0)
    arguments = ", ".join(str(x).lower() for x in (name, *blocks, ta, tb, *aligned))
    source = GEMM + WHOLE + f'\ninstantiate_kernel("chosen", product, {arguments})\n'
    kernel = mx.fast.metal_kernel(name="chosen", source=source)
    got = kernel(
        a,
        b,
        mx.full((m, n), 77, FLOATS[name]),
        mx.array(np.frombuffer(params, np.uint8)),
        grid=((tiles_n << swizzle) * 32, up(tiles_m, 1 << swizzle) * wn, wm),
        threadgroup=(32, wn, wm),
    )
    close(to_numpy(got), a64 @ b64, name)


# A product that a kernel's body makes from loaders and a block, with a bias and an activation.
FUSED = """
    using gemm = mlx::steel::GEMMKernel<T, T, 32, 32, 16, 2, 2, TA, TB, false, false>;
    threadgroup T As[gemm::tgp_mem_size_a];
    threadgroup T Bs[gemm::tgp_mem_size_b];
    const int M = D_shape[0], N = D_shape[1], K = A_shape[TA ? 0 : 1];
    const uint3 tid = threadgroup_position_in_grid;
    const int c_row = tid.y * 32, c_col = tid.x * 32;
    const int lda = TA ? M : K, ldb = TB ? K : N;
    thread typename gemm::loader_a_t loader_a(A + (TA ? c_row : c_row * lda), lda, As,
        simdgroup_index_in_threadgroup, thread_index_in_simdgroup);
    thread typename gemm::loader_b_t loader_b(B + (TB ? c_col * ldb : c_col), ldb, Bs,
        simdgroup_index_in_threadgroup, thread_index_in_simdgroup);
    thread typename gemm::mma_t mma_op(simdgroup_index_in_threadgroup, thread_index_in_simdgroup);
    const short rows = min(32, M - c_row), columns = min(32, N - c_col), last = K % 16;
    gemm::gemm_loop(As, Bs, K / 16, loader_a, loader_b, mma_op, rows, columns, last,
        mlx::steel::LoopAlignment<false, false, false>{});
    mlx::steel::TransformAxpby<float, float> axpby(alpha, beta);
    mma_op.apply_epilogue_safe(bias + c_col, 0, 1, short2(columns, rows), axpby);
    mma_op.apply_epilogue(Gelu());
    mma_op.store_result_safe(D + c_row * N + c_col, N, short2(columns, rows));
"""
GELU = f"""
    #include "{KERNELS}erf.h"
    struct Gelu {{
      float apply(float x) const {{ return x * (1 + erf(x * M_SQRT1_2_F)) / 2; }}
    }};
"""


@pytest.mark.parametrize("size", [(64, 32, 48), (45, 70, 41)])
@pytest.mark.parametrize(("ta", "tb"), [(False, False), (False, True), (True, False)])
@pytest.mark.parametrize("name", FLOATS)
def test_bias_and_activation(rng, name, ta, tb, size):
    m, n, k = size
    a, a64 = array(rng, name, *((k, m) if ta else (m, k)))
    b, b64 = array(rng, name, *((n, k) if tb else (k, n)))
    bias, bias64 = array(rng, name, n)
    got = run_one(
        FUSED.replace("D_shape[0]", str(m)).replace("D_shape[1]", str(n)),
        {"A": a, "B": b, "bias": bias, "alpha": 0.5, "beta": 2.0},
        {"D": ((m, n), FLOATS[name])},
        (up(n, 32) * 32, up(m, 32) * 2, 2),
        (32, 2, 2),
        header=GEMM + GELU,
        template=[("T", FLOATS[name]), ("TA", ta), ("TB", tb)],
    )
    x = (a64.T if ta else a64) @ (b64.T if tb else b64) / 2 + 2 * bias64
    close(got, x * (1 + np.vectorize(erf)(x / 2**0.5)) / 2, name)


# D = alpha A B + beta C, in all ways to combine results with an array.
ADDED = """
    using namespace mlx::steel;
    template <typename T, int way>
    void store(device T* D, const device T* C, const int N, short2 dims,
               const device T* A, const device T* B, threadgroup T* As, threadgroup T* Bs,
               uint group, uint lane) {
      using Epilogue = TransformAxpby<T, float>;
      using gemm = GEMMKernel<T, T, 32, 32, 16, 2, 1, false, true, true, true, float, Epilogue>;
      thread typename gemm::loader_a_t loader_a(A, 32, As, group, lane);
      thread typename gemm::loader_b_t loader_b(B, 32, Bs, group, lane);
      thread typename gemm::mma_t mma_op(group, lane);
      const short whole = 32, none = 0;
      gemm::gemm_loop(As, Bs, 2, loader_a, loader_b, mma_op, whole, whole, none,
                      LoopAlignment<true, true, true>{});
      const Epilogue op(2, -1);
      if (way == 0) mma_op.store_result(D, N, C, N, 1, op);
      if (way == 1) mma_op.store_result_safe(D, N, C, 0, 1, dims, op);
      if (way > 1) mma_op.apply_epilogue(op);
      thread auto& tile = mma_op.Ctile;
      device T* own = D + mma_op.sm * N + mma_op.sn;
      const short2 at(mma_op.sn, mma_op.sm);
      if (way == 2) tile.template store<T, 2, 1>(own, N);
      if (way == 3) tile.template store_safe<T, 2, 1>(own, N, dims - at);
      if (way == 4) tile.template store_slice<T, 2, 1>(own, N, short2(3, 5) - at, dims - at);
    }
"""


@pytest.mark.parametrize("way", range(5))
@pytest.mark.parametrize("name", FLOATS)
def test_ways_to_store(rng, name, way):
    a, a64 = array(rng, name, 32, 32)
    b, b64 = array(rng, name, 32, 32)
    c, c64 = array(rng, name, 32, 40)
    body = f"""
        threadgroup T As[32 * (16 + 16 / sizeof(T))], Bs[32 * (16 + 16 / sizeof(T))];
        store<T, {way}>(D, C, 40, short2(29, 17), A, B, As, Bs, simdgroup_index_in_threadgroup,
                        thread_index_in_simdgroup);
    """
    got = run_one(
        body,
        {"A": a, "B": b, "C": c},
        {"D": ((32, 40), FLOATS[name])},
        (32, 2, 1),
        (32, 2, 1),
        header=GEMM + ADDED,
        template=[("T", FLOATS[name])],
        init_value=55,
    )
    result = 2 * a64 @ b64.T
    stored = np.zeros((32, 40), bool)
    top, left = (5, 3) if way == 4 else (0, 0)
    bottom, right = (17, 29) if way in (1, 3, 4) else (32, 32)
    stored[top:bottom, left:right] = True
    if way == 0:
        result = result - c64[:, :32]
    if way == 1:
        result = result - c64[:1, :32]
    want = np.full((32, 40), 55.0)
    want[:, :32][stored[:, :32]] = result[stored[:, :32]]
    close(got, want, name)


# Each row of A is multiplied by a matrix that an index chooses; the rows are in order of it.
GATHERED = """
    using namespace mlx::steel;
    constexpr int BM = 16, BN = 32, BK = 16, kPad = 16 / sizeof(T);
    using loader_w_t = BlockLoader<T, BN, BK, BK + kPad, 1, 64>;
    using loader_x_t = BlockLoader<T, BM, BK, BK + kPad, 1, 64>;
    using mma_t = BlockMMA<T, T, BM, BN, BK, 1, 2, false, true, BK + kPad, BK + kPad>;
    threadgroup T Xs[BM * (BK + kPad)], Ws[BN * (BK + kPad)];
    const int M = x_shape[0], K = x_shape[1], N = w_shape[1];
    const int top = threadgroup_position_in_grid.y * BM, left = threadgroup_position_in_grid.x * BN;
    const short rows = min(BM, M - top), columns = min(BN, N - left);
    const uint group = simdgroup_index_in_threadgroup, lane = thread_index_in_simdgroup;
    for (short first = 0; first < rows;) {
        const int index = indices[top + first];
        short stop = first + 1;
        while (stop < rows && indices[top + stop] == index) ++stop;
        thread loader_x_t loader_x(x + top * K, K, Xs, group, lane);
        thread loader_w_t loader_w(w + index * N * K + left * K, K, Ws, group, lane);
        thread mma_t mma_op(group, lane);
        const short tail = K % BK;
        if (columns == BN && rows == BM) {
            gemm_loop_aligned(Xs, Ws, mma_op, loader_x, loader_w, K / BK);
        } else {
            gemm_loop_unaligned<false, false, true>(Xs, Ws, mma_op, loader_x, loader_w, K / BK, rows,
                                                    columns, BK);
        }
        if (tail) gemm_loop_finalize(Xs, Ws, mma_op, loader_x, loader_w, short2(tail, rows),
                                     short2(tail, columns));
        mma_op.store_result_slice(y + top * N + left, N, short2(0, first), short2(columns, stop));
        first = stop;
    }
"""


@pytest.mark.parametrize("size", [(32, 64, 32), (41, 40, 27)])
@pytest.mark.parametrize("name", FLOATS)
def test_gathered_matrices(rng, name, size):
    m, n, k = size
    x, x64 = array(rng, name, m, k)
    w, w64 = array(rng, name, 5, n, k)
    indices = np.sort(rng.integers(0, 5, m)).astype(np.int32)
    got = run_one(
        GATHERED,
        {"x": x, "w": w, "indices": indices},
        {"y": ((m, n), FLOATS[name])},
        (up(n, 32) * 32, up(m, 16) * 2, 1),
        (32, 2, 1),
        header=GEMM + f'#include "{KERNELS}quantized_utils.h"\n',
        template=[("T", FLOATS[name])],
    )
    close(got, np.einsum("mk,mnk->mn", x64, w64[indices]), name)


# ---- attention ----

# Four SIMD-groups have eight queries each; keys and values come in blocks.
BODY = """
    using namespace mlx::steel;
    constexpr int BQ = 32, BK = 16, kPad = 16 / sizeof(T), LDQ = D + kPad, LDK = BK + kPad,
                  LDV = D + kPad, TK = BK / 8, TD = D / 8;
    using QLoader = BlockLoaderT<T, BQ, D, LDQ, 1, 1, 128>;
    using KLoader = BlockLoaderT<T, BK, D, 1, LDK, 0, 128>;
    using VLoader = BlockLoaderT<T, BK, D, LDV, 1, 0, 128>;
    using Frag = BaseMMAFrag<float, 8, 8>;
    threadgroup T Qs[BQ * LDQ], KVs[BK * LDV > D * LDK ? BK * LDV : D * LDK];
    const int qL = q_shape[1], kL = k_shape[1], head = threadgroup_position_in_grid.y;
    const int top = threadgroup_position_in_grid.x * BQ;
    const uint group = simdgroup_index_in_threadgroup, lane = thread_index_in_simdgroup;
    QLoader loader_q(q + (head * qL + top) * D, D, Qs, group, lane);
    KLoader loader_k(k + head * kL * D, D, KVs, group, lane);
    VLoader loader_v(v + head * kL * D, D, KVs, group, lane);

    threadgroup_barrier(mem_flags::mem_threadgroup);
    const short rows = min(BQ, qL - top);
    if (rows < BQ) loader_q.load_safe(short2(D, rows)); else loader_q.load_unsafe();
    loader_q.apply_inplace_op(Scale<T>{T(scale)});

    const short2 at = Frag::get_coord(lane);
    const short tm = 8 * group;
    MMATile<float, 1, 1, Frag> Qtile;
    MMATile<float, 1, TK, Frag> Ktile, Stile;
    MMATile<float, 1, 1, Frag> Vtile;
    MMATile<float, 1, TD, Frag> Otile;
    Otile.clear();
    constexpr short kRows = decltype(Stile)::kRowsPerThread;
    float top_score[kRows], sum[kRows] = {0};
    for (short i = 0; i < kRows; ++i) top_score[i] = Limits<float>::finite_min;

    for (int block = 0; block < kL; block += BK) {
        const short keys = min(BK, kL - block);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (keys < BK) loader_k.load_safe(short2(D, keys)); else loader_k.load_unsafe();
        threadgroup_barrier(mem_flags::mem_threadgroup);
        Stile.clear();
        for (short d = 0; d < TD; ++d) {
            simdgroup_barrier(mem_flags::mem_none);
            Qtile.template load<T, 1, 1, LDQ, 1>(&Qs[(tm + at.y) * LDQ + at.x + d * 8]);
            Ktile.template load<T, 1, 1, LDK, 1>(&KVs[(d * 8 + at.y) * LDK + at.x]);
            tile_matmad(Stile, Qtile, Ktile, Stile);
        }
        for (short j = 0; j < TK; ++j) {
            for (short i = 0; i < 2; ++i) {
                const int key = block + j * 8 + at.x + i;
                if (key >= kL || (causal && key > top + tm + at.y + kL - qL))
                    Stile.frag_at(0, j)[i] = -INFINITY;
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (keys < BK) loader_v.load_safe(short2(D, keys)); else loader_v.load_unsafe();

        float best[kRows], factor[kRows], part[kRows] = {0};
        for (short i = 0; i < kRows; ++i) best[i] = top_score[i];
        Stile.template row_reduce<MaxOp>(best);
        Stile.template row_bin_op<ExpSubOp>(best);
        for (short i = 0; i < kRows; ++i) {
            factor[i] = fast::exp2(top_score[i] - best[i]);
            top_score[i] = best[i];
        }
        Stile.template row_reduce<SumOp>(part);
        for (short i = 0; i < kRows; ++i) sum[i] = sum[i] * factor[i] + part[i];
        Otile.template row_bin_op<MulOp>(factor);

        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (short d = 0; d < TD; ++d) {
            for (short j = 0; j < TK; ++j) {
                Vtile.template load<T, 1, 1, LDV, 1>(&KVs[(j * 8 + at.y) * LDV + d * 8 + at.x]);
                Frag::mma(Otile.frag_at(0, d), Stile.frag_at(0, j), Vtile.frag_at(0, 0),
                          Otile.frag_at(0, d));
            }
        }
        loader_k.next();
        loader_v.next();
    }
    Otile.template row_bin_op<DivOp>(sum);
    device T* o = out + (head * qL + top + tm + at.y) * D + at.x;
    if (rows < BQ) Otile.template store_safe<T, 1, 1>(o, D, short2(D - at.x, rows - tm - at.y));
    else Otile.template store<T, 1, 1>(o, D);
"""
OPERATIONS = """
    template <typename T> struct Scale { T by; T apply(T x) const { return x * by; } };
    struct MaxOp { template <typename T> static T apply(T x, T y) { return metal::max(x, y); } };
    struct SumOp { template <typename T> static T apply(T x, T y) { return x + y; } };
    struct MulOp { template <typename T> static T apply(T x, T y) { return x * y; } };
    struct DivOp { template <typename T> static T apply(T x, T y) { return x / y; } };
    struct ExpSubOp { template <typename T> static T apply(T x, T y) { return fast::exp2(x - y); } };
"""


@pytest.mark.parametrize("size", [(64, 64, 64), (45, 70, 32), (7, 33, 64)])
@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("name", FLOATS)
def test_attention(rng, name, causal, size):
    queries, keys, dim = size
    heads = 3
    q, q64 = array(rng, name, heads, queries, dim)
    k, k64 = array(rng, name, heads, keys, dim)
    v, v64 = array(rng, name, heads, keys, dim)
    scale = to_numpy(mx.array(dim**-0.5 * np.log2(np.e)).astype(FLOATS[name])).item()
    got = run_one(
        BODY,
        {"q": q, "k": k, "v": v, "scale": scale, "causal": causal},
        {"out": ((heads, queries, dim), FLOATS[name])},
        (up(queries, 32) * 32, heads * 4, 1),
        (32, 4, 1),
        header=ATTENTION + OPERATIONS,
        template=[("T", FLOATS[name]), ("D", dim)],
    )
    scores = np.einsum("hqd,hkd->hqk", q64, k64) * scale
    if causal:
        scores[:, ~np.tri(queries, keys, keys - queries, dtype=bool)] = -np.inf
    weights = np.exp2(scores - scores.max(-1, keepdims=True))
    want = np.einsum("hqk,hkd->hqd", weights / weights.sum(-1, keepdims=True), v64)
    close(got, want, name)
