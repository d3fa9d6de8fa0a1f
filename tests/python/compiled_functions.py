"""Compares compiled functions with the original ones, for the tests of mx.compile."""

import mlx.core as mx
import mlx.utils


def bits(a: mx.array) -> bytes:
    """The array's bytes, with one value for all NaNs."""
    if mx.issubdtype(a.dtype, mx.floating):
        a = mx.where(mx.isnan(a), mx.array(float("nan"), a.dtype), a)
    return (
        bytes(memoryview(mx.contiguous(a.astype(a.dtype)).view(mx.uint8)).tobytes())
        if a.size
        else b""
    )


def same(a: object, b: object) -> bool:
    flat_a, flat_b = mlx.utils.tree_flatten(a), mlx.utils.tree_flatten(b)
    assert [k for k, _ in flat_a] == [k for k, _ in flat_b]
    for (_, x), (_, y) in zip(flat_a, flat_b):
        if not isinstance(x, mx.array):
            assert x == y
            continue
        assert (x.shape, x.dtype) == (y.shape, y.dtype)
        assert bits(x.reshape(-1)) == bits(y.reshape(-1))
    return True


class Counted:
    """A function that counts its calls."""

    def __init__(self, fun):
        self.fun = fun
        self.calls = 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.fun(*args, **kwargs)
