"""Matrix types: construction, elements, arithmetic, transpose and determinant."""

from itertools import product

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one

SHAPES = list(product((2, 3, 4), repeat=2))


@pytest.mark.parametrize("columns, rows", SHAPES)
@pytest.mark.parametrize("name", ["float", "half"])
def test_products_and_transpose(rng: np.random.Generator, columns: int, rows: int, name: str):
    """Matrices are stored by columns: what NumPy calls the transpose of (columns, rows)."""
    a, v, w = (rng.integers(-3, 4, n).astype(np.float32) for n in ((columns, rows), columns, rows))
    b = rng.integers(-3, 4, (2, columns)).astype(np.float32)
    body = f"""
        {name}{columns}x{rows} m; {name}{columns} v; {name}{rows} w; {name}2x{columns} n;
        for (int i = 0; i < {columns}; ++i) {{
            for (int j = 0; j < {rows}; ++j) m[i][j] = a[i * {rows} + j];
            v[i] = x[i]; n[0][i] = b[i]; n[1][i] = b[{columns} + i];
        }}
        for (int j = 0; j < {rows}; ++j) w[j] = y[j];
        device float* o = out;
        {name}{rows} mv = m * v; {name}{columns} wm = w * m;
        {name}{rows}x{columns} t = metal::transpose(m);
        {name}2x{rows} mn = m * n;
        {name}{columns}x{rows} sum = m + m * 2 - 3 * m + -m / {name}(2);
        for (int j = 0; j < {rows}; ++j) *o++ = mv[j];
        for (int i = 0; i < {columns}; ++i) *o++ = wm[i];
        for (int j = 0; j < {rows}; ++j) for (int i = 0; i < {columns}; ++i) *o++ = t[j][i];
        for (int i = 0; i < 2; ++i) for (int j = 0; j < {rows}; ++j) *o++ = mn[i][j];
        for (int i = 0; i < {columns}; ++i) for (int j = 0; j < {rows}; ++j) *o++ = sum[i][j];
        *o++ = (m == m) + 2 * (m != transpose(t));
    """
    want = np.concatenate([v @ a, a @ w, a.T.ravel(), (b @ a).ravel(), -a.ravel() / 2, [1]])
    inputs = {"a": a.ravel(), "b": b.ravel(), "x": v, "y": w}
    got = run_one(body, inputs, {"out": (want.shape, mx.float32)}, 1)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_determinant(rng: np.random.Generator, n: int):
    a = rng.integers(-4, 5, (16, n, n)).astype(np.float32)
    body = f"""
        uint i = thread_position_in_grid.x;
        float{n}x{n} m;
        for (int c = 0; c < {n}; ++c) for (int r = 0; r < {n}; ++r) m[c][r] = a[(i * {n} + c) * {n} + r];
        out[i] = determinant(m);
    """
    got = run_one(body, {"a": a}, {"out": ((16,), mx.float32)}, 16)
    np.testing.assert_allclose(got, np.linalg.det(a.astype(np.float64)), atol=1e-3)


def test_constructors_and_elements():
    header = "constant float2x2 kMatrix = float2x2(1, 2, 3, 4);"
    body = """
        threadgroup float4x4 shared;
        float2x2 a = float2x2(float2(1, 2), float2(3, 4));
        float2x2 b = {float2(1, 2), float2(3, 4)};
        float2x3 c = float2x3(1, 2, 3, 4, 5, 6);
        float3x3 d = float3x3(2.0f);
        half2x2 e = half2x2(a);
        out[0] = a[1].x; out[1] = b[0][1]; out[2] = c[1].z; out[3] = d[2][2] + d[0][1]; out[4] = e[1][1];
        shared = float4x4(1);
        shared[2].yz = float2(5, 6);
        shared[1][3] += 7;
        out[5] = shared[2].y + shared[2][2]; out[6] = shared[1].w; out[7] = shared.columns[3].w;
        device float4x4* o = (device float4x4*)(out + 16);
        *o = shared; (*o)[0] *= 2; *o += shared; (*o)[3][0] = 9;
        out[8] = kMatrix[1].y; out[9] = (kMatrix * float2(1, 1)).x;
        a *= 2; a -= b; a *= b; out[10] = a[0].x; out[11] = a[1].y;
        const float2x2 k = a; out[12] = k[1][0]; out[13] = sizeof(float3x3); out[14] = sizeof(half4x2);
        metal::matrix<float, 4, 4> g(3); out[15] = metal::determinant(g);
    """
    got = run_one(body, {}, {"out": ((32,), mx.float32)}, 1, header=header)
    b = np.array([[1, 2], [3, 4]])
    a = b @ b
    want = [3, 2, 6, 2, 4, 11, 7, 1, 4, 4, a[0, 0], a[1, 1], a[1, 0], 48, 16, 81]
    np.testing.assert_array_equal(got[:16], want)
    m = np.eye(4)
    m[2, 1:3], m[1, 3] = [5, 6], 7
    o = m.copy()
    o[0] *= 2
    o += m
    o[3, 0] = 9
    np.testing.assert_array_equal(got[16:].reshape(4, 4), o)
