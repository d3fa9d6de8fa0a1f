"""softmax over rows, with a threadgroup for each."""

import numpy as np
from bench.row import Metal, OpenCL, Row

from .opencl_groups import GROUP_REDUCTIONS

THREADS = 256

METAL = """
    threadgroup float parts[32];
    uint item = thread_position_in_threadgroup.x;
    uint lane = thread_index_in_simdgroup, simdgroup = simdgroup_index_in_threadgroup;
    const device float* row = x + threadgroup_position_in_grid.x * COLUMNS;
    device float* to = out + threadgroup_position_in_grid.x * COLUMNS;

    float values[COLUMNS / THREADS];
    float most = -INFINITY;
    for (int i = 0; i < COLUMNS / THREADS; ++i) {
        values[i] = row[i * THREADS + item];
        most = max(most, values[i]);
    }
    most = simd_max(most);
    if (lane == 0) parts[simdgroup] = most;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    most = simd_max(parts[lane % (THREADS / 32)]);
    threadgroup_barrier(mem_flags::mem_threadgroup);

    float sum = 0;
    for (int i = 0; i < COLUMNS / THREADS; ++i) {
        values[i] = exp(values[i] - most);
        sum += values[i];
    }
    sum = simd_sum(sum);
    if (lane == 0) parts[simdgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum = simd_sum(lane < THREADS / 32 ? parts[lane] : 0);

    float factor = 1 / sum;
    for (int i = 0; i < COLUMNS / THREADS; ++i) to[i * THREADS + item] = values[i] * factor;
"""

OPENCL = (
    GROUP_REDUCTIONS
    + """
kernel void softmax(global const float* x, global float* out) {
    local float parts[THREADS];
    uint item = get_local_id(0);
    global const float* row = x + get_group_id(0) * COLUMNS;
    global float* to = out + get_group_id(0) * COLUMNS;

    float values[COLUMNS / THREADS];
    float most = -INFINITY;
    for (int i = 0; i < COLUMNS / THREADS; ++i) {
        values[i] = row[i * THREADS + item];
        most = max(most, values[i]);
    }
    most = group_max(most, parts);
    float sum = 0;
    for (int i = 0; i < COLUMNS / THREADS; ++i) {
        values[i] = exp(values[i] - most);
        sum += values[i];
    }
    sum = group_sum(sum, parts);
    float factor = 1 / sum;
    for (int i = 0; i < COLUMNS / THREADS; ++i) to[i * THREADS + item] = values[i] * factor;
}
"""
)


def reference(arrays: dict) -> dict:
    shifted = arrays["x"].astype(np.float64)
    shifted -= shifted.max(1, keepdims=True)
    np.exp(shifted, out=shifted)
    return {"out": shifted / shifted.sum(1, keepdims=True)}


def rows(small: bool) -> list[Row]:
    height, columns = (64, 1024) if small else (4096, 4096)
    outputs = {"out": ((height, columns), "float32")}
    defines = f"#define COLUMNS {columns}\n#define THREADS {THREADS}\n"
    return [
        Row(
            name="row softmax",
            inputs=lambda: {
                "x": np.random.default_rng(0).standard_normal((height, columns), np.float32)
            },
            outputs=outputs,
            reference=reference,
            metal=[
                Metal(
                    METAL,
                    ["x"],
                    outputs,
                    (height * THREADS, 1, 1),
                    (THREADS, 1, 1),
                    template={"COLUMNS": columns, "THREADS": THREADS},
                )
            ],
            opencl_source=defines + OPENCL,
            opencl=[OpenCL("softmax", ["x", "out"], (height * THREADS,), (THREADS,))],
            torch=lambda torch, x: [lambda: torch.softmax(x, 1)],
            moved=8 * height * columns,
            rtol=1e-4,
            atol=1e-8,
            targets={"Intel": 2.5},
        )
    ]
