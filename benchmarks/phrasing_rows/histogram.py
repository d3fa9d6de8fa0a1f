"""A histogram of 256 bins."""

import numpy as np

from .phrasing import Computation, Limit

BINS, THREADS, GROUPS = 256, 256, 128

# The threadgroup's own counts, and what adds them to all counts; {} counts the thread's values.
OWN = """
    threadgroup atomic_uint own[256];
    uint item = thread_position_in_threadgroup.x, group = threadgroup_position_in_grid.x;
    uint tid = thread_position_in_grid.x;
    atomic_store_explicit(&own[item], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    COUNT
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint count = atomic_load_explicit(&own[item], memory_order_relaxed);
    if (count) atomic_fetch_add_explicit(&counts[item], count, memory_order_relaxed);
"""
HEADER = """
template <typename A> inline void count_one(A place) {
    metal::atomic_fetch_add_explicit(place, 1, metal::memory_order_relaxed);
}
"""
LOOPS = {
    "apart by the threadgroup": """
        for (uint i = 0; i < EACH; ++i) count_one(&own[x[(group * EACH + i) * 256 + item]]);""",
    "a run each": "for (uint i = 0; i < EACH; ++i) count_one(&own[x[tid * EACH + i]]);",
    "a run each, pointer moved": """
        const device uint* p = x + tid * EACH;
        for (int i = EACH; i > 0; --i) count_one(&own[*p++]);""",
    "a run of uint4": """
        const device uint4* p = (const device uint4*)x + tid * (EACH / 4);
        for (uint i = 0; i < EACH / 4; ++i) {
            uint4 v = p[i];
            count_one(&own[v.x]);
            count_one(&own[v.y]);
            count_one(&own[v.z]);
            count_one(&own[v.w]);
        }""",
    "uint4 apart by the grid": """
        const device uint4* p = (const device uint4*)x;
        for (uint i = tid; i < N / 4; i += threads_per_grid.x) {
            uint4 v = p[i];
            for (int k = 0; k < 4; ++k) count_one(&own[v[k]]);
        }""",
    "grid stride": "for (uint i = tid; i < N; i += threads_per_grid.x) count_one(&own[x[i]]);",
    "grid stride, int, size from the shape": """
        for (int i = tid; i < x_shape[0]; i += threads_per_grid.x) count_one(&own[x[i]]);""",
    "grid stride, size from a buffer": """
        for (size_t i = tid; i < n[0]; i += threads_per_grid.x) count_one(&own[x[i]]);""",
    "grid stride of a constant": "for (uint i = tid; i < N; i += N / EACH) count_one(&own[x[i]]);",
    "grid stride, while, pointer moved": """
        const device uint* p = x + tid;
        const device uint* end = x + N;
        while (p < end) {
            count_one(&own[*p]);
            p += threads_per_grid.x;
        }""",
    "grid stride, bins checked": """
        for (uint i = tid; i < N; i += threads_per_grid.x) {
            uint bin = x[i];
            if (bin < 256) count_one(&own[bin]);
        }""",
}
COPY_EACH = """
    threadgroup atomic_uint own[8 * 256];
    uint item = thread_position_in_threadgroup.x, simdgroup = simdgroup_index_in_threadgroup;
    for (uint i = item; i < 8 * 256; i += 256) atomic_store_explicit(&own[i], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = thread_position_in_grid.x; i < N; i += threads_per_grid.x)
        count_one(&own[simdgroup * 256 + x[i]]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint count = 0;
    for (uint i = 0; i < 8; ++i) count += atomic_load_explicit(&own[i * 256 + item], memory_order_relaxed);
    if (count) atomic_fetch_add_explicit(&counts[item], count, memory_order_relaxed);
"""
PRIVATE = """
    uint own[256];
    for (int i = 0; i < 256; ++i) own[i] = 0;
    for (uint i = thread_position_in_grid.x; i < N; i += threads_per_grid.x) ++own[x[i]];
    for (int i = 0; i < 256; ++i)
        if (own[i]) atomic_fetch_add_explicit(&counts[i], own[i], memory_order_relaxed);
"""
GLOBAL = "count_one(&counts[x[thread_position_in_grid.x]]);"


def rows(size: str) -> list[Computation]:
    count = 1 << (18 if size == "small" else 23)
    made = Computation(
        name="histogram",
        inputs=lambda: {
            "x": np.random.default_rng(0).integers(0, BINS, count, dtype=np.uint32),
            "n": np.array([count], np.uint32),
        },
        outputs={"counts": ((BINS,), "uint32")},
        reference=lambda arrays: {"counts": np.bincount(arrays["x"], minlength=BINS)},
        limit=Limit("reductions", "histogram", ["x"], [count]),
    )
    threads = THREADS * GROUPS
    shared = {
        "inputs": ("x", "n"),
        "header": HEADER,
        "template": {"N": count, "EACH": count // threads},
        "init_value": 0,
        "atomic_outputs": True,
    }
    for name, loop in LOOPS.items():
        made.add(name, OWN.replace("COUNT", loop), (threads,), (THREADS,), **shared)
    made.add("counts of each SIMD-group", COPY_EACH, (threads,), (THREADS,), **shared)
    single = OWN.replace("COUNT", "count_one(&own[x[tid]]);")
    made.add("a value a thread", single, (count,), (THREADS,), same_traffic=False, **shared)
    # A kilobyte of counts a thread.
    made.add("private counts", PRIVATE, (1024,), (THREADS,), same_traffic=False, **shared)
    made.add("device atomics", GLOBAL, (count,), (THREADS,), same_traffic=False, **shared)
    return [made]
