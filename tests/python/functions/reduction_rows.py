"""Functions along axes: reductions, scans, sorting."""

import mlx.core as mx
import numpy as np
import scipy.special
from function_rows import (
    ALL,
    BAD_AXIS,
    FLOATS,
    REALS,
    Case,
    Row,
    boolean,
    cases,
    indices,
    inexact,
    same,
    signed_indices,
    sums,
)

REAL_OR_BOOL = (*REALS, mx.bool_)


def reductions(over_nothing: bool, without_axes: bool) -> tuple[Case, ...]:
    """All axes, one, several, kept or not; of long and short rows, and of no rows."""
    return (
        *(cases(()) if without_axes else ()),
        *cases((5,), (2, 3, 4), (3, 70)),
        *cases((2, 3, 4), (3, 70), axis=-1),
        *cases((2, 3, 4), (2, 3, 4, 5), axis=(0, 2), keepdims=True),
        *cases((0, 3), (3, 4), axis=1, keepdims=True),
        *(cases((0, 3), axis=0) if over_nothing else ()),
    )


def along_axis(*other_shapes, **options) -> tuple[Case, ...]:
    """The last axis, an inner one, and empty arrays."""
    return (
        *cases((5,), (2, 3, 4), (3, 70), axis=-1, **options),
        *cases((2, 3, 4), (0, 3, 2), axis=1, **options),
        *other_shapes,
    )


def wrong_axes(name: str):
    function, x = getattr(mx, name), mx.zeros((2, 3))
    return (
        (lambda: function(x, axis=2), BAD_AXIS, rf"(?i)\[{name}\].*axis"),
        (lambda: function(x, axis=-3), BAD_AXIS, rf"(?i)\[{name}\].*axis"),
        (lambda: function(x, axis="a"), TypeError, name),
    )


def wrong_lists_of_axes(name: str):
    function, x = getattr(mx, name), mx.zeros((2, 3))
    return (
        *wrong_axes(name),
        (lambda: function(x, axis=(0, 0)), ValueError, rf"\[{name}\]"),
        (lambda: function(x, axis=(0, 5)), BAD_AXIS, rf"(?i)\[{name}\].*axis"),
    )


def reduction(
    name, reference, over_nothing=False, domain="signed", without_axes=True, **more
) -> Row:
    rows = reductions(over_nothing, without_axes)
    return Row(name, reference, rows, domain, invalid=wrong_lists_of_axes(name), **more)


def counting(name, reference, result, **more) -> Row:
    return reduction(name, reference, True, result=result, differentiable=False, **more)


def index_of(name, reference) -> Row:
    rows = (
        *cases((), (5,), (2, 3, 4)),
        *cases((2, 3, 4), (3, 70), axis=-1),
        *cases((2, 3, 4), axis=0, keepdims=True),
    )
    return Row(
        name, reference, rows, dtypes=REAL_OR_BOOL, result=indices, differentiable=False,
        invalid=wrong_axes(name),
    )  # fmt: skip


def scan(name, reference, **more) -> Row:
    rows = along_axis(
        *cases((5,), (2, 3)),
        *cases((3, 70), axis=1, reverse=True),
        *cases((2, 70, 3), axis=1, inclusive=False),
        *cases((2, 3, 4), axis=0, inclusive=False, reverse=True),
    )
    return Row(name, scan_reference(reference), rows, invalid=wrong_axes(name), **more)


def scan_reference(ufunc: np.ufunc):
    """NumPy's accumulate, with MLX's options."""
    lowest = {np.add: 0, np.multiply: 1, np.logaddexp: -np.inf}

    def scanned(x, axis=None, reverse=False, inclusive=True):
        x, axis = (x.reshape(-1), 0) if axis is None else (x, axis)
        x = np.flip(x, axis) if reverse else x
        y = ufunc.accumulate(x, axis)
        if not inclusive:
            first = np.full_like(np.take(x, [0], axis), lowest[ufunc])
            y = np.concatenate([first, np.delete(y, -1, axis)], axis)
        return np.flip(y, axis) if reverse else y

    return scanned


def extremum_scan(name, reference) -> Row:
    rows = along_axis(*cases((3, 70), axis=1, reverse=True), *cases((5,), (2, 3)))
    return Row(name, scan_reference(reference), rows, invalid=wrong_axes(name), dtypes=REALS)


def flattened(function):
    """Sorts flatten if the axis is None, in NumPy and in MLX."""
    return lambda x, axis=-1, **more: function(x, axis=axis, **more)


SORTED = (*along_axis(), *cases((5,), (3, 4)), *cases((3, 4), axis=None))


def partitions(**kth) -> tuple[Case, ...]:
    return (*cases((5,), (3, 70), axis=-1, **kth), *cases((2, 5, 3), axis=1, **kth))


def median(x, axis=None, keepdims=False):
    return np.median(x, axis=axis, keepdims=keepdims)


def softmax(x, axis=None):
    return scipy.special.softmax(x, axis=axis) if x.size else x


def minmax(x, **options):
    return np.min(x, **options), np.max(x, **options)


ROWS = [
    reduction("sum", np.sum, True, without_axes=False, dtypes=REAL_OR_BOOL, result=sums),
    reduction("prod", np.prod, True, "near one", dtypes=FLOATS, tolerance=8),
    reduction("mean", np.mean, dtypes=REAL_OR_BOOL, result=inexact),
    reduction("var", np.var, dtypes=REALS, result=inexact),
    reduction("std", np.std, without_axes=False, dtypes=FLOATS),
    reduction("max", np.max, dtypes=REAL_OR_BOOL),
    reduction("min", np.min, dtypes=REAL_OR_BOOL),
    reduction("minmax", minmax, dtypes=REALS),
    reduction("logsumexp", scipy.special.logsumexp, dtypes=FLOATS),
    reduction("median", median, dtypes=REALS, result=inexact, differentiable=False),
    counting("all", np.all, boolean, dtypes=ALL),
    counting("any", np.any, boolean, dtypes=ALL),
    counting("count_nonzero", np.count_nonzero, signed_indices, dtypes=ALL),
    index_of("argmax", lambda x, **o: np.asarray(np.argmax(x, **o))),
    index_of("argmin", lambda x, **o: np.asarray(np.argmin(x, **o))),
    scan("cumsum", np.add, dtypes=REALS),
    scan("cumprod", np.multiply, dtypes=FLOATS, domain="near one", tolerance=8),
    scan("logcumsumexp", np.logaddexp, dtypes=FLOATS),
    extremum_scan("cummax", np.maximum),
    extremum_scan("cummin", np.minimum),
    Row(
        "softmax",
        softmax,
        (
            *cases((5,), (2, 3), ()),
            *cases((3, 70), (2, 3, 4), (0, 3), axis=-1),
            *cases((2, 3, 4), axis=1),
            *cases((2, 3, 4), axis=(0, 2)),
        ),
        result=inexact,
        invalid=wrong_lists_of_axes("softmax"),
    ),
    Row("sort", flattened(np.sort), SORTED, dtypes=REAL_OR_BOOL, invalid=wrong_axes("sort")),
    Row(
        "argsort",
        flattened(lambda x, axis: np.argsort(x, axis, kind="stable")),
        SORTED,
        dtypes=REALS,
        result=indices,
        differentiable=False,
        invalid=wrong_axes("argsort"),
    ),
    # The order of the elements before and behind element kth is unspecified.
    Row(
        "partition",
        lambda x, kth, axis: np.take(np.sort(x, axis), kth, axis),
        partitions(kth=2),
        dtypes=REALS,
        call=lambda x, kth, axis: mx.take(mx.partition(x, kth, axis), kth, axis),
        invalid=((lambda: mx.partition(mx.zeros(3), 3), ValueError, r"\[partition\]"),),
    ),
    Row(
        "argpartition",
        lambda x, kth, axis: np.take(np.sort(x, axis), kth, axis),
        partitions(kth=2),
        dtypes=REALS,
        call=lambda x, kth, axis: mx.take(
            mx.take_along_axis(x, mx.argpartition(x, kth, axis), axis), kth, axis
        ),
        differentiable=False,
        invalid=((lambda: mx.argpartition(mx.zeros(3), -4), ValueError, r"\[argpartition\]"),),
    ),
    Row(
        "topk",
        lambda x, k, axis: np.take(np.sort(x, axis), range(x.shape[axis] - k, x.shape[axis]), axis),
        partitions(k=3),
        dtypes=REALS,
        call=lambda x, k, axis: mx.sort(mx.topk(x, k, axis), axis),
        invalid=((lambda: mx.topk(mx.zeros(3), 4), ValueError, r"\[topk\]"),),
    ),
    Row(
        "diff",
        np.diff,
        (*cases((5,), (2, 3, 4)), *cases((2, 5), n=2, axis=1), *cases((4, 0), axis=0)),
        dtypes=FLOATS,
        result=same,
        invalid=((lambda: mx.diff(mx.zeros(3), -1), ValueError, r"\[diff\]"),),
    ),
    Row(
        "searchsorted",
        lambda a, v, side="left": np.searchsorted(a, v, side),
        (*cases(((9,), (2, 3)), ((9,), ()), ((1,), (0,))), *cases(((9,), (4,)), side="right")),
        ("increasing", "signed"),
        dtypes=(mx.float32,),
        result=indices,
        differentiable=False,
        invalid=((lambda: mx.searchsorted(mx.zeros((2, 2)), 1), ValueError, "searchsorted"),),
    ),
]
