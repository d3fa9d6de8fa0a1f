"""Threadgroups that work on a row each, and what SIMD-groups leave to one lane."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one, share

# Each adds up x, or most of it, to `sum` of a thread: apart, backwards, guarded, of two rows.
READS = {
    "constant length": "for (uint i = item; i < N; i += T) sum += from[i];",
    "length from the shape": "for (int i = item; i < x_shape[1]; i += T) sum += from[i];",
    "size of the threadgroup":
        "for (uint i = item; i < N; i += threads_per_threadgroup.x) sum += from[i];",
    "counting down": "for (int i = int(item + (N - 1) / T * T); i >= 0; i -= T) "
        "if (i < N) sum += from[i];",
    "four at a time": """
        for (uint i = item; i < N; i += 4 * T)
            for (uint k = 0; k < 4; ++k) sum += i + k * T < N ? from[i + k * T] : 0;""",
    "with a tile in turns": """
        threadgroup float tile[T];
        for (uint first = 0; first < N; first += T) {
            tile[item] = first + item < N ? from[first + item] : 0;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            sum += tile[T - 1 - item];
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }""",
}  # fmt: skip
# Each combines the threads' sums, which are small integers, so that every order is exact.
COMBINES = {
    "SIMD-groups": """
        threadgroup float parts[32];
        sum = simd_sum(sum);
        if (thread_index_in_simdgroup == 0) parts[simdgroup_index_in_threadgroup] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (simdgroup_index_in_threadgroup == 0) {
            sum = simd_sum(item < T / 32 ? parts[item] : 0);
            if (item == 0) o[row] = sum;
        }""",
    "tree": """
        threadgroup float parts[T];
        parts[item] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint width = T / 2; width > 0; width /= 2) {
            if (item < width) parts[item] += parts[item + width];
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        if (item == 0) o[row] = parts[0];""",
    "each writes": """
        threadgroup float parts[32];
        sum = simd_sum(sum);
        if (thread_index_in_simdgroup == 31) parts[simdgroup_index_in_threadgroup] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        sum = 0;
        for (uint i = 0; i < T / 32; ++i) sum += parts[i];
        if (item == T - 1) o[row] = sum;""",
}


@pytest.mark.parametrize("combine", COMBINES.values(), ids=COMBINES)
@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize(
    "threads,columns", share([(256, 4096), (128, 2000), (512, 1021), (1024, 8192), (64, 640)])
)
def test_row_sums(rng, read, combine, threads, columns):
    source = f"""
        constexpr uint T = {threads}, N = {columns};
        uint item = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.x;
        const device float* from = x + row * N;
        float sum = 0;
        {read}
        {combine}"""
    x = rng.integers(-9, 9, (5, columns)).astype(np.float32)
    got = run_one(source, {"x": x}, {"o": ((5,), mx.float32)}, 5 * threads, threads)
    np.testing.assert_array_equal(got, x.sum(1))


def test_rows_of_two_gangs_each_read_another_matrix(rng):
    source = """
        threadgroup float parts[4][64];
        uint2 at = thread_position_in_threadgroup.xy;
        float sum = 0;
        for (uint i = at.x; i < 1024; i += 64) sum += x[(at.y * 3 + group.y) * 1024 + i];
        parts[at.y][at.x] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float all = 0;
        for (uint k = 0; k < 4; ++k) all += parts[k][at.x];
        if (at.y == 0) o[group.y * 64 + at.x] = all;"""
    source = source.replace("group.y", "threadgroup_position_in_grid.y")
    x = rng.integers(-9, 9, (12, 1024)).astype(np.float32)
    got = run_one(source, {"x": x}, {"o": ((3, 64), mx.float32)}, (64, 12, 1), (64, 4, 1))
    np.testing.assert_array_equal(got, x.reshape(4, 3, 16, 64).sum((0, 2)))


@pytest.mark.parametrize("operation", ["sum", "product"])
def test_neighbouring_lanes_are_combined_first(rng, operation):
    x = rng.uniform(0.5, 1.5, (6, 32)).astype(np.float32)
    want = x
    while want.shape[1] > 1:
        pairs = want[:, ::2], want[:, 1::2]
        want = pairs[0] + pairs[1] if operation == "sum" else pairs[0] * pairs[1]
    source = f"o[thread_position_in_grid.x] = simd_{operation}(x[thread_position_in_grid.x]);"
    got = run_one(source, {"x": x}, {"o": (x.shape, mx.float32)}, x.size, 64)
    np.testing.assert_array_equal(got, np.broadcast_to(want, x.shape))


def test_inactive_lanes_add_nothing(rng):
    x = rng.integers(-9, 9, (8, 32)).astype(np.float32)
    source = """
        uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup;
        o[i] = 100;
        if (lane % 3 == 1) o[i] = simd_sum(x[i]);
        if (lane == 6) o[i] = simd_sum(x[i]) + simd_max(x[i]) + simd_product(x[i]);"""
    want = np.full_like(x, 100)
    want[:, 1::3] = x[:, 1::3].sum(1, keepdims=True)
    want[:, 6] = 2 * x[:, 6] + x[:, 6]
    got = run_one(source, {"x": x}, {"o": (x.shape, mx.float32)}, x.size, 64)
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("lane", [0, 7, 31])
@pytest.mark.parametrize(
    "kind,operation", [("float", "add"), ("int", "add"), ("int", "max"), ("uint", "max")]
)
def test_one_lane_changes_memory_by_an_atomic_operation(rng, lane, kind, operation):
    x = rng.integers(0, 99, (40, 256))
    x = x.astype({"float": np.float32, "int": np.int32, "uint": np.uint32}[kind])
    source = f"""
        uint column = thread_position_in_grid.x, row = thread_position_in_grid.y;
        {kind} value = simd_{"sum" if operation == "add" else "max"}(x[row * 256 + column]);
        if (thread_index_in_simdgroup == {lane})
            atomic_fetch_{operation}_explicit(&o[row], value + {kind}(column % 32),
                                              memory_order_relaxed);"""
    got = run_one(
        source,
        {"x": x},
        {"o": ((40,), mx.array(x).dtype)},
        (256, 40, 1),
        (256, 1, 1),
        atomic_outputs=True,
        init_value=0,
    )
    want = x.sum(1) + 8 * lane if operation == "add" else x.max(1) + lane
    np.testing.assert_array_equal(got, want.astype(x.dtype))
