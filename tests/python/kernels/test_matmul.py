"""Matrix products in every style: tiles, SIMD-group matrices, registers, vectors, split sums."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one, to_numpy

F32 = mx.float32


def operands(rng, m, k, n, dtype=F32):
    a, b = (mx.array(rng.standard_normal(s)).astype(dtype) for s in ((m, k), (k, n)))
    return a, b, to_numpy(a).astype(np.float64) @ to_numpy(b).astype(np.float64)


def close(got, want, dtype=F32):
    tolerance = {F32: 1e-4, mx.float16: 5e-3, mx.bfloat16: 3e-2}[dtype]
    np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance * 5)


@pytest.mark.parametrize("size", [(32, 32, 32), (45, 33, 50), (1, 100, 17)])
def test_tiled_with_edges(rng, size):
    source = """
        threadgroup float at[16][16], bt[16][17];
        uint2 t = thread_position_in_threadgroup.xy;
        uint row = threadgroup_position_in_grid.y * 16 + t.y, column
            = threadgroup_position_in_grid.x * 16 + t.x;
        float sum = 0;
        for (int k = 0; k < K; k += 16) {
            at[t.y][t.x] = row < M && k + t.x < K ? a[row * K + k + t.x] : 0;
            bt[t.y][t.x] = k + t.y < K && column < N ? b[(k + t.y) * N + column] : 0;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (int i = 0; i < 16; ++i) sum += at[t.y][i] * bt[i][t.x];
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        if (row < M && column < N) out[row * N + column] = sum;
    """
    m, k, n = size
    a, b, want = operands(rng, m, k, n)
    got = run_one(
        source,
        {"a": a, "b": b, "M": m, "K": k, "N": n},
        {"out": ((m, n), F32)},
        ((n + 15) // 16 * 16, (m + 15) // 16 * 16, 1),
        (16, 16, 1),
    )
    close(got, want)


@pytest.mark.parametrize("dtype", [F32, mx.float16, mx.bfloat16])
def test_simdgroup_matrices(rng, dtype):
    """A 32x32 block from four SIMD-groups, 2x2 fragments each, through threadgroup tiles."""
    source = """
        threadgroup T as[32 * 16], bs[16 * 32];
        uint simd = simdgroup_index_in_threadgroup, t = thread_index_in_threadgroup;
        uint row0 = threadgroup_position_in_grid.y * 32, column0 = threadgroup_position_in_grid.x
            * 32;
        uint sr = (simd / 2) * 16, sc = (simd % 2) * 16;
        simdgroup_matrix<float, 8, 8> c[2][2];
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) c[i][j] = simdgroup_matrix<float, 8, 8>(0);
        for (int k0 = 0; k0 < K; k0 += 16) {
            for (uint i = t; i < 512; i += 128) {
                as[i] = a[(row0 + i / 16) * K + k0 + i % 16];
                bs[i] = b[(k0 + i / 32) * N + column0 + i % 32];
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (int k = 0; k < 16; k += 8) {
                simdgroup_matrix<T, 8, 8> af[2], bf[2];
                for (int i = 0; i < 2; ++i) {
                    simdgroup_load(af[i], as + (sr + 8 * i) * 16 + k, 16);
                    simdgroup_load(bf[i], bs + k * 32 + sc + 8 * i, 32);
                }
                for (int i = 0; i < 2; ++i)
                    for (int j = 0; j < 2; ++j) simdgroup_multiply_accumulate(c[i][j], af[i],
                        bf[j], c[i][j]);
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j)
                simdgroup_store(c[i][j], out + (row0 + sr + 8 * i) * N + column0 + sc + 8 * j, N);
    """
    a, b, want = operands(rng, 64, 48, 96, dtype)
    got = run_one(
        source,
        {"a": a, "b": b, "K": 48, "N": 96},
        {"out": ((64, 96), F32)},
        (3 * 128, 2, 1),
        (128, 1, 1),
        template=[("T", dtype)],
    )
    close(got, want)


def test_register_tiles(rng):
    """A 4x4 block a thread, in a 2-D register array."""
    source = """
        uint2 p = thread_position_in_grid.xy * 4;
        float c[4][4] = {};
        for (int k = 0; k < K; ++k) {
            float4 av = float4(a[p.y * K + k], a[(p.y + 1) * K + k], a[(p.y + 2) * K + k], a[(p.y
                + 3) * K + k]);
            float4 bv = *(const device float4*)(b + k * N + p.x);
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j) c[i][j] += av[i] * bv[j];
        }
        for (int i = 0; i < 4; ++i)
            *(device float4*)(out + (p.y + i) * N + p.x) = float4(c[i][0], c[i][1], c[i][2],
                c[i][3]);
    """
    a, b, want = operands(rng, 24, 40, 36)
    inputs = {"a": a, "b": b, "K": 40, "N": 36}
    close(run_one(source, inputs, {"out": ((24, 36), F32)}, (9, 6, 1), (4, 4, 1)), want)


def test_split_sum_with_atomics(rng):
    source = """
        uint column = thread_position_in_grid.x, row = thread_position_in_grid.y, part
            = thread_position_in_grid.z;
        float sum = 0;
        for (int k = part * SPAN; k < min(int(part + 1) * SPAN, K);
        ++k) sum += a[row * K + k] * b[k * N + column];
        atomic_fetch_add_explicit(&out[row * N + column], sum, memory_order_relaxed);
    """
    a, b, want = operands(rng, 8, 200, 20)
    got = run_one(
        source,
        {"a": a, "b": b, "K": 200, "N": 20},
        {"out": ((8, 20), F32)},
        (20, 8, 7),
        (8, 4, 2),
        atomic_outputs=True,
        init_value=0,
        template=[("SPAN", 32)],
    )
    close(got, want)


@pytest.mark.parametrize("dtype", [F32, mx.float16, mx.bfloat16])
def test_matrix_vector(rng, dtype):
    source = """
        using T4 = vec<T, 4>;
        uint row = threadgroup_position_in_grid.x * 4 + simdgroup_index_in_threadgroup;
        if (row >= uint(a_shape[0])) return;
        const device T4* ar = (const device T4*)(a + row * K);
        const device T4* xv = (const device T4*)x;
        float sum = 0;
        for (int k = thread_index_in_simdgroup; k < K / 4;
        k += 32) sum += dot(float4(ar[k]), float4(xv[k]));
        sum = simd_sum(sum);
        if (thread_index_in_simdgroup == 0) out[row] = T(sum);
    """
    a, x, want = operands(rng, 39, 300, 1, dtype)
    got = run_one(
        source,
        {"a": a, "x": x, "K": 300},
        {"out": ((39, 1), dtype)},
        10 * 128,
        128,
        template=[("T", dtype)],
    )
    close(got, want, dtype)


def test_experts(rng):
    """Rows routed to a matrix each, with their weights."""
    source = """
        uint column = thread_position_in_grid.x, token = thread_position_in_grid.y;
        float total = 0;
        for (int e = 0; e < TOP; ++e) {
            const device float* w = experts + expert[token * TOP + e] * K * N;
            float sum = 0;
            for (int k = 0; k < K; ++k) sum += x[token * K + k] * w[k * N + column];
            total += weight[token * TOP + e] * sum;
        }
        out[token * N + column] = total;
    """
    x = rng.standard_normal((10, 16)).astype(np.float32)
    experts = rng.standard_normal((6, 16, 12)).astype(np.float32)
    expert = rng.integers(0, 6, (10, 2)).astype(np.uint32)
    weight = rng.uniform(0, 1, (10, 2)).astype(np.float32)
    got = run_one(
        source,
        {"x": x, "experts": experts, "expert": expert, "weight": weight, "K": 16, "N": 12},
        {"out": ((10, 12), F32)},
        (12, 10, 1),
        (12, 2, 1),
        template=[("TOP", 2)],
    )
    want = np.einsum("tk,tekn,te->tn", x.astype(np.float64), experts[expert], weight)
    close(got, want)


def test_strided_batches(rng):
    """Any layout: offsets by elem_to_loc over the batch, strides for the matrices."""
    source = """
        uint3 p = thread_position_in_grid;
        auto ab = elem_to_loc(p.z, a_shape, a_strides, a_ndim - 2);
        auto bb = elem_to_loc(p.z, b_shape, b_strides, b_ndim - 2);
        float sum = 0;
        for (int k = 0; k < a_shape[a_ndim - 1]; ++k) {
            sum += a[ab + p.y * a_strides[a_ndim - 2] + k * a_strides[a_ndim - 1]]
                 * b[bb + k * b_strides[b_ndim - 2] + p.x * b_strides[b_ndim - 1]];
        }
        out[(p.z * threads_per_grid.y + p.y) * threads_per_grid.x + p.x] = sum;
    """
    a = mx.array(rng.standard_normal((4, 3, 5, 6)).astype(np.float32)).transpose(1, 0, 3, 2)
    b = mx.array(rng.standard_normal((3, 4, 7, 10)).astype(np.float32))[..., ::2].swapaxes(2, 3)
    want = np.array(a).astype(np.float64) @ np.array(b)
    got = run_one(
        source,
        {"a": a, "b": b},
        {"out": (want.shape, F32)},
        (want.shape[3], want.shape[2], 12),
        (4, 4, 2),
        ensure_row_contiguous=False,
    )
    close(got, want)
