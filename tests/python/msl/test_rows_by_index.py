"""Rows of a matrix by index: gangs within a row are coherent, and the rows are prefetched."""

import mlx.core as mx
import numpy as np
import pytest

GATHER = """
    uint elem = thread_position_in_grid.x;
    if (elem >= uint(count[0]) * width[0]) return;
    uint row = elem / width[0], column = elem % width[0];
    int from = index[row];
    out[elem] = from >= 0 ? x[from * width[0] + column] : -1.0f;
"""

ADD = """
    uint elem = thread_position_in_grid.x;
    if (elem >= uint(count[0]) * width[0]) return;
    uint row = elem / width[0], column = elem % width[0];
    int to = index[row];
    if (to >= 0) {
        float weight = weights[to];
        atomic_fetch_add_explicit(&out[to * width[0] + column], weight * x[elem],
                                  memory_order_relaxed);
    }
"""

CHAIN = """
    uint elem = thread_position_in_grid.x;
    uint row = elem / width[0], column = elem % width[0];
    int from = index[row];
    int second = flags[from] ? index[from] : from;
    out[elem] = x[second * width[0] + column];
"""


SUM = """
    uint elem = thread_position_in_grid.x;
    if (elem >= uint(count[0]) * width[0]) return;
    uint row = elem / width[0], column = elem % width[0];
    float sum = 0;
    for (int k = starts[row]; k < starts[row + 1]; ++k) {
        sum += weights[k] * x[index[k] * width[0] + column];
    }
    out[elem] = sum;
"""

# Before it is written, the kernel's own output contains indices far beyond the ends of the other
# arrays.
OWN_LINKS = """
    uint lane = thread_index_in_simdgroup, row = thread_position_in_grid.x / 32;
    device atomic<int>* link = &links[2 * row];
    if (lane < 2) atomic_fetch_sub_explicit(link + lane, (1 << 28) - int(row), memory_order_relaxed);
    simdgroup_barrier(mem_flags::mem_device);
    const device int* read = (const device int*)link;
    float sum = 0;
    for (int k = read[0]; k <= read[1]; ++k) sum += x[index[k] * 32 + lane];
    atomic_store_explicit(&out[row * 32 + lane], int(sum), memory_order_relaxed);
"""


def run(
    source: str, inputs: dict, shape: tuple, threads: int, threadgroup, **options
) -> np.ndarray:
    kernel = mx.fast.metal_kernel(
        name="rows",
        input_names=list(inputs),
        output_names=["out"],
        source=source,
        atomic_outputs=bool(options),
    )
    return np.array(
        kernel(
            inputs=[mx.array(value) for value in inputs.values()],
            grid=(threads, 1, 1),
            threadgroup=threadgroup,
            output_shapes=[shape],
            output_dtypes=[mx.float32],
            **options,
        )[0]
    )


def case(rng, rows: int, count: int, width: int) -> dict:
    return {
        "x": rng.standard_normal((rows, width)).astype(np.float32),
        "index": rng.integers(-1, rows, count).astype(np.int32),
        "count": np.array([count], np.int32),
        "width": np.array([width], np.int32),
    }


@pytest.mark.parametrize("width", [1, 3, 16, 31, 48, 64, 96, 128, 640])
@pytest.mark.parametrize("threadgroup", [(256, 1, 1), (96, 1, 1), (7, 1, 1), (1024, 1, 1)])
def test_gather(width, threadgroup, rng):
    inputs = case(rng, rows=57, count=203, width=width)
    threads = -(-203 * width // 7) * 7 + 5  # some more than needed
    got = run(GATHER, inputs, (203, width), threads, threadgroup)
    index = inputs["index"]
    expected = np.where(index[:, None] >= 0, inputs["x"][index], -1)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("width", [1, 16, 33, 64, 192])
def test_add(width, rng):
    inputs = case(rng, rows=40, count=301, width=width)
    x = rng.standard_normal((301, width)).astype(np.float32)
    weights = rng.standard_normal(40).astype(np.float32)
    inputs |= {"x": x, "weights": weights}
    got = run(ADD, inputs, (40, width), 301 * width, (256, 1, 1), init_value=0)
    expected = np.zeros((40, width))
    index = inputs["index"]
    used = index >= 0
    np.add.at(expected, index[used], weights[index[used], None].astype(np.float64) * x[used])
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("width", [16, 64, 80])
def test_index_found_by_index(width, rng):
    inputs = case(rng, rows=64, count=64, width=width)
    index = inputs["index"] = np.abs(inputs["index"])
    flags = inputs["flags"] = rng.integers(0, 2, 64).astype(np.int32)
    got = run(CHAIN, inputs, (64, width), 64 * width, (256, 1, 1))
    second = np.where(flags[index], index[index], index)
    np.testing.assert_array_equal(got, inputs["x"][second])


@pytest.mark.parametrize("width", [1, 16, 33, 64, 192])
@pytest.mark.parametrize("most", [0, 1, 3, 40])
def test_sums_of_lists(width, most, rng):
    """Lists are longer than the part that is prefetched, or empty."""
    count = 77
    starts = np.cumsum(np.append(0, rng.integers(0, most + 1, count))).astype(np.int32)
    inputs = case(rng, rows=57, count=max(starts[-1], 1), width=width)
    index = inputs["index"] = np.abs(inputs["index"])
    weights = rng.standard_normal(len(index)).astype(np.float32)
    inputs |= {"count": np.array([count], np.int32), "starts": starts, "weights": weights}
    got = run(SUM, inputs, (count, width), count * width + 5, (256, 1, 1))
    shares = weights[:, None].astype(np.float64) * inputs["x"][index]
    expected = [shares[a:b].sum(0) for a, b in zip(starts, starts[1:])]
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-5)


def test_links_that_the_kernel_writes(rng):
    """A prefetch slice does not read memory that the kernel writes."""
    rows = 300
    x = rng.integers(0, 100, (rows, 32)).astype(np.float32)
    index = rng.permutation(rows).astype(np.int32)
    kernel = mx.fast.metal_kernel(
        name="links",
        input_names=["x", "index"],
        output_names=["out", "links"],
        source=OWN_LINKS,
        atomic_outputs=True,
    )
    out, links = kernel(
        inputs=[mx.array(x), mx.array(index)],
        grid=(rows * 32, 1, 1),
        threadgroup=(64, 1, 1),
        output_shapes=[(rows, 32), (rows, 2)],
        output_dtypes=[mx.int32, mx.int32],
        init_value=1 << 28,
    )
    np.testing.assert_array_equal(np.array(links)[:, 0], np.arange(rows))
    np.testing.assert_array_equal(np.array(out), x[index])


def test_grids_of_several_dimensions(rng):
    """The next threadgroup may be in the next row, the next layer, or cut at the edge."""
    table = rng.standard_normal((100, 32)).astype(np.float32)
    index = rng.integers(0, 100, (5, 7)).astype(np.int32)
    kernel = mx.fast.metal_kernel(
        name="lookup",
        input_names=["x", "index"],
        output_names=["out"],
        source="""
            uint3 at = thread_position_in_grid;
            uint row = at.z * 7 + at.y;
            out[row * 32 + at.x] = x[index[row] * 32 + at.x];
        """,
    )
    for threadgroup in [(32, 1, 1), (16, 2, 1), (32, 4, 2), (8, 3, 4)]:
        got = kernel(
            inputs=[mx.array(table), mx.array(index)],
            grid=(32, 7, 5),
            threadgroup=threadgroup,
            output_shapes=[(5, 7, 32)],
            output_dtypes=[mx.float32],
        )[0]
        np.testing.assert_array_equal(np.array(got), table[index])


def test_places_taken_from_a_counter(rng):
    """A prefetch slice does not use results of atomic operations or of other lanes."""
    x = rng.standard_normal((64, 32)).astype(np.float32)
    kernel = mx.fast.metal_kernel(
        name="places",
        input_names=["x", "index"],
        output_names=["out", "counter"],
        source="""
            const int far = 1 << 30;  // before place, nothing can be read
            uint lane = thread_index_in_simdgroup;
            int place = far;
            if (lane == 0)
                place += int(atomic_fetch_add_explicit(counter, 1, memory_order_relaxed));
            place = simd_broadcast(place, 0) - far;
            int from = index[place];
            atomic_store_explicit(&out[place * 32 + lane], x[from * 32 + lane],
                                  memory_order_relaxed);
        """,
        atomic_outputs=True,
    )
    index = rng.permutation(64).astype(np.int32)
    out, counter = kernel(
        inputs=[mx.array(x), mx.array(index)],
        grid=(64 * 32, 1, 1),
        threadgroup=(64, 1, 1),
        output_shapes=[(64, 32), (1,)],
        output_dtypes=[mx.float32, mx.float32],
        init_value=0,
    )
    assert np.array(counter).tolist() == [64]
    np.testing.assert_array_equal(np.array(out), x[index])
