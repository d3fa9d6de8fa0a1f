"""A 4-bit quantised matrix times a vector: blocks of 32 weights with a half scale.

A block has 18 bytes: the scale, then 16 bytes, where byte i has weight i in its low half and weight
i + 16 in its high half; 8 stands for zero.
"""

import numpy as np

from .phrasing import Computation, Limit

BLOCK = 18
HEADER = """
struct block {
    half scale;
    uchar values[16];
};

// The sum over a block's weights times a vector's 32 values.
inline float times(const device block& b, const device float* v) {
    float sum = 0;
    for (int i = 0; i < 16; ++i) {
        sum += v[i] * (int(b.values[i] & 15) - 8);
        sum += v[i + 16] * (int(b.values[i] >> 4) - 8);
    }
    return sum * float(b.scale);
}

// The same by masks of two bytes at once: the high ones are 16, 256 and 4096 times too large, for
// which the factors make up; eight times the sum of all values is taken off.
inline float times_masked(const device block& b, const device float* v) {
    const device ushort* pairs = (const device ushort*)b.values;
    float total = 0, sum = 0;
    for (int i = 0; i < 8; ++i) {
        ushort pair = pairs[i];
        total += v[2 * i] + v[2 * i + 1] + v[2 * i + 16] + v[2 * i + 17];
        sum += v[2 * i] * (pair & 0x000f) + v[2 * i + 1] * (pair & 0x0f00) * (1.0f / 256) +
               v[2 * i + 16] * (pair & 0x00f0) * (1.0f / 16) +
               v[2 * i + 17] * (pair & 0xf000) * (1.0f / 4096);
    }
    return (sum - 8 * total) * float(b.scale);
}
"""

LANE_A_BLOCK = """
    uint row = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    const device block* blocks = (const device block*)w + row * (COLUMNS / 32);
    float sum = 0;
    for (uint i = lane; i < COLUMNS / 32; i += 32) sum += TIMES(blocks[i], x + i * 32);
    sum = simd_sum(sum);
    if (lane == 0) y[row] = sum;
"""
LANE_A_BLOCK_SHAPE = """
    int row = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    int count = w_shape[1] / 18;
    if (row >= w_shape[0]) return;
    const device block* p = (const device block*)w + row * count + lane;
    const device float* v = x + lane * 32;
    float sum = 0;
    for (int i = lane; i < count; i += 32, p += 32, v += 1024) sum += times(*p, v);
    sum = simd_sum(sum);
    if (lane == 0) y[row] = sum;
"""
# A SIMD-group for ROWS rows, whose lanes keep the vector's values.
ROWS_A_SIMDGROUP = """
    uint first = thread_position_in_grid.x / 32 * ROWS, lane = thread_index_in_simdgroup;
    const device block* blocks = (const device block*)w;
    float sums[ROWS];
    for (int row = 0; row < ROWS; ++row) sums[row] = 0;
    for (uint i = lane; i < COLUMNS / 32; i += 32) {
        float values[32];
        for (int k = 0; k < 32; ++k) values[k] = x[i * 32 + k];
        for (int row = 0; row < ROWS; ++row) {
            const device block& b = blocks[(first + row) * (COLUMNS / 32) + i];
            float sum = 0;
            for (int k = 0; k < 16; ++k)
                sum += values[k] * (int(b.values[k] & 15) - 8) + values[k + 16] * (int(b.values[k] >> 4) - 8);
            sums[row] += sum * float(b.scale);
        }
    }
    for (int row = 0; row < ROWS; ++row) {
        float sum = simd_sum(sums[row]);
        if (lane == 0) y[first + row] = sum;
    }
"""
# Two lanes a block, for four rows: each unpacks eight bytes by masks of uint16. Values that meet
# the higher bits are scaled down beforehand.
HALF_A_BLOCK = """
    uint first = (threadgroup_position_in_grid.x * 2 + simdgroup_index_in_threadgroup) * 4;
    ushort lane = thread_index_in_simdgroup, part = lane % 2 * 8;
    const device block* blocks = (const device block*)w + first * (COLUMNS / 32);
    float sums[4] = {0, 0, 0, 0};
    for (uint i = lane / 2; i < COLUMNS / 32; i += 16) {
        const device float* v = x + i * 32 + part;
        float values[16], total = 0;
        for (ushort k = 0; k < 8; k += 2) {
            total += v[k] + v[k + 1] + v[k + 16] + v[k + 17];
            values[k] = v[k];
            values[k + 1] = v[k + 1] / 256;
            values[k + 8] = v[k + 16] / 16;
            values[k + 9] = v[k + 17] / 4096;
        }
        for (ushort row = 0; row < 4; ++row) {
            const device block* b = blocks + row * (COLUMNS / 32) + i;
            const device ushort* pairs = (const device ushort*)(b->values + part);
            float sum = total * -8;
            for (ushort k = 0; k < 8; k += 2) {
                ushort pair = pairs[k / 2];
                sum += values[k] * (pair & 0x000f) + values[k + 1] * (pair & 0x0f00) +
                       values[k + 8] * (pair & 0x00f0) + values[k + 9] * (pair & 0xf000);
            }
            sums[row] += sum * float(b->scale);
        }
    }
    for (ushort row = 0; row < 4; ++row) {
        float sum = simd_sum(sums[row]);
        if (lane == 0) y[first + row] = sum;
    }
"""
# The SIMD-group goes through a row's blocks together: a lane a weight.
LANE_A_WEIGHT = """
    uint row = thread_position_in_grid.y, lane = thread_position_in_grid.x;
    const device uchar* p = w + row * (COLUMNS / 32 * 18);
    float sum = 0;
    for (uint i = 0; i < COLUMNS; i += 32, p += 18) {
        uchar pair = p[2 + lane % 16];
        int value = lane < 16 ? pair & 15 : pair >> 4;
        sum += float(*(const device half*)p) * (value - 8) * x[i + lane];
    }
    sum = simd_sum(sum);
    if (lane == 0) y[row] = sum;
"""
GROUP = """
    threadgroup float parts[4];
    uint item = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.x;
    const device block* blocks = (const device block*)w + row * (COLUMNS / 32);
    float sum = 0;
    for (uint i = item; i < COLUMNS / 32; i += threads_per_threadgroup.x) sum += times(blocks[i], x + i * 32);
    sum = simd_sum(sum);
    if (thread_index_in_simdgroup == 0) parts[simdgroup_index_in_threadgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (item == 0) y[row] = parts[0] + parts[1] + parts[2] + parts[3];
"""
THREAD = """
    uint row = thread_position_in_grid.x;
    if (row >= n[0]) return;
    const device block* blocks = (const device block*)w + row * (COLUMNS / 32);
    float sum = 0;
    for (uint i = 0; i < COLUMNS / 32; ++i) sum += times(blocks[i], x + i * 32);
    y[row] = sum;
"""


def inputs(size: int) -> dict:
    random = np.random.default_rng(0)
    weights = random.integers(0, 256, (size, size // 32, BLOCK), dtype=np.uint8)
    scales = (random.random((size, size // 32), np.float32) + 0.5).astype(np.float16)
    weights[:, :, :2] = scales[:, :, None].view(np.uint8)
    return {
        "w": weights.reshape(size, -1),
        "x": random.standard_normal(size, np.float32),
        "n": np.array([size, size], np.uint32),
    }


def reference(arrays: dict) -> dict:
    blocks = arrays["w"].reshape(len(arrays["w"]), -1, BLOCK)
    scales = np.ascontiguousarray(blocks[:, :, :2]).view(np.float16).astype(np.float64)
    values = np.concatenate([blocks[:, :, 2:] & 15, blocks[:, :, 2:] >> 4], 2).astype(np.float64)
    return {"y": ((values - 8) * scales).reshape(len(blocks), -1) @ arrays["x"].astype(np.float64)}


def rows(size: str) -> list[Computation]:
    n = 1024 if size == "small" else 4096
    made = Computation(
        name="quantised matrix-vector",
        inputs=lambda: inputs(n),
        outputs={"y": ((n,), "float32")},
        reference=reference,
        rtol=1e-4,
        atol=2e-2,
        limit=Limit("products", "quantized", ["w", "x"], [n, n]),
    )
    shared = {"inputs": ("w", "x", "n"), "header": HEADER}
    constants = {"template": {"COLUMNS": n}, **shared}
    for function in ("times", "times_masked"):
        source = LANE_A_BLOCK.replace("TIMES", function)
        name = "lane a block" + (", masks" if function == "times_masked" else "")
        made.add(name, source, (n * 32,), (256,), **constants)
    made.add("lane a block, sizes from the shape", LANE_A_BLOCK_SHAPE, (n * 32,), (128,), **shared)
    for count in (2, 4):
        template = {"COLUMNS": n, "ROWS": count}
        name = f"lane a block, {count} rows a SIMD-group"
        grid = (n * 32 // count,)
        made.add(name, ROWS_A_SIMDGROUP, grid, (64,), template=template, **shared)
    made.add("two lanes a block, four rows, masks", HALF_A_BLOCK, (n * 8,), (64,), **constants)
    made.add("lane a weight", LANE_A_WEIGHT, (32, n), (32, 4), **constants)
    made.add("128 a row", GROUP, (n * 128,), (128,), **constants)
    made.add("thread a row", THREAD, (n,), (64,), **constants)
    return [made]
