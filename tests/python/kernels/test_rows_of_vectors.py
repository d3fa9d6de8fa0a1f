"""Products of matrices with vectors whose lanes read several neighbouring elements at once."""

import kernel_runner
import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel

COLUMNS = 1024

# What a lane adds up of row `r`; `a` has the rows, and `x` the factors.
SUMS = {
    "float4": """float s = 0; for (uint j = lane; j < COLUMNS / 4; j += 32)
        s += dot(((const device float4*)(a + r * COLUMNS))[j], ((const device float4*)x)[j]);""",
    "float4, some members": """float s = 0; for (uint j = lane; j < COLUMNS / 4; j += 32) {
        float4 p = ((const device float4*)(a + r * COLUMNS))[j], q = ((const device float4*)x)[j];
        s += p.x * q.x + p.w * q.w; s += p.y * q.y; s += p.z * q.z; }""",
    "float4 sums": """float4 t = 0; for (uint j = lane; j < COLUMNS / 4; j += 32)
        t += ((const device float4*)(a + r * COLUMNS))[j] * ((const device float4*)x)[j];
        float s = (t.x + t.y) + (t.z + t.w);""",
    "run of 4": """float s = 0; for (uint j = lane * 4; j < COLUMNS; j += 128)
        for (uint i = 0; i < 4; ++i) s += a[r * COLUMNS + j + i] * x[j + i];""",
    "run of 8": """float s = 0; for (uint j = lane * 8; j < COLUMNS; j += 256)
        for (uint i = 0; i < 8; ++i) s += a[r * COLUMNS + j + i] * x[j + i];""",
    "run of 8, kept": """float s = 0; for (uint j = lane * 8; j < COLUMNS; j += 256) { float v[8];
        for (uint i = 0; i < 8; ++i) v[i] = x[j + i];
        for (uint i = 0; i < 8; ++i) s = fma(a[r * COLUMNS + j + i], v[i], s); }""",
    "run of 16": """float s = 0; for (uint j = lane * 16; j < COLUMNS; j += 512)
        for (uint i = 0; i < 16; ++i) s += a[r * COLUMNS + j + i] * x[j + i];""",
    "int4": """int s = 0; for (uint j = lane; j < COLUMNS / 4; j += 32) {
        int4 p = int4(((const device float4*)(a + r * COLUMNS))[j]) * int4(((const device float4*)x)[j]);
        s += p.x + p.y + p.z + p.w; }""",
}
ROWS = {
    "SIMD-group a row": (
        "uint r = threadgroup_position_in_grid.x * 8 + simdgroup_index_in_threadgroup;",
        1,
    ),
    "SIMD-group four rows": (
        "uint first = (threadgroup_position_in_grid.x * 8 + simdgroup_index_in_threadgroup) * 4;"
        "for (uint r = first; r < first + 4; ++r)",
        4,
    ),
}


@pytest.mark.parametrize("math_mode", ["safe", "fast"])
@pytest.mark.parametrize("rows", list(ROWS))
@pytest.mark.parametrize("form", kernel_runner.share(list(SUMS)))
def test_rows(form, rows, math_mode, rng: np.random.Generator):
    a = rng.integers(-9, 9, (64, COLUMNS)).astype(np.float32)
    x = rng.integers(-9, 9, COLUMNS).astype(np.float32)
    prefix, in_group = ROWS[rows]
    (got,) = run_kernel(
        f"""constexpr uint COLUMNS = {COLUMNS}; uint lane = thread_index_in_simdgroup;
        {prefix} {{ {SUMS[form]} s = simd_sum(s); if (lane == 0) out[r] = s; }}""",
        {"a": a, "x": x},
        {"out": ((64,), mx.float32)},
        grid=(64 // in_group * 32, 1, 1),
        threadgroup=(min(256, 64 // in_group * 32), 1, 1),
        compile_options={"math_mode": math_mode},
    )
    assert np.array_equal(got, a @ x)


# What a thread does with the vector `v`, one of its own.
VECTORS = {
    "normalised": (
        "v * rsqrt(dot(v, v) + 1)",
        lambda v: v / np.sqrt((v * v).sum(-1, keepdims=True) + 1),
    ),
    "turned": ("float4(v.y, -v.x, v.w, -v.z)", lambda v: v[:, [1, 0, 3, 2]] * [1, -1, 1, -1]),
    "two members": ("float4(v.x * v.w)", lambda v: np.repeat(v[:, :1] * v[:, 3:], 4, 1)),
    "largest": ("v - max(max(v.x, v.y), max(v.z, v.w))", lambda v: v - v.max(-1, keepdims=True)),
}


@pytest.mark.parametrize("threads", [1, 7, 100, 1000])
@pytest.mark.parametrize("form", list(VECTORS))
def test_vectors_of_threads(form, threads, rng: np.random.Generator):
    expression, reference = VECTORS[form]
    v = rng.normal(size=(threads, 4)).astype(np.float32)
    (got,) = run_kernel(
        f"""uint i = thread_position_in_grid.x; float4 v = ((const device float4*)a)[i];
        ((device float4*)out)[i] = {expression};""",
        {"a": v},
        {"out": ((threads, 4), mx.float32)},
        grid=(threads, 1, 1),
        threadgroup=(min(threads, 64), 1, 1),
    )
    np.testing.assert_allclose(got, reference(v.astype(np.float64)), 1e-5, 1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.uint32, np.float16], ids=str)
@pytest.mark.parametrize("threads", [1, 7, 100, 1000])
@pytest.mark.parametrize("run", [4, 8])
def test_runs_of_threads(run, threads, dtype, rng: np.random.Generator):
    """Each thread turns its run around, and adds to it."""
    a = rng.integers(0, 100, (threads, run)).astype(dtype)
    (got,) = run_kernel(
        f"""uint first = thread_position_in_grid.x * {run};
        for (uint i = 0; i < {run}; ++i) out[first + i] = a[first + {run} - 1 - i] + T(i);""",
        {"a": a},
        {"out": (a.shape, getattr(mx, np.dtype(dtype).name))},
        grid=threads,
        threadgroup=min(threads, 64),
        template=[("T", getattr(mx, np.dtype(dtype).name))],
    )
    assert np.array_equal(got, a[:, ::-1] + np.arange(run).astype(dtype))
