"""softmax over the rows of a matrix."""

import numpy as np

from .phrasing import Computation, Limit

SIMDGROUP = """
    uint row = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    const device float* from = x + row * COLUMNS;
    device float* to = o + row * COLUMNS;
    BODY
"""
HELD = """
    float values[COLUMNS / 32];
    float most = -INFINITY;
    for (uint i = 0; i < COLUMNS / 32; ++i) {
        values[i] = from[i * 32 + lane];
        most = max(most, values[i]);
    }
    most = simd_max(most);
    float sum = 0;
    for (uint i = 0; i < COLUMNS / 32; ++i) {
        values[i] = exp(values[i] - most);
        sum += values[i];
    }
    sum = simd_sum(sum);
    for (uint i = 0; i < COLUMNS / 32; ++i) to[i * 32 + lane] = values[i] / sum;
"""
READ_AGAIN = """
    float most = -INFINITY;
    for (uint i = lane; i < COLUMNS; i += 32) most = max(most, from[i]);
    most = simd_max(most);
    float sum = 0;
    for (uint i = lane; i < COLUMNS; i += 32) sum += exp(from[i] - most);
    sum = simd_sum(sum);
    for (uint i = lane; i < COLUMNS; i += 32) to[i] = exp(from[i] - most) / sum;
"""
SHAPE = """
    int width = x_shape[1];
    int row = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    if (row >= x_shape[0]) return;
    float most = -INFINITY;
    for (int i = lane; i < width; i += 32) most = max(most, x[row * width + i]);
    most = simd_max(most);
    float sum = 0;
    for (int i = lane; i < width; i += 32) {
        float power = exp(x[row * width + i] - most);
        o[row * width + i] = power;
        sum += power;
    }
    float factor = 1 / simd_sum(sum);
    for (int i = lane; i < width; i += 32) o[row * width + i] *= factor;
"""
ONLINE = """
    float most = -INFINITY, sum = 0;
    for (uint i = lane; i < COLUMNS; i += 32) {
        float value = from[i];
        float now = max(most, value);
        sum = sum * exp(most - now) + exp(value - now);
        most = now;
    }
    float all = simd_max(most);
    sum = simd_sum(sum * exp(most - all));
    for (uint i = lane; i < COLUMNS; i += 32) to[i] = exp(from[i] - all) / sum;
"""
ONLINE_BRANCH = """
    float most = -INFINITY, sum = 0;
    for (uint i = lane; i < COLUMNS; i += 32) {
        if (from[i] > most) {
            sum = sum * exp(most - from[i]) + 1;
            most = from[i];
        } else {
            sum += exp(from[i] - most);
        }
    }
    float all = simd_max(most);
    float factor = 1 / simd_sum(sum * exp(most - all));
    for (uint i = lane; i < COLUMNS; i += 32) to[i] = exp(from[i] - all) * factor;
"""
VECTORS = """
    const device float4* from4 = (const device float4*)from;
    device float4* to4 = (device float4*)to;
    float most = -INFINITY;
    for (uint i = lane; i < COLUMNS / 4; i += 32) {
        float4 v = from4[i];
        most = max(most, max(max(v.x, v.y), max(v.z, v.w)));
    }
    most = simd_max(most);
    float4 sums = 0;
    for (uint i = lane; i < COLUMNS / 4; i += 32) sums += exp(from4[i] - most);
    float sum = simd_sum(sums.x + sums.y + sums.z + sums.w);
    for (uint i = lane; i < COLUMNS / 4; i += 32) to4[i] = exp(from4[i] - most) / sum;
"""
RUN = """
    const device float* run = from + lane * (COLUMNS / 32);
    float most = run[0];
    for (uint i = 1; i < COLUMNS / 32; ++i) most = fmax(most, run[i]);
    most = simd_max(most);
    float sum = 0;
    for (uint i = 0; i < COLUMNS / 32; ++i) sum += exp(run[i] - most);
    float factor = 1 / simd_sum(sum);
    to += lane * (COLUMNS / 32);
    for (uint i = 0; i < COLUMNS / 32; ++i) to[i] = exp(run[i] - most) * factor;
"""
SHUFFLES = """
    float most = -INFINITY;
    for (uint i = lane; i < COLUMNS; i += 32) most = max(most, from[i]);
    for (ushort d = 16; d > 0; d /= 2) most = max(most, simd_shuffle_xor(most, d));
    float sum = 0;
    for (uint i = lane; i < COLUMNS; i += 32) sum += exp(from[i] - most);
    for (ushort d = 16; d > 0; d /= 2) sum += simd_shuffle_xor(sum, d);
    for (uint i = lane; i < COLUMNS; i += 32) to[i] = exp(from[i] - most) / sum;
"""

# A threadgroup a row; PLACE is where a thread's i-th value stands in the row.
GROUP = """
    threadgroup float parts[THREADS / 32];
    uint item = thread_position_in_threadgroup.x;
    uint lane = thread_index_in_simdgroup, simdgroup = simdgroup_index_in_threadgroup;
    const device float* from = x + threadgroup_position_in_grid.x * COLUMNS;
    device float* to = o + threadgroup_position_in_grid.x * COLUMNS;

    float values[COLUMNS / THREADS];
    float most = -INFINITY;
    for (uint i = 0; i < COLUMNS / THREADS; ++i) {
        values[i] = from[PLACE];
        most = max(most, values[i]);
    }
    most = simd_max(most);
    if (lane == 0) parts[simdgroup] = most;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    most = simd_max(lane < THREADS / 32 ? parts[lane] : -INFINITY);
    threadgroup_barrier(mem_flags::mem_threadgroup);

    float sum = 0;
    for (uint i = 0; i < COLUMNS / THREADS; ++i) {
        values[i] = exp(values[i] - most);
        sum += values[i];
    }
    sum = simd_sum(sum);
    if (lane == 0) parts[simdgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum = simd_sum(lane < THREADS / 32 ? parts[lane] : 0);
    for (uint i = 0; i < COLUMNS / THREADS; ++i) to[PLACE] = values[i] / sum;
"""
GROUP_VECTORS = """
    threadgroup float parts[8];
    uint item = thread_position_in_threadgroup.x;
    uint lane = thread_index_in_simdgroup, simdgroup = simdgroup_index_in_threadgroup;
    const device float4* from = (const device float4*)(x + threadgroup_position_in_grid.x * COLUMNS);
    device float4* to = (device float4*)(o + threadgroup_position_in_grid.x * COLUMNS);
    float most = -INFINITY;
    for (uint i = item; i < COLUMNS / 4; i += 256) {
        float4 v = from[i];
        most = max(most, max(max(v.x, v.y), max(v.z, v.w)));
    }
    most = simd_max(most);
    if (lane == 0) parts[simdgroup] = most;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (int i = 0; i < 8; ++i) most = max(most, parts[i]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (uint i = item; i < COLUMNS / 4; i += 256) {
        float4 v = exp(from[i] - most);
        sum += v.x + v.y + v.z + v.w;
    }
    sum = simd_sum(sum);
    if (lane == 0) parts[simdgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum = 0;
    for (int i = 0; i < 8; ++i) sum += parts[i];
    for (uint i = item; i < COLUMNS / 4; i += 256) to[i] = exp(from[i] - most) / sum;
"""
TREE = """
    threadgroup float parts[256];
    uint item = thread_position_in_threadgroup.x;
    const device float* from = x + threadgroup_position_in_grid.x * COLUMNS;
    device float* to = o + threadgroup_position_in_grid.x * COLUMNS;
    float most = -INFINITY;
    for (uint i = item; i < COLUMNS; i += 256) most = max(most, from[i]);
    parts[item] = most;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_size = 128; half_size > 0; half_size /= 2) {
        if (item < half_size) parts[item] = max(parts[item], parts[item + half_size]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    most = parts[0];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (uint i = item; i < COLUMNS; i += 256) sum += exp(from[i] - most);
    parts[item] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint half_size = 128; half_size > 0; half_size /= 2) {
        if (item < half_size) parts[item] += parts[item + half_size];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    sum = parts[0];
    for (uint i = item; i < COLUMNS; i += 256) to[i] = exp(from[i] - most) / sum;
"""
THREAD = """
    uint row = thread_position_in_grid.x;
    if (row >= n[0]) return;
    const device float* from = x + row * COLUMNS;
    device float* to = o + row * COLUMNS;
    float most = -INFINITY;
    for (int i = 0; i < COLUMNS; ++i) most = max(most, from[i]);
    float sum = 0;
    for (int i = 0; i < COLUMNS; ++i) sum += exp(from[i] - most);
    for (int i = 0; i < COLUMNS; ++i) to[i] = exp(from[i] - most) / sum;
"""
THREAD_ONLINE = """
    int row = thread_position_in_grid.x, width = x_shape[1];
    const device float* p = x + row * width;
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < width; ++i, ++p) {
        float now = max(most, *p);
        sum = sum * exp(most - now) + exp(*p - now);
        most = now;
    }
    for (int i = 0; i < width; ++i) o[row * width + i] = exp(x[row * width + i] - most) / sum;
"""
THREAD_ONLINE_BRANCH = """
    uint row = thread_position_in_grid.x;
    if (row >= n[0]) return;
    const device float* from = x + row * COLUMNS;
    float most = from[0], sum = 1;
    for (uint i = 1; i < COLUMNS; ++i) {
        float value = from[i];
        if (value > most) {
            sum = sum * exp(most - value) + 1;
            most = value;
        } else {
            sum += exp(value - most);
        }
    }
    for (uint i = 0; i < COLUMNS; ++i) o[row * COLUMNS + i] = exp(from[i] - most) / sum;
"""


def reference(arrays: dict) -> dict:
    powers = np.exp(arrays["x"].astype(np.float64) - arrays["x"].max(1, keepdims=True))
    return {"o": powers / powers.sum(1, keepdims=True)}


def rows(size: str) -> list[Computation]:
    height, columns = (64, 1024) if size == "small" else (2048, 2048)
    made = Computation(
        name="softmax",
        inputs=lambda: {
            "x": np.random.default_rng(0).standard_normal((height, columns), np.float32),
            "n": np.array([height], np.uint32),
        },
        outputs={"o": ((height, columns), "float32")},
        reference=reference,
        rtol=1e-4,
        atol=1e-8,
        limit=Limit("reductions", "softmax", ["x"], [height, columns]),
    )
    template = {"COLUMNS": columns}
    simdgroups = {
        "held": HELD,
        "read again": READ_AGAIN,
        "online": ONLINE,
        "online, branch": ONLINE_BRANCH,
        "float4": VECTORS,
        "shuffles": SHUFFLES,
        "a run each": RUN,
    }
    for name, body in simdgroups.items():
        source = SIMDGROUP.replace("BODY", body)
        made.add(f"SIMD-group a row, {name}", source, (height * 32,), (256,), template=template)
    made.add("SIMD-group a row, bounds from the shape", SHAPE, (height * 32,), (32,))
    for threads, name, place in (
        (256, "apart", "i * THREADS + item"),
        (256, "a run each", "item * (COLUMNS / THREADS) + i"),
        (1024, "apart", "i * THREADS + item"),
        (128, "apart", "i * THREADS + item"),
    ):
        made.add(
            f"{threads} a row, {name}",
            GROUP.replace("PLACE", place),
            (height * threads,),
            (threads,),
            template={"COLUMNS": columns, "THREADS": threads},
        )
    made.add("256 a row, float4", GROUP_VECTORS, (height * 256,), (256,), template=template)
    made.add("256 a row, tree", TREE, (height * 256,), (256,), template=template)
    bounded = {"inputs": ("x", "n"), "template": template}
    made.add("thread a row", THREAD, (height,), (64,), **bounded)
    made.add("thread a row, online", THREAD_ONLINE, (height,), (64,))
    made.add("thread a row, online, branch", THREAD_ONLINE_BRANCH, (height,), (64,), **bounded)
    return [made]
