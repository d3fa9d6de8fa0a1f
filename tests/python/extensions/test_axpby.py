"""The sample operation axpby against NumPy: types, layouts, devices and transformations."""

import itertools

import ml_dtypes
import mlx.core as mx
import numpy as np
import pytest
from mlx_sample_extensions import axpby

STREAMS = pytest.mark.parametrize("stream", [mx.cpu, mx.gpu], ids=["cpu", "gpu"])
# MLX's type, NumPy's type, and its rounding error.
TYPES = [
    (mx.float32, np.float32, 2e-7),
    (mx.float16, np.float16, 1e-3),
    (mx.bfloat16, ml_dtypes.bfloat16, 8e-3),
    (mx.complex64, np.complex64, 2e-7),
]


def values(rng: np.random.Generator, shape: tuple, dtype: type) -> np.ndarray:
    a = rng.standard_normal(shape)
    if np.dtype(dtype).kind == "c":
        a = a + 1j * rng.standard_normal(shape)
    return a.astype(dtype)


def wide(a: np.ndarray) -> np.ndarray:
    return a.astype(np.complex128 if a.dtype.kind == "c" else np.float64)


def as_array(a: np.ndarray, dtype: mx.Dtype) -> mx.array:
    return mx.array(a.astype(np.float32) if dtype == mx.bfloat16 else a).astype(dtype)


def as_numpy(a: mx.array) -> np.ndarray:
    return wide(np.array(a.astype(mx.float32) if a.dtype == mx.bfloat16 else a))


def assert_axpby(result: mx.array, x: np.ndarray, y: np.ndarray, a: float, b: float, eps: float):
    expected = a * wide(x) + b * wide(y)
    scale = abs(a) * np.abs(wide(x)) + abs(b) * np.abs(wide(y))
    assert result.shape == expected.shape
    assert np.all(np.abs(as_numpy(result) - expected) <= 3 * eps * scale + 1e-7)


@STREAMS
@pytest.mark.parametrize("dtype, np_dtype, eps", TYPES, ids=lambda v: str(v).rpartition(".")[2])
@pytest.mark.parametrize("shape", [(), (1,), (7, 5), (3, 1, 70, 33), (300_000,)])
def test_contiguous(rng, stream, dtype, np_dtype, eps, shape):
    x, y = values(rng, shape, np_dtype), values(rng, shape, np_dtype)
    z = axpby(as_array(x, dtype), as_array(y, dtype), 4.0, -2.5, stream=stream)
    assert z.dtype == dtype
    assert_axpby(z, x, y, 4.0, -2.5, eps)


@STREAMS
@pytest.mark.parametrize("dtype, np_dtype, eps", TYPES, ids=lambda v: str(v).rpartition(".")[2])
def test_results_beyond_the_caches(rng, stream, dtype, np_dtype, eps):
    count = (34 << 20) // np.dtype(np_dtype).itemsize + 5
    x, y = (np.tile(values(rng, (4099,), np_dtype), count // 4099 + 1)[:count] for _ in range(2))
    z = axpby(as_array(x, dtype), as_array(y, dtype), 0.5, 3.0, stream=stream)
    assert_axpby(z, x, y, 0.5, 3.0, eps)


@STREAMS
@pytest.mark.parametrize("alpha, beta", [(1.0, 0.0), (2.0, 1.0), (-0.5, 0.25)])
def test_unusual_halves(stream, alpha, beta):
    special = [np.inf, -np.inf, np.nan, 65504, 65504, -65504, 6e-8, 6e-5, -6.1e-5, 0.0, -0.0]
    x = np.array(special, np.float16)
    y = x[::-1].copy()
    with np.errstate(all="ignore"):
        expected = np.float32(alpha) * x.astype(np.float32) + np.float32(beta) * y.astype(
            np.float32
        )
        expected = expected.astype(np.float16)
    z = axpby(mx.array(x), mx.array(y), alpha, beta, stream=stream)
    np.testing.assert_array_equal(np.array(z), expected)


LAYOUTS = {
    "same": lambda a: a,
    "transposed": lambda a: a.T,
    "reversed": lambda a: a[::-1, ::-1],
    "every third": lambda a: a[:, ::3],
    "row": lambda a: a[:1],
    "column": lambda a: a[:, :1],
    "broadcast": lambda a: a[0, 0],
}


@STREAMS
@pytest.mark.parametrize("dtype, np_dtype, eps", TYPES, ids=lambda v: str(v).rpartition(".")[2])
@pytest.mark.parametrize(
    "left, right",
    [p for p in itertools.product(LAYOUTS, repeat=2) if "every third" not in p or p[0] == p[1]],
)
def test_layouts(rng, stream, dtype, np_dtype, eps, left, right):
    x, y = values(rng, (12, 12), np_dtype), values(rng, (12, 12), np_dtype)
    z = axpby(
        LAYOUTS[left](as_array(x, dtype)), LAYOUTS[right](as_array(y, dtype)), 0.5, 3, stream=stream
    )
    assert_axpby(z, LAYOUTS[left](x), LAYOUTS[right](y), 0.5, 3, eps)


@STREAMS
def test_views_and_results_of_other_operations(rng, stream):
    x, y = values(rng, (40, 30), np.float32), values(rng, (40, 30), np.float32)
    with mx.stream(stream):
        a, b = mx.array(x) + 1, mx.array(y) * 2
        z = axpby(a[5:20], b[10:25], 2.0, 1.0) - 1
    assert_axpby(z + 1, x[5:20] + 1, 2 * y[10:25], 2.0, 1.0, 1e-6)


@STREAMS
def test_operands_survive(rng, stream):
    x, y = mx.array(values(rng, (100,), np.float32)), mx.array(values(rng, (100,), np.float32))
    before = np.array(x), np.array(y)
    mx.eval(axpby(x, y, 2.0, 3.0, stream=stream), axpby(x, x, 2.0, 3.0, stream=stream))
    assert np.array_equal(np.array(x), before[0]) and np.array_equal(np.array(y), before[1])


@STREAMS
def test_a_long_chain_reuses_memory_and_stays_right(stream):
    z = mx.zeros((1000,))
    for _ in range(100):
        z = axpby(z, mx.ones((1000,)), 0.5, 1.0, stream=stream)
    assert np.allclose(np.array(z), 2.0)


def test_across_devices(rng):
    x, y = values(rng, (257,), np.float32), values(rng, (257,), np.float32)
    a = axpby(mx.array(x), mx.array(y), 1.0, 2.0, stream=mx.gpu)
    b = axpby(a, mx.array(y), 3.0, 1.0, stream=mx.cpu)
    c = axpby(b, a, 1.0, 1.0, stream=mx.gpu)
    expected = 4 * (x.astype(np.float64) + 2 * y) + y
    assert np.allclose(np.array(c), expected, rtol=1e-5, atol=1e-5)


@STREAMS
def test_types_promote(stream):
    one = mx.ones((4,))
    cases = [
        (mx.int32, mx.int32, mx.float32),
        (mx.bool_, mx.uint8, mx.float32),
        (mx.float16, mx.int32, mx.float16),
        (mx.float16, mx.bfloat16, mx.float32),
        (mx.float32, mx.complex64, mx.complex64),
    ]
    for left, right, expected in cases:
        z = axpby(one.astype(left), one.astype(right), 4.0, 2.0, stream=stream)
        assert z.dtype == expected
        assert z.tolist() == [6.0] * 4


@STREAMS
def test_empty(stream):
    assert axpby(mx.zeros((0, 3)), mx.zeros((0, 3)), 1.0, 2.0, stream=stream).shape == (0, 3)


# ---- transformations ----


@STREAMS
def test_vjp(rng, stream):
    x, y = mx.array(values(rng, (5, 4), np.float32)), mx.array(values(rng, (4,), np.float32))
    g = mx.array(values(rng, (5, 4), np.float32))
    _, (gx, gy) = mx.vjp(lambda a, b: axpby(a, b, 4.0, -3.0, stream=stream), [x, y], [g])
    assert np.allclose(np.array(gx), 4 * np.array(g), rtol=1e-6)
    assert np.allclose(np.array(gy), -3 * np.array(g).sum(axis=0), rtol=1e-5, atol=1e-6)


@STREAMS
@pytest.mark.parametrize("moved", [(0,), (1,), (0, 1)])
def test_jvp(rng, stream, moved):
    x, y, tx, ty = (values(rng, (5, 4), np.float32) for _ in range(4))

    def function(*arguments):
        full = [mx.array(x), mx.array(y)]
        for operand, value in zip(moved, arguments):
            full[operand] = value
        return axpby(full[0], full[1], 2.0, 5.0, stream=stream)

    primals = [mx.array((x, y)[i]) for i in moved]
    tangents = [mx.array((tx, ty)[i]) for i in moved]
    _, (out,) = mx.jvp(function, primals, tangents)
    expected = (0 in moved) * 2.0 * tx + (1 in moved) * 5.0 * ty
    assert np.allclose(np.array(out), expected, rtol=1e-5, atol=1e-6)


def test_jvp_of_exchanged_operands(rng):
    x, y, tx, ty = (mx.array(values(rng, (6,), np.float32)) for _ in range(4))
    _, (out,) = mx.jvp(lambda a, b: axpby(b, a, 2.0, 5.0), [x, y], [tx, ty])
    assert np.allclose(np.array(out), 2 * np.array(ty) + 5 * np.array(tx), rtol=1e-5)


def test_gradient_of_a_gradient():
    cube = lambda a: axpby(a * a * a, a, 2.0, 1.0).sum()  # noqa: E731
    second = mx.grad(lambda a: mx.grad(cube)(a).sum())(mx.array([1.0, 2.0]))
    assert np.allclose(np.array(second), [12.0, 24.0])


@STREAMS
@pytest.mark.parametrize(
    "axes", [(0, 0), (1, 1), (0, 1), (2, 0), (0, None), (None, 1), (-1, 0), (1, -1)]
)
def test_vmap(rng, stream, axes):
    shape = (3, 4, 5)

    def operand(axis):
        full = values(rng, shape, np.float32)
        return full[0] if axis is None else np.moveaxis(full, 0, axis)

    x, y = operand(axes[0]), operand(axes[1])
    mapped = mx.vmap(lambda a, b: axpby(a, b, 2.0, 3.0, stream=stream), in_axes=axes)
    out = mapped(mx.array(x), mx.array(y))
    front = [a if axis is None else np.moveaxis(a, axis, 0) for a, axis in zip((x, y), axes)]
    assert np.allclose(np.array(out), 2 * front[0] + 3 * front[1], rtol=1e-5, atol=1e-5)


def test_vmap_nested_and_with_gradients(rng):
    x, y = (mx.array(values(rng, (3, 4, 5), np.float32)) for _ in range(2))
    twice = mx.vmap(mx.vmap(lambda a, b: axpby(a, b, 2.0, 3.0)))
    assert np.allclose(np.array(twice(x, y)), 2 * np.array(x) + 3 * np.array(y), rtol=1e-5)
    gradient = mx.vmap(mx.grad(lambda a, b: axpby(a, b, 2.0, 3.0).sum()))(x, y)
    assert np.allclose(np.array(gradient), 2.0)


def test_in_a_compiled_function(rng):
    x = mx.array(values(rng, (10,), np.float32))
    z = mx.compile(lambda a: axpby(a, a, 1.0, 2.0) + 1)(x)
    assert np.allclose(np.array(z), 3 * np.array(x) + 1, rtol=1e-5)


# ---- arguments ----


def test_signature():
    one = mx.ones((3,))
    assert axpby(one, one, beta=1.0, alpha=2.0).tolist() == [3.0] * 3
    for stream in (None, mx.cpu, mx.gpu, mx.default_stream(mx.cpu), mx.Device(mx.gpu)):
        assert axpby(one, one, 4.0, 2.0, stream=stream).tolist() == [6.0] * 3
    with pytest.raises(TypeError):
        axpby(x=one, y=one, alpha=1.0, beta=2.0)
    with pytest.raises(TypeError):
        axpby(one, one, 1.0, 2.0, mx.cpu)
    with pytest.raises(TypeError):
        axpby(one, "two", 1.0, 2.0)
    with pytest.raises(TypeError):
        axpby(one, one, 1.0, 2.0, stream="cpu")


def test_errors():
    with pytest.raises(ValueError, match="broadcast"):
        axpby(mx.ones((3,)), mx.ones((4,)), 1.0, 2.0)
    with mx.stream(mx.cpu), pytest.raises(ValueError, match=r"\[axpby\].*float64"):
        axpby(mx.ones((3,)).astype(mx.float64), mx.ones((3,)), 1.0, 2.0)


@pytest.mark.parametrize("stream", [mx.cpu, mx.gpu])
def test_results_that_no_grid_covers_are_refused(stream):
    x = mx.broadcast_to(mx.array(1, mx.float16), (65537, 65537))
    z = axpby(x, x, 1.0, 2.0, stream=stream)
    with pytest.raises(RuntimeError, match="Invalid grid .* must be from 1 to 4294967295 threads"):
        mx.eval(z)
