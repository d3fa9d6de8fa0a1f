"""Attention kernels: decoding, flash attention, sparse and windowed variants, rotary embeddings."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one, to_numpy


def attention(q, k, v, scale, mask=None):
    scores = np.einsum("hqd,hkd->hqk", q.astype(np.float64), k) * scale
    if mask is not None:
        scores = np.where(mask, scores, -np.inf)
    p = np.exp(scores - scores.max(-1, keepdims=True))
    return np.einsum("hqk,hkd->hqd", p / p.sum(-1, keepdims=True), v)


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
def test_decode_one_query(rng, dtype):
    """A threadgroup per head; SIMD-groups process parts of the keys, which are then merged."""
    source = """
        constexpr int PER_LANE = D / 32;
        threadgroup float outputs[SIMDS * D];
        threadgroup float tops[SIMDS];
        threadgroup float sums[SIMDS];
        uint head = threadgroup_position_in_grid.x;
        uint simd = simdgroup_index_in_threadgroup;
        uint lane = thread_index_in_simdgroup;
        int L = k_shape[1];
        thread float query[PER_LANE];
        thread float o[PER_LANE] = {0};
        queries += head * D + lane * PER_LANE;
        k += (head / REPEATS) * L * D + simd * D + lane * PER_LANE;
        v += (head / REPEATS) * L * D + simd * D + lane * PER_LANE;
        for (int j = 0; j < PER_LANE; j++) query[j] = static_cast<float>(scale) * queries[j];
        float top = -INFINITY, sum = 0;
        for (int i = simd; i < L; i += SIMDS) {
            float score = 0;
            for (int j = 0; j < PER_LANE; j++) score += query[j] * k[j];
            score = simd_sum(score);
            float next = max(top, score);
            float factor = fast::exp(top - next), weight = fast::exp(score - next);
            top = next;
            sum = sum * factor + weight;
            for (int j = 0; j < PER_LANE; j++) o[j] = o[j] * factor + weight * v[j];
            k += SIMDS * D;
            v += SIMDS * D;
        }
        if (lane == 0) { tops[simd] = top; sums[simd] = sum; }
        for (int j = 0; j < PER_LANE; j++) outputs[simd * D + lane * PER_LANE + j] = o[j];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float all = simd_max(lane < SIMDS ? tops[lane] : -INFINITY);
        float total = simd_sum(lane < SIMDS ? sums[lane] * fast::exp(tops[lane] - all) : 0);
        for (int d = thread_position_in_threadgroup.x; d < D; d += SIMDS * 32) {
            float r = 0;
            for (int s = 0; s < SIMDS; s++) r += outputs[s * D + d] * fast::exp(tops[s] - all);
            out[head * D + d] = static_cast<T>(r / total);
        }
    """
    heads, kv_heads, length, dim = 4, 2, 77, 64
    q, k, v = (
        mx.array(rng.standard_normal(s)).astype(dtype)
        for s in ((heads, 1, dim), (kv_heads, length, dim), (kv_heads, length, dim))
    )
    got = run_one(
        source,
        {"queries": q, "k": k, "v": v, "scale": dim**-0.5},
        {"out": ((heads, 1, dim), dtype)},
        heads * 8 * 32,
        8 * 32,
        template=[("T", dtype), ("D", dim), ("SIMDS", 8), ("REPEATS", 2)],
    )
    qf, kf, vf = (to_numpy(a).astype(np.float64) for a in (q, k, v))
    want = attention(qf, np.repeat(kf, 2, 0), np.repeat(vf, 2, 0), dim**-0.5)
    tolerance = {mx.float32: 1e-4, mx.float16: 3e-3, mx.bfloat16: 2e-2}[dtype]
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance)


FLASH = """
    constexpr int BQ = 8, BK = 8;
    using frag = simdgroup_matrix<float, 8, 8>;
    threadgroup float scores[BQ * BK];
    threadgroup float rescale[BQ];
    threadgroup float o_tile[BQ * D];
    uint lane = thread_index_in_simdgroup;
    uint block = threadgroup_position_in_grid.x, head = threadgroup_position_in_grid.y;
    q += (head * L + block * BQ) * D;
    k += head * L * D;
    v += head * L * D;
    out += (head * L + block * BQ) * D;
    float top = -INFINITY, sum = 0;  // of row lane / 4
    uint row = lane / 4, part = lane % 4;
    for (uint i = lane; i < BQ * D; i += 32) o_tile[i] = 0;
    int blocks = CAUSAL ? block + 1 : L / BK;
    for (int b = 0; b < blocks; ++b) {
        frag s = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        for (int d = 0; d < D; d += 8) {
            frag qf, kf;
            simdgroup_load(qf, q + d, D);
            simdgroup_load(kf, k + b * BK * D + d, D, ulong2(0, 0), true);
            simdgroup_multiply_accumulate(s, qf, kf, s);
        }
        simdgroup_store(s, scores, BK);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        float a = scores[row * BK + part * 2] * scale, c = scores[row * BK + part * 2 + 1] * scale;
        if (CAUSAL && uint(b) == block) {
            a = part * 2 <= row ? a : -INFINITY;
            c = part * 2 + 1 <= row ? c : -INFINITY;
        }
        float next = max(a, c);
        next = max(next, simd_shuffle_xor(next, 1));
        next = max(next, simd_shuffle_xor(next, 2));
        next = max(top, next);
        a = exp(a - next);
        c = exp(c - next);
        float part_sum = a + c;
        part_sum += simd_shuffle_xor(part_sum, 1);
        part_sum += simd_shuffle_xor(part_sum, 2);
        float factor = exp(top - next);
        sum = sum * factor + part_sum;
        top = next;
        scores[row * BK + part * 2] = a;
        scores[row * BK + part * 2 + 1] = c;
        if (part == 0) rescale[row] = factor;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        frag p, diagonal = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);
        simdgroup_load(p, scores, BK);
        uint fr = ((lane / 4) & 4) + (lane / 2) % 4, fc = ((lane / 4) & 2) * 2 + (lane % 2) * 2;
        diagonal.thread_elements()[0] = fr == fc ? rescale[fr] : 0;
        diagonal.thread_elements()[1] = fr == fc + 1 ? rescale[fr] : 0;
        for (int d = 0; d < D; d += 8) {
            frag o, scaled, vf;
            simdgroup_load(o, o_tile + d, D);
            simdgroup_load(vf, v + b * BK * D + d, D);
            simdgroup_multiply(scaled, diagonal, o);
            simdgroup_multiply_accumulate(o, p, vf, scaled);
            simdgroup_store(o, o_tile + d, D);
        }
        simdgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (int d = part; d < D; d += 4) out[row * D + d] = o_tile[row * D + d] / sum;
"""


@pytest.mark.parametrize("causal", [False, True])
def test_flash_attention_on_matrices(rng, causal):
    heads, length, dim = 2, 40, 32
    q, k, v = rng.standard_normal((3, heads, length, dim)).astype(np.float32)
    got = run_one(
        FLASH,
        {"q": q, "k": k, "v": v, "scale": dim**-0.5, "L": length},
        {"out": (q.shape, mx.float32)},
        (length // 8 * 32, heads, 1),
        32,
        template=[("D", dim), ("CAUSAL", causal)],
    )
    mask = np.tril(np.ones((length, length), bool)) if causal else None
    np.testing.assert_allclose(got, attention(q, k, v, dim**-0.5, mask), rtol=1e-3, atol=1e-4)


def test_sliding_window_one_thread_a_query(rng):
    source = """
        uint query = thread_position_in_grid.x, head = thread_position_in_grid.y;
        const device float* qp = q + (head * L + query) * D;
        float o[D] = {};
        float top = -1e30, sum = 0;
        int first = max(0, int(query) - WINDOW + 1);
        for (int j = first; j <= int(query); ++j) {
            float s = 0;
            for (int d = 0; d < D; ++d) s += qp[d] * k[(head * L + j) * D + d];
            s *= rsqrt(float(D));
            float next = max(top, s), f = exp(top - next), w = exp(s - next);
            sum = sum * f + w;
            for (int d = 0; d < D; ++d) o[d] = o[d] * f + w * v[(head * L + j) * D + d];
            top = next;
        }
        for (int d = 0; d < D; ++d) out[(head * L + query) * D + d] = o[d] / sum;
        lse[head * L + query] = top + log(sum);
    """
    q, k, v = rng.standard_normal((3, 3, 50, 16)).astype(np.float32)
    got, lse = run_kernel(
        source,
        {"q": q, "k": k, "v": v, "L": 50},
        {"out": (q.shape, mx.float32), "lse": ((3, 50), mx.float32)},
        (50, 3, 1),
        (16, 2, 1),
        template=[("D", 16), ("WINDOW", 7)],
    )
    i, j = np.arange(50)[:, None], np.arange(50)[None]
    mask = (j <= i) & (j > i - 7)
    np.testing.assert_allclose(got, attention(q, k, v, 0.25, mask), rtol=1e-3, atol=1e-5)
    scores = np.where(mask, np.einsum("hqd,hkd->hqk", q, k) * 0.25, -np.inf).astype(np.float64)
    np.testing.assert_allclose(lse, np.log(np.exp(scores).sum(-1)), rtol=1e-4, atol=1e-4)


def test_selected_blocks_of_keys(rng):
    """Paged keys: a table of blocks for each sequence, with lengths of their own."""
    source = """
        threadgroup float scores[256];
        uint sequence = threadgroup_position_in_grid.x;
        uint t = thread_position_in_threadgroup.x;
        int length = lengths[sequence];
        for (int i = t; i < length; i += 64) {
            int page = table[sequence * PAGES + i / PAGE];
            const device half* kp = k + (page * PAGE + i % PAGE) * D;
            float s = 0;
            for (int d = 0; d < D; d += 4) {
                s += dot(float4(*(const device half4*)(kp + d)), float4(*(const device half4*)(q
                    + sequence * D + d)));
            }
            scores[i] = s;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float top = -INFINITY, sum = 0;
        for (int i = 0; i < length; ++i) top = max(top, scores[i]);
        for (int i = 0; i < length; ++i) sum += exp(scores[i] - top);
        if (t < D) {
            float r = 0;
            for (int i = 0; i < length; ++i) {
                int page = table[sequence * PAGES + i / PAGE];
                r += exp(scores[i] - top) * v[(page * PAGE + i % PAGE) * D + t];
            }
            out[sequence * D + t] = r / sum;
        }
    """
    pages, page, dim, lengths = 20, 16, 32, np.array([5, 64, 33], np.int32)
    k, v = (rng.standard_normal((2, pages, page, dim)) * 0.5).astype(np.float16)
    q = (rng.standard_normal((3, dim)) * 0.5).astype(np.float16)
    table = rng.permutation(pages)[:12].reshape(3, 4).astype(np.int32)
    got = run_one(
        source,
        {"q": q, "k": k, "v": v, "table": table, "lengths": lengths},
        {"out": ((3, dim), mx.float32)},
        3 * 64,
        64,
        template=[("D", dim), ("PAGE", page), ("PAGES", 4)],
    )
    for s in range(3):
        ks, vs = (a[table[s]].reshape(-1, dim)[: lengths[s]].astype(np.float64) for a in (k, v))
        want = attention(q[s][None, None].astype(np.float64), ks[None], vs[None], 1.0)[0, 0]
        np.testing.assert_allclose(got[s], want, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("traditional", [False, True])
def test_rope(rng, traditional):
    source = """
        uint3 p = thread_position_in_grid;  // pair, position, head
        float theta = (p.y + offset) * pow(base, -float(p.x) / (D / 2));
        float c = metal::fast::cos(theta), s = metal::fast::sin(theta);
        uint start = (p.z * threads_per_grid.y + p.y) * D;
        uint first = start + (TRADITIONAL ? 2 * p.x : p.x);
        uint second = TRADITIONAL ? first + 1 : first + D / 2;
        float a = x[first], b = x[second];
        out[first] = static_cast<T>(a * c - b * s);
        out[second] = static_cast<T>(a * s + b * c);
    """
    x = rng.standard_normal((3, 11, 16)).astype(np.float32)
    got = run_one(
        source,
        {"x": x, "offset": 4, "base": 10000.0},
        {"out": (x.shape, mx.float32)},
        (8, 11, 3),
        (4, 4, 1),
        template=[("T", mx.float32), ("D", 16), ("TRADITIONAL", traditional)],
    )
    theta = (np.arange(11) + 4)[:, None] * 10000.0 ** (-np.arange(8) / 8)
    a, b = (x[..., ::2], x[..., 1::2]) if traditional else (x[..., :8], x[..., 8:])
    ra, rb = a * np.cos(theta) - b * np.sin(theta), a * np.sin(theta) + b * np.cos(theta)
    want = np.stack([ra, rb], -1).reshape(x.shape) if traditional else np.concatenate([ra, rb], -1)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_gradient_of_scores(rng):
    """dq, dk and dv of one block, with atomics where several threads add to one element."""
    source = """
        uint i = thread_position_in_grid.x;
        float delta = 0;
        for (int d = 0; d < D; ++d) delta += dout[i * D + d] * o[i * D + d];
        for (int j = 0; j < L; ++j) {
            float s = 0, dp = 0;
            for (int d = 0; d < D; ++d) { s += q[i * D + d] * k[j * D + d];
            dp += dout[i * D + d] * v[j * D + d]; }
            float p = exp(s - lse[i]), ds = p * (dp - delta);
            for (int d = 0; d < D; ++d) {
                atomic_fetch_add_explicit(&dq[i * D + d], ds * k[j * D + d], memory_order_relaxed);
                atomic_fetch_add_explicit(&dk[j * D + d], ds * q[i * D + d], memory_order_relaxed);
                atomic_fetch_add_explicit(&dv[j * D + d], p * dout[i * D + d],
                    memory_order_relaxed);
            }
        }
    """
    q, k, v, dout = (rng.standard_normal((4, 24, 8)) * 0.5).astype(np.float32)
    s = q.astype(np.float64) @ k.T
    lse = np.log(np.exp(s).sum(1))
    p = np.exp(s - lse[:, None])
    o = p @ v
    results = run_kernel(
        source,
        {"q": q, "k": k, "v": v, "o": o.astype(np.float32), "lse": lse.astype(np.float32),
         "dout": dout, "L": 24},
        {n: ((24, 8), mx.float32) for n in ("dq", "dk", "dv")},
        24,
        8,
        atomic_outputs=True,
        init_value=0,
        template=[("D", 8)],
    )  # fmt: skip
    ds = p * (dout @ v.T - (dout * o).sum(1, keepdims=True))
    for got, want in zip(results, (ds @ k, ds.T @ q, p.T @ dout)):
        np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)
