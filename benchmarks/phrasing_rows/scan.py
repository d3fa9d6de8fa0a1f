"""The inclusive prefix sums of each row of 4096."""

import numpy as np

from .phrasing import Computation, Limit

SIMDGROUP = """
    uint row = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    float before = 0;
    LOOP
"""
LANE_LOOPS = {
    "for": """
        for (uint i = lane; i < COLUMNS; i += 32) {
            float prefix = simd_prefix_inclusive_sum(x[row * COLUMNS + i]) + before;
            o[row * COLUMNS + i] = prefix;
            before = simd_broadcast(prefix, 31);
        }""",
    "int, size from the shape": """
        int width = x_shape[1];
        for (int i = lane; i < width; i += 32) {
            float value = x[int(row) * width + i];
            o[int(row) * width + i] = before + simd_prefix_inclusive_sum(value);
            before += simd_sum(value);
        }""",
    "exclusive, pointers moved": """
        const device float* from = x + row * n[1] + lane;
        device float* to = o + row * n[1] + lane;
        for (uint i = 0; i < n[1]; i += 32, from += 32, to += 32) {
            float value = *from;
            float prefix = simd_prefix_exclusive_sum(value) + before;
            *to = prefix + value;
            before = simd_shuffle(prefix + value, 31);
        }""",
    "shuffles": """
        for (size_t i = lane; i < COLUMNS; i += 32) {
            float value = x[row * COLUMNS + i];
            for (ushort distance = 1; distance < 32; distance *= 2) {
                float other = simd_shuffle_up(value, distance);
                if (lane >= distance) value += other;
            }
            value += before;
            o[row * COLUMNS + i] = value;
            before = simd_broadcast(value, 31);
        }""",
    "runs of four": """
        for (uint i = lane * 4; i < COLUMNS; i += 128) {
            float values[4];
            for (int k = 0; k < 4; ++k) values[k] = x[row * COLUMNS + i + k];
            for (int k = 1; k < 4; ++k) values[k] += values[k - 1];
            float prefix = simd_prefix_exclusive_sum(values[3]) + before;
            for (int k = 0; k < 4; ++k) o[row * COLUMNS + i + k] = prefix + values[k];
            before = simd_broadcast(prefix + values[3], 31);
        }""",
    "float4": """
        const device float4* from = (const device float4*)(x + row * COLUMNS);
        device float4* to = (device float4*)(o + row * COLUMNS);
        for (uint i = lane; i < COLUMNS / 4; i += 32) {
            float4 v = from[i];
            v.y += v.x;
            v.z += v.y;
            v.w += v.z;
            float prefix = simd_prefix_exclusive_sum(v.w) + before;
            to[i] = v + prefix;
            before = simd_broadcast(prefix + v.w, 31);
        }""",
}

# A threadgroup of 256 a row, EACH values a thread.
HEADER = """
// The sum of what the threads before hold; `parts` has a place for each of eight SIMD-groups.
inline float sum_before(float value, threadgroup float* parts, uint lane, uint simdgroup) {
    float prefix = metal::simd_prefix_inclusive_sum(value);
    if (lane == 31) parts[simdgroup] = prefix;
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    float before = 0;
    for (uint i = 0; i < simdgroup; ++i) before += parts[i];
    threadgroup_barrier(metal::mem_flags::mem_threadgroup);
    return before + prefix - value;
}
"""
GROUP_NAMES = """
    uint item = thread_position_in_threadgroup.x;
    uint lane = thread_index_in_simdgroup, simdgroup = simdgroup_index_in_threadgroup;
    const device float* from = x + threadgroup_position_in_grid.x * COLUMNS;
    device float* to = o + threadgroup_position_in_grid.x * COLUMNS;
    threadgroup float parts[8];
"""
GROUP_RUN = (
    GROUP_NAMES
    + """
    float values[COLUMNS / 256];
    float sum = 0;
    for (uint i = 0; i < COLUMNS / 256; ++i) {
        sum += from[item * (COLUMNS / 256) + i];
        values[i] = sum;
    }
    float before = sum_before(sum, parts, lane, simdgroup);
    for (uint i = 0; i < COLUMNS / 256; ++i) to[item * (COLUMNS / 256) + i] = before + values[i];
"""
)
GROUP_AGAIN = (
    GROUP_NAMES
    + """
    const device float* run = from + item * (COLUMNS / 256);
    float sum = 0;
    for (int i = 0; i < COLUMNS / 256; ++i) sum += run[i];
    float prefix = sum_before(sum, parts, lane, simdgroup);
    device float* out = to + item * (COLUMNS / 256);
    for (int i = 0; i < COLUMNS / 256; ++i) {
        prefix += *run++;
        *out++ = prefix;
    }
"""
)
GROUP_CHUNKS = (
    GROUP_NAMES
    + """
    threadgroup float last;
    float all = 0;
    for (uint i = item; i < COLUMNS; i += 256) {
        float value = from[i];
        float prefix = all + sum_before(value, parts, lane, simdgroup) + value;
        to[i] = prefix;
        if (item == 255) last = prefix;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        all = last;
    }
"""
)
# Hillis and Steele: each step adds what stands twice as far before.
GROUP_STEPS = """
    threadgroup float tile[1024];
    uint item = thread_position_in_threadgroup.x, row = threadgroup_position_in_grid.x;
    float before = 0;
    for (uint first = 0; first < COLUMNS; first += 1024) {
        tile[item] = x[row * COLUMNS + first + item];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint distance = 1; distance < 1024; distance *= 2) {
            float other = item >= distance ? tile[item - distance] : 0;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            tile[item] += other;
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        o[row * COLUMNS + first + item] = tile[item] + before;
        before += tile[1023];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
"""
THREAD = """
    uint row = thread_position_in_grid.x;
    if (row >= n[0]) return;
    float sum = 0;
    for (uint i = 0; i < COLUMNS; ++i) {
        sum += x[row * COLUMNS + i];
        o[row * COLUMNS + i] = sum;
    }
"""
THREAD_POINTERS = """
    int row = thread_position_in_grid.x, width = x_shape[1];
    const device float* from = x + row * width;
    device float* to = o + row * width;
    float sum = 0;
    while (width-- > 0) *to++ = sum += *from++;
"""


def rows(size: str) -> list[Computation]:
    height, columns = (32, 4096) if size == "small" else (1024, 4096)
    made = Computation(
        name="prefix sums",
        inputs=lambda: {
            "x": np.random.default_rng(0).standard_normal((height, columns), np.float32),
            "n": np.array([height, columns], np.uint32),
        },
        outputs={"o": ((height, columns), "float32")},
        reference=lambda arrays: {"o": np.cumsum(arrays["x"].astype(np.float64), 1)},
        rtol=1e-4,
        atol=1e-2,
        limit=Limit("reductions", "prefix_sums", ["x"], [height, columns]),
    )
    shared = {"inputs": ("x", "n"), "template": {"COLUMNS": columns}}
    for name, loop in LANE_LOOPS.items():
        source = SIMDGROUP.replace("LOOP", loop)
        made.add(f"SIMD-group a row, {name}", source, (height * 32,), (256,), **shared)
    groups = {"header": HEADER, **shared}
    made.add("256 a row, a run held", GROUP_RUN, (height * 256,), (256,), **groups)
    made.add("256 a row, a run read again", GROUP_AGAIN, (height * 256,), (256,), **groups)
    made.add("256 a row, chunks of 256", GROUP_CHUNKS, (height * 256,), (256,), **groups)
    made.add("1024 a row, steps", GROUP_STEPS, (height * 1024,), (1024,), **shared)
    made.add("thread a row", THREAD, (height,), (32,), **shared)
    made.add("thread a row, pointers moved", THREAD_POINTERS, (height,), (32,))
    return [made]
