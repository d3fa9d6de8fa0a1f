"""Every public function of mlx.core that computes arrays, against NumPy in double precision.

The tables list the calls. This file tests them: values and types on both devices, empty arrays and
those without axes, strided arguments, derivatives, vmap over every axis, invalid arguments.
"""

import inspect
import itertools
import zlib
from collections.abc import Callable
from pathlib import Path

import arrangement_rows
import elementwise_rows
import function_rows
import mlx.core as mx
import numpy as np
import product_rows
import pytest
import reduction_rows
from elsewhere import ELSEWHERE
from function_rows import TOLERANCES, Case, Row, inexact, outputs, to_mlx, to_numpy

TABLES = (elementwise_rows, reduction_rows, arrangement_rows, product_rows)
ROWS = [row for table in TABLES for row in table.ROWS]
MODULES = ("", "fast.", "linalg.", "fft.", "random.")


def with_names(rows: list[Row]):
    return pytest.mark.parametrize("row", [pytest.param(row, id=row.name) for row in rows])


def arguments(row: Row, case: Case, dtype: mx.Dtype) -> tuple[list[np.ndarray], list[mx.array]]:
    """The same random numbers in every run, for NumPy and for us."""
    rng = np.random.default_rng(zlib.crc32(row.name.encode()))
    numpy_arrays, arrays = [], []
    for number, shape in enumerate(case.shapes):
        domain = row.domain_of(number)
        own_dtype = dtype if row.mixed or number == 0 else mx.float32
        numpy_arrays.append(function_rows.random_values(rng, domain, shape, own_dtype))
        arrays.append(to_mlx(numpy_arrays[-1], own_dtype, domain))
    return numpy_arrays, arrays


def typed(row: Row, arrays: list[mx.array]) -> list[mx.Dtype]:
    """The types that determine the result's."""
    return [
        array.dtype
        for number, array in enumerate(arrays)
        if row.domain_of(number) != "bool" and not row.domain_of(number).startswith("index")
    ] or [mx.bool_]


def assert_close(ours: mx.array, expected: np.ndarray, row: Row, dtype: mx.Dtype) -> None:
    got, expected = to_numpy(ours), np.asarray(expected)
    assert got.shape == expected.shape
    if got.dtype.kind in "biu":
        np.testing.assert_array_equal(got, expected.astype(got.dtype))
        return
    error = row.tolerance * TOLERANCES.get(dtype, 3e-5)
    scale = np.abs(expected[np.isfinite(expected)]).max(initial=1.0)
    np.testing.assert_allclose(got, expected, error, error * scale)


def reference(row: Row, case: Case, dtype: mx.Dtype, arrays: list[np.ndarray]) -> list[np.ndarray]:
    if dtype == mx.bool_ and row.result == inexact:  # which NumPy computes in float16
        arrays = [array.astype(np.float64) for array in arrays]
    with np.errstate(all="ignore"):
        return outputs(row.reference(*arrays, **case.options))


def devices(dtype: mx.Dtype) -> tuple[mx.Device, ...]:
    return (mx.cpu,) if dtype == mx.float64 else (mx.cpu, mx.gpu)


def coarsest(dtype: mx.Dtype, result: mx.Dtype) -> mx.Dtype:
    """The less precise one of the type of the computation and the result's."""
    return max((dtype, result), key=lambda t: TOLERANCES.get(t, 0))


@with_names(ROWS)
def test_values_and_types(row: Row):
    for case, dtype in itertools.product(row.cases, row.dtypes):
        numpy_arrays, arrays = arguments(row, case, dtype)
        expected = reference(row, case, dtype, numpy_arrays)
        for device in devices(dtype):
            with mx.stream(device):
                got = outputs(row.function(*arrays, **case.options))
            assert len(got) == len(expected)
            for ours, want in zip(got, expected):
                assert ours.dtype == row.result(*typed(row, arrays)), (dtype, case)
                assert_close(ours, want, row, coarsest(dtype, ours.dtype))


def strided(array: mx.array) -> list[mx.array]:
    """The same elements in other memory layouts: transposed, with a stride of two, reversed."""
    axes = list(range(array.ndim))
    transposed = mx.contiguous(mx.transpose(array, axes[::-1])).transpose(axes[::-1])
    doubled = mx.repeat(array, 2, -1)[..., ::2]
    reversed_ = mx.contiguous(array[..., ::-1])[..., ::-1]
    return [transposed, doubled, reversed_]


@with_names(ROWS)
def test_strided_arguments(row: Row):
    dtype = row.dtypes[0]
    for case in row.cases:
        _, arrays = arguments(row, case, dtype)
        expected = outputs(row.function(*arrays, **case.options))
        for number, array in enumerate(arrays):
            for other in strided(array) if array.ndim else []:
                changed = [*arrays[:number], other, *arrays[number + 1 :]]
                for ours, want in zip(outputs(row.function(*changed, **case.options)), expected):
                    assert ours.dtype == want.dtype
                    assert_close(ours, to_numpy(want), row, ours.dtype)


# ---- Derivatives ----


def float_arguments(row: Row, case: Case) -> list[int]:
    return [
        number
        for number in range(len(case.shapes))
        if row.domain_of(number) != "bool" and not row.domain_of(number).startswith("index")
    ]


def numerical_jvp(f: Callable, points: list[np.ndarray], tangents: list[np.ndarray]):
    """The derivative along the tangents, by differences of fourth order in double precision."""

    def at(step: float) -> list[np.ndarray]:
        moved = [mx.array(p + step * t, mx.float64) for p, t in zip(points, tangents)]
        return [to_numpy(y) for y in outputs(f(*moved))]

    h = 1e-5
    values = zip(at(-2 * h), at(-h), at(h), at(2 * h))
    with np.errstate(invalid="ignore"):  # infinite values have no difference
        slopes = [(a - 8 * b + 8 * c - d) / (12 * h) for a, b, c, d in values]
    return [np.nan_to_num(slope) for slope in slopes]


@with_names([row for row in ROWS if row.differentiable])
def test_derivatives(row: Row):
    """Compares jvp with differences, and vjp with jvp, for each argument and for all."""
    rng = np.random.default_rng(1)
    with mx.stream(mx.cpu):
        for case in row.cases:
            _, arrays = arguments(row, case, mx.float64)
            floats = float_arguments(row, case)
            for chosen in [*([number] for number in floats), floats]:
                check_derivatives(row, case, arrays, chosen, rng)


def check_derivatives(row, case, arrays, chosen, rng):
    def f(*values):
        changed = list(arrays)
        for number, value in zip(chosen, values):
            changed[number] = value
        return outputs(row.function(*changed, **case.options))

    points = [to_numpy(arrays[number]) for number in chosen]
    tangents = [rng.uniform(-1, 1, point.shape) for point in points]
    primals, directions = ([mx.array(a, mx.float64) for a in group] for group in (points, tangents))
    values, along = mx.jvp(f, primals, directions)
    for ours, want in zip(along, numerical_jvp(f, points, tangents)):
        np.testing.assert_allclose(to_numpy(ours), want, 2e-6, 2e-6)

    cotangents = [mx.array(rng.uniform(-1, 1, v.shape), mx.float64) for v in values]
    _, gradients = mx.vjp(f, primals, cotangents)
    forward = sum(np.vdot(to_numpy(c), to_numpy(t)) for c, t in zip(cotangents, along))
    backward = sum(np.vdot(to_numpy(g), t) for g, t in zip(gradients, tangents))
    np.testing.assert_allclose(backward, forward, 1e-8, 1e-8)
    assert [g.shape for g in gradients] == [p.shape for p in points]


# ---- vmap ----


@with_names([row for row in ROWS if row.mappable])
def test_vmap_over_every_axis(row: Row):
    """Maps each argument alone, along each of its axes, and all arguments; compares with a loop."""
    rng = np.random.default_rng(2)
    for case in row.cases:
        shapes = case.shapes
        alone = [
            [axis if other == number else None for other in range(len(shapes))]
            for number, shape in enumerate(shapes)
            for axis in range(len(shape) + 1)
        ]
        together = [[len(shape) for shape in shapes], [0] * len(shapes)]
        for axes in alone + together if shapes else []:
            check_vmap(row, case, axes, rng)


@with_names([row for row in ROWS if row.mappable])
def test_vmap_over_nothing(row: Row):
    """Without elements to map, results have the shapes and types of those with one, but no elements."""
    rng = np.random.default_rng(3)
    for case in row.cases:
        shapes, few = case.shapes, range(min(len(case.shapes), 3))
        for mapped in [[number] for number in few] + [list(range(len(shapes)))] if shapes else []:
            axes = [0 if number in mapped else None for number in range(len(shapes))]
            arrays = []
            for number, shape in enumerate(shapes):
                own_dtype = row.dtypes[0] if row.mixed or number == 0 else mx.float32
                domain = row.domain_of(number)
                values = function_rows.random_values(rng, domain, shape, own_dtype)
                array = to_mlx(values, own_dtype, domain)
                arrays.append(array[None] if number in mapped else array)

            def f(*values, options=case.options):
                return outputs(row.function(*values, **options))

            one = mx.vmap(f, in_axes=axes)(*arrays)
            none = [array[:0] if number in mapped else array for number, array in enumerate(arrays)]
            for got, want in zip(mx.vmap(f, in_axes=axes)(*none), one, strict=True):
                mx.eval(got)
                assert got.shape == (0, *want.shape[1:]) and got.dtype == want.dtype, case


def check_vmap(row: Row, case: Case, axes: list[int | None], rng: np.random.Generator) -> None:
    dtype, batch = row.dtypes[0], 3
    arrays = []
    for number, (shape, axis) in enumerate(zip(case.shapes, axes)):
        shape = shape if axis is None else (*shape[:axis], batch, *shape[axis:])
        own_dtype = dtype if row.mixed or number == 0 else mx.float32
        values = function_rows.random_values(rng, row.domain_of(number), shape, own_dtype)
        if axis is not None and row.domain_of(number) == "increasing":
            values = np.sort(values, -1 if axis < len(shape) - 1 else -2)
        arrays.append(to_mlx(values, own_dtype, row.domain_of(number)))

    def f(*values):
        return outputs(row.function(*values, **case.options))

    def one(index: int) -> list[mx.array]:
        return f(*(a if x is None else mx.take(a, index, x) for a, x in zip(arrays, axes)))

    loop = [mx.stack(results) for results in zip(*(one(index) for index in range(batch)))]
    mapped = mx.vmap(f, in_axes=tuple(axes))(*arrays)
    assert len(mapped) == len(loop)
    for ours, want in zip(mapped, loop):
        assert ours.dtype == want.dtype
        assert_close(ours, to_numpy(want), row, ours.dtype)


# ---- Invalid arguments, and the tables themselves ----


@with_names([row for row in ROWS if row.invalid])
def test_invalid_arguments(row: Row):
    for call, error, message in row.invalid:
        with pytest.raises(error, match=message):
            mx.eval(call())


def public_functions() -> dict[str, object]:
    found = {}
    for prefix in MODULES:
        module = getattr(mx, prefix.rstrip(".")) if prefix else mx
        for name in dir(module):
            value = getattr(module, name)
            if callable(value) and not inspect.isclass(value) and not name.startswith("_"):
                found[prefix + name] = value
    return found


def test_every_function_has_a_row():
    functions = public_functions()
    rows = {functions[row.name] for row in ROWS if row.name in functions}
    unknown = {row.name for row in ROWS} - set(functions)
    assert not unknown
    missing = [n for n, f in functions.items() if f not in rows and n not in ELSEWHERE]
    assert not missing
    superfluous = [n for n in ELSEWHERE if n not in functions or functions[n] in rows]
    assert not superfluous


def test_other_tests_have_what_the_tables_leave_to_them():
    folder = Path(__file__).resolve().parents[1]
    for name, file in ELSEWHERE.items():
        assert name.split(".")[-1] in (folder / file).read_text(), (name, file)
