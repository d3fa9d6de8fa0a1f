"""Atomics on device and threadgroup memory: every operation and type, among all threads of a grid."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one

INTEGERS = {"int": mx.int32, "uint": mx.uint32, "long": mx.int64, "ulong": mx.uint64}
SMALL = {"char": mx.int8, "uchar": mx.uint8, "short": mx.int16, "ushort": mx.uint16}
FLOATS = {"float": mx.float32, "half": mx.float16, "bfloat": mx.bfloat16}
THREADS = 1000


def on_cells(name: str, space: str, count: int, start: str, work: str) -> str:
    """A body that uses atomic cells in either memory, and stores their values in `out`."""
    if space == "device":
        return f"""
            uint i = thread_position_in_grid.x;
            device metal::atomic<{name}>* cells = (device metal::atomic<{name}>*)out;
            {work}
        """
    return f"""
        threadgroup metal::atomic<{name}> cells[{count}];
        uint i = thread_position_in_threadgroup.x;
        if (i < {count}) atomic_store_explicit(&cells[i], {start}, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        {work}
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (i < {count}) out[i] = atomic_load_explicit(&cells[i], memory_order_relaxed);
    """


@pytest.mark.parametrize("space", ["device", "threadgroup"])
@pytest.mark.parametrize("name", [*INTEGERS, *SMALL])
def test_fetch_operations(name: str, space: str):
    dtype = (INTEGERS | SMALL)[name]
    operations = ["add", "sub", "min", "max", "and", "or", "xor"]
    work = f"{name} v = {name}(i % 100);"
    for k, operation in enumerate(operations):
        operand = f"{name}(v | 64)" if operation == "and" else "v"
        work += f"atomic_fetch_{operation}_explicit(&cells[{k}], {operand}, memory_order_relaxed);"
    body = on_cells(name, space, 7, "i == 4 ? 127 : 0", work)
    got = run_one(body, {}, {"out": ((7,), dtype)}, THREADS, threadgroup=1024, init_value=0)
    v = np.arange(THREADS) % 100
    and_start = 127 if space == "threadgroup" else 0
    want = [v.sum(), -v.sum(), 0, 99, np.bitwise_and.reduce(v | 64) & and_start]
    want += [np.bitwise_or.reduce(v), np.bitwise_xor.reduce(v)]
    np.testing.assert_array_equal(got, np.array(want, np.int64).astype(got.dtype))


@pytest.mark.parametrize("space", ["device", "threadgroup"])
@pytest.mark.parametrize("name", FLOATS)
def test_floats_add_and_subtract(name: str, space: str):
    work = f"""
        atomic_fetch_add_explicit(&cells[0], {name}(i % 2), memory_order_relaxed);
        atomic_fetch_sub_explicit(&cells[1], 0.5, memory_order_relaxed);
        atomic_fetch_max_explicit(&cells[2], {name}(i), memory_order_relaxed);
        atomic_fetch_min_explicit(&cells[3], {name}(-2.5), memory_order_relaxed);
    """
    body = on_cells(name, space, 4, "0", work)
    got = run_one(body, {}, {"out": ((4,), FLOATS[name])}, 200, init_value=0)
    np.testing.assert_array_equal(got, [100, -100, 199, -2.5])


def test_float_minimum_and_maximum():
    body = """
        uint i = thread_position_in_grid.x;
        atomic_fetch_min_explicit(&out[0], x[i], memory_order_relaxed);
        atomic_fetch_max_explicit(&out[1], x[i], memory_order_relaxed);
    """
    x = np.random.default_rng(1).normal(size=500).astype(np.float32)
    (got,) = run_kernel(
        body, {"x": x}, {"out": ((2,), mx.float32)}, 500, init_value=0, atomic_outputs=True
    )
    np.testing.assert_array_equal(got, [x.min(), x.max()])


def test_operands_convert_and_casts_make_atomics():
    body = """
        uint i = thread_position_in_grid.x;
        half h = 2.0h;
        atomic_fetch_add_explicit((device atomic_float*)&out[0], h, memory_order_relaxed);
        atomic_fetch_add_explicit((device metal::atomic<float>*)(out + 1), 1, memory_order_relaxed);
        atomic_fetch_add_explicit((volatile device atomic_float*)&out[2], int(i), memory_order_relaxed);
        atomic_fetch_max_explicit((device atomic_uint*)&out[3], as_type<uint>(float(i)), memory_order_relaxed);
    """
    got = run_one(body, {}, {"out": ((4,), mx.float32)}, 100, init_value=0)
    np.testing.assert_array_equal(got, [200, 100, 4950, 99])


def test_fetch_gives_the_value_before():
    body = """
        uint i = thread_position_in_grid.x;
        uint slot = atomic_fetch_add_explicit((device atomic_uint*)counter, 1u, memory_order_relaxed);
        out[slot] = i;
    """
    _, got = run_kernel(
        body,
        {},
        {"counter": ((1,), mx.uint32), "out": ((THREADS,), mx.int32)},
        THREADS,
        init_value=0,
    )
    np.testing.assert_array_equal(np.sort(got), np.arange(THREADS))


@pytest.mark.parametrize("name", [*INTEGERS, "float", "half"])
def test_compare_exchange_and_exchange(name: str):
    """Each thread adds through a compare-and-exchange loop; one value is passed on by exchanges."""
    body = f"""
        uint i = thread_position_in_grid.x;
        device metal::atomic<{name}>* cells = (device metal::atomic<{name}>*)out;
        {name} seen = atomic_load_explicit(&cells[0], memory_order_relaxed);
        while (!atomic_compare_exchange_weak_explicit(&cells[0], &seen, {name}(seen + {name}(1)),
                                                      memory_order_relaxed, memory_order_relaxed)) {{
        }}
        atomic_exchange_explicit(&cells[1], {name}(7), memory_order_relaxed);
        {name} wrong = {name}(100);
        bool changed = atomic_compare_exchange_weak_explicit(&cells[2], &wrong, {name}(5), memory_order_relaxed,
                                                             memory_order_relaxed);
        if (i == 0) atomic_store_explicit(&cells[3], {name}(changed ? 1 : 2) + wrong, memory_order_relaxed);
    """
    dtype = (INTEGERS | FLOATS)[name]
    got = run_one(body, {}, {"out": ((4,), dtype)}, THREADS, init_value=0)
    np.testing.assert_array_equal(got, [THREADS, 7, 0, 2])


def test_booleans_flags_and_orders():
    body = """
        threadgroup atomic_bool flag;
        threadgroup atomic_int count;
        uint i = thread_position_in_threadgroup.x;
        if (i == 0) {
            atomic_store_explicit(&flag, false, memory_order_relaxed);
            atomic_store_explicit(&count, 0, memory_order_relaxed);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (i == 17) atomic_store_explicit(&flag, true, memory_order_relaxed);
        atomic_thread_fence(mem_flags::mem_threadgroup, memory_order_seq_cst);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        bool seen = atomic_load_explicit(&flag, memory_order_relaxed);
        atomic_fetch_add_explicit(&count, seen ? 1 : 0, memory_order_acq_rel);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
        if (i == 0) {
            out[0] = atomic_load_explicit(&count, memory_order_acquire);
            out[1] = atomic_exchange_explicit(&flag, false, memory_order_relaxed);
            out[2] = atomic_load_explicit(&flag, memory_order_relaxed);
        }
    """
    got = run_one(body, {}, {"out": ((3,), mx.int32)}, 100)
    np.testing.assert_array_equal(got, [100, 1, 0])


def test_64_bit_minimum_and_maximum_without_result():
    body = """
        uint i = thread_position_in_grid.x;
        atomic_max_explicit((device atomic_ulong*)&out[0], (ulong(i) << 32) | i, memory_order_relaxed);
        atomic_min_explicit((device atomic_ulong*)&out[1], ulong(i), memory_order_relaxed);
    """
    got = run_one(body, {}, {"out": ((2,), mx.uint64)}, 50, init_value=3)
    np.testing.assert_array_equal(got, np.array([49 << 32 | 49, 0], np.uint64))


def test_histogram(rng: np.random.Generator):
    body = """
        threadgroup atomic_uint local[16];
        uint i = thread_position_in_threadgroup.x;
        if (i < 16) atomic_store_explicit(&local[i], 0u, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        atomic_fetch_add_explicit(&local[x[thread_position_in_grid.x]], 1u, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uint count = i < 16 ? atomic_load_explicit(&local[i], memory_order_relaxed) : 0;
        if (i < 16) atomic_fetch_add_explicit(&out[i], count, memory_order_relaxed);
    """
    x = rng.integers(0, 16, 5000).astype(np.uint8)
    (got,) = run_kernel(
        body, {"x": x}, {"out": ((16,), mx.uint32)}, 5000, init_value=0, atomic_outputs=True
    )
    np.testing.assert_array_equal(got, np.bincount(x, minlength=16))


@pytest.mark.parametrize("start", [0, 1, 100])  # of the rows: some cross the regions of locks
@pytest.mark.parametrize("channels", [32, 40, 64])  # 40: not all lanes of a SIMD-group add
def test_rows_of_additions(start: int, channels: int):
    """Adds to rows by index, as in gradients of gathers, and sums over their channels."""
    rows, steps, padded = 50, 9, -(-channels // 32) * 32
    rng = np.random.default_rng(channels)
    index = rng.integers(0, rows, (200, steps)).astype(np.int32)
    x = rng.integers(-9, 9, (200, channels)).astype(np.float32)
    body = f"""
        uint i = thread_position_in_grid.x / {padded}, channel = thread_position_in_grid.x % {padded};
        float value = channel < {channels} ? x[i * {channels} + channel] : 0;
        for (int step = 0; step < {steps}; ++step) {{
            if (channel < {channels})
                atomic_fetch_add_explicit(&out[{start} + index[i * {steps} + step] * {channels} + channel], value,
                                          memory_order_relaxed);
        }}
        float sum = simd_sum(value);
        if (thread_index_in_simdgroup == 0) atomic_fetch_add_explicit(&sums[i], sum, memory_order_relaxed);
        atomic_fetch_add_explicit(&total[0], value, memory_order_relaxed);
    """
    got, sums, total = run_kernel(
        body,
        {"x": x, "index": index},
        {
            "out": ((start + rows * channels,), mx.float32),
            "sums": ((200,), mx.float32),
            "total": ((1,), mx.float32),
        },
        200 * padded,
        threadgroup=256,
        init_value=0,
        atomic_outputs=True,
    )
    want = np.zeros((rows, channels))
    for step in range(steps):
        np.add.at(want, index[:, step], x)
    np.testing.assert_array_equal(got[:start], 0)
    np.testing.assert_array_equal(got[start:].reshape(rows, channels), want)
    np.testing.assert_array_equal(sums, x.sum(1))
    np.testing.assert_array_equal(total, [x.sum()])


def test_additions_are_seen_by_those_who_read():
    """The last thread to arrive reads the sum that all have added to."""
    body = """
        uint i = thread_position_in_grid.x;
        atomic_fetch_add_explicit(&out[0], x[i], memory_order_relaxed);
        float before = atomic_fetch_add_explicit(&out[1], 1.0f, memory_order_relaxed);
        if (before == 776)
            atomic_store_explicit(&out[2], atomic_load_explicit(&out[0], memory_order_relaxed), memory_order_relaxed);
    """
    x = np.ones(777, np.float32)
    (got,) = run_kernel(
        body, {"x": x}, {"out": ((3,), mx.float32)}, 777, init_value=0, atomic_outputs=True
    )
    np.testing.assert_array_equal(got, [777, 777, 777])


@pytest.mark.cpu_kernels
def test_a_fault_among_additions():
    """Rows far behind the buffer give a clear error, and the next kernel is right."""
    body = """
        uint i = thread_position_in_grid.x;
        atomic_fetch_add_explicit(&out[i + far[0]], 1.0f, memory_order_relaxed);
    """
    outputs = {"out": ((4096,), mx.float32)}
    far = np.array([1 << 40], np.int64)
    with pytest.raises(RuntimeError, match="invalid memory access"):
        run_kernel(body, {"far": far}, outputs, 4096, init_value=0, atomic_outputs=True)
    (got,) = run_kernel(body, {"far": far * 0}, outputs, 4096, init_value=0, atomic_outputs=True)
    np.testing.assert_array_equal(got, np.ones(4096))
