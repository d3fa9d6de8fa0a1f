"""Reading, assigning and updating with subscripts, against NumPy."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp


def convert(index):
    """NumPy's subscript as one of ours."""
    if isinstance(index, tuple):
        return tuple(convert(i) for i in index)
    return mx.array(index) if isinstance(index, np.ndarray) else index


X = np.arange(2 * 3 * 4 * 5, dtype=np.int32).reshape(2, 3, 4, 5)

BASIC = [
    0,
    -1,
    (),
    ...,
    None,
    (1, 2),
    (0, -1, 3, 2),
    slice(None),
    slice(1, None),
    slice(None, None, -1),
    slice(None, None, 2),
    slice(5, 1, -1),
    slice(2, 1),
    (slice(None), slice(None, None, -2)),
    (slice(None), slice(2, 0, -1), slice(3, None, -3)),
    (..., 0),
    (..., slice(1, 4)),
    (0, ..., 1),
    (None, 0, ..., None),
    (slice(0, 1), None, slice(1, 2), ..., None),
    (..., None, 2),
    (slice(-2, None), 1, slice(None, -1)),
    (np.int64(1), np.uint8(2)),
]

ONE, TWO = np.array([1, 0]), np.array([[0, 2, 1], [2, 2, -1]])
COL = np.array([[0], [1]])
ADVANCED = [
    ONE,
    np.array(1),
    [0, 1, 0],
    [[0, 1], [1, 0]],
    (ONE, ONE),
    (ONE, np.array([2, -1]), ONE, np.array([4, 0])),
    (slice(None), TWO),
    (slice(None), TWO, slice(1, 3)),
    (ONE, slice(None), np.array([3, -2])),
    (slice(None), 1, np.array([1, 2])),
    (ONE, 2),
    (slice(None, None, -1), np.array([0, 2]), 1),
    (COL, np.array([0, 1, 2])),
    (..., TWO),
    (..., np.array([1, 2]), np.array([0, 3])),
    (None, ONE),
    (ONE, None),
    (slice(None), None, np.array([0, 2])),
    (np.array([0, 1]), None, np.array([0, 2])),
    (slice(None), np.array([0, 2]), None, slice(1, 3), np.array([0, 4])),
    (slice(None), np.array([0, 2]), np.array([1, 3]), None),
    (np.array([], dtype=np.int32),),
    (
        slice(1, None),
        np.array([0, 2], dtype=np.uint8),
        slice(None, None, 2),
        np.array([1, 0], dtype=np.int64),
    ),
]


# Values that are assigned to these have other axes than in NumPy.
SEPARATED_FROM_INTEGERS = [(0, slice(None), np.array([1, 2])), (1, ..., np.array([0, 4]))]


@pytest.mark.parametrize("index", BASIC + ADVANCED + SEPARATED_FROM_INTEGERS, ids=repr)
def test_reading(index):
    expected = X[index]
    ours = mx.array(X)[convert(index)]
    assert ours.shape == expected.shape
    assert np.array_equal(np.array(ours), expected)


@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=repr)
def test_assignment(index):
    shape = X[index].shape
    rng = np.random.default_rng(1)
    values = [7, rng.integers(0, 9, shape)]
    if shape:
        values.append(rng.integers(0, 9, shape[-1:]))
        values.append(rng.integers(0, 9, (1, 1, *shape)))
        values.append(rng.integers(0, 9, (1, *shape[1:])))
    for value in values:
        expected = X.copy()
        # If indices repeat, any of the values may stay: equal values make the result unique.
        value = value if np.isscalar(value) or not repeats(index) else np.full_like(value, 3)
        expected[index] = value
        ours = mx.array(X)
        ours[convert(index)] = value if np.isscalar(value) else mx.array(value)
        assert np.array_equal(np.array(ours), expected)


def repeats(index) -> bool:
    selected = np.arange(X.size).reshape(X.shape)[index]
    return np.unique(selected).size < selected.size


UPDATES = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "divide": np.divide,
    "maximum": np.maximum,
    "minimum": np.minimum,
}


@pytest.mark.parametrize("name", UPDATES)
@pytest.mark.parametrize("index", BASIC + ADVANCED, ids=repr)
def test_at(index, name):
    x = (X % 7 + 1).astype(np.float32)
    rng = np.random.default_rng(2)
    for value in (2.0, rng.uniform(1, 2, X[index].shape).astype(np.float32)):
        expected = x.astype(np.float64)
        UPDATES[name].at(expected, index, value)
        before = mx.array(x)
        after = getattr(before.at[convert(index)], name)(
            value if np.isscalar(value) else mx.array(value)
        )
        np.testing.assert_allclose(np.array(after), expected, rtol=1e-5)
        assert np.array_equal(np.array(before), x)


def test_at_accumulates_repeated_indices():
    a = mx.zeros(3).at[mx.array([0, 0, 2, 0])].add(mx.array([1.0, 2.0, 3.0, 4.0]))
    assert a.tolist() == [7, 0, 3]
    with pytest.raises(ValueError, match="indices"):
        mx.zeros(3).at.add(1)


def test_at_keeps_the_type():
    a = mx.array([1, 2, 3])
    assert a.at[0].add(2).dtype == mx.int32
    assert a.at[mx.array([0, 1])].divide(2).tolist() == [0, 1, 3]
    assert a.at[1:].divide(2).tolist() == [1, 1, 1]


@pytest.mark.parametrize("index", [0, slice(None, None, -1), ..., mx.array([0, 1]), "mask"])
@pytest.mark.parametrize("how", ["add", "subtract", "multiply", "maximum"])
def test_at_computes_in_the_type_of_the_array(index: object, how: str):
    a = mx.array([4, 2, 7])
    if isinstance(index, str):
        index = mx.array([True, False, True])
    for fraction, whole in ((-0.6, 0), (mx.array(1.7), 1), (mx.array(2.5, dtype=mx.float16), 2)):
        found = getattr(a.at[index], how)(fraction)
        assert found.dtype == mx.int32
        assert found.tolist() == getattr(a.at[index], how)(whole).tolist()


@pytest.mark.parametrize(
    "mask_axes",
    [(0, 1), (0, 2), (0, 4), (1, 1), (1, 3), (3, 1), (0, 3)],
    ids=lambda a: f"{a[1]}-axes-at-{a[0]}",
)
def test_assignment_through_a_mask(mask_axes):
    first, count = mask_axes
    rng = np.random.default_rng(3)
    mask = rng.random(X.shape[first : first + count]) > 0.5
    index = (slice(None),) * first + (mask,)
    expected, ours = X.copy(), mx.array(X)
    expected[index] = -1
    ours[(slice(None),) * first + (mx.array(mask),)] = -1
    assert np.array_equal(np.array(ours), expected)


@pytest.mark.parametrize("shape, axes", [((0, 3), 1), ((0, 3), 2), ((2, 0), 2), ((), 0)], ids=str)
def test_assignment_through_masks_of_numpy_without_axes_or_elements(shape, axes):
    ours = mx.zeros(shape)
    ours[np.ones(shape[:axes], bool)] = 1
    assert ours.shape == shape
    np.testing.assert_array_equal(np.array(ours), np.ones(shape))
    ours[np.zeros(shape[:axes], bool)] = 2
    np.testing.assert_array_equal(np.array(ours), np.ones(shape))


def test_assignment_of_lists_through_a_mask():
    x = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    for mask in (x > 4, np.array([True, False, True])):
        expected, ours = x.copy(), mx.array(x)
        shape = x[mask].shape
        value = np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 100
        expected[mask] = value
        ours[mx.array(mask)] = mx.array(value)
        assert np.array_equal(np.array(ours), expected)
    ours = mx.array(x)
    ours[mx.array([True, False, True])] = mx.array([9.0, 8.0, 7.0, 6.0])
    assert ours.tolist() == [[9, 8, 7, 6], [4, 5, 6, 7], [9, 8, 7, 6]]
    ours = mx.array(x).at[mx.array(x > 4)].add(1.0)
    assert np.array_equal(np.array(ours), x + (x > 4))


def test_masks_want_as_many_values_as_they_select():
    a = mx.zeros(4)
    mask = mx.array([True, True, True, False])
    with pytest.raises(RuntimeError, match="selects 3 elements, but there are 2 values"):
        a[mask] = mx.array([1.0, 2.0])
    assert a.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "key, axes",  # of the value: i for the indices, then the slices in order
    [
        ((0, slice(None), "i"), "0i"),
        ((0, slice(0, 3), "i"), "0i"),
        ((0, slice(None), "i", slice(None)), "0i1"),
        ((0, slice(None), slice(None), "i"), "01i"),
        ((slice(None), 1, slice(None), "i"), "01i"),
        ((slice(None), "i", slice(None), 1), "0i1"),
        (("i", slice(None), 1), "i0"),
        (("i", slice(None), "i", 1), "i0"),
        ((0, "i", "i", slice(None)), "i0"),
    ],
)
def test_integers_do_not_count_as_indices_where_elements_are_assigned(key, axes):
    """As in MLX; NumPy puts the indices' axis first if a slice is between it and an integer."""
    expected = np.zeros((3, 4, 5, 6), np.float32)
    ours = mx.array(expected)
    lengths = [len(range(n)[k]) for k, n in zip(key, expected.shape) if isinstance(k, slice)]
    shape = [2 if axis == "i" else lengths[int(axis)] for axis in axes]
    shape += expected.shape[len(key) :]
    value = np.random.default_rng(0).random(shape).astype(np.float32)
    position = axes.index("i")
    for n in range(2):
        single = tuple(n if k == "i" else k for k in key)
        expected[single] = np.take(value, n, axis=position)
    ours[tuple(mx.array([0, 1]) if k == "i" else k for k in key)] = mx.array(value)
    np.testing.assert_array_equal(np.array(ours), expected)


def test_assigned_values_take_the_type_of_the_array():
    a = mx.zeros((2, 2), mx.float16)
    a[0] = 1.5
    a[1] = np.array([2.5, 3.5])
    a[1, 1] = mx.array(4, mx.int32)
    assert a.dtype == mx.float16 and a.tolist() == [[1.5, 1.5], [2.5, 4]]
    a[0] = [7, 8]
    assert a.tolist() == [[7, 8], [2.5, 4]]
    b = mx.array([1, 2, 3])
    b[0] = 9.7
    assert b.tolist() == [9, 2, 3]


def test_assignment_changes_every_name_of_the_object_and_no_view():
    a = mx.array([1, 2, 3])
    alias, view = a, a[1:]
    a[1] = 7
    assert alias.tolist() == [1, 7, 3] and view.tolist() == [2, 3]


def test_slices_take_arrays_as_bounds():
    a = mx.arange(10)
    start = mx.array(2)
    assert a[start : start + 3].tolist() == [2, 3, 4]
    with pytest.raises(ValueError, match="Slice indices"):
        a[mx.array(1.5) :]
    with pytest.raises(ValueError, match="Slice indices"):
        a["a":]


@pytest.mark.parametrize("index", [10, -11, 2**40, (0, 1)])
def test_integers_out_of_range_raise(index):
    a = mx.arange(10)
    error = ValueError if isinstance(index, tuple) else IndexError
    with pytest.raises(error):
        a[index]
    with pytest.raises(error):
        a[index] = 0


@pytest.mark.parametrize("index", [1.5, "a", {}, [0.5], (..., ...), mx.array([1.0])], ids=repr)
def test_other_subscripts_raise(index):
    with pytest.raises(ValueError):
        mx.zeros((3, 3))[index]


def test_masks_cannot_be_read():
    with pytest.raises(ValueError, match="boolean indices are not yet supported"):
        mx.arange(3)[mx.array([True, False, True])]
    with pytest.raises(ValueError, match="mask"):
        mx.arange(3)[mx.array([True, False])] = 1


def test_values_that_do_not_fit_raise():
    a = mx.zeros((3, 4))
    with pytest.raises(ValueError):
        a[0] = mx.zeros(3)
    with pytest.raises(ValueError):
        a[mx.array([0, 1])] = mx.zeros((3, 4))


def test_gradients_flow_through_subscripts():
    x = mx.arange(6.0).reshape(2, 3)
    index = mx.array([0, 0, 2])
    grad = mx.grad(lambda a: (a[:, index] * mx.array([1.0, 2.0, 3.0])).sum())(x)
    assert grad.tolist() == [[3, 0, 3], [3, 0, 3]]

    def assign(a, v):
        b = a * 1.0
        b[1] = v
        return (b * b).sum()

    ga, gv = mx.grad(assign, argnums=(0, 1))(x, mx.array([1.0, 2.0, 3.0]))
    assert ga.tolist() == [[0, 2, 4], [0, 0, 0]] and gv.tolist() == [2, 4, 6]
    added = mx.grad(lambda v: (mx.ones(3).at[mx.array([1, 1])].add(v) ** 2).sum())(
        mx.array([1.0, 2.0])
    )
    assert added.tolist() == [8, 8]


def test_slices_of_many_dimensions():
    """An array with its axes reversed: no two neighbouring axes can be merged."""
    x = np.arange(3 * 2**11, dtype=np.int32).reshape((2,) * 11 + (3,))
    index = np.array([2, 0, 1, 2])
    ours = mx.array(x).transpose()
    expected = x.transpose()
    assert np.array_equal(np.array(ours[mx.array(index)]), expected[index])
    last = ours[..., mx.array([1, 0, 1])]
    assert np.array_equal(np.array(last), expected[..., [1, 0, 1]])
    added = np.zeros_like(expected)
    np.add.at(added, index, expected[index])
    sums = mx.zeros(ours.shape, dtype=mx.int32).at[mx.array(index)].add(ours[mx.array(index)])
    assert np.array_equal(np.array(sums), added)


shapes = hnp.array_shapes(min_dims=1, max_dims=4, min_side=1, max_side=5)


@settings(max_examples=150, deadline=None)
@given(shapes.flatmap(lambda s: st.tuples(st.just(s), hnp.basic_indices(s, allow_newaxis=True))))
def test_any_basic_subscript(case):
    shape, index = case
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    expected = x[index]
    ours = mx.array(x)[index]
    assert ours.shape == expected.shape and np.array_equal(np.array(ours), expected)
    assume(expected.size)
    a = mx.array(x)
    a[index] = -1
    x[index] = -1
    assert np.array_equal(np.array(a), x)


@settings(max_examples=100, deadline=None)
@given(
    shapes.flatmap(lambda s: st.tuples(st.just(s), hnp.integer_array_indices(s, dtype=np.int32)))
)
def test_any_array_subscript(case):
    shape, index = case
    x = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    ours = mx.array(x)[convert(index)]
    assert np.array_equal(np.array(ours), x[index])
    a = mx.array(x).at[convert(index)].add(1)
    np.add.at(x, index, 1)
    assert np.array_equal(np.array(a), x)


INDEX_TYPES = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("index_type", INDEX_TYPES)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_taking_along_each_axis(axis, index_type):
    """Lengths beyond the range of an 8-bit index; views of the array and of the indices."""
    random = np.random.default_rng(axis)
    shape = [3, 5, 4]
    shape[axis] = 300
    x = random.standard_normal(shape).astype(np.float32)
    low = -100 if index_type.startswith("int") else 0
    line = random.integers(low, 120 if index_type == "int8" else 250, 7).astype(index_type)
    indices = np.moveaxis(np.broadcast_to(line, (*shape[:axis], *shape[axis + 1 :], 7)), -1, axis)
    own = random.integers(low, 100, indices.shape).astype(index_type)
    a = mx.array(x)
    views = [(a, x), (a[::-1], x[::-1]), (a.swapaxes(0, 2).swapaxes(0, 2), x)]
    views.append((mx.array(np.repeat(x, 2, axis=2))[:, :, ::2], x))
    for ours, numpys in views:
        taken = mx.take(ours, mx.array(line), axis)
        np.testing.assert_array_equal(np.array(taken), np.take(numpys, line.astype(int), axis))
        two = mx.take(ours, mx.array(line[:6].reshape(2, 3)), axis)
        expected = np.take(numpys, line[:6].reshape(2, 3).astype(int), axis)
        np.testing.assert_array_equal(np.array(two), expected)
        shared = mx.broadcast_to(
            mx.array(line).reshape([7 if d == axis else 1 for d in range(3)]),
            indices.shape,
        )
        for of_ours, of_numpys in ((shared, indices), (mx.array(own), own)):
            along = mx.take_along_axis(ours, of_ours, axis)
            expected = np.take_along_axis(numpys, of_numpys.astype(int), axis)
            np.testing.assert_array_equal(np.array(along), expected)


def test_indices_beyond_the_ends_are_clamped():
    x = mx.arange(6.0).reshape(2, 3)
    for dtype in (mx.int8, mx.int32, mx.uint32, mx.int64, mx.uint64):
        assert mx.take(x, mx.array([7, 1], dtype), 1).tolist() == [[2, 1], [5, 4]]
        beyond = mx.array([[100], [0]], dtype)
        assert mx.take_along_axis(x, beyond, 1).tolist() == [[2], [3]]


@pytest.mark.parametrize("width", [1, 7, 255, 256, 3000])
@pytest.mark.parametrize("count", [1, 40, 5000])
def test_adding_rows_at_indices(count, width):
    """Short and long rows; more updates than rows, so that many add to one row."""
    random = np.random.default_rng(width)
    x = random.integers(0, 9, (50, width)).astype(np.float32)
    indices = random.integers(-50, 50, count)
    updates = random.integers(0, 9, (count, width)).astype(np.float32)
    expected = x.copy()
    np.add.at(expected, indices, updates)
    got = mx.array(x).at[mx.array(indices)].add(mx.array(updates))
    np.testing.assert_array_equal(np.array(got), expected)


@pytest.mark.parametrize("dtype", [np.uint8, np.float16, np.int32, np.complex64])
@pytest.mark.parametrize("length", [700, 2000])
def test_take_along_lines_of_large_arrays(dtype: type, length: int) -> None:
    random = np.random.default_rng(length)
    lines = (5 << 20) // (length * np.dtype(dtype).itemsize)
    x = random.integers(0, 200, (lines, length)).astype(dtype)
    for count in (length // 2, 3 * length):
        indices = random.integers(-length, length, count).astype(np.int32)
        assert np.array_equal(np.array(mx.take(mx.array(x), mx.array(indices), 1)), x[:, indices])
        each = random.integers(-length, length, (lines, count))
        got = mx.take_along_axis(mx.array(x), mx.array(each), -1)
        assert np.array_equal(np.array(got), np.take_along_axis(x, each, -1))
    # A view whose lines lie apart.
    half = mx.take(mx.array(x)[:, : length - 3], mx.array(indices) % 100, 1)
    assert np.array_equal(np.array(half), x[:, indices % 100])
