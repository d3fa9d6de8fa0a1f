"""Counts in threadgroup memory whose indices come from device memory, in many forms."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import INTEGERS, run_kernel, run_one, share

BINS = 64
START = f"""
    threadgroup atomic_int own[{BINS}];
    uint item = thread_position_in_threadgroup.x, tid = thread_position_in_grid.x;
    uint simdgroup = simdgroup_index_in_threadgroup;
    for (uint b = item; b < {BINS}; b += threads_per_threadgroup.x)
        atomic_store_explicit(&own[b], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
"""
END = f"""
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint b = item; b < {BINS}; b += threads_per_threadgroup.x)
        atomic_fetch_add_explicit(&counts[b], atomic_load_explicit(&own[b], memory_order_relaxed),
                                  memory_order_relaxed);
"""
# Loops over the elements; ADD(v) counts one.
LOOPS = {
    "neighbours": "for (uint i = tid; i < N; i += threads_per_grid.x) ADD(x[i])",
    "a run each": "for (uint i = tid * EACH; i < min(N, tid * EACH + EACH); ++i) ADD(x[i])",
    "a run each, sizes known": "for (uint i = 0; i < EACH; ++i) ADD(x[tid * EACH + i])",
    "four apart": """
        for (uint i = tid * 4; i < N; i += threads_per_grid.x * 4)
            for (uint k = 0; k < 4; ++k) if (i + k < N) ADD(x[i + k])""",
    "backward": "for (uint i = tid; i < N; i += threads_per_grid.x) ADD(x[N - 1 - i])",
    "stride of a buffer": """
        for (uint i = tid; i < N; i += threads_per_grid.x) ADD(x[i * one[0]])""",
    "some": "for (uint i = tid; i < N; i += threads_per_grid.x) if (i % 3 != 1) ADD(x[i])",
    "one for all": "for (uint i = 0; i < EACH; ++i) ADD(x[threadgroup_position_in_grid.x + i])",
}
# The bin of an element in MSL and NumPy.
BIN = {
    "as it is": ("v", lambda v: v),
    "low bits": ("v & 15", lambda v: v & 15),
    "high bits": ("v >> 3", lambda v: v >> 3),
    "moved": ("v + OFFSET", lambda v: v + 3),
    "reversed": ("63 - v", lambda v: 63 - v),
    "product": ("uint(v) * 5u % 64u", lambda v: v * 5 % 64),
    "a row a SIMD-group": ("v / 8 + 8 * simdgroup", None),
}


def elements_read(loop: str, x: np.ndarray, threads: int, each: int, group: int) -> np.ndarray:
    if loop == "some":
        return x[np.arange(len(x)) % 3 != 1]
    if loop == "one for all":
        return np.concatenate([np.tile(x[g : g + each], group) for g in range(threads // group)])
    return x


# Every loop with every bin; the types of elements take turns.
CASES = [
    (loop, bin_name, list(INTEGERS)[(3 * i + j) % len(INTEGERS)])
    for i, loop in enumerate(LOOPS)
    for j, bin_name in enumerate(BIN)
]


@pytest.mark.parametrize(("loop", "bin_name", "type_name"), share(CASES))
def test_counts(loop, bin_name, type_name):
    group, threads, each = 64, 192, 5
    dtype = np.dtype(str(INTEGERS[type_name]).rsplit(".", 1)[-1])
    high = 60 if bin_name == "moved" else BINS
    x = np.random.default_rng(0).integers(0, high, threads * each).astype(dtype)
    msl, numpy_bin = BIN[bin_name]
    add = f"atomic_fetch_add_explicit(&own[{msl}], 1, memory_order_relaxed);"
    got = run_one(
        START + LOOPS[loop] + ";" + END,
        {"x": x, "one": np.array([1], np.uint32)},
        {"counts": ((BINS,), mx.int32)},
        threads,
        group,
        header=f"#define ADD(E) {{ {type_name} v = (E); {add} }}\n#define OFFSET 3\n",
        template=[("N", len(x)), ("EACH", each)],
        init_value=0,
        atomic_outputs=True,
    )
    read = elements_read(loop, x, threads, each, group).astype(np.int64)
    if numpy_bin:
        want = np.bincount(numpy_bin(read), minlength=BINS)
        np.testing.assert_array_equal(got, want)
    else:  # which SIMD-group reads an element depends on the loop
        want = np.bincount(read // 8, minlength=8)
        assert got[:16].sum() == len(read) and not got[16:].any()
        np.testing.assert_array_equal(got[:16].reshape(2, 8).sum(0), want)


@pytest.mark.parametrize("group", [1, 24, 32, 100, 256])
@pytest.mark.parametrize("size", [0, 1, 31, 1000])
@pytest.mark.parametrize("loop", ["neighbours", "a run each", "four apart"])
def test_sizes(loop, size, group):
    x = np.random.default_rng(1).integers(0, BINS, max(size, 1)).astype(np.uint32)
    threads = 3 * group
    got = run_one(
        START + LOOPS[loop].replace("N", "n[0]") + ";" + END,
        {"x": x, "n": np.array([size], np.uint32)},
        {"counts": ((BINS,), mx.int32)},
        threads,
        group,
        header="""
            #define ADD(E) { atomic_fetch_add_explicit(&own[E], 1, memory_order_relaxed); }
        """,
        template=[("EACH", -(-size // threads))],
        init_value=0,
        atomic_outputs=True,
    )
    np.testing.assert_array_equal(got, np.bincount(x[:size], minlength=BINS))


# Loops whose iterations may run in another order; COUNT(i) counts element i.
ORDERED = {
    "grid stride": "for (uint i = tid; i < N; i += threads_per_grid.x) COUNT(i)",
    "grid stride, int": "for (int i = tid; i < x_shape[0]; i += threads_per_grid.x) COUNT(i)",
    "grid stride, size of a buffer": """
        for (size_t i = tid; i < n[0]; i += threads_per_grid.x) COUNT(i)""",
    "grid stride of a constant": "for (uint i = tid; i < N; i += THREADS) COUNT(i)",
    "grid stride, address": """
        for (const device uint* p = x + tid; p < x + N; p += threads_per_grid.x) COUNT(p - x)""",
    "grid stride, from below": """
        for (int i = int(tid) - 7; i < N; i += int(threads_per_grid.x)) if (i >= 0) COUNT(i)""",
    "of some threads": """
        if (item % 3 != 1) for (uint i = tid; i < N; i += threads_per_grid.x) COUNT(i)""",
    "of the first gangs": "if (item < 40) for (uint i = tid; i < N; i += threads_per_grid.x) COUNT(i)",
    "of a group": """
        uint first = threadgroup_position_in_grid.x * EACH;
        for (uint i = 0; i < EACH; ++i) COUNT((first + i) * threads_per_threadgroup.x + item)""",
    "a run each": "for (uint i = 0; i < EACH; ++i) COUNT(tid * EACH + i)",
    "a run each, address": """
        const device uint* p = x + tid * EACH;
        for (int i = EACH; i > 0; --i) COUNT(p++ - x)""",
    "a run each of some threads": """
        if (tid % 5 != 2) for (uint i = 0; i < EACH; ++i) COUNT(tid * EACH + i)""",
    "a run each backward": "for (int i = EACH - 1; i >= 0; --i) COUNT(tid * EACH + i)",
    "a run each of four": """
        const device uint4* p = (const device uint4*)x + tid * (EACH / 4);
        for (uint i = 0; i < EACH / 4; ++i)
            for (uint k = 0; k < 4; ++k) ADD(p[i][k], tid * EACH + i * 4 + k)""",
}

# Which threads run the loop.
RUNS = {
    "of some threads": lambda item, thread: item % 3 != 1,
    "of the first gangs": lambda item, thread: item < 40,
    "a run each of some threads": lambda item, thread: thread % 5 != 2,
}


def thread_of_element(loop: str, i: np.ndarray, threads: int, group: int, each: int) -> np.ndarray:
    if loop == "of a group":
        return i // (group * each) * group + i % group
    if "run" in loop:
        return i // each
    return (i + 7 if "below" in loop else i) % threads


@pytest.mark.parametrize("each", [8, 64, 96])
@pytest.mark.parametrize("group", [32, 96, 100, 256])
@pytest.mark.parametrize("loop", share(list(ORDERED)))
def test_loops_that_only_count(loop, group, each):
    """Each element counts with a weight of its own, in the bin of its thread's SIMD-group."""
    threads = 3 * group
    x = np.random.default_rng(5).integers(0, BINS, threads * each).astype(np.uint32)
    got = run_one(
        (START + ORDERED[loop] + END)
        .replace(f"own[{BINS}]", f"own[{8 * BINS}]")
        .replace(f"b < {BINS}", f"b < {8 * BINS}"),
        {"x": x, "n": np.array([len(x)], np.uint32)},
        {"counts": ((8 * BINS,), mx.int32)},
        threads,
        group,
        header=f"""
            #define COUNT(I) {{ uint at = I; ADD(x[at], at) }}
            #define ADD(V, I) {{ \
                atomic_fetch_add_explicit(&own[(V) + {BINS} * simdgroup], (I), memory_order_relaxed); \
            }}
        """,
        template=[("N", len(x)), ("EACH", each), ("THREADS", threads)],
        init_value=0,
        atomic_outputs=True,
    )
    i = np.arange(len(x))
    thread = thread_of_element(loop, i, threads, group, each)
    item = thread % group
    runs = RUNS[loop](item, thread) if loop in RUNS else np.full(len(x), True)
    want = np.zeros(8 * BINS, np.int32)
    np.add.at(want, (x + BINS * (item // 32))[runs], i[runs])
    np.testing.assert_array_equal(got, want)


def test_rows_of_a_threadgroup_that_count_alike():
    """All rows run as many iterations, and each its own elements."""
    x = np.random.default_rng(6).integers(0, BINS, (4, 1000)).astype(np.uint32)
    got = run_one(
        f"""
        threadgroup atomic_int own[{BINS}];
        uint row = thread_position_in_threadgroup.y, i = thread_position_in_threadgroup.x;
        uint item = row * 32 + i;
        if (item < {BINS}) atomic_store_explicit(&own[item], 0, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (; i < 1000; i += 32)
            atomic_fetch_add_explicit(&own[x[row * 1000 + i]], row + 1, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (item < {BINS}) out[item] = atomic_load_explicit(&own[item], memory_order_relaxed);
        """,
        {"x": x},
        {"out": ((BINS,), mx.int32)},
        (32, 4, 1),
        (32, 4, 1),
    )
    want = sum((row + 1) * np.bincount(x[row], minlength=BINS) for row in range(4))
    np.testing.assert_array_equal(got, want)


def test_numbers_that_wrap_around():
    """Later threads of a threadgroup run one more iteration than the first one."""
    x = np.random.default_rng(7).integers(0, BINS, 512).astype(np.uint32)
    got = run_one(
        START
        + """
        for (uint i = item; i < 0xFFFFFF00u; i += 0xFFFFFF80u)
            atomic_fetch_add_explicit(&own[x[i % 512]], 1, memory_order_relaxed);
        """
        + END,
        {"x": x},
        {"counts": ((BINS,), mx.int32)},
        256,
        256,
        init_value=0,
        atomic_outputs=True,
    )
    want = np.zeros(BINS, np.int64)
    for thread in range(256):
        i = thread
        while i < 0xFFFFFF00:
            want[x[i % 512]] += 1
            i = (i + 0xFFFFFF80) % 2**32
    np.testing.assert_array_equal(got, want)


OPERATIONS = {
    "add": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "or": np.bitwise_or,
    "and": np.bitwise_and,
    "xor": np.bitwise_xor,
    "sub": np.subtract,
}


@pytest.mark.parametrize("name", list(OPERATIONS))
@pytest.mark.parametrize("index", ["tid", "tid * 3", "tid * pitch[0]", "N - 1 - tid"])
def test_operations_with_values(name, index):
    """Values differ between lanes."""
    threads = 128
    rng = np.random.default_rng(2)
    x = rng.integers(0, BINS, threads * 3).astype(np.uint32)
    v = rng.integers(-1000, 1000, threads).astype(np.int32)
    got = run_one(
        START + f"atomic_fetch_{name}_explicit(&own[x[{index}]], v[tid], memory_order_relaxed);"
        "threadgroup_barrier(mem_flags::mem_threadgroup);"
        "if (tid < 64) out[tid] = atomic_load_explicit(&own[tid], memory_order_relaxed);",
        {"x": x, "v": v, "pitch": np.array([2], np.uint32)},
        {"out": ((BINS,), mx.int32)},
        threads,
        threads,
        template=[("N", threads)],
    )
    want = np.zeros(BINS, np.int32)
    places = eval(index.replace("N", str(threads)), {"tid": np.arange(threads), "pitch": [2]})
    OPERATIONS[name].at(want, x[places], v)
    np.testing.assert_array_equal(got, want)


MIXED = {
    "maximum, then addition": (
        """
        atomic_fetch_max_explicit(&own[bin], int(value), memory_order_relaxed);
        atomic_fetch_add_explicit(&own[bin], int(value & 3), memory_order_relaxed);""",
        lambda own, value, i: max(own, value) + (value & 3),
    ),
    "and or or": (
        """
        if (i & 1) atomic_fetch_and_explicit(&own[bin], int(value), memory_order_relaxed);
        else atomic_fetch_or_explicit(&own[bin], int(value << 3), memory_order_relaxed);""",
        lambda own, value, i: own & value if i & 1 else own | value << 3,
    ),
}


@pytest.mark.parametrize("run", [True, False])
@pytest.mark.parametrize("name", MIXED)
def test_operations_of_a_thread_keep_their_order(name: str, run: bool):
    """Each thread changes a bin of its own, by operations that do not commute."""
    msl, numpy_operation = MIXED[name]
    each, threads = 64, BINS
    x = np.random.default_rng(6).integers(0, 1 << 20, (threads, each)).astype(np.uint32)
    got = run_one(
        f"""
        {START}
        for (uint i = 0; i < EACH; ++i) {{
            const uint value = x[{"tid * EACH + i" if run else "i * THREADS + tid"}], bin = tid;
            {msl}
        }}
        out[tid] = atomic_load_explicit(&own[tid], memory_order_relaxed);
        """,
        {"x": x if run else np.ascontiguousarray(x.T)},
        {"out": ((threads,), mx.int32)},
        threads,
        threads,
        template=[("EACH", each), ("THREADS", threads)],
    )
    want = np.zeros(threads, np.int64)
    for thread, values in enumerate(x.tolist()):
        for i, value in enumerate(values):
            want[thread] = numpy_operation(int(want[thread]), value, i)
    np.testing.assert_array_equal(got, want)


def test_results_number_the_elements_of_a_bin():
    threads = 256
    x = np.random.default_rng(3).integers(0, BINS, threads * 2).astype(np.uint8)
    numbers = run_one(
        START
        + """
        rank[tid] = atomic_fetch_add_explicit(&own[x[tid * 2]], 1, memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        """,
        {"x": x},
        {"rank": ((threads,), mx.int32)},
        threads,
        threads,
    )
    for value in range(BINS):
        ranks = numbers[x[::2] == value]
        np.testing.assert_array_equal(np.sort(ranks), np.arange(len(ranks)))


def test_elements_with_other_uses():
    """A bound is tested and a sum made of the same elements."""
    threads = 256
    x = np.random.default_rng(4).integers(0, 3 * BINS, threads * 3).astype(np.uint32)
    counts, sums = run_kernel(
        START
        + f"""
        uint sum = 0;
        for (uint i = 0; i < 3; ++i) {{
            uint v = x[tid * 3 + i];
            if (v < {BINS}) atomic_fetch_add_explicit(&own[v], 1, memory_order_relaxed);
            sum += v;
        }}
        sums[tid] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (tid < {BINS}) counts[tid] = atomic_load_explicit(&own[tid], memory_order_relaxed);
        """,
        {"x": x},
        {"counts": ((BINS,), mx.int32), "sums": ((threads,), mx.uint32)},
        threads,
        threads,
    )
    np.testing.assert_array_equal(counts, np.bincount(x[x < BINS], minlength=BINS))
    np.testing.assert_array_equal(sums, x.reshape(-1, 3).sum(1))
