"""Operations on random views of random shapes, beside NumPy."""

import mlx.core as mx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

NUMBERS = st.integers(0, 2**31)


class Views:
    """The same view of the same array in MLX and in NumPy, made in random steps."""

    def __init__(self, seed: int, dtype=np.int32):
        self.rng = np.random.default_rng(seed)
        shape = self.rng.integers(1, 6, self.rng.integers(1, 5))
        if self.rng.random() < 0.1:
            shape[self.rng.integers(len(shape))] = 0
        if self.rng.random() < 0.2:
            shape[-1] = self.rng.integers(30, 70)
        values = self.rng.integers(-100, 100, shape)
        self.numpy = values.astype(dtype)
        self.mlx = mx.array(self.numpy)
        for _ in range(self.rng.integers(0, 4)):
            self.step()

    def step(self) -> None:
        kinds = [self.transposed, self.sliced, self.widened, self.reshaped, self.flipped]
        self.rng.choice(kinds)()

    def transposed(self) -> None:
        axes = [int(axis) for axis in self.rng.permutation(self.numpy.ndim)]
        self.numpy, self.mlx = self.numpy.transpose(axes), mx.transpose(self.mlx, axes)

    def sliced(self) -> None:
        index = []
        for size in self.numpy.shape:
            start, stop = (int(n) for n in self.rng.integers(-size - 1, size + 2, 2))
            step = int(self.rng.choice((1, 1, 2, 3, -1, -2)))
            index.append(slice(start, stop, step) if self.rng.random() < 0.5 else slice(None))
        self.numpy, self.mlx = self.numpy[tuple(index)], self.mlx[tuple(index)]

    def flipped(self) -> None:
        if self.numpy.ndim:
            self.numpy, self.mlx = self.numpy[::-1], self.mlx[::-1]

    def widened(self) -> None:
        if self.numpy.ndim > 4:
            return
        axis = int(self.rng.integers(self.numpy.ndim + 1))
        count = int(self.rng.integers(1, 5))
        shape = list(self.numpy.shape)
        shape.insert(axis, count)
        self.numpy = np.broadcast_to(np.expand_dims(self.numpy, axis), shape)
        self.mlx = mx.broadcast_to(mx.expand_dims(self.mlx, axis), shape)

    def reshaped(self) -> None:
        shape = list(self.numpy.shape)
        if len(shape) < 2 or 0 in shape:
            return
        axis = int(self.rng.integers(len(shape) - 1))
        shape[axis : axis + 2] = [shape[axis] * shape[axis + 1]]
        self.numpy, self.mlx = self.numpy.reshape(shape), self.mlx.reshape(shape)


def same(got: mx.array, want: np.ndarray) -> None:
    assert got.shape == want.shape
    np.testing.assert_array_equal(np.array(got), want)


@settings(max_examples=60, deadline=None)
@given(NUMBERS)
def test_views_and_what_is_computed_from_them(seed: int):
    views = Views(seed)
    a, x = views.numpy, views.mlx
    same(x, a)
    same(x * 3 + x, a * 3 + a)
    same(mx.where(x > 5, x, -x), np.where(a > 5, a, -a))
    same(mx.contiguous(x), np.ascontiguousarray(a))
    same(x.astype(mx.int8), a.astype(np.int8))


@settings(max_examples=60, deadline=None)
@given(NUMBERS)
def test_reductions_and_scans_of_views(seed: int):
    views = Views(seed)
    a, x, rng = views.numpy, views.mlx, views.rng
    if a.ndim == 0:
        return
    count = int(rng.integers(1, a.ndim + 1))
    axes = tuple(int(axis) for axis in rng.choice(a.ndim, count, replace=False))
    keeps = bool(rng.integers(2))
    same(mx.sum(x, axes, keepdims=keeps), a.sum(axes, np.int32, keepdims=keeps))
    same(mx.any(x, axes, keepdims=keeps), a.any(axes, keepdims=keeps))
    axis = axes[0]
    same(mx.cumsum(x, axis), a.cumsum(axis, np.int32))
    if 0 not in a.shape:
        same(mx.max(x, axes, keepdims=keeps), a.max(axes, keepdims=keeps))
        same(mx.argmin(x, axis), a.argmin(axis).astype(np.uint32))
        same(mx.sort(x, axis), np.sort(a, axis))


@settings(max_examples=60, deadline=None)
@given(NUMBERS, NUMBERS)
def test_two_views_together(seed: int, other: int):
    first, second = Views(seed), Views(other)
    a, x = first.numpy, first.mlx
    b, y = second.numpy, second.mlx
    try:
        want = a + b
    except ValueError:
        size = min(a.size, b.size)
        a, b = a.reshape(-1)[:size], b.reshape(-1)[:size]
        x, y = x.reshape(-1)[:size], y.reshape(-1)[:size]
        want = a + b
    same(x + y, want)
    same(mx.concatenate([x.reshape(-1), y.reshape(-1)]), np.concatenate([a.ravel(), b.ravel()]))
    if a.ndim and a.shape[0]:
        rows = first.rng.integers(-a.shape[0], a.shape[0], 7)
        same(mx.take(x, mx.array(rows.astype(np.int32)), 0), a.take(rows, 0))


STRIDED = mx.fast.metal_kernel(
    name="strided",
    input_names=["x"],
    output_names=["out"],
    source="""
        uint i = thread_position_in_grid.x;
        uint rest = i;
        long place = 0;
        for (int d = x_ndim - 1; d >= 0; --d) {
            place += (rest % x_shape[d]) * x_strides[d];
            rest /= x_shape[d];
        }
        out[i] = x[place] + x[elem_to_loc(i, x_shape, x_strides, x_ndim)];
    """,
    ensure_row_contiguous=False,
)


@settings(max_examples=60, deadline=None)
@given(NUMBERS, st.sampled_from([1, 7, 32, 40, 64, 100]))
def test_kernels_that_are_given_strides(seed: int, group: int):
    views = Views(seed)
    a, x = views.numpy, views.mlx
    if a.size == 0 or a.ndim == 0:
        return
    (got,) = STRIDED(
        inputs=[x],
        grid=(a.size, 1, 1),
        threadgroup=(group, 1, 1),
        output_shapes=[a.shape],
        output_dtypes=[mx.int32],
    )
    same(got, a * 2)
