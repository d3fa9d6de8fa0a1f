"""Integers, bool and mixed layouts against NumPy's semantics."""

import mlx.core as mx
import numpy as np
import pytest

INTEGERS = ["uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"]
REALS = [*INTEGERS, "float16", "float32"]


def integers(dtype: str, n: int = 400, seed: int = 0) -> np.ndarray:
    """Values over the whole range of the type, its ends included."""
    info = np.iinfo(dtype)
    values = np.random.default_rng(seed).integers(info.min, info.max, n, dtype, endpoint=True)
    values[:4] = [info.min, info.max, 0, 1]
    return values


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["add", "subtract", "multiply", "maximum", "minimum"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_arithmetic_wraps(name, dtype):
    a, b = integers(dtype), integers(dtype, seed=1)[::-1].copy()
    got = np.array(getattr(mx, name)(mx.array(a), mx.array(b)))
    np.testing.assert_array_equal(got, getattr(np, name)(a, b))
    assert got.dtype == a.dtype


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_division_and_remainder(dtype):
    a, b = integers(dtype), integers(dtype, seed=1)
    b[10:20] = 0
    if np.iinfo(dtype).min < 0:
        b[20:30] = -1
        b[0] = -1
    quotient, rest = np.floor_divide(a, b), np.remainder(a, b)
    np.testing.assert_array_equal(np.array(mx.floor_divide(mx.array(a), mx.array(b))), quotient)
    np.testing.assert_array_equal(np.array(mx.remainder(mx.array(a), mx.array(b))), rest)
    both = mx.divmod(mx.array(a), mx.array(b))
    np.testing.assert_array_equal(np.array(both[0]), quotient)
    np.testing.assert_array_equal(np.array(both[1]), rest)


@pytest.mark.parametrize("dtype", INTEGERS)
def test_bits(dtype):
    a, b = integers(dtype), integers(dtype, seed=1)
    for name in ("bitwise_and", "bitwise_or", "bitwise_xor"):
        got = np.array(getattr(mx, name)(mx.array(a), mx.array(b)))
        np.testing.assert_array_equal(got, getattr(np, name)(a, b), err_msg=name)
    np.testing.assert_array_equal(np.array(mx.bitwise_invert(mx.array(a))), ~a)
    width = np.iinfo(dtype).bits
    shift = (np.arange(400) % (width + 3)).astype(dtype)
    for name in ("left_shift", "right_shift"):
        got = np.array(getattr(mx, name)(mx.array(a), mx.array(shift)))
        np.testing.assert_array_equal(got, getattr(np, name)(a, shift), err_msg=name)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_power(dtype):
    base = integers(dtype)
    exponent = (np.arange(400) % 9).astype(dtype)
    np.testing.assert_array_equal(
        np.array(mx.power(mx.array(base), mx.array(exponent))), base**exponent
    )


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize(
    "name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
)
def test_comparisons(name, dtype):
    a = np.random.default_rng(0).integers(0, 5, (7, 9)).astype(dtype)
    b = np.random.default_rng(1).integers(0, 5, (9,)).astype(dtype)
    got = np.array(getattr(mx, name)(mx.array(a), mx.array(b)))
    np.testing.assert_array_equal(got, getattr(np, name)(a, b))


def test_bool():
    a = np.array([True, True, False, False])
    b = np.array([True, False, True, False])
    x, y = mx.array(a), mx.array(b)
    np.testing.assert_array_equal(np.array(mx.logical_and(x, y)), a & b)
    np.testing.assert_array_equal(np.array(mx.logical_or(x, y)), a | b)
    np.testing.assert_array_equal(np.array(mx.logical_not(x)), ~a)
    np.testing.assert_array_equal(np.array(mx.add(x, y)), a | b)
    np.testing.assert_array_equal(np.array(mx.multiply(x, y)), a & b)
    np.testing.assert_array_equal(np.array(mx.maximum(x, y)), a | b)


def test_logical_operations_take_any_number():
    x = mx.array([0, 1], mx.uint8)
    assert mx.logical_and(x, -1).tolist() == [False, True]
    assert mx.logical_or(300, x).tolist() == [True, True]
    assert mx.logical_xor(x, 0.5).tolist() == [True, False]
    assert mx.logical_and(2, True).dtype == mx.bool_


@pytest.mark.parametrize("stream", [mx.cpu, mx.gpu])
def test_signs(stream):
    for dtype in (mx.float32, mx.float16, mx.bfloat16):
        x = mx.array([float("nan"), -0.0, 0.0, 2.0, -3.0, float("-inf")], dtype)
        signs = mx.sign(x, stream=stream).astype(mx.float32)
        assert signs.tolist() == [0, 0, 0, 1, -1, -1]


SHAPES = [
    ((5,), (5,)),
    ((4, 1), (3,)),
    ((2, 3, 4), (3, 1)),
    ((1,), (6, 7)),
    ((3, 0), (1, 1)),
    ((), (2, 2)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_broadcasting(shapes):
    a, b = (
        np.random.default_rng(i).normal(size=s).astype(np.float32) for i, s in enumerate(shapes)
    )
    np.testing.assert_array_equal(np.array(mx.array(a) - mx.array(b)), a - b)
    np.testing.assert_array_equal(
        np.array(mx.where(mx.array(a) > 0, mx.array(a), mx.array(b))), np.where(a > 0, a, b)
    )


def test_views_of_views():
    a = np.arange(6 * 8 * 10 * 3, dtype=np.float32).reshape(6, 8, 10, 3)
    x = mx.array(a)
    pairs = [
        (x.transpose(3, 1, 0, 2), a.transpose(3, 1, 0, 2)),
        (x[::2, 1:, ::3], a[::2, 1:, ::3]),
        (x[::-1, :, ::-2].swapaxes(0, 2), a[::-1, :, ::-2].swapaxes(0, 2)),
        (x.transpose(2, 0, 1, 3).reshape(60, 24), a.transpose(2, 0, 1, 3).reshape(60, 24)),
        (mx.broadcast_to(x[0, 0, 0], (5, 4, 3)), np.broadcast_to(a[0, 0, 0], (5, 4, 3))),
    ]
    for ours, theirs in pairs:
        np.testing.assert_array_equal(np.array(ours), theirs)
        np.testing.assert_array_equal(np.array(ours * 2 + ours), theirs * 3)
        np.testing.assert_allclose(
            np.array(mx.sum(ours, axis=0)), theirs.sum(0, dtype=np.float64), rtol=1e-6
        )


@pytest.mark.parametrize("dtype", REALS)
@pytest.mark.parametrize("axis", [None, 0, 1, 2, (0, 2), (0, 1), (1, 2)], ids=str)
def test_reductions(axis, dtype):
    a = np.random.default_rng(0).integers(0, 3, (13, 5, 18)).astype(dtype)
    x = mx.array(a)
    for name in ("sum", "max", "min"):
        expected = getattr(a.astype(np.float64), name)(axis)
        np.testing.assert_allclose(
            np.array(getattr(mx, name)(x, axis=axis)).astype(np.float64),
            expected,
            rtol=2e-3 if dtype == "float16" else 1e-6,
        )
    np.testing.assert_array_equal(np.array(mx.all(x, axis=axis)), a.all(axis))
    np.testing.assert_array_equal(np.array(mx.any(x, axis=axis)), a.any(axis))


def test_long_sums_keep_their_digits():
    rng = np.random.default_rng(0)
    a = rng.uniform(0, 1, 3_000_001).astype(np.float32)
    exact = a.sum(dtype=np.float64)
    assert mx.sum(mx.array(a)).item() == pytest.approx(exact, rel=1e-6)
    assert mx.mean(mx.array(a).astype(mx.float16)).item() == pytest.approx(exact / a.size, rel=2e-3)
    tall = a[:3_000_000].reshape(1_000_000, 3)
    np.testing.assert_allclose(
        np.array(mx.sum(mx.array(tall), axis=0)), tall.sum(0, dtype=np.float64), rtol=1e-6
    )
    assert mx.sum(mx.array(a)).item() == mx.sum(mx.array(a)).item()
