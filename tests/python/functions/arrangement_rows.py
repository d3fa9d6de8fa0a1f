"""Functions that make, rearrange, concatenate, take and replace elements."""

import mlx.core as mx
import numpy as np
from function_rows import ALL, BAD_AXIS, FLOATS, NUMBERS, REALS, Case, Row, cases, sums

X = mx.zeros((2, 3))


def refused(name, *arguments, error=ValueError, message=None, **options):
    function = getattr(mx, name)
    message = rf"\[{name}\]" if message is None else message
    return (lambda: function(*arguments, **options), error, message)


def moved(name, reference, rows, *invalid, **more) -> Row:
    """A function whose results are elements of its arguments."""
    return Row(name, reference, rows, dtypes=more.pop("dtypes", ALL), invalid=invalid, **more)


def listed(function):
    """A row for functions that take a list of arrays."""
    return lambda *arrays, **options: function(list(arrays), **options)


def numpy_slice_update(a, update, starts, axes):
    result = a.copy()
    begin = dict(zip(axes, np.atleast_1d(starts)))
    place = tuple(
        slice(begin.get(axis, 0), begin.get(axis, 0) + size)
        for axis, size in enumerate(update.shape)
    )
    result[place] = update
    return result


def numpy_slice(a, starts, axes, slice_size):
    begin = dict(zip(axes, np.atleast_1d(starts)))
    return a[tuple(slice(begin.get(i, 0), begin.get(i, 0) + n) for i, n in enumerate(slice_size))]


def numpy_put(a, indices, values, axis):
    result = a.copy()
    np.put_along_axis(result, indices, values, axis)
    return result


def meshgrid(*arrays, **options):
    return np.meshgrid(*arrays, **options)


def split(x, indices_or_sections, axis=0):
    return np.split(x, indices_or_sections, axis)


MOVED = [
    moved(
        "reshape",
        lambda x, shape: np.reshape(x, shape),
        (*cases((2, 3, 4), shape=(4, -1)), *cases((0, 3), shape=(3, 0)), *cases((), shape=(1, 1))),
        refused("reshape", X, (4, 2)),
        refused("reshape", X, (-1, -1)),
    ),
    moved(
        "flatten",
        lambda x, start_axis=0, end_axis=-1: (
            x.reshape(*x.shape[:start_axis], -1, *x.shape[x.ndim + end_axis + 1 :])
            if x.size
            else x.reshape(-1)
        ),
        (*cases((), (5,), (2, 3, 4), (0, 3)), *cases((2, 3, 4, 5), start_axis=1, end_axis=-2)),
        refused("flatten", X, 1, 0),
    ),
    moved(
        "unflatten",
        lambda x, axis, shape: x.reshape(x.shape[0], *shape),
        cases((2, 12), axis=1, shape=(3, 4)),
        refused("unflatten", X, 1, (2, 2), message="reshape|unflatten"),
    ),
    moved(
        "transpose",
        lambda x, axes=None: np.transpose(x, axes),
        (*cases((), (5,), (2, 3, 4), (0, 3)), *cases((2, 3, 4), axes=(1, 2, 0))),
        refused("transpose", X, (0, 0)),
        refused("transpose", X, (0,)),
    ),
    moved(
        "permute_dims",
        lambda x, axes: np.transpose(x, axes),
        cases((2, 3, 4), axes=(1, 2, 0)),
        refused("permute_dims", X, (0, 0), message="transpose|permute_dims"),
    ),
    moved("matrix_transpose", np.matrix_transpose, cases((2, 3), (4, 2, 3), (0, 3))),
    moved(
        "swapaxes",
        lambda x, axis1, axis2: np.swapaxes(x, axis1, axis2),
        cases((2, 3, 4), axis1=0, axis2=-1),
        refused("swapaxes", X, 0, 2, error=BAD_AXIS, message="axis|Axis"),
    ),
    moved(
        "moveaxis",
        lambda x, source, destination: np.moveaxis(x, source, destination),
        cases((2, 3, 4), source=0, destination=-1),
        refused("moveaxis", X, 0, 2, error=BAD_AXIS, message="axis|Axis"),
    ),
    moved(
        "squeeze",
        lambda x, axis=None: np.squeeze(x, axis),
        (*cases((1, 3, 1), (), (2,)), *cases((1, 3, 1), axis=-1)),
        refused("squeeze", X, 0),
    ),
    moved(
        "expand_dims",
        lambda x, axis: np.expand_dims(x, axis),
        (*cases((), (2, 3), axis=0), *cases((2, 3), (0, 3), axis=(0, -1))),
        refused("expand_dims", X, (0, 0)),
    ),
    moved(
        "broadcast_to",
        lambda x, shape: np.broadcast_to(x, shape),
        (*cases((), (3,), (2, 1), shape=(2, 3)), *cases((1, 3), shape=(0, 3))),
        refused("broadcast_to", X, (2, 4), message="roadcast"),
    ),
    moved(
        "broadcast_arrays",
        lambda *arrays: list(np.broadcast_arrays(*arrays)),
        cases(((2, 1), (3,)), ((), (2, 3))),
        refused("broadcast_arrays", X, mx.zeros(4), message="roadcast"),
    ),
    moved("atleast_1d", np.atleast_1d, cases((), (2,), (2, 3))),
    moved("atleast_2d", np.atleast_2d, cases((), (2,), (2, 3))),
    moved("atleast_3d", np.atleast_3d, cases((), (2,), (2, 3), (2, 3, 4, 5))),
    moved(
        "concatenate",
        listed(np.concatenate),
        (
            *cases(((2, 3), (4, 3)), ((0, 3), (4, 3))),
            *cases(((2, 3), (2, 1), (2, 70)), axis=-1),
        ),
        refused("concatenate", [X, mx.zeros((2, 4))]),
        refused("concatenate", []),
        call=listed(mx.concatenate),
    ),
    moved("concat", listed(np.concatenate), cases(((2, 3), (4, 3))), call=listed(mx.concat)),
    moved(
        "stack",
        listed(np.stack),
        (*cases(((2, 3), (2, 3)), ((), ())), *cases(((2, 3), (2, 3)), axis=-1)),
        refused("stack", [X, mx.zeros((2, 4))]),
        call=listed(mx.stack),
    ),
    moved(
        "split",
        split,
        (
            *cases((6, 2), indices_or_sections=3),
            *cases((2, 7), indices_or_sections=[1, 4], axis=1),
        ),
        refused("split", X, 2, 1),
    ),
    moved("unstack", lambda x, axis=0: list(np.moveaxis(x, axis, 0)), cases((2, 3), axis=1)),
    moved(
        "tile",
        lambda x, reps: np.tile(x, reps),
        cases((3,), (2, 3), (), reps=(2, 3)),
        call=lambda x, reps: mx.tile(x, reps),
    ),
    moved(
        "repeat",
        lambda x, repeats, axis=None: np.repeat(x, repeats, axis),
        (*cases((2, 3), (), repeats=3), *cases((2, 3), (0, 3), repeats=2, axis=-1)),
        refused("repeat", X, -1),
    ),
    moved(
        "roll",
        lambda x, shift, axis=None: np.roll(x, shift, axis),
        (
            *cases((2, 3), (5,), (0,), shift=2),
            *cases((2, 3), shift=-4, axis=1),
            *cases((2, 3, 4), shift=(1, 2), axis=(0, 2)),
        ),
        refused("roll", X, 1, 2, error=BAD_AXIS, message="axis|Axis"),
    ),
    moved(
        "flip",
        lambda x, axis=None: np.flip(x, axis),
        (*cases((2, 3), (), (0, 3)), *cases((2, 3), axis=1), *cases((2, 3, 4), axis=(0, 2))),
        refused("flip", X, 2, error=BAD_AXIS, message="axis|Axis"),
    ),
    moved(
        "pad",
        lambda x, pad_width, mode="constant": np.pad(x, pad_width, mode),
        (
            *cases((2, 3), (0, 3), pad_width=1),
            *cases((3, 4), pad_width=((1, 2), (0, 3)), mode="edge"),
            *cases((3, 4), (3, 70), pad_width=((2, 1), (3, 2)), mode="reflect"),
            *cases((3, 4), pad_width=((2, 1), (3, 2)), mode="symmetric"),
        ),
        refused("pad", X, -1),
        refused("pad", X, [(1, 1)] * 3),
        refused("pad", X, 1, mode="other", error=(ValueError, TypeError), message="mode"),
    ),
    moved("tril", lambda x, k=0: np.tril(x, k), (*cases((3, 4), (2, 3, 3)), *cases((3, 4), k=-1))),
    moved("triu", lambda x, k=0: np.triu(x, k), (*cases((3, 4), (2, 3, 3)), *cases((3, 4), k=1))),
    moved(
        "diag",
        lambda x, k=0: np.diag(x, k),
        (*cases((3,), (0,), (3, 4)), *cases((3,), (3, 4), k=1), *cases((4, 3), k=-2)),
        refused("diag", mx.zeros((2, 2, 2))),
    ),
    moved(
        "diagonal",
        lambda x, offset=0, axis1=0, axis2=1: np.diagonal(x, offset, axis1, axis2),
        (*cases((3, 4), (4, 3, 2)), *cases((2, 4, 3), offset=1, axis1=2, axis2=1)),
        refused("diagonal", mx.zeros(3)),
    ),
    Row(
        "trace",
        lambda x, offset=0: np.trace(x, offset),
        (*cases((3, 4), (3, 3, 2)), *cases((3, 4), offset=-1)),
        dtypes=REALS,
        result=sums,
        invalid=(refused("trace", mx.zeros(3), message="dimensions"),),
    ),
    moved(
        "meshgrid",
        meshgrid,
        (
            *cases(((2,), (3,)), ((2,), (3,), (4,))),
            *cases(((2,), (3,)), indexing="ij", sparse=True),
        ),
        refused("meshgrid", X, indexing="other", message="meshgrid|indexing"),
    ),
]

TAKEN = [
    moved(
        "take",
        lambda x, i, axis=None: np.take(x, i, axis),
        (*cases(((2, 3), (4,)), ((5,), ())), *cases(((3, 4), (2, 2)), axis=0)),
        refused("take", X, mx.array([0.5]), 0),
        refused("take", X, mx.array([0]), 2, error=BAD_AXIS),
        domain=("signed", "index 3"),
    ),
    moved(
        "take_along_axis",
        lambda x, i, axis: np.take_along_axis(x, i, axis),
        (*cases(((2, 3), (2, 5)), axis=1), *cases(((3, 4), (2, 4)), axis=0)),
        refused("take_along_axis", X, mx.array([0]), 0),
        domain=("signed", "index 3"),
    ),
    moved(
        "put_along_axis",
        numpy_put,
        cases(((2, 3), (2, 1), (2, 1)), axis=1),
        refused("put_along_axis", X, mx.array([0]), 1, 0),
        domain=("signed", "index 3", "signed"),
        call=lambda x, i, values, axis: mx.put_along_axis(x, i, values, axis),
    ),
    moved(
        "slice",
        numpy_slice,
        (
            *cases(((5, 3), (1,)), axes=(0,), slice_size=(2, 3)),
            *cases(((5, 4), (2,)), axes=(1, 0), slice_size=(2, 1)),
        ),
        refused("slice", X, mx.array([0]), (0,), (3, 3)),
        domain=("signed", "index 3"),
    ),
    moved(
        "slice_update",
        numpy_slice_update,
        (
            *cases(((5, 3), (2, 3), (1,)), axes=(0,)),
            *cases(((5, 4), (2, 1), (2,)), axes=(1, 0)),
        ),
        domain=("signed", "signed", "index 3"),
    ),
    moved(
        "as_strided",
        lambda x, shape, strides, offset: np.lib.stride_tricks.as_strided(
            x.reshape(-1)[offset:], shape, [s * x.itemsize for s in strides]
        ).copy(),
        (
            Case(((12,),), {"shape": (3, 4), "strides": (2, 1), "offset": 1}),
            Case(((3, 4),), {"shape": (4, 2), "strides": (0, 3), "offset": 0}),
        ),
        mappable=False,  # it depends on the memory layout
    ),
]


def made(name, reference, *calls, **more) -> Row:
    """A function that makes an array from numbers."""
    more = {"dtypes": REALS, "differentiable": False, "mappable": False} | more
    return Row(name, reference, tuple(Case(((),), {"n": call}) for call in calls), **more)


def creation(name, reference, *argument_lists, **more) -> Row:
    """Each list of arguments is one call; the type is an argument, too."""
    function = getattr(mx, name)
    return made(
        name,
        lambda x, n: reference(*n),
        *argument_lists,
        call=lambda x, n: function(*n, dtype=x.dtype),
        **more,
    )


def like(name, value) -> Row:
    return Row(
        name,
        lambda x: np.full_like(x, value),
        cases((), (2, 3), (0, 3)),
        dtypes=ALL,
        differentiable=False,
    )


MADE = [
    creation("zeros", np.zeros, [(2, 3)], [()], [0], [(0, 3)], dtypes=NUMBERS),
    creation("ones", np.ones, [(2, 3)], [()], [5], dtypes=NUMBERS),
    creation("full", np.full, [(2, 3), 7], [(), 1], dtypes=NUMBERS),
    creation("eye", np.eye, [3], [3, 4], [3, 4, -1], [0], dtypes=NUMBERS),
    creation("identity", np.identity, [3], [0], dtypes=NUMBERS),
    creation("tri", np.tri, [3], [3, 4], [3, 4, -1], [4, 2, 1]),
    creation("arange", np.arange, [5], [2, 9], [2, 9, 3], [9, 2, -2], [0]),
    creation("linspace", np.linspace, [0, 8, 9], [3, 3, 1], [0, 5, 0], dtypes=FLOATS),
    like("zeros_like", 0),
    like("ones_like", 1),
    Row(
        "full_like",
        lambda x, value: np.full_like(x, value),
        cases((), (2, 3), value=3),
        dtypes=NUMBERS,
        differentiable=False,
        call=lambda x, value: mx.full_like(x, value),
        mappable=False,
    ),
    *(
        made(
            name,
            lambda x, n, name=name: getattr(np, name)(n),
            *(1, 2, 7, 12),
            dtypes=(mx.float32,),
            tolerance=4,
            call=lambda x, n, name=name: getattr(mx, name)(n),
        )
        for name in ("hanning", "hamming", "blackman", "bartlett")
    ),
]

ROWS = MOVED + TAKEN + MADE
