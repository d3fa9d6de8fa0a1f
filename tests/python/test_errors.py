"""Mistakes of users: each one raises an exception that says what was wrong."""

import mlx.core as mx
import numpy as np
import pytest

A, B = mx.zeros((2, 3)), mx.zeros((4, 5))


@pytest.mark.parametrize(
    "call",
    [
        lambda: mx.add(A, B),
        lambda: A + B,
        lambda: mx.reshape(A, (4, 2)),
        lambda: mx.reshape(A, (-1, -1)),
        lambda: mx.matmul(A, B),
        lambda: A @ mx.array(1.0),
        lambda: mx.concatenate([A, B]),
        lambda: mx.concatenate([]),
        lambda: mx.stack([A, B]),
        lambda: mx.stack([]),
        lambda: mx.split(A, 5),
        lambda: mx.sum(A, axis=2),
        lambda: mx.sum(A, axis=(0, 0)),
        lambda: mx.argmax(A, axis=-3),
        lambda: mx.transpose(A, (0,)),
        lambda: mx.transpose(A, (0, 0)),
        lambda: mx.squeeze(A, 0),
        lambda: mx.expand_dims(A, 5),
        lambda: mx.broadcast_to(A, (3, 3)),
        lambda: mx.broadcast_shapes((2,), (3,)),
        lambda: mx.zeros((-1,)),
        lambda: mx.arange(0, 10, 0),
        lambda: mx.arange(float("nan")),
        lambda: mx.tensordot(A, B),
        lambda: mx.tensordot(A, B, [[0], [0, 1]]),
        lambda: mx.einsum("ij,jk", A, B),
        lambda: mx.einsum("ij", A, A),
        lambda: mx.pad(A, [(1, 1)] * 3),
        lambda: mx.pad(A, 1, mode="other"),
        lambda: mx.take(A, mx.array([0.5]), axis=0),
        lambda: mx.repeat(A, -1),
        lambda: mx.repeat(A, mx.array([1, -1]), axis=0),
        lambda: mx.repeat(A, mx.array([1, 2, 3]), axis=0),
        lambda: mx.searchsorted(mx.arange(3), 1, side="middle"),
        lambda: mx.topk(A, 10),
        lambda: mx.as_strided(A, offset=-1),
        lambda: mx.as_strided(A, (2, 3), (3, 2)),
        lambda: mx.as_strided(A, (2,), (-1,)),
        lambda: mx.as_strided(A, (2,), (1, 1)),
        lambda: mx.random.split(mx.zeros(3)),
        lambda: mx.random.uniform(shape=(2,), dtype=mx.int32),
        lambda: mx.view(mx.zeros((3, 3), mx.uint8), mx.uint16),
        lambda: mx.array(2**70),
        lambda: mx.array([2**70]),
        lambda: mx.array(1) * 2**70,
    ],
)
def test_bad_values(call):
    with pytest.raises(ValueError) as error:
        mx.eval(call())
    assert len(str(error.value)) > 10


@pytest.mark.parametrize(
    "call",
    [
        lambda: mx.exp(None),
        lambda: mx.add(A, None),
        lambda: mx.array(None),
        lambda: mx.array([1, 2]).__setitem__(0, None),
        lambda: mx.zeros("a"),
        lambda: mx.zeros((1.5,)),
        lambda: mx.zeros((2,), dtype="float32"),
        lambda: mx.sum(A, axis="x"),
        lambda: mx.exp(A, stream="gpu"),
        lambda: mx.exp(A, mx.cpu),
        lambda: mx.concatenate(3),
        lambda: mx.stack(["a"]),
        lambda: mx.eval(A).foo,
        lambda: mx.set_default_device("gpu"),
        lambda: mx.stream("gpu"),
        lambda: A.reshape("a"),
    ],
)
def test_bad_types(call):
    with pytest.raises((TypeError, AttributeError)) as error:
        call()
    assert len(str(error.value)) > 10


@pytest.mark.parametrize("operand", [[1, 2], (1.5,), "a", {}, range(3), object(), mx.float32])
def test_operands_of_other_types(operand):
    """MLX raises ValueError where numbers are operands, too, and TypeError where only arrays are."""
    calls = [mx.exp, mx.logical_not, lambda x: mx.add(A, x), lambda x: mx.full((2,), x)]
    calls += [lambda x: mx.where(x, 1, 2), lambda x: mx.random.uniform(x, 1), mx.sum, mx.softmax]
    for call in calls:
        for kind in (ValueError, TypeError):
            with pytest.raises(kind, match=f"{type(operand).__name__} cannot be an operand"):
                call(operand)


def test_operands_that_hold_bytes():
    for operand in (b"abc", bytearray(b"abc"), memoryview(b"abc")):
        assert mx.add(operand, mx.array(1, mx.uint8)).tolist() == [98, 99, 100]


def test_huge_shapes_raise_instead_of_crashing():
    for shape in ((2**31 - 1, 2**31 - 1), (2**62,), (2**31,)):
        with pytest.raises((ValueError, RuntimeError, MemoryError, OverflowError)):
            mx.eval(mx.zeros(shape) + 1)


def test_take_checks_python_integers():
    with pytest.raises(IndexError):
        mx.take(A, 2, axis=0)
    assert mx.take(mx.arange(4), -1).item() == 3


def test_messages_name_the_operation():
    with pytest.raises(ValueError, match=r"^\[matmul\]"):
        mx.matmul(A, B)
    with pytest.raises(ValueError, match=r"^\[reshape\]"):
        mx.reshape(A, (4, 2))
    with pytest.raises(ValueError, match=r"^\[concatenate\]"):
        mx.concatenate([A, np.zeros((3, 3))], axis=1)


@pytest.mark.parametrize(
    "axis", ["x", (0,), 1.0, [0], mx.array(0.0), mx.array([0]), slice(1)], ids=repr
)
def test_single_axes_take_integers_only(axis):
    for call in (mx.argmax, mx.sort, mx.cumsum, lambda a, axis: mx.stack([a, a], axis)):
        with pytest.raises(TypeError):
            call(A, axis)
