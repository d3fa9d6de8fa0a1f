"""Layer normalisation of the rows of a matrix."""

import numpy as np

from .phrasing import Computation, Limit

EPSILON = 1e-5

TWO_PASSES = """
    uint row = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    const device float* from = x + row * COLUMNS;
    float sum = 0;
    for (uint i = lane; i < COLUMNS; i += 32) sum += from[i];
    float mean = simd_sum(sum) / COLUMNS;
    float squares = 0;
    for (uint i = lane; i < COLUMNS; i += 32) squares += (from[i] - mean) * (from[i] - mean);
    float factor = rsqrt(simd_sum(squares) / COLUMNS + 1e-5f);
    for (uint i = lane; i < COLUMNS; i += 32)
        o[row * COLUMNS + i] = (from[i] - mean) * factor * w[i] + b[i];
"""
HELD = """
    uint row = thread_position_in_grid.y, lane = thread_position_in_grid.x;
    float values[COLUMNS / 32];
    float sum = 0;
    for (ushort i = 0; i < COLUMNS / 32; ++i) {
        values[i] = x[row * COLUMNS + i * 32 + lane];
        sum += values[i];
    }
    float mean = simd_sum(sum) / COLUMNS;
    float squares = 0;
    for (ushort i = 0; i < COLUMNS / 32; ++i) {
        values[i] -= mean;
        squares += values[i] * values[i];
    }
    float factor = rsqrt(simd_sum(squares) / COLUMNS + 1e-5f);
    for (ushort i = 0; i < COLUMNS / 32; ++i) {
        uint column = i * 32 + lane;
        o[row * COLUMNS + column] = values[i] * factor * w[column] + b[column];
    }
"""
SQUARES = """
    int width = x_shape[1];
    int row = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    if (row >= x_shape[0]) return;
    const device float* from = x + row * width;
    device float* to = o + row * width;
    float sum = 0, squares = 0;
    for (int i = lane; i < width; i += 32) {
        float value = from[i];
        sum += value;
        squares += value * value;
    }
    float mean = simd_sum(sum) / width;
    float factor = rsqrt(simd_sum(squares) / width - mean * mean + 1e-5f);
    for (int i = lane; i < width; i += 32) to[i] = (from[i] - mean) * factor * w[i] + b[i];
"""
VECTORS = """
    uint row = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    const device float4* from = (const device float4*)(x + row * COLUMNS);
    device float4* to = (device float4*)(o + row * COLUMNS);
    float sum = 0, squares = 0;
    for (uint i = lane; i < COLUMNS / 4; i += 32) {
        float4 v = from[i];
        sum += v.x + v.y + v.z + v.w;
        squares += dot(v, v);
    }
    float mean = simd_sum(sum) / COLUMNS;
    float factor = rsqrt(simd_sum(squares) / COLUMNS - mean * mean + 1e-5f);
    for (uint i = lane; i < COLUMNS / 4; i += 32)
        to[i] = (from[i] - mean) * factor * ((const device float4*)w)[i] + ((const device float4*)b)[i];
"""
# A threadgroup a row; PLACE is where a thread's i-th value stands.
GROUP = """
    threadgroup float sums[THREADS / 32], squares[THREADS / 32];
    uint item = thread_position_in_threadgroup.x;
    uint lane = thread_index_in_simdgroup, simdgroup = simdgroup_index_in_threadgroup;
    const device float* from = x + threadgroup_position_in_grid.x * COLUMNS;
    device float* to = o + threadgroup_position_in_grid.x * COLUMNS;
    float values[COLUMNS / THREADS];
    float sum = 0, square = 0;
    for (uint i = 0; i < COLUMNS / THREADS; ++i) {
        values[i] = from[PLACE];
        sum += values[i];
        square += values[i] * values[i];
    }
    sum = simd_sum(sum);
    square = simd_sum(square);
    if (lane == 0) {
        sums[simdgroup] = sum;
        squares[simdgroup] = square;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum = square = 0;
    for (uint i = 0; i < THREADS / 32; ++i) {
        sum += sums[i];
        square += squares[i];
    }
    float mean = sum / COLUMNS;
    float factor = rsqrt(square / COLUMNS - mean * mean + 1e-5f);
    for (uint i = 0; i < COLUMNS / THREADS; ++i)
        to[PLACE] = (values[i] - mean) * factor * w[PLACE] + b[PLACE];
"""
TREE = """
    threadgroup float parts[256], moments[2];
    uint item = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.x;
    uint width = n[1];
    float sum = 0;
    for (uint i = item; i < width; i += 256) sum += x[row * width + i];
    parts[item] = sum;
    for (uint half_size = 128; half_size > 0; half_size >>= 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (item < half_size) parts[item] += parts[item + half_size];
    }
    if (item == 0) moments[0] = parts[0] / width;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float mean = moments[0], squares = 0;
    for (uint i = item; i < width; i += 256) {
        float difference = x[row * width + i] - mean;
        squares += difference * difference;
    }
    parts[item] = squares;
    for (uint half_size = 128; half_size > 0; half_size >>= 1) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (item < half_size) parts[item] += parts[item + half_size];
    }
    if (item == 0) moments[1] = rsqrt(parts[0] / width + 1e-5f);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = item; i < width; i += 256)
        o[row * width + i] = (x[row * width + i] - mean) * moments[1] * w[i] + b[i];
"""
THREAD = """
    uint row = thread_position_in_grid.x;
    if (row >= n[0]) return;
    float sum = 0;
    for (uint i = 0; i < COLUMNS; ++i) sum += x[row * COLUMNS + i];
    float mean = sum / COLUMNS, squares = 0;
    for (uint i = 0; i < COLUMNS; ++i) {
        float difference = x[row * COLUMNS + i] - mean;
        squares += difference * difference;
    }
    float factor = rsqrt(squares / COLUMNS + 1e-5f);
    for (uint i = 0; i < COLUMNS; ++i)
        o[row * COLUMNS + i] = (x[row * COLUMNS + i] - mean) * factor * w[i] + b[i];
"""
# Welford's running mean.
THREAD_RUNNING = """
    int row = thread_position_in_grid.x, width = x_shape[1];
    const device float* p = x + row * width;
    float mean = 0, squares = 0;
    for (int i = 0; i < width; ++i) {
        float before = p[i] - mean;
        mean += before / (i + 1);
        squares += before * (p[i] - mean);
    }
    float factor = rsqrt(squares / width + 1e-5f);
    device float* to = o + row * width;
    for (int i = 0; i < width; ++i) *to++ = (*p++ - mean) * factor * w[i] + b[i];
"""


def reference(arrays: dict) -> dict:
    x = arrays["x"].astype(np.float64)
    x = (x - x.mean(1, keepdims=True)) / np.sqrt(x.var(1, keepdims=True) + EPSILON)
    return {"o": x * arrays["w"] + arrays["b"]}


def rows(size: str) -> list[Computation]:
    height, columns = (64, 512) if size == "small" else (2048, 1024)

    def inputs() -> dict:
        random = np.random.default_rng(0)
        return {
            "x": random.standard_normal((height, columns), np.float32),
            "w": random.random(columns, np.float32),
            "b": random.standard_normal(columns, np.float32),
            "n": np.array([height, columns], np.uint32),
        }

    made = Computation(
        name="layer norm",
        inputs=inputs,
        outputs={"o": ((height, columns), "float32")},
        reference=reference,
        rtol=1e-4,
        atol=1e-4,
        limit=Limit("reductions", "layer_norm", ["x", "w", "b"], [height, columns]),
    )
    shared = {"inputs": ("x", "w", "b", "n"), "template": {"COLUMNS": columns}}
    lanes, groups = (height * 32,), (height * 256,)
    made.add("SIMD-group a row, two passes", TWO_PASSES, lanes, (256,), **shared)
    made.add("SIMD-group a row, held, 2-D", HELD, (32, height), (32, 4), **shared)
    made.add("SIMD-group a row, squares, sizes from the shape", SQUARES, lanes, (128,), **shared)
    made.add("SIMD-group a row, float4", VECTORS, lanes, (256,), **shared)
    for threads, name, place in (
        (256, "apart", "i * THREADS + item"),
        (256, "a run each", "item * (COLUMNS / THREADS) + i"),
        (128, "a run each", "item * (COLUMNS / THREADS) + i"),
        (512, "apart", "i * THREADS + item"),
    ):
        made.add(
            f"{threads} a row, {name}",
            GROUP.replace("PLACE", place),
            (height * threads,),
            (threads,),
            inputs=("x", "w", "b"),
            template={"COLUMNS": columns, "THREADS": threads},
        )
    made.add("256 a row, tree", TREE, groups, (256,), **shared)
    made.add("thread a row", THREAD, (height,), (64,), **shared)
    made.add("thread a row, running mean", THREAD_RUNNING, (height,), (64,), **shared)
    return [made]
