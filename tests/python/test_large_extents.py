"""Extents, strides and counts near 2**31 and beyond: right results, or clear errors."""

import operator

import mlx.core as mx
import numpy as np
import pytest
from mlx_sample_extensions import axpby
from numpy.lib.stride_tricks import as_strided

MOST = 2**31 - 1
ONE = mx.array([1], mx.uint8)


def stretched(*shape: int) -> mx.array:
    """Many elements that share one byte."""
    return mx.broadcast_to(ONE, shape)


def numpy_stretched(*shape: int) -> np.ndarray:
    return as_strided(np.zeros(1, np.uint8), shape, (0,) * len(shape))


@pytest.mark.parametrize("shape", [(2**32 + 4,), (2**31,), (3, 2**31, 2)])
@pytest.mark.parametrize("make", [mx.from_dlpack, mx.array])
def test_what_is_too_long_is_refused_at_the_border(make, shape):
    axis, extent = next((i, n) for i, n in enumerate(shape) if n > MOST)
    with pytest.raises(ValueError, match=f"{extent} elements along axis {axis}.*{MOST}"):
        make(numpy_stretched(*shape))


@pytest.mark.parametrize("make", [mx.from_dlpack, mx.array])
def test_what_is_too_large_is_refused_at_the_border(make):
    with pytest.raises(ValueError, match="Too many elements"):
        make(numpy_stretched(2**30, 2**30))


@pytest.mark.parametrize(
    ("call", "argument"),
    [
        (lambda n: mx.zeros((2, n)), r"\[zeros\] shape"),
        (lambda n: mx.ones(n), r"\[ones\] shape"),
        (lambda n: mx.full((n,), 1), r"\[full\] shape"),
        (lambda n: mx.reshape(ONE, (n,)), r"\[reshape\] shape"),
        (lambda n: ONE.reshape(n), r"\[reshape\] shape"),
        (lambda n: ONE.reshape(1, n), r"\[reshape\] shape"),
        (lambda n: mx.unflatten(ONE, 0, (n,)), r"\[unflatten\] shape"),
        (lambda n: mx.broadcast_to(ONE, (n,)), r"\[broadcast_to\] shape"),
        (lambda n: mx.broadcast_shapes((n,), (1,)), r"\[broadcast_shapes\] shape"),
        (lambda n: mx.as_strided(ONE, (n,), (0,)), r"\[as_strided\] shape"),
        (lambda n: mx.expand_dims(ONE, (n,)), r"\[expand_dims\] axis"),
        (lambda n: mx.tile(ONE, (n,)), r"\[tile\] reps"),
        (lambda n: mx.repeat(ONE, n), r"\[repeat\] repeats"),
        (lambda n: mx.pad(ONE, n), r"\[pad\] pad_width"),
        (lambda n: mx.pad(ONE, [(0, n)]), r"\[pad\] pad_width"),
        (lambda n: mx.roll(ONE, n), r"\[roll\] shift"),
        (lambda n: mx.split(ONE, n), r"\[split\] indices_or_sections"),
        (lambda n: mx.split(ONE, [0, n]), r"\[split\] indices_or_sections"),
        (lambda n: mx.take(ONE, n), r"\[take\] indices"),
        (lambda n: mx.sum(ONE, axis=n), "axis"),
        (lambda n: mx.sum(ONE, axis=(n,)), "axis"),
        (lambda n: mx.transpose(ONE, (n,)), "axis"),
        (lambda n: ONE.transpose(n), r"\[transpose\] axes"),
        (lambda n: mx.tensordot(ONE, ONE, n), r"\[tensordot\] axes"),
        (lambda n: mx.random.uniform(shape=(n,)), r"\[uniform\] shape"),
        (lambda n: mx.random.normal((n,)), r"\[normal\] shape"),
        (lambda n: mx.random.randint(0, 3, (n,)), r"\[randint\] shape"),
        (lambda n: mx.random.bernoulli(shape=(n,)), r"\[bernoulli\] shape"),
        (lambda n: mx.random.permutation(n), r"\[permutation\] x"),
        (lambda n: mx.grad(lambda x: x, n), r"\[grad\] argnums"),
        (lambda n: mx.vmap(lambda x: x, in_axes=n)(ONE), r"\[vmap\] in_axes"),
    ],
)
@pytest.mark.parametrize("n", [2**31, -(2**31) - 1, 2**40])
def test_integers_beyond_32_bits_are_refused_by_name(call, argument, n):
    kind = OverflowError if argument.endswith("shape") else ValueError
    with pytest.raises(kind, match=f"{argument}: {n} does not fit into 32 bits"):
        call(n)


@pytest.mark.parametrize("n", [2**63, -(2**63) - 1, 2**70])
def test_integers_beyond_64_bits_are_refused(n):
    for call in (mx.zeros, lambda n: mx.reshape(ONE, (n,)), lambda n: mx.roll(ONE, n)):
        with pytest.raises((ValueError, TypeError)):
            call(n)


@pytest.mark.parametrize(
    "call",
    [
        lambda: mx.flatten(stretched(2**16, 2**15)),
        lambda: mx.flatten(stretched(2**20, 2**19, 2**19)),
        lambda: mx.reshape(stretched(2**16, 2**16), (-1,)),
        lambda: mx.reshape(stretched(2**16, 2**16), (-1, 2)),
        lambda: mx.concatenate([stretched(2**30), stretched(2**30)]),
        lambda: mx.tile(stretched(2**16), (2**15,)),
        lambda: mx.repeat(stretched(2**16), 2**15),
        lambda: mx.pad(ONE, (2**30, 2**30)),
        lambda: mx.pad(ONE, (MOST, MOST)),
        lambda: mx.pad(ONE, (MOST, MOST), mode="edge"),
        lambda: mx.kron(stretched(2**16), stretched(2**15)),
        lambda: mx.diag(ONE, MOST),
        lambda: mx.diag(ONE, -(2**31)),
        lambda: mx.view(mx.broadcast_to(mx.array([1], mx.uint64), (2**29, 1)).T, mx.uint8),
        lambda: mx.outer(stretched(2**16, 2**16), ONE),
        lambda: mx.argmax(stretched(2**16, 2**16)),
        lambda: mx.cumsum(stretched(2**16, 2**16)),
        lambda: mx.arange(2**31),
    ],
)
def test_results_that_are_too_long_are_refused(call):
    with pytest.raises(ValueError, match="too long|too many|Cannot infer"):
        call()


def test_products_of_extents_do_not_wrap():
    empty = mx.zeros((0,))
    for shape in [(2**16,) * 4, (2**31 - 1,) * 3 + (0,)]:
        assert 0 in shape or np.prod(np.array(shape, dtype=object)) % 2**64 == 0
    with pytest.raises(ValueError, match="reshape"):
        mx.reshape(empty, (2**16,) * 4)  # 2**64 elements
    assert mx.reshape(empty, (MOST, MOST, MOST, 0)).shape == (MOST, MOST, MOST, 0)
    with pytest.raises(ValueError, match="unflatten"):
        mx.unflatten(empty, 0, (2**16,) * 4)


@pytest.mark.parametrize("offset", [MOST, -MOST, -(2**31), 5])
def test_diagonals_far_away_are_empty(offset):
    a = mx.ones((3, 4))
    assert mx.diagonal(a, offset).shape == (0,)
    assert not mx.eye(3, 4, offset).any()
    assert mx.array_equal(mx.tri(3, 4, offset), mx.full((3, 4), offset > 0))
    assert mx.array_equal(mx.tril(a, offset), a * (offset > 0))
    assert mx.array_equal(mx.triu(a, offset), a * (offset < 0))


def test_rolls_by_large_numbers():
    a = np.arange(7)
    for shift in (MOST, -MOST, -(2**31), (MOST, MOST, MOST)):
        expected = np.roll(a, sum(shift) if isinstance(shift, tuple) else shift)
        assert mx.roll(mx.array(a), shift).tolist() == expected.tolist()
        by = shift if isinstance(shift, tuple) else (shift,)
        assert mx.roll(mx.array(a), by, (0,) * len(by)).tolist() == expected.tolist()
    long = mx.roll(stretched(MOST), MOST - 1)
    assert long.shape == (MOST,)


def test_slices_with_large_strides():
    a = mx.arange(10)
    for step in (MOST, MOST - 1, 2**30, 2**31, 2**40, 2**63):
        assert a[2::step].tolist() == [2]
        assert a[::-step].tolist() == [9]
        b = mx.arange(10)
        b[3::step] = -1
        b[4::-step] = -2
        assert b.tolist() == [0, 1, 2, -1, -2, 5, 6, 7, 8, 9]
    # Two elements far apart, of an axis of the greatest length.
    long = stretched(MOST)
    for step in (2**30, 2**30 + 5, 3 * 2**29, MOST - 1):
        assert long[::step].shape == (2,)
        assert long[::-step].shape == (2,)
    assert long[:: 2**29].shape == (4,)
    assert long[::MOST].shape == (1,)


@pytest.mark.cpu_kernels
def test_slices_of_long_axes_take_the_right_elements():
    bytes_ = np.zeros(2**31 - 1, np.uint8)
    step = 3 * 2**29
    bytes_[[0, step, MOST - 1, MOST - 1 - step]] = [1, 2, 3, 4]
    a = mx.array(bytes_)
    del bytes_
    assert a[::step].tolist() == [1, 2]
    assert a[::-step].tolist() == [3, 4]
    assert a[-1].item() == 3 and a[MOST - 1].item() == 3
    assert mx.take(a, mx.array([step, -1, MOST - 1])).tolist() == [2, 3, 3]
    assert mx.argmax(a).item() == MOST - 1 - step
    assert mx.sum(a).item() == 10


@pytest.mark.parametrize("strides", [(2**62,), (-(2**62),), (2**63 - 1,), (2**31,)])
def test_strides_beyond_the_array_are_refused(strides):
    with pytest.raises(ValueError, match="as_strided"):
        mx.as_strided(ONE, (5,), strides)
    with pytest.raises(ValueError, match="as_strided"):
        mx.as_strided(ONE, (2, 3), strides * 2)
    assert mx.as_strided(ONE, (1,), strides).tolist() == [1]


@pytest.mark.parametrize(
    "value", [mx.cpu, mx.gpu, mx.Device(mx.cpu), mx.default_stream(mx.cpu), mx.float32, mx.floating]
)
def test_devices_streams_and_types_are_no_numbers(value):
    x = mx.zeros((2, 3))
    for convert in (int, float, complex, operator.index):
        with pytest.raises(TypeError):
            convert(value)
    for call in (
        lambda: mx.sum(x, value),
        lambda: mx.argmax(x, value),
        lambda: mx.var(x, 0, False, value),
        lambda: mx.softmax(x, value),
        lambda: mx.cumsum(x, value),
        lambda: mx.sort(x, value),
        lambda: mx.expand_dims(x, value),
        lambda: mx.flatten(x, value),
        lambda: mx.swapaxes(x, 0, value),
        lambda: mx.concatenate([x], value),
        lambda: mx.sum(x, 0, value),
        lambda: mx.eye(value),
        lambda: mx.zeros(value),
        lambda: mx.zeros((2, value)),
        lambda: mx.arange(value),
        lambda: mx.linspace(0, value),
        lambda: mx.repeat(x, value),
        lambda: mx.allclose(x, x, value),
        lambda: mx.random.laplace((2,), mx.float32, value),
        lambda: mx.array([1, value]),
        lambda: x.sum(value),
        lambda: x.reshape(value),
        lambda: x + value,
        lambda: mx.random.seed(value),
        lambda: mx.set_memory_limit(value),
        lambda: axpby(x, x, value, 1.0),
        lambda: axpby(x, x, 1.0, beta=value),
    ):
        with pytest.raises((TypeError, ValueError)):
            call()


def test_enumerations_are_still_values():
    import copy
    import pickle

    for value in (mx.cpu, mx.gpu, mx.floating, mx.integer):
        assert pickle.loads(pickle.dumps(value)) == value and copy.deepcopy(value) == value
        assert hash(value) == hash(copy.copy(value)) and type(value)(value.value) == value
        assert value.name in repr(value) and str(value).endswith(value.name)
    assert mx.cpu != mx.gpu and mx.floating != mx.integer and len({mx.cpu, mx.gpu, mx.cpu}) == 2


@pytest.mark.parametrize("values", [[-1, 2**63], [2**63, -1], [[2**64 - 1], [-(2**63)]]])
def test_integers_without_a_common_type(values):
    with pytest.raises(ValueError, match="No integer type.*floating-point"):
        mx.array(values)
    with pytest.raises(ValueError, match="No integer type"):
        mx.array(values, mx.int64)
    numbers = np.array(values, dtype=object).astype(np.float32)
    assert np.array_equal(np.array(mx.array(values, mx.float32)), numbers)
    assert np.array_equal(np.array(mx.array(values, mx.complex64)), numbers.astype(np.complex64))


def test_large_integers_among_other_numbers():
    assert mx.array([-1, 2**63, 0.5]).tolist() == [-1, 2**63, 0.5]
    assert mx.array([0.5, -1, 2**63]).tolist() == [0.5, -1, 2**63]
    assert mx.array([-1, 2**63, 1j]).tolist() == [-1, 2**63, 1j]
    assert mx.array([0.5, 2**70]).tolist() == [0.5, 2**70]
    for values in ([0.5, 10**400], [1j, -(10**400)]):
        with pytest.raises(ValueError, match="does not fit into a double"):
            mx.array(values)
    assert mx.array([True, 2**64 - 1]).tolist() == [1, 2**64 - 1]


def sparse_halves() -> mx.array:
    """The longest array of float16; all but a few of its pages are never touched."""
    kernel = mx.fast.metal_kernel(
        "sparse", ["x"], ["y"], "y[0] = 1; y[1 << 30] = 3; y[2147483646] = 5;"
    )
    return kernel(
        inputs=[ONE],
        grid=(1, 1, 1),
        threadgroup=(1, 1, 1),
        output_shapes=[(MOST,)],
        output_dtypes=[mx.float16],
    )[0]


@pytest.mark.parametrize("device", [mx.cpu, mx.gpu])
def test_operands_with_distant_elements(device):
    x = sparse_halves()
    pairs, last = x[:: 2**30], x[MOST - 1 :: -(2**30)][:1]
    assert pairs.tolist() == [1, 3] and last.tolist() == [5]
    assert mx.add(pairs, last, stream=device).tolist() == [6, 8]
    assert mx.sum(pairs, stream=device).item() == 4
    assert axpby(pairs, last, 1.0, 2.0, stream=device).tolist() == [11, 13]
    assert axpby(pairs[::-1], pairs, 1.0, 10.0, stream=device).tolist() == [13, 31]
    columns = mx.as_strided(x, (2, 2), (2**30 - 2, 2**30), 0)  # two of them overlap
    with mx.stream(device):
        assert (columns + 0).tolist() == [[1, 3], [0, 5]]
        assert axpby(columns, columns.T, 1.0, 1.0).tolist() == [[2, 3], [3, 10]]
