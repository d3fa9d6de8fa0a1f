"""An inclusive scan in three launches: sums of blocks, their scan, and the scan of each block."""

import numpy as np
from bench.row import Metal, OpenCL, Row

from .opencl_groups import GROUP_REDUCTIONS

THREADS, BLOCK = 256, 8192

METAL_HEADER = """
// The inclusive scan over a threadgroup of 256, and the sum of all.
float scan(float value, threadgroup float* parts, uint lane, uint simdgroup, thread float& all) {
    float prefix = metal::simd_prefix_inclusive_sum(value);
    if (lane == 31) parts[simdgroup] = prefix;
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    float part = lane < 8 ? parts[lane] : 0;
    all = metal::simd_sum(part);
    float before = metal::simd_sum(lane < simdgroup ? part : 0);
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    return prefix + before;
}
"""

METAL_NAMES = """
    threadgroup float parts[8];
    uint item = thread_position_in_threadgroup.x, block = threadgroup_position_in_grid.x;
    uint lane = thread_index_in_simdgroup, simdgroup = simdgroup_index_in_threadgroup;
"""

METAL_SUMS = (
    METAL_NAMES
    + """
    float sum = 0, all;
    for (uint i = item; i < BLOCK; i += 256) sum += x[block * BLOCK + i];
    scan(sum, parts, lane, simdgroup, all);
    if (item == 0) sums[block] = all;
"""
)

# One threadgroup scans the sums.
METAL_OFFSETS = (
    METAL_NAMES
    + """
    float before = 0, all;
    for (uint i = 0; i < BLOCKS; i += 256) {
        float value = i + item < BLOCKS ? sums[i + item] : 0;
        float prefix = scan(value, parts, lane, simdgroup, all);
        if (i + item < BLOCKS) offsets[i + item] = before + prefix - value;
        before += all;
    }
"""
)

METAL_SCAN = (
    METAL_NAMES
    + """
    float before = offsets[block], all;
    for (uint i = item; i < BLOCK; i += 256) {
        out[block * BLOCK + i] = before + scan(x[block * BLOCK + i], parts, lane, simdgroup, all);
        before += all;
    }
"""
)

OPENCL = (
    GROUP_REDUCTIONS
    + """
// The inclusive scan over a work-group, and the sum of all.
float scan(float value, local float* parts, float* all) {
#ifdef cl_khr_subgroups
    float prefix = sub_group_scan_inclusive_add(value);
    if (get_sub_group_local_id() == get_sub_group_size() - 1) parts[get_sub_group_id()] = prefix;
    barrier(CLK_LOCAL_MEM_FENCE);
    float sum = 0;
    for (uint i = 0; i < get_num_sub_groups(); ++i) {
        if (i < get_sub_group_id()) prefix += parts[i];
        sum += parts[i];
    }
    *all = sum;
    barrier(CLK_LOCAL_MEM_FENCE);
    return prefix;
#else
    uint item = get_local_id(0);
    parts[item] = value;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint step = 1; step < get_local_size(0); step *= 2) {
        float other = item >= step ? parts[item - step] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        parts[item] += other;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    float prefix = parts[item];
    *all = parts[get_local_size(0) - 1];
    barrier(CLK_LOCAL_MEM_FENCE);
    return prefix;
#endif
}

kernel void block_sums(global const float* x, global float* sums) {
    local float parts[256];
    uint item = get_local_id(0), block = get_group_id(0);
    float sum = 0;
    for (uint i = item; i < BLOCK; i += 256) sum += x[block * BLOCK + i];
    sum = group_sum(sum, parts);
    if (item == 0) sums[block] = sum;
}

kernel void block_offsets(global const float* sums, global float* offsets) {
    local float parts[256];
    uint item = get_local_id(0);
    float before = 0, all;
    for (uint i = 0; i < BLOCKS; i += 256) {
        float value = i + item < BLOCKS ? sums[i + item] : 0;
        float prefix = scan(value, parts, &all);
        if (i + item < BLOCKS) offsets[i + item] = before + prefix - value;
        before += all;
    }
}

kernel void scan_blocks(global const float* x, global const float* offsets, global float* out) {
    local float parts[256];
    uint item = get_local_id(0), block = get_group_id(0);
    float before = offsets[block], all;
    for (uint i = item; i < BLOCK; i += 256) {
        out[block * BLOCK + i] = before + scan(x[block * BLOCK + i], parts, &all);
        before += all;
    }
}
"""
)


def metal(blocks: int, count: int) -> list[Metal]:
    def launch(source: str, inputs: list[str], name: str, length: int, groups: int) -> Metal:
        return Metal(
            source,
            inputs,
            {name: ((length,), "float32")},
            (groups * THREADS, 1, 1),
            (THREADS, 1, 1),
            header=METAL_HEADER,
            template={"BLOCK": BLOCK, "BLOCKS": blocks},
        )

    return [
        launch(METAL_SUMS, ["x"], "sums", blocks, blocks),
        launch(METAL_OFFSETS, ["sums"], "offsets", blocks, 1),
        launch(METAL_SCAN, ["x", "offsets"], "out", count, blocks),
    ]


def rows(small: bool) -> list[Row]:
    count = 1 << (16 if small else 24)
    blocks = count // BLOCK
    group = (THREADS,)
    return [
        Row(
            name="inclusive scan",
            # Integers, whose sums are exact in any order.
            inputs=lambda: {
                "x": np.random.default_rng(0).integers(-4, 5, count).astype(np.float32)
            },
            outputs={
                "out": ((count,), "float32"),
                "sums": ((blocks,), "float32"),
                "offsets": ((blocks,), "float32"),
            },
            reference=lambda arrays: {"out": np.cumsum(arrays["x"], dtype=np.float64)},
            metal=metal(blocks, count),
            opencl_source=f"#define BLOCK {BLOCK}\n#define BLOCKS {blocks}\n" + OPENCL,
            opencl=[
                OpenCL("block_sums", ["x", "sums"], (blocks * THREADS,), group),
                OpenCL("block_offsets", ["sums", "offsets"], group, group),
                OpenCL("scan_blocks", ["x", "offsets", "out"], (blocks * THREADS,), group),
            ],
            torch=lambda torch, x: [lambda: torch.cumsum(x, 0)],
            moved=8 * count,
            atol=0.5,
            targets={"Intel": 1.0, "PoCL": 1.0, "PyTorch": 1.0},
        )
    ]
