"""Loops over a row of each thread, where rows differ in length and may be empty."""

import kernel_runner
import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel

# Lengths of rows in the mean: gangs choose other code for short rows.
MEANS = [1, 6, 40, 150]


def ragged(rng: np.random.Generator, rows: int, mean: int, empty: bool) -> np.ndarray:
    """The starts of rows, and the end of the last one."""
    lengths = rng.poisson(mean, rows) + (0 if empty else 1)
    if empty:
        lengths[rng.random(rows) < 0.2] = 0
    lengths[rows // 2] += 500
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int32)


def sums_of_rows(values: np.ndarray, starts: np.ndarray) -> np.ndarray:
    return np.array([values[a:b].sum() for a, b in zip(starts[:-1], starts[1:])])


SPARSE = {
    "int": "float s = 0; for (int j = p[r]; j < p[r + 1]; j++) s += v[j] * x[c[j]]; out[r] = s;",
    "uint": """uint start = p[r], end = p[r + 1]; float s = 0.0f;
        for (uint j = start; j < end; ++j) s += v[j] * x[c[j]]; out[r] = s;""",
    "long": """float s = 0; for (long j = p[r]; j < long(p[r + 1]); j++) s = fma(v[j], x[c[j]], s);
        out[r] = s;""",
    "ushort": """ushort n = p[r + 1] - p[r]; float s = 0;
        for (ushort k = 0; k < n; k++) s += v[p[r] + k] * x[c[p[r] + k]]; out[r] = s;""",
    "backwards": """float s = 0; for (int j = p[r + 1] - 1; j >= p[r]; j--) s += v[j] * x[c[j]];
        out[r] = s;""",
    "pointers": """const device float* at = v + p[r]; const device float* end = v + p[r + 1];
        const device int* column = c + p[r]; float s = 0;
        while (at < end) s += *at++ * x[*column++]; out[r] = s;""",
    "returns": """if (p[r] == p[r + 1]) { out[r] = 0; return; }
        float s = 0; int j = p[r]; do { s += v[j] * x[c[j]]; j++; } while (j < p[r + 1]); out[r] = s;""",
    "two sums": """float s = 0, t = 1; for (int j = p[r]; j < p[r + 1]; j++) { float q = x[c[j]]; s += v[j] * q;
        t += q; } out[r] = s + (t - t);""",
    "branch": """float s = 0; for (int j = p[r]; j < p[r + 1]; ++j) { if (v[j] != 0) s += v[j] * x[c[j]]; }
        out[r] = s;""",
    "branches": """float s = 0, t = 0; for (int j = p[r]; j < p[r + 1]; ++j) { float q = v[j];
        if (q > 0.5f) s += q * x[c[j]]; else if (q < -0.5f) t -= q * x[c[j]]; else s += q * x[c[j]]; }
        out[r] = s - t;""",
    "apart": """float s = 0; for (int j = p[r]; j < p[r + 1]; j++) s += w[3 * j + 1] * x[c[j]];
        out[r] = s;""",
}


@pytest.mark.parametrize("math_mode", ["safe", "fast"])
@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("form", kernel_runner.share(list(SPARSE)))
def test_sparse_products(form, mean, math_mode, rng: np.random.Generator):
    rows = 777
    starts = ragged(rng, rows, mean, empty=True)
    count = int(starts[-1])
    v, x = rng.normal(size=count).astype(np.float32), rng.normal(size=300).astype(np.float32)
    c = rng.integers(0, 300, count).astype(np.int32)
    (out,) = run_kernel(
        "uint r = thread_position_in_grid.x; if (r >= 777) return;" + SPARSE[form],
        {"p": starts, "c": c, "v": v, "x": x, "w": np.repeat(v, 3)},
        {"out": ((rows,), mx.float32)},
        (800, 1, 1),
        (64, 1, 1),
        compile_options={"math_mode": math_mode},
    )
    want = sums_of_rows(v.astype(np.float64) * x[c], starts)
    np.testing.assert_allclose(out, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize("empty", [False, True])
@pytest.mark.parametrize(
    "form, identity, numpy",
    kernel_runner.share(
        [
            ("s += v[j]", "0", np.add),
            ("s = max(s, v[j])", "-100", np.maximum),
            ("s |= v[j]", "0", np.bitwise_or),
            ("s = s * 3 + v[j]", "7", None),
        ]
    ),
)
def test_reductions_of_integers(form, identity, numpy, empty, mean, rng: np.random.Generator):
    rows = 200
    starts = ragged(rng, rows, mean, empty)
    v = rng.integers(-100, 100, starts[-1]).astype(np.int32)
    (out,) = run_kernel(
        f"""uint r = thread_position_in_grid.x; int s = {identity};
            for (int j = p[r]; j < p[r + 1]; j++) {form}; out[r] = s;""",
        {"p": starts, "v": v},
        {"out": ((rows,), mx.int32)},
        (rows, 1, 1),
        (100, 1, 1),
    )
    want = []
    for a, b in zip(starts[:-1], starts[1:]):
        s = np.int32(identity)
        with np.errstate(over="ignore"):
            for value in v[a:b]:
                s = s * np.int32(3) + value if numpy is None else numpy(s, value)
        want.append(s)
    np.testing.assert_array_equal(out, want)


@pytest.mark.parametrize("mean", MEANS)
def test_sums_of_floats_stay_in_order(mean, rng: np.random.Generator):
    """In safe math, a row's sum does not depend on the other rows of its gang."""
    rows = 512
    starts = ragged(rng, rows, mean, empty=True)
    v = (rng.normal(size=starts[-1]) * 10.0 ** rng.integers(-6, 6, starts[-1])).astype(np.float32)
    (out,) = run_kernel(
        """uint r = thread_position_in_grid.x; float s = 0;
           for (int j = p[r]; j < p[r + 1]; j++) s += v[j]; out[r] = s;""",
        {"p": starts, "v": v},
        {"out": ((rows,), mx.float32)},
        (rows, 1, 1),
        compile_options={"math_mode": "safe"},
    )
    want = [
        np.add.accumulate(v[a:b], dtype=np.float32)[-1] if b > a else 0
        for a, b in zip(starts[:-1], starts[1:])
    ]
    np.testing.assert_array_equal(out, np.array(want, np.float32))


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize(
    "form, want",
    [
        ("out[j] = v[j] * s[r]", lambda v, s, of: v * s[of]),
        ("out[j] = s[r] + v[c[j]]", lambda v, s, of: s[of] + v[np.arange(len(v))[::-1]]),
        (
            "if (v[c[j]] > 0) out[j] = v[c[j]]; else out[j] = s[r]",
            lambda v, s, of: np.where(v[::-1] > 0, v[::-1], s[of]),
        ),
    ],
)
def test_rows_that_are_stored(form, want, mean, rng: np.random.Generator):
    rows = 300
    starts = ragged(rng, rows, mean, empty=True)
    count = int(starts[-1])
    v, s = rng.normal(size=count).astype(np.float32), rng.normal(size=rows).astype(np.float32)
    (out,) = run_kernel(
        f"uint r = thread_position_in_grid.x; for (int j = p[r]; j < p[r + 1]; j++) {form};",
        {"p": starts, "v": v, "s": s, "c": np.arange(count, dtype=np.int32)[::-1]},
        {"out": ((count,), mx.float32)},
        (rows, 1, 1),
    )
    np.testing.assert_array_equal(out, want(v, s, np.repeat(np.arange(rows), np.diff(starts))))


def test_triangles(rng: np.random.Generator):
    """Forward substitution stores what later iterations of other loops read."""
    n, systems = 24, 100
    a = np.tril(rng.normal(size=(systems, n, n))).astype(np.float32)
    a[:, range(n), range(n)] = 2 + np.abs(a[:, range(n), range(n)])
    b = rng.normal(size=(systems, n)).astype(np.float32)
    (out,) = run_kernel(
        """uint k = thread_position_in_grid.x;
           for (int i = 0; i < 24; i++) {
               float s = b[k * 24 + i];
               for (int j = 0; j < i; j++) s -= a[(k * 24 + i) * 24 + j] * out[k * 24 + j];
               out[k * 24 + i] = s / a[(k * 24 + i) * 24 + i];
           }""",
        {"a": a, "b": b},
        {"out": ((systems, n), mx.float32)},
        (systems, 1, 1),
    )
    want = np.stack([np.linalg.solve(m.astype(np.float64), v) for m, v in zip(a, b)])
    np.testing.assert_allclose(out, want, rtol=2e-3, atol=2e-3)


def test_rows_of_a_triangle(rng: np.random.Generator):
    n = 300
    a = rng.normal(size=(n, n)).astype(np.float32)
    (out,) = run_kernel(
        """uint r = thread_position_in_grid.x; float s = 0;
           for (uint j = 0; j <= r; ++j) s += a[r * 300 + j]; out[r] = s;""",
        {"a": a},
        {"out": ((n,), mx.float32)},
        (n, 1, 1),
    )
    np.testing.assert_allclose(out, np.tril(a).astype(np.float64).sum(1), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("mean", MEANS)
@pytest.mark.parametrize(
    "form",
    [
        "s += ((const device float4*)v)[j];",
        "s += float4(v[4 * j], v[4 * j + 1], v[4 * j + 2], v[4 * j + 3]);",
        "s = max(s, ((const device float4*)v)[c[j]]) * factor;",
    ],
)
def test_vectors(form, mean, rng: np.random.Generator):
    rows = 150
    starts = ragged(rng, rows, mean, empty=True)
    count = int(starts[-1])
    v = rng.normal(size=(count, 4)).astype(np.float32)
    (out,) = run_kernel(
        f"""uint r = thread_position_in_grid.x; float4 factor = r % 2 ? 1.0f : 0.5f; float4 s = 0;
            for (int j = p[r]; j < p[r + 1]; j++) {{ {form} }} ((device float4*)out)[r] = s;""",
        {"p": starts, "v": v, "c": np.arange(count, dtype=np.int32)[::-1]},
        {"out": ((rows, 4), mx.float32)},
        rows,
    )
    want = np.zeros((rows, 4))
    for r, (a, b) in enumerate(zip(starts[:-1], starts[1:])):
        for j in range(a, b):
            if "max" in form:
                want[r] = np.maximum(want[r], v[count - 1 - j]) * (1.0 if r % 2 else 0.5)
            else:
                want[r] += v[j]
    np.testing.assert_allclose(out, want, rtol=1e-4, atol=1e-4)
