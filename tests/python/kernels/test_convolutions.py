"""Convolutions, pooling and resampling."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one, to_numpy


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16])
def test_causal_depthwise_conv1d(rng, dtype):
    source = """
        uint c = thread_position_in_grid.x, t = thread_position_in_grid.y, n
            = thread_position_in_grid.z;
        float sum = b[c];
        const device auto* p = x + (n * L + t) * C + c;
        #pragma clang loop unroll(full)
        for (int k = 0; k < K; ++k) {
            int back = K - 1 - k;
            sum += int(t) >= back ? float(p[-back * C]) * float(w[c * K + k]) : 0;
        }
        out[(n * L + t) * C + c] = T(sum / (1 + exp(-sum)));
    """
    x, w, b = (
        mx.array(rng.standard_normal(s)).astype(dtype) for s in ((2, 20, 12), (12, 4), (12,))
    )
    got = run_one(
        source,
        {"x": x, "w": w, "b": b, "L": 20, "C": 12},
        {"out": (x.shape, dtype)},
        (12, 20, 2),
        (4, 8, 1),
        template=[("T", dtype), ("K", 4)],
    )
    xf, wf, bf = (to_numpy(a).astype(np.float64) for a in (x, w, b))
    padded = np.pad(xf, ((0, 0), (3, 0), (0, 0)))
    sums = sum(padded[:, k : k + 20] * wf[:, k] for k in range(4)) + bf
    tolerance = 1e-4 if dtype == mx.float32 else 5e-3
    np.testing.assert_allclose(got, sums / (1 + np.exp(-sums)), rtol=tolerance, atol=tolerance)


def test_conv2d_direct(rng):
    source = """
        uint3 p = thread_position_in_grid;  // output channel, column, row
        float sum = 0;
        for (int dy = 0; dy < 3; ++dy) {
            for (int dx = 0; dx < 3; ++dx) {
                int y = int(p.z) * STRIDE + dy - 1, xx = int(p.y) * STRIDE + dx - 1;
                if (y < 0 || y >= H || xx < 0 || xx >= W) continue;
                const device float* in = x + (y * W + xx) * C;
                const device float* weight = w + ((p.x * 3 + dy) * 3 + dx) * C;
                for (int c = 0; c < C; ++c) sum = fma(in[c], weight[c], sum);
            }
        }
        out[(p.z * threads_per_grid.y + p.y) * threads_per_grid.x + p.x] = sum;
    """
    x = rng.standard_normal((13, 10, 6)).astype(np.float32)
    w = rng.standard_normal((5, 3, 3, 6)).astype(np.float32)
    got = run_one(
        source,
        {"x": x, "w": w, "H": 13, "W": 10, "C": 6},
        {"out": ((7, 5, 5), mx.float32)},
        (5, 5, 7),
        (5, 4, 2),
        template=[("STRIDE", 2)],
    )
    padded = np.pad(x, ((1, 1), (1, 1), (0, 0))).astype(np.float64)
    want = np.zeros((7, 5, 5))
    for dy in range(3):
        for dx in range(3):
            want += padded[dy : dy + 13 : 2, dx : dx + 9 : 2] @ w[:, dy, dx].T
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


def test_filter_with_a_halo_in_threadgroup_memory(rng):
    source = """
        constexpr int R = 2, TILE = 16, SIDE = TILE + 2 * R;
        threadgroup float tile[SIDE][SIDE];
        int2 origin = int2(threadgroup_position_in_grid.xy) * TILE - R;
        for (uint i = thread_index_in_threadgroup; i < SIDE * SIDE; i += TILE * TILE) {
            int2 p = clamp(origin + int2(i % SIDE, i / SIDE), int2(0), int2(W - 1, H - 1));
            tile[i / SIDE][i % SIDE] = image[p.y * W + p.x];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uint2 t = thread_position_in_threadgroup.xy;
        float sum = 0, weights = 0;
        for (int dy = -R; dy <= R; ++dy) {
            for (int dx = -R; dx <= R; ++dx) {
                float w = exp(-(dx * dx + dy * dy) / 2.0);
                sum += w * tile[t.y + R + dy][t.x + R + dx];
                weights += w;
            }
        }
        uint2 g = thread_position_in_grid.xy;
        if (g.x < uint(W) && g.y < uint(H)) out[g.y * W + g.x] = sum / weights;
    """
    image = rng.uniform(0, 1, (37, 50)).astype(np.float32)
    got = run_one(
        source,
        {"image": image, "W": 50, "H": 37},
        {"out": (image.shape, mx.float32)},
        (64, 48, 1),
        (16, 16, 1),
    )
    padded = np.pad(image, 2, mode="edge").astype(np.float64)
    d = np.arange(-2, 3)
    w = np.exp(-(d[:, None] ** 2 + d**2) / 2)
    want = (
        sum(w[i, j] * padded[i : i + 37, j : j + 50] for i in range(5) for j in range(5)) / w.sum()
    )
    np.testing.assert_allclose(got, want, rtol=1e-5)


def test_transposed_convolution(rng):
    """Every output sums the inputs that contribute to it."""
    source = """
        uint o = thread_position_in_grid.x;
        float sum = 0;
        for (int k = 0; k < K; ++k) {
            int from = int(o) - k;
            if (from >= 0 && from % STRIDE == 0 && from / STRIDE < x_shape[0]) sum
                += x[from / STRIDE] * w[k];
        }
        out[o] = sum;
    """
    x, w = rng.standard_normal(30).astype(np.float32), rng.standard_normal(5).astype(np.float32)
    size = 29 * 3 + 5
    got = run_one(
        source,
        {"x": x, "w": w},
        {"out": ((size,), mx.float32)},
        size,
        32,
        template=[("K", 5), ("STRIDE", 3)],
    )
    want = np.zeros(size)
    for i in range(30):
        want[3 * i : 3 * i + 5] += x[i] * w.astype(np.float64)
    np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-5)


def test_max_pool_with_positions(rng):
    source = """
        uint2 p = thread_position_in_grid.xy;
        half best = -metal::numeric_limits<half>::infinity();
        int where = -1;
        for (int i = 0; i < 9; ++i) {
            int2 q = int2(p) * 2 + int2(i % 3, i / 3) - 1;
            if (any(q < 0) || q.x >= x_shape[1] || q.y >= x_shape[0]) continue;
            half v = x[q.y * x_shape[1] + q.x];
            if (v > best) { best = v; where = i; }
        }
        out[p.y * threads_per_grid.x + p.x] = best * 100 + where;
    """
    x = rng.integers(0, 10, (14, 11)).astype(np.float16)
    got = run_one(source, {"x": x}, {"out": ((7, 6), mx.float32)}, (6, 7, 1), (8, 8, 1))
    padded = np.pad(x.astype(float), 1, constant_values=-np.inf)
    windows = np.stack([padded[i // 3 :, i % 3 :][:13:2, :11:2] for i in range(9)], -1)
    np.testing.assert_array_equal(got, windows.max(-1) * 100 + windows.argmax(-1))


def test_bilinear_resize(rng):
    source = """
        uint3 p = thread_position_in_grid;
        float2 scale = float2(W, H) / float2(threads_per_grid.yz);
        float2 at = max((float2(p.yz) + 0.5) * scale - 0.5, 0.0);
        int2 a = int2(at), b = min(a + 1, int2(W - 1, H - 1));
        float2 f = at - float2(a);
        float top = mix(float(x[(a.y * W + a.x) * C + p.x]), float(x[(a.y * W + b.x) * C + p.x]),
            f.x);
        float bottom = mix(float(x[(b.y * W + a.x) * C + p.x]), float(x[(b.y * W + b.x) * C
            + p.x]), f.x);
        out[(p.z * threads_per_grid.y + p.y) * C + p.x] = uchar(rint(mix(top, bottom, f.y)));
    """
    x = rng.integers(0, 256, (9, 12, 3)).astype(np.uint8)
    got = run_one(
        source,
        {"x": x, "W": 12, "H": 9, "C": 3},
        {"out": ((20, 31, 3), mx.uint8)},
        (3, 31, 20),
        (3, 8, 4),
    )

    def axis(n_out, n_in):
        at = np.maximum((np.arange(n_out) + 0.5) * n_in / n_out - 0.5, 0)
        a = at.astype(int)
        return a, np.minimum(a + 1, n_in - 1), at - a

    (ya, yb, fy), (xa, xb, fx) = axis(20, 9), axis(31, 12)
    xf = x.astype(np.float64)
    row = lambda y: xf[y][:, xa] * (1 - fx)[:, None] + xf[y][:, xb] * fx[:, None]  # noqa: E731
    want = row(ya) * (1 - fy)[:, None, None] + row(yb) * fy[:, None, None]
    assert np.abs(got - want).max() <= 0.51


def test_unfold(rng):
    source = """
        int i = thread_position_in_grid.x;
        int kx = i % K, ky = i / K % K, c = i / (K * K) % C;
        int ox = i / (K * K * C) % (W - K + 1), oy = i / (K * K * C) / (W - K + 1);
        out[i] = x[((oy + ky) * W + ox + kx) * C + c];
    """
    x = rng.standard_normal((6, 7, 2)).astype(np.float32)
    shape = (4, 5, 2, 3, 3)
    got = run_one(
        source,
        {"x": x, "W": 7, "C": 2},
        {"out": (shape, mx.float32)},
        int(np.prod(shape)),
        50,
        template=[("K", 3)],
    )
    want = np.lib.stride_tricks.sliding_window_view(x, (3, 3), (0, 1))
    np.testing.assert_array_equal(got, want)
