"""Row-wise kernels: normalisations, softmax, losses, fused activations."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one, to_numpy

REDUCE = """
    template <typename T>
    METAL_FUNC T row_sum(T value, threadgroup T* shared, uint lane, uint simd, uint simds) {
      value = simd_sum(value);
      if (simds == 1) return value;
      if (lane == 0) shared[simd] = value;
      threadgroup_barrier(mem_flags::mem_threadgroup);
      value = lane < simds ? shared[lane] : T(0);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      return simd_sum(value);
    }
"""
WHERE = """
    uint row = threadgroup_position_in_grid.x;
    uint t = thread_position_in_threadgroup.x;
    uint threads = threads_per_threadgroup.x;
    uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
    uint simds = simdgroups_per_threadgroup;
"""
TOLERANCE = {mx.float32: 2e-5, mx.float16: 3e-3, mx.bfloat16: 2e-2}


def cast(x: np.ndarray, dtype) -> tuple[mx.array, np.ndarray]:
    array = mx.array(x).astype(dtype)
    return array, to_numpy(array).astype(np.float64)


@pytest.mark.parametrize("dtype", list(TOLERANCE))
@pytest.mark.parametrize("columns,threads", [(64, 32), (100, 45), (1000, 256)])
def test_rms_norm(rng, dtype, columns, threads):
    source = (
        WHERE
        + """
        threadgroup float shared[32];
        x += row * N;
        out += row * N;
        float sum = 0;
        for (uint i = t; i < N; i += threads) { float v = x[i]; sum += v * v; }
        sum = row_sum(sum, shared, lane, simd, simds);
        float inverse = metal::precise::rsqrt(sum / N + eps);
        for (uint i = t; i < N; i += threads) out[i] = w[i] * static_cast<T>(x[i] * inverse);
    """
    )
    x, xf = cast(rng.standard_normal((6, columns)), dtype)
    w, wf = cast(rng.uniform(0.5, 1.5, columns), dtype)
    got = run_one(
        source,
        {"x": x, "w": w, "eps": 1e-5},
        {"out": ((6, columns), dtype)},
        6 * threads,
        threads,
        header=REDUCE,
        template=[("T", dtype), ("N", columns)],
    )
    want = xf / np.sqrt((xf**2).mean(1, keepdims=True) + 1e-5) * wf
    np.testing.assert_allclose(got, want, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_layer_norm_with_saved_statistics(rng):
    source = (
        WHERE
        + """
        threadgroup float shared[32];
        float sum = 0, squares = 0;
        float4 chunk[4];
        int count = 0;
        for (uint i = t * 4; i < N; i += threads * 4) {
            float4 v = *(const device float4*)(x + row * N + i);
            chunk[count++] = v;
            sum += v.x + v.y + v.z + v.w;
        }
        float mean = row_sum(sum, shared, lane, simd, simds) / N;
        for (int k = 0; k < count; ++k) { float4 d = chunk[k] - mean; squares += dot(d, d); }
        float inverse = rsqrt(row_sum(squares, shared, lane, simd, simds) / N + 1e-5f);
        count = 0;
        for (uint i = t * 4; i < N; i += threads * 4) {
            float4 r = (chunk[count++] - mean) * inverse * *(const device float4*)(w + i)
                     + *(const device float4*)(b + i);
            *(device float4*)(out + row * N + i) = r;
        }
        if (t == 0) { means[row] = mean; inverses[row] = inverse; }
    """
    )
    x = rng.standard_normal((7, 768)).astype(np.float32) * 3 + 1
    w, b = rng.standard_normal((2, 768)).astype(np.float32)
    got, means, inverses = run_kernel(
        source,
        {"x": x, "w": w, "b": b},
        {"out": (x.shape, mx.float32), "means": ((7,), mx.float32), "inverses": ((7,), mx.float32)},
        7 * 64,
        64,
        header=REDUCE,
        template=[("N", 768)],
    )
    xf = x.astype(np.float64)
    mean, var = xf.mean(1, keepdims=True), xf.var(1, keepdims=True)
    np.testing.assert_allclose(got, (xf - mean) / np.sqrt(var + 1e-5) * w + b, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(means, mean[:, 0], rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(inverses, 1 / np.sqrt(var[:, 0] + 1e-5), rtol=1e-4)


def test_group_norm(rng):
    """Welford's running mean, merged between lanes by shuffles."""
    source = """
        uint lane = thread_index_in_simdgroup;
        uint group = threadgroup_position_in_grid.x;
        uint size = uint(x_shape[1]) / G * x_shape[2];
        float mean = 0, m2 = 0, count = 0;
        for (uint i = lane; i < size; i += 32) {
            count += 1;
            float delta = x[group * size + i] - mean;
            mean += delta / count;
            m2 += delta * (x[group * size + i] - mean);
        }
        for (ushort step = 16; step > 0; step /= 2) {
            float other_mean = simd_shuffle_xor(mean, step);
            float other_m2 = simd_shuffle_xor(m2, step);
            float other_count = simd_shuffle_xor(count, step);
            float total = count + other_count;
            float delta = other_mean - mean;
            m2 += other_m2 + (total > 0 ? delta * delta * count * other_count / total : 0);
            mean = total > 0 ? (mean * count + other_mean * other_count) / total : 0;
            count = total;
        }
        float inverse = rsqrt(m2 / size + 1e-5);
        for (uint i = lane; i < size; i += 32) out[group * size + i] = (x[group * size
            + i] - mean) * inverse;
    """
    x = rng.standard_normal((2, 12, 25)).astype(np.float32) + 5
    got = run_one(
        source, {"x": x}, {"out": (x.shape, mx.float32)}, 2 * 4 * 32, 32, template=[("G", 4)]
    )
    rows = x.reshape(8, 75).astype(np.float64)
    want = (rows - rows.mean(1, keepdims=True)) / np.sqrt(rows.var(1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(got.reshape(8, 75), want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("columns", [5, 64, 1500])
def test_softmax(rng, columns):
    """One pass: maximum and sum together, merged over lanes and SIMD-groups."""
    source = (
        WHERE
        + """
        threadgroup float tops[32], sums[32];
        float top = -INFINITY, sum = 0;
        for (uint i = t; i < N; i += threads) {
            float v = x[row * N + i], next = max(top, v);
            sum = sum * fast::exp(top - next) + fast::exp(v - next);
            top = next;
        }
        float all = simd_max(top);
        sum = simd_sum(all == -INFINITY ? 0 : sum * fast::exp(top - all));
        if (lane == 0) { tops[simd] = all; sums[simd] = sum; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        top = -INFINITY;
        for (uint s = 0; s < simds; ++s) top = max(top, tops[s]);
        sum = 0;
        for (uint s = 0; s < simds; ++s) sum += sums[s] * fast::exp(tops[s] - top);
        for (uint i = t; i < N; i += threads) out[row * N + i] = fast::exp(x[row * N
            + i] - top) / sum;
    """
    )
    x = (rng.standard_normal((4, columns)) * 5).astype(np.float32)
    got = run_one(source, {"x": x, "N": columns}, {"out": (x.shape, mx.float32)}, 4 * 128, 128)
    e = np.exp(x - x.max(1, keepdims=True).astype(np.float64))
    np.testing.assert_allclose(got, e / e.sum(1, keepdims=True), rtol=1e-4, atol=1e-7)


def test_cross_entropy_and_its_gradient(rng):
    source = (
        WHERE
        + """
        threadgroup float shared[32];
        threadgroup float top_of[1];
        if (t == 0) {
            float top = x[row * V];
            for (int i = 1; i < V; ++i) top = max(top, x[row * V + i]);
            top_of[0] = top;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float sum = 0;
        for (int i = t; i < V; i += threads) sum += exp(x[row * V + i] - top_of[0]);
        sum = row_sum(sum, shared, lane, simd, simds);
        int target = labels[row];
        if (t == 0) loss[row] = target < 0 ? 0 : log(sum) + top_of[0] - x[row * V + target];
        for (int i = t; i < V; i += threads) {
            float p = exp(x[row * V + i] - top_of[0]) / sum;
            grad[row * V + i] = target < 0 ? 0 : p - (i == target);
        }
    """
    )
    x = rng.standard_normal((9, 130)).astype(np.float32) * 3
    labels = rng.integers(0, 130, 9).astype(np.int32)
    labels[4] = -100
    loss, grad = run_kernel(
        source,
        {"x": x, "labels": labels, "V": 130},
        {"loss": ((9,), mx.float32), "grad": (x.shape, mx.float32)},
        9 * 64,
        64,
        header=REDUCE,
    )
    xf = x.astype(np.float64)
    p = np.exp(xf) / np.exp(xf).sum(1, keepdims=True)
    want = np.where(labels < 0, 0, -np.log(p[np.arange(9), np.maximum(labels, 0)]))
    np.testing.assert_allclose(loss, want, rtol=1e-4, atol=1e-5)
    p[np.arange(9), labels] -= 1
    np.testing.assert_allclose(grad, np.where(labels[:, None] < 0, 0, p), rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("dtype", list(TOLERANCE))
def test_fused_gate(rng, dtype):
    source = """
        uint i = thread_position_in_grid.x;
        float g = gate[i];
        T s = T(g / (1 + exp(-g)));
        out[i] = s * up[i];
    """
    (gate, gf), (up, uf) = (cast(rng.standard_normal(500), dtype) for _ in range(2))
    got = run_one(
        source,
        {"gate": gate, "up": up},
        {"out": ((500,), dtype)},
        500,
        template=[("T", dtype)],
    )
    want = gf / (1 + np.exp(-gf)) * uf
    np.testing.assert_allclose(got, want, rtol=TOLERANCE[dtype], atol=TOLERANCE[dtype])


def test_gelu_over_vectors(rng):
    source = """
        uint i = thread_position_in_grid.x;
        float4 v = ((const device float4*)x)[i];
        float4 inner = 0.7978845608 * (v + 0.044715 * v * v * v);
        ((device float4*)out)[i] = 0.5 * v * (1 + precise::tanh(inner));
    """
    x = (rng.standard_normal(400) * 3).astype(np.float32)
    got = run_one(source, {"x": x}, {"out": ((400,), mx.float32)}, 100, 25)
    v = x.astype(np.float64)
    want = 0.5 * v * (1 + np.tanh(0.7978845608 * (v + 0.044715 * v**3)))
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-6)


def test_adam_step(rng):
    """Three outputs, five inputs, scalars by reference."""
    source = """
        uint i = thread_position_in_grid.x;
        float g = grad[i] + decay * p[i];
        float m1 = b1 * m[i] + (1 - b1) * g;
        float v1 = b2 * v[i] + (1 - b2) * g * g;
        m_out[i] = m1;
        v_out[i] = v1;
        p_out[i] = p[i] - lr * m1 / (1 - pow(b1, float(step))) / (sqrt(v1 / (1 - pow(b2,
            float(step)))) + eps);
    """
    p, g, m = rng.standard_normal((3, 100)).astype(np.float32)
    v = rng.uniform(0, 1, 100).astype(np.float32)
    scalars = {"lr": 0.01, "b1": 0.9, "b2": 0.99, "eps": 1e-8, "decay": 0.1, "step": 3}
    p1, m1, v1 = run_kernel(
        source,
        {"p": p, "grad": g, "m": m, "v": v} | scalars,
        {n: ((100,), mx.float32) for n in ("p_out", "m_out", "v_out")},
        100,
    )
    gg = g + 0.1 * p
    mw, vw = 0.9 * m + 0.1 * gg, 0.99 * v + 0.01 * gg * gg
    np.testing.assert_allclose(m1, mw, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(v1, vw, rtol=1e-4)
    want = p - 0.01 * mw / (1 - 0.9**3) / (np.sqrt(vw / (1 - 0.99**3)) + 1e-8)
    np.testing.assert_allclose(p1, want, rtol=1e-4, atol=1e-5)
