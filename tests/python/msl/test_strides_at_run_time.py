"""Indices times strides that are known at run time only: positive, negative, zero, and out of the
range of their type."""

import mlx.core as mx
import numpy as np
import pytest

GATHER = """
    uint elem = thread_position_in_grid.x;
    uint row = elem / uint(length[0]), column = elem % uint(length[0]);
    {type} place = {type}(row) * {type}(row_stride[0]) + {type}(column) * {type}(stride[0]) + {type}(start[0]);
    out[elem] = place >= 0 && place < {type}(size[0]) ? x[place] : -1.0f;
"""

SCATTER = """
    uint elem = thread_position_in_grid.x;
    uint row = elem / uint(length[0]), column = elem % uint(length[0]);
    out[row * row_stride[0] + column * stride[0]] = elem;
"""


def run(source: str, inputs: dict, threads: int, threadgroup: int, shape, dtype, **more):
    kernel = mx.fast.metal_kernel(
        name="strides",
        input_names=list(inputs),
        output_names=["out"],
        source=source,
        ensure_row_contiguous=False,
    )
    return np.array(
        kernel(
            inputs=[mx.array(value) for value in inputs.values()],
            grid=(threads, 1, 1),
            threadgroup=(threadgroup, 1, 1),
            output_shapes=[shape],
            output_dtypes=[dtype],
            **more,
        )[0]
    )


@pytest.mark.parametrize("type", ["uint", "int", "long", "size_t"])
@pytest.mark.parametrize("stride", [0, 1, 2, 7, -1, -3])
@pytest.mark.parametrize("length", [5, 64, 192])
def test_gathers(type, stride, length):
    rows, size = 8, 4096
    start = -stride * length if stride < 0 else 0
    x = np.random.default_rng(0).standard_normal(size).astype(np.float32)
    numbers = {"length": length, "row_stride": 200, "stride": stride, "start": start, "size": size}
    inputs = {"x": x} | {name: np.array([n], np.int32) for name, n in numbers.items()}
    out = run(GATHER.format(type=type), inputs, rows * length, 256, (rows, length), mx.float32)
    place = np.arange(rows)[:, None] * 200 + np.arange(length) * stride + start
    expected = np.where(place < size, x[np.clip(place, 0, size - 1)], -1)
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("type,start", [("uint", -40), ("int", 2**31 - 40), ("uint", -(2**30))])
@pytest.mark.parametrize("stride", [1, 3, 2**30 + 1])
def test_numbers_that_wrap_around(type, start, stride):
    rows, length, size = 4, 128, 1024
    x = np.random.default_rng(0).standard_normal(size).astype(np.float32)
    numbers = {"length": length, "row_stride": 64, "stride": stride, "start": start, "size": size}
    inputs = {"x": x} | {name: np.array([n], np.int32) for name, n in numbers.items()}
    out = run(GATHER.format(type=type), inputs, rows * length, 128, (rows, length), mx.float32)
    place = np.arange(rows)[:, None] * 64 + np.arange(length) * stride + start
    place = place.astype(np.uint32 if type == "uint" else np.int32).astype(np.int64)
    inside = (place >= 0) & (place < size)
    np.testing.assert_array_equal(out, np.where(inside, x[np.where(inside, place, 0)], -1))


@pytest.mark.parametrize("stride,row_stride", [(1, 100), (3, 300), (8, 1), (-1, 100)])
def test_scatters(stride, row_stride):
    rows, length = 8, 96
    shift = length if stride < 0 else 0
    numbers = {"length": length, "row_stride": row_stride, "stride": stride}
    inputs = {name: np.array([n], np.int64) for name, n in numbers.items()}
    source = SCATTER.replace("out[", f"out[{shift} + ")
    out = run(source, inputs, rows * length, 192, (2400,), mx.int32, init_value=-1)
    expected = np.full(2400, -1)
    place = np.arange(rows)[:, None] * row_stride + np.arange(length) * stride + shift
    expected[place.ravel()] = np.arange(rows * length)
    np.testing.assert_array_equal(out, expected)
