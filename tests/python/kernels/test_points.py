"""Point clouds, graphs, sparse data, and classic algorithms."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one

F32 = mx.float32


def squared_distances(a, b):
    return ((a[:, None].astype(np.float64) - b[None]) ** 2).sum(-1)


def test_nearest_neighbours(rng):
    """A sorted list in registers."""
    source = """
        uint i = thread_position_in_grid.x;
        float best[K];
        int index[K];
        for (int k = 0; k < K; ++k) { best[k] = INFINITY; index[k] = -1; }
        float3 p(a[3 * i], a[3 * i + 1], a[3 * i + 2]);
        for (int j = 0; j < b_shape[0]; ++j) {
            float d = distance_squared(p, float3(b[3 * j], b[3 * j + 1], b[3 * j + 2]));
            if (d >= best[K - 1]) continue;
            int k = K - 1;
            for (; k > 0 && best[k - 1] > d; --k) {
                best[k] = best[k - 1];
                index[k] = index[k - 1];
            }
            best[k] = d;
            index[k] = j;
        }
        for (int k = 0; k < K; ++k) { out[i * K + k] = index[k]; dist[i * K + k] = sqrt(best[k]); }
    """
    a, b = (
        rng.standard_normal((50, 3)).astype(np.float32),
        rng.standard_normal((80, 3)).astype(np.float32),
    )
    index, dist = run_kernel(
        source,
        {"a": a, "b": b},
        {"out": ((50, 5), mx.int32), "dist": ((50, 5), F32)},
        50,
        32,
        template=[("K", 5)],
    )
    d = squared_distances(a, b)
    np.testing.assert_array_equal(index, d.argsort(1)[:, :5])
    np.testing.assert_allclose(dist, np.sqrt(np.sort(d, 1)[:, :5]), rtol=1e-4)


def test_farthest_points(rng):
    """A loop of reductions over a whole threadgroup."""
    source = """
        threadgroup float best[8];
        threadgroup int where[8];
        uint t = thread_position_in_threadgroup.x;
        int last = 0;
        float nearest[4];
        for (int k = 0; k < 4; ++k) nearest[k] = 1e10;
        for (int step = 0; step < COUNT; ++step) {
            if (t == 0) out[step] = last;
            float top = -1;
            int index = 0;
            for (int k = 0; k < 4; ++k) {
                int i = t + k * 256;
                if (i >= N) break;
                packed_float3 a = ((const device packed_float3*)p)[i];
                packed_float3 b = ((const device packed_float3*)p)[last];
                float3 d = float3(a) - float3(b);
                nearest[k] = min(nearest[k], dot(d, d));
                if (nearest[k] > top) { top = nearest[k]; index = i; }
            }
            float all = simd_max(top);
            int first = simd_min(top == all ? index : 0x7fffffff);
            if (thread_index_in_simdgroup == 0) {
                best[simdgroup_index_in_threadgroup] = all;
                where[simdgroup_index_in_threadgroup] = first;
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            top = -1;
            for (int s = 0; s < 8; ++s) if (best[s] > top) { top = best[s]; last = where[s]; }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    """
    n = 700
    p = rng.standard_normal((n, 3)).astype(np.float32)
    got = run_one(
        source, {"p": p, "N": n}, {"out": ((20,), mx.int32)}, 256, 256, template=[("COUNT", 20)]
    )
    d = squared_distances(p, p)
    nearest, last, want = np.full(n, np.inf), 0, []
    for _ in range(20):
        want.append(last)
        nearest = np.minimum(nearest, d[last])
        last = int(nearest.argmax())
    assert got.tolist() == want


def test_ball_query(rng):
    source = """
        uint i = thread_position_in_grid.x;
        int count = 0;
        for (int j = 0; j < b_shape[0] && count < LIMIT; ++j) {
            float2 d = float2(a[2 * i] - b[2 * j], a[2 * i + 1] - b[2 * j + 1]);
            if (length(d) < radius) out[i * LIMIT + count++] = j;
        }
        counts[i] = count;
    """
    a, b = (
        rng.uniform(0, 1, (40, 2)).astype(np.float32),
        rng.uniform(0, 1, (60, 2)).astype(np.float32),
    )
    got, counts = run_kernel(
        source,
        {"a": a, "b": b, "radius": 0.3},
        {"out": ((40, 8), mx.int32), "counts": ((40,), mx.int32)},
        40,
        16,
        template=[("LIMIT", 8)],
        init_value=-1,
    )
    near = squared_distances(a, b) < 0.09
    for i in range(40):
        want = np.flatnonzero(near[i])[:8]
        assert counts[i] == len(want) and got[i, : len(want)].tolist() == want.tolist()


def test_chamfer_distance(rng):
    source = """
        uint i = thread_position_in_grid.x;
        float best = MAXFLOAT;
        for (int j = 0; j < b_shape[0]; ++j) {
            packed_float3 q = *(const device packed_float3*)(b + 3 * j);
            packed_float3 p = *(const device packed_float3*)(a + 3 * i);
            best = min(best, distance_squared(float3(p), float3(q)));
        }
        best = simd_sum(best);
        if (thread_index_in_simdgroup == 0) {
            atomic_fetch_add_explicit(&out[0], best, memory_order_relaxed);
        }
    """
    a, b = (
        rng.standard_normal((100, 3)).astype(np.float32),
        rng.standard_normal((70, 3)).astype(np.float32),
    )
    got = run_one(
        source, {"a": a, "b": b}, {"out": ((1,), F32)}, 100, 50, atomic_outputs=True, init_value=0
    )
    np.testing.assert_allclose(got[0], squared_distances(a, b).min(1).sum(), rtol=1e-4)


def test_voxels_in_a_hash_table(rng):
    """Open addressing: slots are claimed with compare-exchange."""
    source = """
        uint i = thread_position_in_grid.x;
        uint3 cell = uint3(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
        uint key = cell.x | cell.y << 8 | cell.z << 16;
        uint slot = (key * 2654435761u) >> 22;
        for (int probe = 0; probe < 1024; ++probe) {
            uint expected = 0xffffffffu;
            device atomic_uint* place = (device atomic_uint*)&keys[slot];
            while (!atomic_compare_exchange_weak_explicit(
                       place, &expected, key, memory_order_relaxed, memory_order_relaxed)
                   && expected == 0xffffffffu) {
            }
            if (expected == 0xffffffffu || expected == key) {
                atomic_fetch_add_explicit((device atomic_uint*)&counts[slot], 1u,
                    memory_order_relaxed);
                slots[i] = slot;
                break;
            }
            slot = (slot + 1) & 1023u;
        }
    """
    x = rng.integers(0, 6, (600, 3)).astype(np.uint8)
    keys, counts, slots = run_kernel(
        source,
        {"x": x},
        {
            "keys": ((1024,), mx.uint32),
            "counts": ((1024,), mx.uint32),
            "slots": ((600,), mx.uint32),
        },
        600,
        64,
        init_value=2**32 - 1,
    )
    key = x.astype(np.uint32) @ np.array([1, 256, 65536], np.uint32)
    np.testing.assert_array_equal(keys[slots], key)
    unique, number = np.unique(key, return_counts=True)
    used = keys != 2**32 - 1
    assert used.sum() == len(unique)
    found = dict(zip(keys[used].tolist(), (counts[used] + np.uint32(1)).tolist()))
    assert found == dict(zip(unique.tolist(), number.tolist()))


def test_sparse_matrix_vector(rng):
    """Rows of a compressed matrix, eight lanes each."""
    source = """
        uint row = thread_position_in_grid.x / 8, part = thread_position_in_grid.x % 8;
        float sum = 0;
        for (int i = start[row] + part; i < start[row + 1];
        i += 8) sum += values[i] * x[columns[i]];
        sum += simd_shuffle_xor(sum, 4);
        sum += simd_shuffle_xor(sum, 2);
        sum += simd_shuffle_xor(sum, 1);
        if (part == 0) y[row] = sum;
    """
    dense = rng.standard_normal((45, 30)) * (rng.uniform(size=(45, 30)) < 0.3)
    dense[7] = 0
    rows, columns = np.nonzero(dense)
    start = np.concatenate([[0], np.bincount(rows, minlength=45).cumsum()]).astype(np.int32)
    x = rng.standard_normal(30).astype(np.float32)
    got = run_one(
        source,
        {"start": start, "columns": columns.astype(np.int32),
         "values": dense[rows, columns].astype(np.float32), "x": x},
        {"y": ((45,), F32)},
        360,
        120,
    )  # fmt: skip
    np.testing.assert_allclose(got, dense @ x, rtol=1e-4, atol=1e-5)


def test_embedding_gradient(rng):
    source = """
        uint c = thread_position_in_grid.x, i = thread_position_in_grid.y;
        int64_t row = tokens[i];
        if (row < 0) return;
        atomic_fetch_add_explicit(&grad[row * DIM + c], cotangent[i * DIM + c],
            memory_order_relaxed);
    """
    tokens = rng.integers(-1, 9, 64).astype(np.int64)
    cotangent = rng.standard_normal((64, 16)).astype(np.float32)
    got = run_one(
        source,
        {"tokens": tokens, "cotangent": cotangent},
        {"grad": ((9, 16), F32)},
        (16, 64, 1),
        (16, 4, 1),
        atomic_outputs=True,
        init_value=0,
        template=[("DIM", 16)],
    )
    want = np.zeros((9, 16))
    np.add.at(want, tokens[tokens >= 0], cotangent[tokens >= 0])
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [8, 64, 256])
def test_fourier_transform(rng, size):
    """Radix two in threadgroup memory, over complex numbers."""
    source = """
        threadgroup float2 data[N];
        uint t = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.x;
        for (uint i = t; i < N; i += N / 2) {
            uint reversed = reverse_bits(i) >> (32 - LOG);
            complex64_t z = x[row * N + i];
            data[reversed] = float2(z.real, z.imag);
        }
        for (int half_size = 1; half_size < N; half_size *= 2) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            uint k = t % half_size, i = (t / half_size) * 2 * half_size + k;
            float angle = -M_PI_F * k / half_size;
            float2 w = float2(cos(angle), sin(angle)), b = data[i + half_size];
            b = float2(w.x * b.x - w.y * b.y, w.x * b.y + w.y * b.x);
            float2 a = data[i];
            data[i] = a + b;
            data[i + half_size] = a - b;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = t; i < N; i += N / 2) out[row * N + i] = complex64_t(data[i].x, data[i].y);
    """
    x = (rng.standard_normal((3, size)) + 1j * rng.standard_normal((3, size))).astype(np.complex64)
    got = run_one(
        source,
        {"x": x},
        {"out": (x.shape, mx.complex64)},
        3 * size // 2,
        size // 2,
        template=[("N", size), ("LOG", int(np.log2(size)))],
    )
    np.testing.assert_allclose(got, np.fft.fft(x), rtol=1e-3, atol=1e-3)


def test_hadamard_transform(rng):
    """Sorts between lanes by shuffles, and within lanes in registers."""
    source = """
        uint lane = thread_index_in_simdgroup, row = threadgroup_position_in_grid.x;
        float v[4];
        for (int k = 0; k < 4; ++k) v[k] = x[row * 128 + k * 32 + lane];
        for (int h = 1; h < 4; h *= 2)
            for (int k = 0; k < 4; ++k)
                if (!(k & h)) { float a = v[k], b = v[k | h]; v[k] = a + b; v[k | h] = a - b; }
        for (ushort h = 1; h < 32; h <<= 1)
            for (int k = 0; k < 4; ++k) {
                float other = simd_shuffle_xor(v[k], h);
                v[k] = lane & h ? other - v[k] : v[k] + other;
            }
        for (int k = 0; k < 4; ++k) out[row * 128 + k * 32 + lane] = v[k] * rsqrt(128.0);
    """
    x = rng.standard_normal((5, 128)).astype(np.float32)
    got = run_one(source, {"x": x}, {"out": (x.shape, F32)}, 5 * 32, 32)
    h = np.ones((1, 1))
    for _ in range(7):
        h = np.block([[h, h], [h, -h]])
    np.testing.assert_allclose(got, x @ h / np.sqrt(128), rtol=1e-3, atol=1e-4)


def test_checksum(rng):
    """A table in constant memory that the compiler computes."""
    header = """
        struct Table { uint entries[256]; };
        constexpr Table make_table() {
          Table t = {};
          for (uint i = 0; i < 256; ++i) {
            uint c = i;
            for (int k = 0; k < 8; ++k) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
            t.entries[i] = c;
          }
          return t;
        }
        constant constexpr Table kTable = make_table();
    """
    source = """
        uint row = thread_position_in_grid.x;
        uint crc = ~0u;
        for (int i = 0; i < x_shape[1]; ++i) crc = kTable.entries[(crc ^ x[row * x_shape[1] + i])
            & 0xff] ^ (crc >> 8);
        out[row] = ~crc;
    """
    import zlib

    x = rng.integers(0, 256, (20, 33)).astype(np.uint8)
    got = run_one(source, {"x": x}, {"out": ((20,), mx.uint32)}, 20, header=header)
    assert got.tolist() == [zlib.crc32(row.tobytes()) for row in x]


def test_union_find(rng):
    """Components of a graph, by atomic minima of labels until nothing changes."""
    source = """
        for (int round = 0; round < 64; ++round) {
            for (int e = thread_position_in_grid.x; e < E; e += threads_per_grid.x) {
                int a = atomic_load_explicit(&label[edges[2 * e]], memory_order_relaxed);
                int b = atomic_load_explicit(&label[edges[2 * e + 1]], memory_order_relaxed);
                atomic_fetch_min_explicit(&label[edges[2 * e]], b, memory_order_relaxed);
                atomic_fetch_min_explicit(&label[edges[2 * e + 1]], a, memory_order_relaxed);
            }
            threadgroup_barrier(mem_flags::mem_device);
        }
    """
    n = 60
    edges = rng.integers(0, n, (45, 2)).astype(np.int32)
    start = mx.arange(n, dtype=mx.int32)
    kernel = mx.fast.metal_kernel(
        "components",
        "kernel void components(device atomic_int* label [[buffer(0)]],"
        " device const int* edges [[buffer(1)]], constant int& E [[buffer(2)]],"
        " uint3 thread_position_in_grid [[thread_position_in_grid]],"
        " uint3 threads_per_grid [[threads_per_grid]]) {" + source + "}",
    )
    got = np.array(kernel(start, mx.array(edges), 45, grid=(64, 1, 1), threadgroup=(64, 1, 1)))
    want = np.arange(n)
    for _ in range(n):
        low = np.minimum(want[edges[:, 0]], want[edges[:, 1]])
        np.minimum.at(want, edges[:, 0], low)
        np.minimum.at(want, edges[:, 1], low)
    np.testing.assert_array_equal(got, want)
