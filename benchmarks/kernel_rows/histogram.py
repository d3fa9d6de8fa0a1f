"""A histogram: counted in threadgroup memory first, then added up."""

import numpy as np
from bench.row import Metal, OpenCL, Row

BINS, THREADS, EACH = 256, 256, 64

METAL = """
    threadgroup atomic_uint own[256];
    uint item = thread_position_in_threadgroup.x;
    uint first = threadgroup_position_in_grid.x * 256 * 64 + item;
    atomic_store_explicit(&own[item], 0, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < 64; ++i)
        atomic_fetch_add_explicit(&own[values[first + i * 256]], 1, memory_order_relaxed);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    uint count = atomic_load_explicit(&own[item], memory_order_relaxed);
    if (count) atomic_fetch_add_explicit(&counts[item], count, memory_order_relaxed);
"""

OPENCL = """
kernel void histogram(global const uint* values, global uint* counts) {
    local uint own[256];
    uint item = get_local_id(0);
    uint first = get_group_id(0) * 256 * 64 + item;
    own[item] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = 0; i < 64; ++i) atomic_inc(&own[values[first + i * 256]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    uint count = own[item];
    if (count) atomic_add(&counts[item], count);
}
"""


def count_signed(torch, values) -> list:
    signed = values.to(torch.int32)  # bincount takes signed integers only
    return [lambda: torch.bincount(signed, minlength=BINS)]


def rows(small: bool) -> list[Row]:
    count = 1 << (16 if small else 24)
    outputs = {"counts": ((BINS,), "uint32")}
    threads = count // EACH
    return [
        Row(
            name="histogram",
            inputs=lambda: {
                "values": np.random.default_rng(0).integers(0, BINS, count, dtype=np.uint32)
            },
            outputs=outputs,
            reference=lambda arrays: {"counts": np.bincount(arrays["values"], minlength=BINS)},
            metal=[
                Metal(
                    METAL,
                    ["values"],
                    outputs,
                    (threads, 1, 1),
                    (THREADS, 1, 1),
                    init_value=0,
                    atomic_outputs=True,
                )
            ],
            opencl_source=OPENCL,
            opencl=[
                OpenCL("histogram", ["values", "counts"], (threads,), (THREADS,), clear=["counts"])
            ],
            torch=count_signed,
            moved=4 * count,
            targets={"Intel": 1.0},
        )
    ]
