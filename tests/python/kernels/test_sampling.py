"""Random numbers and sampling inside kernels."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one

F32 = mx.float32

RANDOM = """
    METAL_FUNC uint pcg(uint v) {
      uint state = v * 747796405u + 2891336453u;
      uint word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
      return (word >> 22u) ^ word;
    }
    METAL_FUNC float uniform01(uint v) { return float(pcg(v) >> 8) * 0x1p-24f; }
"""


def pcg(v: np.ndarray) -> np.ndarray:
    with np.errstate(over="ignore"):
        state = v.astype(np.uint32) * np.uint32(747796405) + np.uint32(2891336453)
        word = ((state >> ((state >> np.uint32(28)) + np.uint32(4))) ^ state) * np.uint32(277803737)
        return (word >> np.uint32(22)) ^ word


def uniform01(v: np.ndarray) -> np.ndarray:
    return (pcg(v) >> np.uint32(8)).astype(np.float32) * np.float32(2**-24)


def test_generator():
    got = run_one(
        "out[thread_position_in_grid.x] = pcg(thread_position_in_grid.x + seed);",
        {"seed": 77},
        {"out": ((1000,), mx.uint32)},
        1000,
        header=RANDOM,
    )
    np.testing.assert_array_equal(got, pcg(np.arange(1000) + 77))


def test_philox(rng):
    """Wide products by mulhi."""
    source = """
        uint4 c = uint4(thread_position_in_grid.x, 0, 0, 0);
        uint2 k = uint2(key[0], key[1]);
        for (int round = 0; round < 10; ++round) {
            uint h0 = mulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x;
            uint h1 = mulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
            c = uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
            k += uint2(0x9E3779B9u, 0xBB67AE85u);
        }
        *(device uint4*)(out + 4 * thread_position_in_grid.x) = c;
    """
    key = rng.integers(0, 2**32, 2, dtype=np.uint32)
    got = run_one(source, {"key": key}, {"out": ((50, 4), mx.uint32)}, 50)
    mask = 2**32 - 1
    for i in range(50):
        c, k = [i, 0, 0, 0], [int(v) for v in key]
        for _ in range(10):
            p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
            c = [(p1 >> 32) ^ c[1] ^ k[0], p1 & mask, (p0 >> 32) ^ c[3] ^ k[1], p0 & mask]
            k = [(k[0] + 0x9E3779B9) & mask, (k[1] + 0xBB67AE85) & mask]
        assert got[i].tolist() == c


def test_dropout(rng):
    source = """
        uint i = thread_position_in_grid.x;
        bool kept = uniform01(i ^ seed) >= p;
        out[i] = kept ? x[i] / (1 - p) : T(0);
        mask[i] = kept;
    """
    x = rng.standard_normal(2000).astype(np.float32)
    got, mask = run_kernel(
        source,
        {"x": x, "p": 0.3, "seed": 12345},
        {"out": ((2000,), F32), "mask": ((2000,), mx.bool_)},
        2000,
        header=RANDOM,
        template=[("T", F32)],
    )
    kept = uniform01(np.arange(2000) ^ 12345) >= np.float32(0.3)
    np.testing.assert_array_equal(mask, kept)
    np.testing.assert_allclose(got, np.where(kept, x / np.float32(0.7), 0), rtol=1e-5)


def test_gumbel_maximum(rng):
    source = """
        threadgroup float best[32];
        threadgroup uint where[32];
        uint row = threadgroup_position_in_grid.x, t = thread_position_in_threadgroup.x;
        float top = -INFINITY;
        uint index = 0;
        for (uint i = t; i < V; i += threads_per_threadgroup.x) {
            float u = max(uniform01(row * V + i), 1e-7f);
            float v = logits[row * V + i] / temperature - log(-log(u));
            if (v > top) { top = v; index = i; }
        }
        float all = simd_max(top);
        uint winner = simd_min(top == all ? index : V);
        if (thread_index_in_simdgroup == 0) {
            best[simdgroup_index_in_threadgroup] = all;
            where[simdgroup_index_in_threadgroup] = winner;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t == 0) {
            for (uint s = 1; s < simdgroups_per_threadgroup; ++s)
                if (best[s] > best[0]) { best[0] = best[s]; where[0] = where[s]; }
            token[row] = where[0];
        }
    """
    logits = rng.standard_normal((20, 150)).astype(np.float32)
    got = run_one(
        source,
        {"logits": logits, "temperature": 0.7},
        {"token": ((20,), mx.uint32)},
        20 * 64,
        64,
        header=RANDOM,
        template=[("V", 150)],
    )
    u = np.maximum(uniform01(np.arange(3000)), 1e-7).reshape(20, 150).astype(np.float64)
    np.testing.assert_array_equal(got, (logits / 0.7 - np.log(-np.log(u))).argmax(1))


def test_inverse_of_the_running_sum(rng):
    """The token at which a scan of probabilities passes a random number."""
    source = """
        uint row = threadgroup_position_in_grid.x, lane = thread_index_in_simdgroup;
        float target = u[row], before = 0;
        int found = -1;
        for (int first = 0; first < V && found < 0; first += 32) {
            int i = first + lane;
            float p = i < V ? probs[row * V + i] : 0;
            float sum = before + simd_prefix_inclusive_sum(p);
            uint votes = uint(static_cast<simd_vote::vote_t>(simd_ballot(sum > target)));
            if (votes != 0) found = first + ctz(votes);
            before = simd_shuffle(sum, 31);
        }
        if (lane == 0) token[row] = found < 0 ? V - 1 : found;
    """
    probs = rng.dirichlet(np.ones(100), 30).astype(np.float32)
    u = rng.uniform(0, 0.999, 30).astype(np.float32)
    got = run_one(
        source, {"probs": probs, "u": u, "V": 100}, {"token": ((30,), mx.int32)}, 30 * 32, 32
    )
    running = probs.astype(np.float64).cumsum(1)
    for row in range(30):
        low = running[row, got[row] - 1] if got[row] else 0
        assert low - 1e-5 <= u[row] <= running[row, got[row]] + 1e-5


@pytest.mark.parametrize("threshold", [0.2, 0.9])
def test_nucleus(rng, threshold):
    """The smallest set of tokens whose probability reaches the threshold, by bisection."""
    source = """
        uint row = threadgroup_position_in_grid.x, lane = thread_index_in_simdgroup;
        const device float* p = probs + row * V;
        float low = 0, high = 1;
        for (int step = 0; step < 30; ++step) {
            float mid = 0.5 * (low + high), sum = 0;
            for (int i = lane; i < V; i += 32) sum += p[i] >= mid ? p[i] : 0;
            if (simd_sum(sum) >= threshold) low = mid; else high = mid;
        }
        for (int i = lane; i < V; i += 32) keep[row * V + i] = p[i] >= low;
    """
    probs = rng.dirichlet(np.ones(64) * 0.3, 8).astype(np.float32)
    got = run_one(
        source,
        {"probs": probs, "V": 64, "threshold": threshold},
        {"keep": ((8, 64), mx.bool_)},
        8 * 32,
        32,
    )
    for row in range(8):
        ordered = np.sort(probs[row].astype(np.float64))[::-1]
        count = np.searchsorted(ordered.cumsum(), threshold) + 1
        np.testing.assert_array_equal(got[row], probs[row] >= ordered[count - 1] * (1 - 1e-7))


def test_walk_of_many_particles():
    """A pi estimate: every thread its own stream of numbers, one atomic a SIMD-group."""
    source = """
        uint state = thread_position_in_grid.x * 9781u;
        int hits = 0;
        for (int i = 0; i < 100; ++i) {
            state = pcg(state);
            float x = float(state >> 16) / 65536.0f, y = float(state & 0xffff) / 65536.0f;
            hits += x * x + y * y < 1;
        }
        hits = simd_sum(hits);
        if (simd_is_first()) atomic_fetch_add_explicit(&total[0], hits, memory_order_relaxed);
    """
    (total,) = run_kernel(
        source,
        {},
        {"total": ((1,), mx.int32)},
        1000,
        128,
        header=RANDOM,
        atomic_outputs=True,
        init_value=0,
    )
    assert abs(total[0] * 4 / 100000 - np.pi) < 0.05
