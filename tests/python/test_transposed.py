"""Copies of transposed arrays, and operations that read them: large ones move in squares."""

import mlx.core as mx
import numpy as np
import pytest

DTYPES = [np.bool_, np.uint8, np.int16, np.float16, np.float32, np.int64, np.complex64]
DEVICES = [mx.cpu, mx.gpu]


def random_array(rng: np.random.Generator, shape: tuple[int, ...], dtype: type) -> np.ndarray:
    return rng.integers(0, 255, shape).astype(dtype)


def random_shape(rng: np.random.Generator, ndim: int) -> tuple[int, ...]:
    return tuple(int(length) for length in rng.integers(1, 150 if ndim < 3 else 40, ndim))


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("dtype", DTYPES)
def test_contiguous_copies_of_permuted_views(dtype, device):
    rng = np.random.default_rng(np.dtype(dtype).num)
    for turn in range(24):
        ndim = 2 + turn % 4
        x = random_array(rng, random_shape(rng, ndim), dtype)
        axes = [int(axis) for axis in rng.permutation(ndim)]
        view = tuple(slice(int(rng.integers(0, 3)), None, int(rng.integers(1, 3))) for _ in axes)
        with mx.stream(device):
            for part in (..., view):
                expected = x[part].transpose(axes)
                permuted = mx.transpose(mx.array(x)[part], axes)
                np.testing.assert_array_equal(np.array(mx.contiguous(permuted)), expected)
                target = mx.zeros(expected.shape, permuted.dtype)
                target[...] = permuted
                np.testing.assert_array_equal(np.array(target), expected)


@pytest.mark.parametrize("side", [15, 16, 63, 64, 65, 128, 500])
def test_squares_and_their_edges(side):
    for other in (16, 64, 100):
        x = np.arange(side * other, dtype=np.float32).reshape(side, other)
        np.testing.assert_array_equal(np.array(mx.contiguous(mx.array(x).T)), x.T)


@pytest.mark.parametrize("device", DEVICES)
@pytest.mark.parametrize("shape", [(130, 140), (3, 90, 70), (2, 3, 60, 50)])
def test_elementwise_operations_of_transposed_operands(shape, device):
    rng = np.random.default_rng(0)
    a = rng.standard_normal(shape, np.float32)
    b = rng.standard_normal((*shape[:-2], shape[-1], shape[-2]), np.float32).swapaxes(-1, -2)
    with mx.stream(device):
        x, y = mx.array(a), mx.swapaxes(mx.array(np.ascontiguousarray(b.swapaxes(-1, -2))), -1, -2)
        np.testing.assert_array_equal(np.array(x + y), a + b)
        np.testing.assert_array_equal(np.array(y - x), b - a)
        np.testing.assert_array_equal(np.array(mx.where(x > y, x, y)), np.where(a > b, a, b))
        np.testing.assert_array_equal(np.array(mx.where(y > 0, x, 2.0)), np.where(b > 0, a, 2))
        row = x[..., :1, :]
        np.testing.assert_array_equal(np.array(row * y), a[..., :1, :] * b)
        compiled = mx.compile(lambda p, q: mx.abs(p) * q + p)
        for _ in range(3):  # before and after the kernel is ready
            np.testing.assert_allclose(np.array(compiled(x, y)), np.abs(a) * b + a, rtol=1e-6)
            np.testing.assert_allclose(np.array(compiled(y, x)), np.abs(b) * a + b, rtol=1e-6)
            mx.synchronize()


def test_an_operand_that_nobody_else_holds():
    a = np.arange(150 * 150, dtype=np.float32).reshape(150, 150)
    x = mx.array(a) + 1
    np.testing.assert_array_equal(np.array(x + x.T), (a + 1) + (a + 1).T)
    np.testing.assert_array_equal(np.array((mx.array(a) + 1).T - mx.array(a)), (a + 1).T - a)
