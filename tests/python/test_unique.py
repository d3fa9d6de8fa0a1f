"""unique and minmax beside NumPy."""

import mlx.core as mx
import numpy as np
import pytest

RNG = np.random.default_rng(3)
DTYPES = [mx.bool_, mx.uint8, mx.int8, mx.int32, mx.int64, mx.float16, mx.float32, mx.complex64]
DEVICES = [mx.cpu, mx.gpu]


def numbers(shape, dtype):
    return mx.array(RNG.integers(0, 9, shape)).astype(dtype)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (1,), (40,), (3, 5), (2, 3, 7)])
def test_unique_is_numpys(shape, dtype, device):
    a = numbers(shape, dtype)
    x = np.array(a)
    values, index, inverse, counts = np.unique(
        x, return_index=True, return_inverse=True, return_counts=True
    )
    n = len(values)
    got = mx.unique(a, n, True, True, True, stream=device)
    assert [r.dtype for r in got] == [a.dtype, mx.uint32, mx.uint32, mx.int32]
    for ours, theirs in zip(got, (values, index, inverse.reshape(shape), counts)):
        np.testing.assert_array_equal(np.array(ours), theirs)
    longer = mx.unique(a, n + 3, return_counts=True, fill_value=1, stream=device)
    assert longer[0].tolist() == [*values.tolist(), *[dtype_one(a)] * 3]
    assert longer[1].tolist() == [*counts.tolist(), 0, 0, 0]
    assert mx.unique(a, n + 2).tolist() == [*values.tolist(), *[values[0]] * 2]


def dtype_one(a):
    return mx.array(1).astype(a.dtype).item()


def test_unique_leaves_the_largest_out():
    a = mx.array([2, 1, 2, 3, 1])
    values, index, inverse, counts = mx.unique(a, 2, True, True, True)
    assert values.tolist() == [1, 2] and index.tolist() == [1, 0]
    assert inverse.tolist() == [1, 0, 1, 1, 0] and counts.tolist() == [2, 2]
    assert [r.size for r in mx.unique(a, 0, True, False, True)] == [0, 0, 0]


def test_unique_of_special_numbers():
    nan = float("nan")
    values, counts = mx.unique(mx.array([nan, 1.0, nan, -0.0, 0.0]), 4, return_counts=True)
    np.testing.assert_array_equal(np.array(values), [0, 1, nan, nan])
    assert counts.tolist() == [2, 1, 1, 1]


def test_unique_of_a_view():
    a = mx.arange(24).reshape(4, 6)[::2, ::3].T
    assert mx.unique(a, 4).tolist() == [0, 3, 12, 15]


def test_unique_of_nothing():
    empty = mx.zeros((0, 3))
    assert [r.shape for r in mx.unique(empty, 0, True, True, True)] == [(0,), (0,), (0, 3), (0,)]
    values, counts = mx.unique(empty, 2, return_counts=True, fill_value=7)
    assert values.tolist() == [7, 7] and counts.tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"\[unique\].*a fill value is needed"):
        mx.unique(empty, 2)


def test_unique_refuses():
    a = mx.array([1, 2])
    with pytest.raises(ValueError, match=r"\[unique\] The size must not be negative, but is -1"):
        mx.unique(a, -1)
    with pytest.raises(ValueError, match=r"\[unique\] The fill value must have one element"):
        mx.unique(a, 3, fill_value=mx.array([1, 2]))
    with pytest.raises(TypeError):
        mx.unique(a)


def test_unique_has_derivatives_and_maps():
    x = mx.array([3.0, 1.0, 3.0])
    weights = mx.array([1.0, 2.0, 3.0])
    gradient = mx.grad(lambda a: (mx.unique(a, 3) * weights).sum())(x)
    assert gradient.tolist() == [2, 4, 0]  # the last element is filled with the first value
    (tangent,) = mx.jvp(lambda a: mx.unique(a, 2), [x], [weights])[1]
    assert tangent.tolist() == [2, 1]
    rows = mx.array([[3.0, 1.0, 3.0], [1.0, 2.0, 3.0]])
    together = mx.vmap(lambda a: tuple(mx.unique(a, 3, True, True, True)))(rows)
    for i in range(2):
        for got, alone in zip(together, mx.unique(rows[i], 3, True, True, True)):
            assert got[i].tolist() == alone.tolist()


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), ()])
@pytest.mark.parametrize("keepdims", [False, True])
def test_minmax(axis, keepdims, device):
    a = mx.array(RNG.standard_normal((3, 4)).astype(np.float32))
    low, high = mx.minmax(a, axis, keepdims, stream=device)
    assert mx.array_equal(low, mx.min(a, axis, keepdims))
    assert mx.array_equal(high, mx.max(a, axis, keepdims))


def test_minmax_of_others():
    low, high = mx.minmax(mx.array([1.0, float("nan")]))
    assert np.isnan(low.item()) and np.isnan(high.item())
    with pytest.raises(ValueError, match=r"\[min\]"):
        mx.minmax(mx.zeros((0,)))
    gradient = mx.grad(lambda a: mx.minmax(a)[1] - mx.minmax(a)[0])(mx.array([3.0, 1.0, 2.0]))
    assert gradient.tolist() == [1, -1, 0]
