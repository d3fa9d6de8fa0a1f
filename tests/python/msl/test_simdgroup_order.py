"""Orders that Metal leaves open and Apple's hardware keeps: kernels rely on them."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one

CPU = pytest.mark.cpu_kernels

HEADER = """
    // One barrier: the next call may overwrite what other SIMD-groups still read.
    inline float block_sum(float x, threadgroup float* parts, uint lane, uint group, uint groups) {
        x = simd_sum(x);
        if (lane == 0) parts[group] = x;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        return simd_sum(lane < groups ? parts[lane] : 0.0f);
    }
"""
START = """
    uint i = thread_index_in_threadgroup;
    uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
    uint groups = simdgroups_per_threadgroup;
    uint at = threadgroup_position_in_grid.x * threads_per_threadgroup.x + i;
"""


def run(source: str, x: np.ndarray, threads: int, **more) -> np.ndarray:
    out = {"out": (x.shape, mx.float32)}
    return run_one(START + source, {"x": x} | more, out, x.size, threads, header=HEADER)


@pytest.mark.parametrize("threads", [32, 64, 128, 256, 1024])
def test_partial_results_that_are_overwritten_while_others_read(rng, threads):
    """A maximum and a sum share one array, as in losses over long rows."""
    x = rng.standard_normal((3, threads)).astype(np.float32)
    source = """
        threadgroup float parts[32];
        float own = x[at];
        float top = simd_max(own);
        if (lane == 0) parts[group] = top;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        top = simd_max(lane < groups ? parts[lane] : -INFINITY);
        float sum = simd_sum(exp(own - top));
        if (lane == 0) parts[group] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum = simd_sum(lane < groups ? parts[lane] : 0.0f);
        out[at] = top + log(sum);
    """
    expected = np.log(np.exp(x.astype(np.float64)).sum(1, keepdims=True))
    got = run(source, x, threads)
    np.testing.assert_allclose(got, np.broadcast_to(expected, x.shape), 1e-5)


@pytest.mark.parametrize("threads", [64, 96, 256, 1024])
def test_a_function_with_one_barrier_is_called_again_and_again(rng, threads):
    x = rng.standard_normal((2, threads)).astype(np.float32)
    source = """
        threadgroup float parts[32];
        float mean = block_sum(x[at], parts, lane, group, groups) / threads_per_threadgroup.x;
        float centred = x[at] - mean;
        float squares = block_sum(centred * centred, parts, lane, group, groups);
        out[at] = centred * rsqrt(squares / threads_per_threadgroup.x);
    """
    wide = x.astype(np.float64)
    expected = (wide - wide.mean(1, keepdims=True)) / wide.std(1, keepdims=True)
    np.testing.assert_allclose(run(source, x, threads), expected, 1e-4, 1e-5)


def test_in_a_loop(rng):
    """The next iteration writes memory that other SIMD-groups read in this one."""
    x = rng.integers(0, 9, (2, 256)).astype(np.float32)
    source = """
        threadgroup float parts[32];
        float total = 0;
        for (int step = 0; step < n; ++step) {
            float part = simd_sum(x[at] * (step + 1));
            if (lane == 0) parts[group] = part;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            total += simd_sum(lane < groups ? parts[lane] : 0.0f);
        }
        out[at] = total;
    """
    expected = np.broadcast_to(x.sum(1, keepdims=True) * 15, x.shape)
    np.testing.assert_array_equal(run(source, x, 256, n=5), expected)


# A GPU adds the lanes of a part of a SIMD-group in another order.
@pytest.mark.parametrize(
    "threads", [32, pytest.param(21, marks=CPU), 64, pytest.param(80, marks=CPU)]
)
@pytest.mark.parametrize("name", ["sum", "product"])
def test_sums_are_those_of_a_butterfly(rng, name, threads):
    """Lanes at a distance of 1 are added first, then 2, 4, 8, 16, to the bit."""
    x = rng.uniform(0.5, 1.7, (4, threads)).astype(np.float32)
    operator = {"sum": np.add, "product": np.multiply}[name]
    got = run(f"out[at] = simd_{name}(x[at]);", x, threads)
    neutral = np.float32(0 if name == "sum" else 1)
    for first in range(0, threads, 32):
        lanes = x[:, first : first + 32]
        values = np.pad(lanes, [(0, 0), (0, 32 - lanes.shape[1])], constant_values=neutral)
        while values.shape[1] > 1:
            values = operator(values[:, ::2], values[:, 1::2])
        expected = np.broadcast_to(values, lanes.shape)
        np.testing.assert_array_equal(got[:, first : first + 32], expected)
    if threads % 32 == 0:
        source = f"""
            float v = x[at];
            for (ushort d = 1; d < 32; d *= 2) v {"+" if name == "sum" else "*"}= simd_shuffle_xor(v, d);
            out[at] = v;
        """
        np.testing.assert_array_equal(run(source, x, threads), got)
