"""Segments of rows, and their adjoints, against NumPy and PyTorch."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_sample_extensions import (
    indexed_segment_reduce,
    repeat_interleave,
    scatter,
    segment_reduce,
)

OPERATIONS = ["sum", "mean", "max", "min", "prod"]
STREAMS = pytest.mark.parametrize("stream", [mx.cpu, mx.gpu], ids=["cpu", "gpu"])
OPERATION = pytest.mark.parametrize("operation", OPERATIONS)
KNOWN = {"sum": np.sum, "mean": np.mean, "max": np.max, "min": np.min, "prod": np.prod}


def reduce(x: np.ndarray, rows: list[np.ndarray], operation: str) -> np.ndarray:
    """Each list of rows reduced, in double precision; empty ones as documented."""
    x = x.astype(np.float64)
    empty = np.full(x.shape[1:], float(operation == "prod"))
    results = [KNOWN[operation](x[r], axis=0) if len(r) else empty for r in rows]
    return np.stack(results) if results else np.zeros((0, *x.shape[1:]))


def gradient(x: np.ndarray, rows: list[np.ndarray], operation: str, g: np.ndarray) -> np.ndarray:
    """The gradient in x of sum(g * reduce(x, rows)); rows with equal extremes share it."""
    x = x.astype(np.float64)
    result = np.zeros(x.shape)
    for k, r in enumerate(rows):
        if not len(r):
            continue
        if operation in ("sum", "mean"):
            parts = np.broadcast_to(g[k] / (len(r) if operation == "mean" else 1), x[r].shape)
        elif operation == "prod":
            one = np.ones((1, *x.shape[1:]))
            before = np.cumprod(np.concatenate([one, x[r][:-1]]), 0)
            after = np.cumprod(np.concatenate([one, x[r][:0:-1]]), 0)[::-1]
            parts = g[k] * before * after
        else:
            holds = x[r] == KNOWN[operation](x[r], axis=0)
            parts = holds * g[k] / holds.sum(0)
        np.add.at(result, r, parts)
    return result


def rows_of(lengths: np.ndarray) -> list[np.ndarray]:
    return np.split(np.arange(lengths.sum()), np.cumsum(lengths)[:-1]) if len(lengths) else []


def values(rng: np.random.Generator, shape: tuple, operation: str) -> np.ndarray:
    """Values with ties and zeros; near 1 for long products."""
    if operation == "prod":
        x = rng.uniform(0.95, 1.05, shape)
        return np.where(rng.random(shape) < 0.02, 0, x).astype(np.float32)
    return rng.integers(-6, 6, shape).astype(np.float32) / 4


def ragged(rng: np.random.Generator, count: int, most: int) -> np.ndarray:
    lengths = rng.integers(0, most, count)
    lengths[rng.random(count) < 0.3] = 0
    return lengths.astype(np.int32)


CASES = {
    "few": (np.array([2, 3], np.int32), (4,)),
    "empty ones": (np.array([0, 0, 5, 0, 1, 0], np.int32), (3,)),
    "no rows": (np.array([0, 0], np.int32), (3,)),
    "no segments": (np.array([], np.int32), (3,)),
    "one": (np.array([1000], np.int32), (2, 3)),
    "no columns": (np.array([2, 1], np.int32), (0,)),
    "a column": (np.array([40, 0, 7, 300], np.int32), ()),
    "skew": (np.array([3, 0, 5000, 1, 2, 0, 900], np.int32), (33,)),
}


def check_close(got: mx.array, wanted: np.ndarray, tolerance: float = 1e-4) -> None:
    assert tuple(got.shape) == wanted.shape
    scale = max(1.0, np.abs(wanted).max(initial=0))
    np.testing.assert_allclose(np.array(got.astype(mx.float32)), wanted, atol=tolerance * scale)


@STREAMS
@OPERATION
@pytest.mark.parametrize("case", CASES)
def test_segment_reduce(rng, stream, operation, case):
    lengths, trailing = CASES[case]
    x = values(rng, (lengths.sum(), *trailing), operation)
    g = rng.standard_normal((len(lengths), *trailing)).astype(np.float32)
    reduced, grads = mx.vjp(
        lambda a: segment_reduce(a, mx.array(lengths), operation, stream=stream),
        [mx.array(x)],
        [mx.array(g)],
    )
    check_close(reduced[0], reduce(x, rows_of(lengths), operation))
    check_close(grads[0], gradient(x, rows_of(lengths), operation, g))


@STREAMS
@OPERATION
@pytest.mark.parametrize("case", CASES)
def test_indexed_segment_reduce(rng, stream, operation, case):
    lengths, trailing = CASES[case]
    x = values(rng, (50, *trailing), operation)
    indices = rng.integers(0, 50, lengths.sum()).astype(np.int32)
    rows = [indices[r] for r in rows_of(lengths)]
    g = rng.standard_normal((len(lengths), *trailing)).astype(np.float32)
    reduced, grads = mx.vjp(
        lambda a: indexed_segment_reduce(
            a, mx.array(indices), mx.array(lengths), operation, stream=stream
        ),
        [mx.array(x)],
        [mx.array(g)],
    )
    check_close(reduced[0], reduce(x, rows, operation), 1e-3)
    check_close(grads[0], gradient(x, rows, operation, g), 1e-3)


@STREAMS
@OPERATION
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_scatter(rng, stream, operation, dim):
    x = values(rng, (40, 30, 20), operation)
    index = rng.integers(0, 7, x.shape[dim]).astype(np.int64)
    front = np.moveaxis(x, dim, 0)
    rows = [np.flatnonzero(index == k) for k in range(9)]
    g = rng.standard_normal((9, *front.shape[1:])).astype(np.float32)
    reduced, grads = mx.vjp(
        lambda a: scatter(a, mx.array(index), dim, 9, operation, stream=stream),
        [mx.array(x)],
        [mx.array(np.moveaxis(g, 0, dim))],
    )
    check_close(reduced[0], np.moveaxis(reduce(front, rows, operation), 0, dim))
    check_close(grads[0], np.moveaxis(gradient(front, rows, operation, g), 0, dim))


@STREAMS
@OPERATION
def test_scatter_of_elements(rng, stream, operation):
    x = values(rng, (6, 5, 4), operation)
    index = rng.integers(0, 3, x.shape).astype(np.int32)
    wanted = np.zeros((6, 3, 4))
    for i, j in np.ndindex(6, 4):
        line = [np.flatnonzero(index[i, :, j] == k) for k in range(3)]
        wanted[i, :, j] = reduce(x[i, :, j], line, operation)
    check_close(scatter(mx.array(x), mx.array(index), 1, 3, operation, stream=stream), wanted)


def test_scatter_finds_its_size():
    index = mx.array([3, 0, 3])
    assert scatter(mx.ones((3, 2)), index).tolist() == [[1, 1], [0, 0], [0, 0], [2, 2]]
    assert scatter(mx.zeros((0, 2)), mx.zeros((0,), mx.int32)).shape == (0, 2)
    assert scatter(mx.ones((3,)), mx.arange(3) + 0).tolist() == [1, 1, 1]


@STREAMS
@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("dtype", ["float32", "bool_", "int16", "uint64", "float16"])
def test_repeat_interleave(rng, stream, axis, dtype):
    x = rng.integers(0, 2, (4, 5, 6))
    repeats = rng.integers(0, 4, 120 if axis is None else x.shape[axis]).astype(np.int32)
    got = repeat_interleave(
        mx.array(x).astype(getattr(mx, dtype)), mx.array(repeats), axis, stream=stream
    )
    assert got.dtype == getattr(mx, dtype)
    assert np.array_equal(np.array(got.astype(mx.int32)), np.repeat(x, repeats, axis))


def test_repeat_interleave_with_one_count_and_total():
    x = mx.array([[1.0, 2.0], [3.0, 4.0]])
    assert repeat_interleave(x, mx.array([2]), 0).tolist() == [[1, 2], [1, 2], [3, 4], [3, 4]]
    assert repeat_interleave(x, mx.array(2)).tolist() == [1, 1, 2, 2, 3, 3, 4, 4]
    assert repeat_interleave(x, mx.array([0, 3]), 1, total=3).tolist() == [[2, 2, 2], [4, 4, 4]]
    with pytest.raises(ValueError, match=r"\[repeat_interleave\] Invalid repeats: its sum is 3"):
        mx.eval(repeat_interleave(x, mx.array([0, 3]), 1, total=4))


@STREAMS
def test_gradient_of_repeat_interleave(rng, stream):
    lengths = ragged(rng, 30, 9)
    x = rng.standard_normal((30, 5)).astype(np.float32)
    g = rng.standard_normal((lengths.sum(), 5)).astype(np.float32)
    function = lambda a: repeat_interleave(a, mx.array(lengths), 0, stream=stream)  # noqa: E731
    _, (got,) = mx.vjp(function, [mx.array(x)], [mx.array(g)])
    check_close(got, reduce(g, rows_of(lengths), "sum"))
    _, (moved,) = mx.jvp(function, [mx.array(x)], [mx.array(x)])
    check_close(moved, np.repeat(x, lengths, 0))


def test_repeat_of_the_array_library(rng):
    lengths = mx.array([2, 0, 3])
    assert mx.repeat(mx.arange(3), lengths).tolist() == [0, 0, 2, 2, 2]
    assert mx.repeat(mx.array([[1, 2], [3, 4], [5, 6]]), lengths, axis=0).shape == (5, 2)
    gradient = mx.grad(lambda a: (mx.repeat(a, lengths) * mx.arange(5)).sum())(mx.ones(3))
    assert gradient.tolist() == [1, 0, 9]


# ---- types ----


@STREAMS
@OPERATION
@pytest.mark.parametrize("dtype, tolerance", [("float16", 2e-3), ("bfloat16", 1e-2)])
def test_narrow_floats(rng, stream, operation, dtype, tolerance):
    lengths = ragged(rng, 20, 60)
    x = mx.array(values(rng, (lengths.sum(), 7), operation)).astype(getattr(mx, dtype))
    g = mx.array(rng.standard_normal((20, 7)).astype(np.float32)).astype(getattr(mx, dtype))
    function = lambda a: segment_reduce(a, mx.array(lengths), operation, stream=stream)  # noqa: E731
    (got,), (by_x,) = mx.vjp(function, [x], [g])
    assert got.dtype == by_x.dtype == x.dtype
    x, g = (np.array(a.astype(mx.float32)) for a in (x, g))
    check_close(got, reduce(x, rows_of(lengths), operation), tolerance)
    check_close(by_x, gradient(x, rows_of(lengths), operation, g), 2 * tolerance)


@STREAMS
def test_narrow_floats_are_added_in_float32(stream):
    ones = mx.ones((5000, 1), mx.float16)
    lengths = mx.array([5000])
    assert segment_reduce(ones, lengths, stream=stream).item() == 5000
    assert segment_reduce(ones.astype(mx.bfloat16), lengths, "mean", stream=stream).item() == 1


@STREAMS
@pytest.mark.parametrize(
    "dtype, result",
    [("int32", "int32"), ("uint32", "uint32"), ("int64", "int64"), ("uint8", "int32")]
    + [("bool_", "int32"), ("int16", "int32"), ("uint64", "int64")],
)
def test_integers(rng, stream, dtype, result):
    lengths = np.array([3, 0, 200], np.uint32)
    x = rng.integers(0, 2 if dtype == "bool_" else 4, (203, 3))
    a = mx.array(x).astype(getattr(mx, dtype))
    for operation in ("sum", "max", "min", "prod"):
        got = segment_reduce(a, mx.array(lengths), operation, stream=stream)
        assert got.dtype == getattr(mx, result)
        wanted = reduce(x[:100], rows_of(np.array([3, 0])), operation)
        assert np.array_equal(np.array(got)[:2], wanted)
    assert segment_reduce(a, mx.array(lengths), "mean", stream=stream).dtype == mx.float32


@STREAMS
def test_what_is_no_number_wins(stream):
    x = mx.array([1.0, float("nan"), 2.0, -float("inf"), -float("inf")])
    for operation in ("max", "min"):
        got = segment_reduce(x, mx.array([3, 2]), operation, stream=stream)
        assert np.isnan(got[0].item()) and got[1].item() == -float("inf")


# ---- transformations ----


@OPERATION
def test_jvp(rng, operation):
    lengths = ragged(rng, 12, 9)
    rows = rows_of(lengths)
    x = rng.standard_normal((lengths.sum(), 3)).astype(np.float32)
    dx = rng.standard_normal(x.shape).astype(np.float32)
    order = rng.permutation(len(x)).astype(np.int32)
    inverse = np.argsort(order)
    step = 1e-6
    ahead, behind = (reduce(x + s * dx.astype(float), rows, operation) for s in (step, -step))
    wanted = (ahead - behind) / (2 * step)
    functions = [
        lambda a: segment_reduce(a, mx.array(lengths), operation),
        lambda a: indexed_segment_reduce(
            a[mx.array(inverse)], mx.array(order), mx.array(lengths), operation
        ),
        lambda a: scatter(a, mx.array(np.repeat(np.arange(12), lengths)), 0, 12, operation),
    ]
    for function in functions[:1] + functions[2:]:
        _, (got,) = mx.jvp(function, [mx.array(x)], [mx.array(dx)])
        check_close(got, wanted, 1e-3)


@STREAMS
@pytest.mark.parametrize("operation", ["sum", "mean", "prod", "max"])
def test_second_derivatives(rng, stream, operation):
    lengths = np.array([3, 0, 4, 1], np.int32)
    rows = rows_of(lengths)
    x = rng.standard_normal((8, 2)).astype(np.float32)
    x[1, 0] = x[4, 1] = x[5, 1] = 0
    g, u = rng.standard_normal((4, 2)), rng.standard_normal((8, 2))

    def product(a, b):
        function = lambda v: segment_reduce(v, mx.array(lengths), operation, stream=stream)  # noqa: E731
        return (mx.vjp(function, [a], [b])[1][0] * mx.array(u)).sum()

    by_x, by_g = mx.grad(product, argnums=(0, 1))(mx.array(x), mx.array(g.astype(np.float32)))
    numeric = np.zeros(x.shape)
    for at in np.ndindex(x.shape):
        step = np.zeros(x.shape)
        step[at] = 1e-5
        ahead, behind = ((gradient(x + s, rows, operation, g) * u).sum() for s in (step, -step))
        numeric[at] = (ahead - behind) / 2e-5
    if operation != "max":  # a change of tied rows has no derivative
        check_close(by_x, numeric, 2e-3)
    basis = np.eye(8).reshape(4, 2, 4, 2)
    check_close(
        by_g,
        np.array(
            [
                [(gradient(x, rows, operation, basis[k, c]) * u).sum() for c in range(2)]
                for k in range(4)
            ]
        ),
        1e-3,
    )


def test_third_derivative_of_prod_is_refused():
    def value(a):
        return segment_reduce(a, mx.array([3]), "prod").sum()

    once = lambda f: lambda a: mx.grad(f)(a).sum()  # noqa: E731
    with pytest.raises(ValueError, match="third"):
        mx.eval(mx.grad(once(once(value)))(mx.array([2.0, 3.0, 4.0])))


@OPERATION
def test_vmap(rng, operation):
    lengths = mx.array([[2, 0, 3], [1, 4, 0]])
    indices = mx.array([[4, 0, 1, 2, 2], [0, 1, 3, 2, 4]])
    x = mx.array(values(rng, (2, 5, 4), operation))
    plain = lambda a, n: segment_reduce(a, n, operation)  # noqa: E731
    listed = lambda a, i, n: indexed_segment_reduce(a, i, n, operation)  # noqa: E731
    by_index = lambda a, i: scatter(a, i, 0, 6, operation)  # noqa: E731
    pairs = [
        (mx.vmap(plain, (0, None))(x, lengths[0]), [plain(a, lengths[0]) for a in x]),
        (mx.vmap(plain)(x, lengths), [plain(x[i], lengths[i]) for i in range(2)]),
        (mx.vmap(plain, (None, 0))(x[0], lengths), [plain(x[0], n) for n in lengths]),
        (
            mx.vmap(plain, (2, None), 1)(mx.moveaxis(x, 0, 2), lengths[1]).swapaxes(0, 1),
            [plain(a, lengths[1]) for a in x],
        ),
        (
            mx.vmap(listed)(x, indices, lengths),
            [listed(x[i], indices[i], lengths[i]) for i in range(2)],
        ),
        (
            mx.vmap(listed, (0, None, None))(x, indices[0], lengths[0]),
            [listed(a, indices[0], lengths[0]) for a in x],
        ),
        (mx.vmap(by_index)(x, indices), [by_index(x[i], indices[i]) for i in range(2)]),
        (
            mx.vmap(mx.grad(lambda a, i: by_index(a, i).sum()))(x, indices),
            [mx.grad(lambda a, i: by_index(a, i).sum())(x[i], indices[i]) for i in range(2)],
        ),
    ]
    for got, wanted in pairs:
        check_close(got, np.stack([np.array(w) for w in wanted]))


def test_checkpoint_and_traced_lengths(rng):
    x = mx.array(rng.standard_normal((6, 2)).astype(np.float32))

    def loss(a, n, i):
        return (indexed_segment_reduce(a, i, n, "max") ** 2).sum()

    lengths, indices = mx.array([4, 2]), mx.array([5, 4, 3, 2, 1, 0])
    wanted = mx.grad(loss)(x, lengths, indices)
    assert mx.allclose(mx.grad(mx.checkpoint(loss))(x, lengths, indices), wanted)
    assert mx.allclose(mx.grad(loss)(x, lengths + 0, indices + 0), wanted)


# ---- unusual shapes ----


@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 40), max_size=12),
    columns=st.integers(0, 40),
    operation=st.sampled_from(OPERATIONS),
    on_gpu=st.booleans(),
    seed=st.integers(0, 2**16),
)
def test_any_shape(lengths, columns, operation, on_gpu, seed):
    rng = np.random.default_rng(seed)
    lengths = np.array(lengths, np.int32)
    stream = mx.gpu if on_gpu else mx.cpu
    x = values(rng, (lengths.sum(), columns), operation)
    order = rng.permutation(lengths.sum()).astype(np.int32)
    index = np.repeat(np.arange(len(lengths)), lengths)[np.argsort(order)]
    g = rng.standard_normal((len(lengths), columns)).astype(np.float32)
    wanted = reduce(x, [order[r] for r in rows_of(lengths)], operation)
    by_x = gradient(x, [order[r] for r in rows_of(lengths)], operation, g)
    functions = [
        lambda a: indexed_segment_reduce(
            a, mx.array(order), mx.array(lengths), operation, stream=stream
        ),
        lambda a: scatter(a, mx.array(index), 0, len(lengths), operation, stream=stream),
    ]
    for function in functions:
        (got,), (grad,) = mx.vjp(function, [mx.array(x)], [mx.array(g)])
        check_close(got, wanted)
        check_close(grad, by_x)


# ---- arguments ----


def test_errors():
    x = mx.ones((5, 2))
    good = mx.array([2, 3])
    calls = [
        (lambda: segment_reduce(x, mx.array([2, 2])), "Invalid lengths: its sum is 4.*5 rows"),
        (lambda: segment_reduce(x, mx.array([-1, 6])), "Invalid lengths: it holds -1 at"),
        (lambda: segment_reduce(x, mx.array([2, 2]) + 0), "Invalid lengths: its sum is 4"),
        (lambda: segment_reduce(x, mx.array([6, -1]) + 0), "Invalid lengths: it holds -1"),
        (lambda: segment_reduce(x, mx.array([2.0, 3.0])), "lengths must be int32"),
        (lambda: segment_reduce(x, good[None]), "lengths must have one dimension"),
        (lambda: segment_reduce(x, good, "median"), "operation 'median'.*sum, mean, max"),
        (lambda: segment_reduce(mx.array(1.0), good), "x must have at least one dimension"),
        (lambda: segment_reduce(x.astype(mx.complex64), good), "x must be float32"),
        (lambda: segment_reduce(x, mx.array([2**31 - 1, 2**31 - 1])), "Invalid lengths"),
        (lambda: indexed_segment_reduce(x, mx.array([0, 5]), mx.array([2])), "indices.* holds 5"),
        (lambda: indexed_segment_reduce(x, mx.array([-1, 0]), mx.array([2])), "indices.* -1"),
        (lambda: indexed_segment_reduce(x, mx.array([0]), mx.array([2])), "lengths: its sum is 2"),
        (lambda: scatter(x, mx.array([0, 1, 2])), r"index must have shape \(5,\)"),
        (lambda: scatter(x, mx.array([0, 1, 2, 3, 4]), 0, 3), "index: it holds 3 at position 3"),
        (lambda: scatter(x, mx.array([0, -1, 0, 0, 0])), "index: it holds -1"),
        (lambda: scatter(x, mx.array([0] * 5), 0, -1), "dim_size -1"),
        (lambda: scatter(x, mx.array([0] * 5), 2), "[Aa]xis"),
        (lambda: scatter(x, mx.array([0] * 5), reduce="add"), "reduce 'add'"),
        (lambda: repeat_interleave(x, mx.array([1, 2]), 0), "repeats must have one value or 5"),
        (lambda: repeat_interleave(x, mx.array([1, -2]), 1), "repeats: it holds -2"),
        (lambda: repeat_interleave(x, mx.array([1, 2]), 1, total=-1), "total -1"),
    ]
    for call, message in calls:
        with pytest.raises(ValueError, match=message):
            mx.eval(call())


def test_lengths_may_be_trusted():
    x = mx.ones((5, 2))
    assert segment_reduce(x, mx.array([2, 3]), check=False).tolist() == [[2, 2], [3, 3]]
    mx.eval(segment_reduce(x, mx.array([9, -2]), check=False))


# ---- PyTorch ----


@pytest.mark.torch
@OPERATION
def test_against_torch(rng, torch, operation):
    lengths = rng.integers(1, 30, 40)
    index = np.repeat(np.arange(40), lengths)
    x = rng.integers(-5, 5, (lengths.sum(), 6)).astype(np.float32) / 4 + 0.1
    g = rng.standard_normal((40, 6)).astype(np.float32)
    order = rng.permutation(len(x))
    tx = torch.from_numpy(x).requires_grad_()
    name = {"max": "amax", "min": "amin"}.get(operation, operation)
    target = torch.from_numpy(index[order])[:, None].expand(-1, 6)
    expected = torch.zeros(40, 6).scatter_reduce(0, target, tx, name, include_self=False)
    expected.backward(torch.from_numpy(g))
    (got,), (by_x,) = mx.vjp(
        lambda a: scatter(a, mx.array(index[order]), 0, 40, operation), [mx.array(x)], [mx.array(g)]
    )
    check_close(got, expected.detach().numpy(), 1e-3)
    check_close(by_x, tx.grad.numpy(), 1e-3)
    if operation != "prod":
        again = torch.segment_reduce(tx, operation, lengths=torch.from_numpy(lengths))
        check_close(
            segment_reduce(mx.array(x), mx.array(lengths), operation), again.detach().numpy()
        )
