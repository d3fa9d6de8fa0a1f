"""All small shapes with all small arguments: what NumPy computes we compute, and what it refuses we refuse."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations, product

import mlx.core as mx
import numpy as np
import pytest

SHAPES = [(), (1,), (3,), (0,), (1, 3), (2, 3), (3, 1), (3, 2), (2, 0), (2, 1, 3), (2, 3, 2)]
AXES = range(-4, 4)
ERRORS = (ValueError, IndexError, TypeError, OverflowError)

SHORT = [(), (1,), (0,), (3,), (2, 3), (3, 2), (2, 1, 3)]
PAIRS = list(product(SHAPES, SHAPES))
AXIS_PAIRS = [pair for n in (1, 2) for pair in product(range(-3, 3), repeat=n)]


def numbers(shape: tuple[int, ...], start: int = 0) -> np.ndarray:
    """Small integers, in no order."""
    count = int(np.prod(shape))
    return ((np.arange(count) * 7 + start) % 11 - 4).reshape(shape).astype(np.float32)


@dataclass(frozen=True)
class Function:
    ours: Callable
    numpys: Callable
    shapes: list  # of one argument, or of each
    arguments: list[tuple] = ((),)
    # Which calls are left out.
    except_for: Callable[..., bool] = lambda *_: False

    def is_axis_of_scalar(self, shape: tuple[int, ...], arguments: tuple) -> bool:
        """NumPy lets some functions have an axis of an array without axes."""
        return shape == () and any(each in (0, -1) for each in arguments[-1:])

    def calls(self) -> Iterator[tuple[list[np.ndarray], tuple]]:
        for shapes, arguments in product(self.shapes, self.arguments):
            each = [shapes] if not shapes or isinstance(shapes[0], int) else shapes
            left_out = len(each) == 1 and self.is_axis_of_scalar(each[0], arguments)
            if not left_out and not self.except_for(*each, *arguments):
                yield [numbers(shape, i) for i, shape in enumerate(each)], arguments


def axes(values=AXES) -> list[tuple]:
    return [(value,) for value in values]


def with_none(values) -> list[tuple]:
    return [(None,), *((value,) for value in values)]


def same(name: str, shapes: list, arguments=((),), except_for=lambda *_: False) -> Function:
    return Function(getattr(mx, name), getattr(np, name), shapes, arguments, except_for)


def is_empty(*shapes_and_arguments) -> bool:
    return 0 in shapes_and_arguments[0]


def permutations_of(most: int) -> list[tuple]:
    return [(p,) for n in range(1, most + 1) for p in product(range(-n, n + 1), repeat=n)]


REDUCTIONS = {
    name: same(name, SHAPES, with_none([*AXES, *combinations(range(-3, 3), 2)]))
    for name in ("sum", "prod", "all", "any")
} | {
    name: same(name, SHAPES, with_none([*AXES, *combinations(range(-3, 3), 2)]), is_empty)
    for name in ("max", "min", "mean", "var", "std")
}  # fmt: skip

FUNCTIONS = REDUCTIONS | {
    "matmul": same("matmul", PAIRS),
    "inner": same("inner", PAIRS),
    "outer": same("outer", PAIRS),
    "kron": same("kron", PAIRS, ((),), lambda a, b: 0 in a or 0 in b),
    "add": same("add", PAIRS),
    "where": Function(
        lambda c, a, b: mx.where(c > 0, a, b), lambda c, a, b: np.where(c > 0, a, b),
        list(product(SHORT, SHORT, SHORT)),
    ),
    "tensordot": same("tensordot", list(product(SHORT, SHORT)), [(0,), (1,), (2,), (3,)]),
    "tensordot of axes": Function(
        lambda a, b, i, j: mx.tensordot(a, b, [i, j]),
        lambda a, b, i, j: np.tensordot(a, b, [i, j]),
        list(product(SHORT, SHORT)),
        [([0], [0]), ([-1], [0]), ([0, 1], [1, 0]), ([1], [0, 1]), ([2], [0]), ([0], [-3]), ([], [])],
        lambda a, b, i, j: len(i) > len(a) or len(j) > len(b),
    ),
    "concatenate": Function(
        lambda a, b, axis: mx.concatenate([a, b], axis),
        lambda a, b, axis: np.concatenate([a, b], axis),
        PAIRS, axes(),
    ),
    "stack": Function(
        lambda a, b, axis: mx.stack([a, b], axis),
        lambda a, b, axis: np.stack([a, b], axis),
        PAIRS, axes(),
    ),
    "broadcast_to": same(
        "broadcast_to", SHAPES,
        axes([(), (3,), (2, 3), (1,), (0,), (2, 2, 3), (4, 2, 1, 3), (2, -1)]),
    ),
    "reshape": same(
        "reshape", SHAPES,
        axes([(), (-1,), (6,), (3, 2), (2, -1), (-1, 3), (0, -1), (0, 2), (-1, -1), (1, 1, 3), (5,), (12,)]),
    ),
    "transpose": same("transpose", SHAPES, [(), *permutations_of(3)]),
    "swapaxes": same("swapaxes", SHAPES, list(product(AXES, AXES))),
    "moveaxis": same("moveaxis", SHAPES, list(product(AXES, AXES))),
    "expand_dims": same("expand_dims", SHAPES, axes([*AXES, *AXIS_PAIRS])),
    "squeeze": same("squeeze", SHAPES, with_none([*AXES, *AXIS_PAIRS])),
    "sort": same("sort", SHAPES, with_none(AXES)),
    "argsort": Function(
        mx.argsort, lambda a, axis: np.argsort(a, axis, kind="stable"), SHAPES, with_none(AXES),
    ),
    "argmax": same("argmax", SHAPES, with_none(AXES), is_empty),
    "argmin": same("argmin", SHAPES, with_none(AXES), is_empty),
    "cumsum": same("cumsum", SHAPES, with_none(AXES)),
    "cumprod": same("cumprod", SHAPES, with_none(AXES)),
    "roll": same("roll", SHAPES, list(product((0, 1, -2, 7), (None, *range(-3, 3))))),
    "repeat": same("repeat", SHAPES, list(product((0, 1, 2, -1), (None, *range(-3, 3)))), lambda a, n, axis: 0 in a),
    "tile": same("tile", SHAPES, axes([(), (2,), (1, 2), (0,), (2, 1, 2), (2, 1, 1, 1)])),
    "diag": same("diag", SHAPES, axes(range(-4, 4))),
    "diagonal": same("diagonal", SHAPES, list(product((-3, -1, 0, 2), AXES, (-3, -1, 0, 1)))),
    "trace": same("trace", SHAPES, list(product((-1, 0, 2), AXES, (-2, 0, 2)))),
    "tril": same("tril", [s for s in SHAPES if len(s) > 1], axes(range(-4, 4))),
    "triu": same("triu", [s for s in SHAPES if len(s) > 1], axes(range(-4, 4))),
    "split": Function(
        lambda a, parts, axis: mx.split(a, parts, axis), lambda a, parts, axis: np.split(a, parts, axis),
        SHAPES, list(product([1, 2, 3, [1], [1, 2], [0, 1], [-1], [2, 1], [5], []], range(-3, 3))),
    ),
    "pad": same(
        "pad", SHAPES,
        axes([0, 1, 2, (1, 2), [(1, 0)], [(0, 1), (2, 0)], [(1, 1)] * 3, -1]),
        lambda s, *_: s == (),
    ),
    "pad with edges": Function(
        lambda a, widths: mx.pad(a, widths, "edge"), lambda a, widths: np.pad(a, widths, "edge"),
        [s for s in SHAPES if s and 0 not in s], axes([0, 1, (1, 2), (0, 1)]),
    ),
    "take": Function(
        lambda a, i, axis: mx.take(a, mx.array(i), axis), lambda a, i, axis: np.take(a, i, axis),
        [s for s in SHAPES if 0 not in s],
        list(product([0, [0, -1], [[0], [0]]], [None, *range(-3, 3)])),
    ),
    "take_along_axis": Function(
        lambda a, i, axis: mx.take_along_axis(a, (i > 0).astype(mx.int32), axis),
        lambda a, i, axis: np.take_along_axis(a, (i > 0).astype(np.int32), axis),
        list(product([(3,), (3, 2), (2, 3, 2)], [(3,), (1,), (3, 1), (1, 2), (3, 4), (2, 3, 2), (2, 5, 2), (1, 3, 2)])),
        axes(range(-3, 3)),
        lambda a, i, axis: not -len(a) <= axis < len(a) or a[axis] < 2,
    ),
    "atleast_3d": same("atleast_3d", SHAPES),
    "atleast_2d": same("atleast_2d", SHAPES),
    "meshgrid": same("meshgrid", list(product([(), (1,), (3,), (2,)], [(), (1,), (2,)]))),
    "einsum": Function(
        lambda a, b, text: mx.einsum(text, a, b), lambda a, b, text: np.einsum(text, a, b),
        list(product(SHORT, SHORT)),
        axes(["i,i", "i,j", "ij,jk", "ij,jk->ki", "ij,ij->", "ii,i", "...i,...i->...", "i...,i...", "ij,kj->ik",
              "ijk,k->ji"]),
    ),
    "partition": Function(
        lambda a, k, axis: mx.sort(mx.partition(a, k, axis), axis),
        lambda a, k, axis: np.sort(np.partition(a, k, axis), axis),
        [s for s in SHAPES if s and 0 not in s], list(product(range(-4, 4), range(-3, 3))),
    ),
}  # fmt: skip


def transform(
    name: str, numpys: Callable | None = None, arguments: list[tuple] | None = None
) -> Function:
    lengths_and_axes = [(n, axis) for n in (None, 0, 1, 2, 5, -1) for axis in range(-3, 3)]
    theirs = getattr(np.fft, name)
    return Function(
        getattr(mx.fft, name), numpys or (lambda a, *rest: theirs(a.astype(np.float64), *rest)),
        [s for s in SHAPES if s and 0 not in s], arguments or lengths_and_axes,
    )  # fmt: skip


MATRICES = [(), (3,), (3, 3), (2, 3), (3, 2), (1, 1), (2, 3, 3), (2, 2, 3), (2, 1, 2, 2)]


def regular(a: np.ndarray) -> np.ndarray:
    """The same with a diagonal that is large enough for an inverse."""
    square = a.ndim > 1 and a.shape[-1] == a.shape[-2]
    return a / 8 + 3 * np.eye(a.shape[-1], dtype=np.float32) if square else a


def definite(a: np.ndarray) -> np.ndarray:
    return regular(a + np.swapaxes(a, -1, -2)) if a.ndim > 1 and a.shape[-1] == a.shape[-2] else a


def of_matrices(
    name: str, prepare: Callable = regular, shapes=MATRICES, arguments=((),), result=lambda x: x
) -> Function:
    """A function of linear algebra; `result` takes what is unique of its result."""
    theirs, ours = getattr(np.linalg, name), getattr(mx.linalg, name)
    return Function(
        lambda a, *rest: result(ours(mx.array(prepare(np.array(a))), *rest, stream=mx.cpu)),
        lambda a, *rest: result(theirs(prepare(a), *rest)), shapes, arguments,
    )  # fmt: skip


ORDERS = [None, 0, 1, 2, -1, -2, 3, 0.5, float("inf"), -float("inf"), "fro", "nuc", "other"]
NORM_AXES = [None, 0, -1, 1, 2, (0, 1), (1, 0), (-1, 0), (0, 0), (0, 2)]
SIZES = [
    (s, a)
    for s in (None, (2,), (4, 1), (2, 3))
    for a in (None, (0,), (-1,), (0, 1), (-1, -2), (0, 3))
    if s is None or a is not None  # NumPy's answer to these will change
]

FUNCTIONS |= {name: transform(name) for name in ("fft", "ifft", "rfft", "irfft")}
FUNCTIONS |= {
    name: transform(name, arguments=SIZES)
    for name in ("fft2", "ifft2", "fftn", "ifftn", "rfftn", "rfft2")
}
FUNCTIONS |= {
    name: transform(name, arguments=with_none([0, -1, 1, (0, 1), (0, 5)]))
    for name in ("fftshift", "ifftshift")
}
FUNCTIONS |= {
    "linalg.norm": of_matrices(
        "norm",
        lambda a: a,
        [(3,), (2, 3), (3, 3), (2, 3, 2)],
        list(product(ORDERS, NORM_AXES, [False, True])),
    ),
    "linalg.inv": of_matrices("inv"),
    "linalg.pinv": of_matrices("pinv"),
    "linalg.cholesky": of_matrices("cholesky", definite),
    "linalg.eigvalsh": of_matrices("eigvalsh", definite),
    "linalg.eigh": of_matrices("eigh", definite, result=lambda pair: pair[0]),
    "linalg.svd": of_matrices("svd", result=lambda parts: parts[1]),
    "linalg.qr": of_matrices("qr", result=lambda parts: abs(parts[1])),
    "linalg.solve": Function(
        lambda a, b: mx.linalg.solve(mx.array(regular(np.array(a))), b, stream=mx.cpu),
        lambda a, b: np.linalg.solve(regular(a), b),
        list(product(MATRICES, [(3,), (2,), (3, 1), (3, 2), (2, 3, 2), (2, 3)])),
    ),
}


def outcome(call: Callable, arrays: list, arguments: tuple):
    """The results as NumPy arrays, or the text of an error."""
    try:
        results = call(*arrays, *arguments)
        results = list(results) if isinstance(results, list | tuple) else [results]
        return [np.array(result) for result in results]
    except (*ERRORS, np.linalg.LinAlgError) as error:
        return str(error)


@pytest.mark.filterwarnings("ignore::Warning")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_like_numpy(name: str):
    function = FUNCTIONS[name]
    for arrays, arguments in function.calls():
        with np.errstate(all="ignore"):
            want = outcome(function.numpys, arrays, arguments)
        got = outcome(function.ours, [mx.array(a) for a in arrays], arguments)
        told = f"{name}{tuple(a.shape for a in arrays)} {arguments}: {got} instead of {want}"
        assert isinstance(got, str) == isinstance(want, str), told
        if isinstance(got, str):
            assert re.match(r"\[[\w.:]+\] |\w+\(\): incompatible", got), told
            continue
        for ours, numpys in zip(got, want, strict=True):
            assert ours.shape == numpys.shape, told
            np.testing.assert_allclose(ours, numpys, 1e-4, 1e-4, err_msg=told)
