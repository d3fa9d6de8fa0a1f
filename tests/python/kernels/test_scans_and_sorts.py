"""Scans, sorting, selection, compaction, histograms and segments."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one


@pytest.mark.parametrize("dtype", [mx.float32, mx.int32])
@pytest.mark.parametrize("size", [1, 31, 200, 1024])
def test_inclusive_scan_of_a_block(rng, dtype, size):
    source = """
        threadgroup T totals[32];
        uint i = thread_position_in_threadgroup.x;
        uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
        T sum = simd_prefix_inclusive_sum(x[i]);
        if (lane == 31) totals[simd] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (simd == 0) {
            T value = lane < simdgroups_per_threadgroup - 1 ? totals[lane] : T(0);
            totals[lane] = simd_prefix_exclusive_sum(value);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        out[i] = sum + totals[simd];
    """
    x = rng.integers(-50, 50, size)
    x = x.astype(np.float32 if dtype == mx.float32 else np.int32)
    got = run_one(source, {"x": x}, {"out": ((size,), dtype)}, size, 1024, template=[("T", dtype)])
    np.testing.assert_array_equal(got, x.cumsum())


def test_exclusive_scan_in_three_kernels(rng):
    sums_source = """
        uint i = thread_position_in_grid.x;
        int sum = simd_sum(x[i]);
        if (thread_index_in_simdgroup == 0) sums[i / 32] = sum;
    """
    carry_source = """
        int total = 0;
        for (int k = 0; k < sums_shape[0]; ++k) { carry[k] = total; total += sums[k]; }
    """
    scan_source = """
        uint i = thread_position_in_grid.x;
        out[i] = simd_prefix_exclusive_sum(x[i]) + carry[i / 32];
    """

    def kernel(source, inputs, outputs):
        return mx.fast.metal_kernel("scan", inputs, outputs, source)

    def call(k, inputs, shape, threads, group):
        return k(
            inputs=inputs,
            grid=(threads, 1, 1),
            threadgroup=(group, 1, 1),
            output_shapes=[shape],
            output_dtypes=[mx.int32],
        )[0]

    x = rng.integers(-9, 9, 1000).astype(np.int32)
    a = mx.array(x)
    sums = call(kernel(sums_source, ["x"], ["sums"]), [a], (32,), 1000, 128)
    carry = call(kernel(carry_source, ["sums"], ["carry"]), [sums], (32,), 1, 1)
    got = call(kernel(scan_source, ["x", "carry"], ["out"]), [a, carry], (1000,), 1000, 128)
    np.testing.assert_array_equal(np.array(got), x.cumsum() - x)


@pytest.mark.parametrize("size", [64, 1024])
def test_bitonic_sort(rng, size):
    source = """
        threadgroup float keys[N];
        threadgroup ushort order[N];
        uint i = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.x;
        keys[i] = x[row * N + i];
        order[i] = i;
        for (uint k = 2; k <= N; k <<= 1) {
            for (uint j = k >> 1; j > 0; j >>= 1) {
                threadgroup_barrier(mem_flags::mem_threadgroup);
                uint other = i ^ j;
                if (other > i) {
                    bool up = (i & k) == 0;
                    if ((keys[i] > keys[other]) == up) {
                        float key = keys[i]; keys[i] = keys[other]; keys[other] = key;
                        ushort o = order[i]; order[i] = order[other]; order[other] = o;
                    }
                }
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sorted[row * N + i] = keys[i];
        index[row * N + i] = order[i];
    """
    x = rng.standard_normal((3, size)).astype(np.float32)
    got, index = run_kernel(
        source,
        {"x": x},
        {"sorted": (x.shape, mx.float32), "index": (x.shape, mx.uint32)},
        3 * size,
        size,
        template=[("N", size)],
    )
    np.testing.assert_array_equal(got, np.sort(x, 1))
    np.testing.assert_array_equal(np.take_along_axis(x, index.astype(int), 1), got)


def test_bitonic_sort_in_a_simdgroup(rng):
    source = """
        float v = x[thread_position_in_grid.x];
        uint lane = thread_index_in_simdgroup;
        #pragma unroll
        for (ushort k = 2; k <= 32; k *= 2) {
            for (ushort j = k / 2; j > 0; j /= 2) {
                float other = simd_shuffle_xor(v, j);
                bool keep_small = ((lane & j) == 0) == ((lane & k) == 0);
                v = keep_small ? min(v, other) : max(v, other);
            }
        }
        out[thread_position_in_grid.x] = v;
    """
    x = rng.standard_normal((7, 32)).astype(np.float32)
    got = run_one(source, {"x": x}, {"out": (x.shape, mx.float32)}, x.size, 96)
    np.testing.assert_array_equal(got, np.sort(x, 1))


@pytest.mark.parametrize("columns", [20, 500])
def test_top_k_by_repeated_maximum(rng, columns):
    source = """
        threadgroup float best[8];
        threadgroup uint where[8];
        uint row = threadgroup_position_in_grid.x, t = thread_position_in_threadgroup.x;
        uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
        float last = INFINITY;
        uint last_index = 0;
        for (int k = 0; k < K; ++k) {
            float top = -INFINITY;
            uint index = 0xffffffffu;
            for (uint i = t; i < N; i += threads_per_threadgroup.x) {
                float v = x[row * N + i];
                bool later = v < last || (v == last && i > last_index);
                if (later && v > top) { top = v; index = i; }
            }
            float all = simd_max(top);
            uint first = simd_min(top == all ? index : 0xffffffffu);
            if (lane == 0) { best[simd] = all; where[simd] = first; }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            top = -INFINITY;
            index = 0xffffffffu;
            for (uint s = 0; s < simdgroups_per_threadgroup; ++s) {
                if (best[s] > top || (best[s] == top && where[s] < index)) { top = best[s];
                index = where[s]; }
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            last = top;
            last_index = index;
            if (t == 0) { values[row * K + k] = top; indices[row * K + k] = index; }
        }
    """
    x = rng.integers(0, 60, (4, columns)).astype(np.float32)  # with ties
    values, indices = run_kernel(
        source,
        {"x": x, "N": columns},
        {"values": ((4, 8), mx.float32), "indices": ((4, 8), mx.uint32)},
        4 * 128,
        128,
        template=[("K", 8)],
    )
    order = np.argsort(-x, 1, kind="stable")[:, :8]
    np.testing.assert_array_equal(indices, order)
    np.testing.assert_array_equal(values, np.take_along_axis(x, order, 1))


def test_radix_sort_of_one_block(rng):
    """Four bits a pass: ranks by ballots and atomics in threadgroup memory."""
    source = """
        threadgroup uint keys[N], digits[16], starts[16];
        threadgroup uint counts[SIMDS][16];
        uint i = thread_position_in_threadgroup.x;
        uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
        uint key = x[i];
        for (uint shift = 0; shift < 16; shift += 4) {
            uint digit = (key >> shift) & 15;
            ulong same = ~0ul;
            for (uint bit = 0; bit < 4; ++bit) {
                ulong vote
                    = static_cast<ulong>(static_cast<simd_vote::vote_t>(simd_ballot((digit >> bit)
                        & 1)));
                same &= (digit >> bit) & 1 ? vote : ~vote;
            }
            same &= 0xfffffffful;
            uint rank = popcount(uint(same) & ((1u << lane) - 1));
            if (lane < 16) counts[simd][lane] = 0;
            simdgroup_barrier(mem_flags::mem_threadgroup);
            if (rank == 0) counts[simd][digit] = popcount(uint(same));
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (i < 16) {
                uint sum = 0;
                for (uint s = 0; s < SIMDS; ++s) { uint c = counts[s][i]; counts[s][i] = sum;
                sum += c; }
                starts[i] = simd_prefix_exclusive_sum(sum);
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            keys[starts[digit] + counts[simd][digit] + rank] = key;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            key = keys[i];
        }
        out[i] = key;
    """
    x = rng.integers(0, 2**16, 256).astype(np.uint32)
    got = run_one(
        source,
        {"x": x},
        {"out": ((256,), mx.uint32)},
        256,
        256,
        template=[("N", 256), ("SIMDS", 8)],
    )
    np.testing.assert_array_equal(got, np.sort(x))


def test_histogram(rng):
    """Counts in threadgroup memory first, then one atomic a bin."""
    source = """
        threadgroup atomic_uint local[64];
        uint t = thread_position_in_threadgroup.x;
        if (t < 64) atomic_store_explicit(&local[t], 0u, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        atomic_fetch_add_explicit(&local[x[thread_position_in_grid.x]], 1u, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (t < 64) {
            uint count = atomic_load_explicit(&local[t], memory_order_relaxed);
            if (count) atomic_fetch_add_explicit(&bins[t], count, memory_order_relaxed);
        }
    """
    x = rng.integers(0, 64, 5120).astype(np.uint8)
    got = run_one(
        source,
        {"x": x},
        {"bins": ((64,), mx.uint32)},
        5120,
        256,
        atomic_outputs=True,
        init_value=0,
    )
    np.testing.assert_array_equal(got, np.bincount(x, minlength=64))


def test_compaction(rng):
    """Positions for the selected elements, with one atomic for each SIMD-group."""
    source = """
        uint i = thread_position_in_grid.x;
        bool keep = x[i] > 0.5f;
        uint votes = uint(static_cast<simd_vote::vote_t>(simd_ballot(keep)));
        uint base = 0;
        if (thread_index_in_simdgroup == 0) {
            base = atomic_fetch_add_explicit((device atomic_uint*)count, popcount(votes),
                memory_order_relaxed);
        }
        base = simd_broadcast_first(base);
        if (keep) kept[base + popcount(votes & ((1u << thread_index_in_simdgroup) - 1u))] = i;
    """
    x = rng.uniform(0, 1, 1000).astype(np.float32)
    kept, count = run_kernel(
        source,
        {"x": x},
        {"kept": ((1000,), mx.uint32), "count": ((1,), mx.uint32)},
        1000,
        96,
        init_value=0,
    )
    np.testing.assert_array_equal(np.sort(kept[: count[0]]), np.flatnonzero(x > 0.5))


@pytest.mark.parametrize("operation", ["sum", "max"])
def test_segments_by_binary_search(rng, operation):
    source = """
        uint channel = thread_position_in_grid.x, segment = thread_position_in_grid.y;
        int low = 0, high = N;
        while (low < high) { int mid = (low + high) / 2;
        if (ids[mid] < int(segment)) low = mid + 1; else high = mid; }
        float value = MAX ? -INFINITY : 0;
        for (int i = low; i < N && ids[i] == int(segment); ++i) {
            float v = x[i * C + channel];
            value = MAX ? max(value, v) : value + v;
        }
        out[segment * C + channel] = value;
    """
    ids = np.sort(rng.integers(0, 20, 150)).astype(np.int32)
    x = rng.standard_normal((150, 9)).astype(np.float32)
    got = run_one(
        source,
        {"x": x, "ids": ids, "N": 150, "C": 9},
        {"out": ((20, 9), mx.float32)},
        (9, 20, 1),
        (4, 4, 1),
        template=[("MAX", operation == "max")],
    )
    want = np.full((20, 9), -np.inf if operation == "max" else 0.0)
    (np.maximum if operation == "max" else np.add).at(want, ids, x)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_maximum_of_pairs_by_64_bit_atomics(rng):
    """Value and position in one number, as rasterisers order depths."""
    source = """
        uint i = thread_position_in_grid.x;
        uint bits = as_type<uint>(x[i]);
        bits = bits & 0x80000000u ? ~bits : bits | 0x80000000u;
        ulong key = (ulong(bits) << 32) | i;
        atomic_max_explicit((device atomic_ulong*)&best[group[i]], key, memory_order_relaxed);
    """
    x = rng.standard_normal(500).astype(np.float32)
    group = rng.integers(0, 7, 500).astype(np.int32)
    best = run_one(
        source, {"x": x, "group": group}, {"best": ((7,), mx.uint64)}, 500, 64, init_value=0
    )
    for g in range(7):
        members = np.flatnonzero(group == g)
        assert best[g] & np.uint64(0xFFFFFFFF) == members[x[members].argmax()]


def test_arg_reductions(rng):
    source = """
        struct Best { float value; uint index; };
        uint row = threadgroup_position_in_grid.x, lane = thread_index_in_simdgroup;
        Best best = {-metal::numeric_limits<float>::infinity(), 0};
        for (uint i = lane; i < uint(x_shape[1]); i += 32) {
            if (x[row * x_shape[1] + i] > best.value) best = {x[row * x_shape[1] + i], i};
        }
        for (ushort d = 16; d >= 1; d /= 2) {
            Best other{simd_shuffle_down(best.value, d), simd_shuffle_down(best.index, d)};
            if (other.value > best.value || (other.value == best.value
                && other.index < best.index)) best = other;
        }
        if (lane == 0) out[row] = best.index;
    """
    x = rng.integers(0, 100, (6, 333)).astype(np.float32)
    got = run_one(source, {"x": x}, {"out": ((6,), mx.uint32)}, 6 * 32, 32)
    np.testing.assert_array_equal(got, x.argmax(1))
