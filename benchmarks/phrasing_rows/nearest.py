"""The four nearest points of each query, by brute force.

Coordinates are whole numbers, so that distances are exact. Of equally near points, the first counts.
"""

import numpy as np

from .phrasing import Computation, Limit

NEAREST = 4
ARRAY = """
    float best[4];
    int where[4];
    for (int k = 0; k < 4; ++k) {
        best[k] = INFINITY;
        where[k] = -1;
    }
"""
# Moves what is farther up, and puts (distance, j) into the gap.
INSERT = """
    if (distance < best[3]) {
        int k = 3;
        while (k > 0 && distance < best[k - 1]) {
            best[k] = best[k - 1];
            where[k] = where[k - 1];
            --k;
        }
        best[k] = distance;
        where[k] = j;
    }
"""
# The same without a loop that ends early: from the farthest on, each takes the one before, the new
# one or itself.
SHIFT = """
    for (int k = 3; k >= 0; --k) {
        bool before = k > 0 && distance < best[k - 1];
        if (distance < best[k]) {
            best[k] = before ? best[k - 1] : distance;
            where[k] = before ? where[k - 1] : j;
        }
    }
"""
WRITE = "for (int k = 0; k < 4; ++k) index[i * 4 + k] = where[k];"
DISTANCE = """
    float dx = p[j * 3] - x, dy = p[j * 3 + 1] - y, dz = p[j * 3 + 2] - z;
    float distance = dx * dx + dy * dy + dz * dz;
"""
OWN = "float x = q[i * 3], y = q[i * 3 + 1], z = q[i * 3 + 2];"
THREAD = "uint i = thread_position_in_grid.x;" + OWN + ARRAY
SOURCES = {
    "insertion": THREAD + "for (int j = 0; j < COUNT; ++j) {" + DISTANCE + INSERT + "}" + WRITE,
    "shifts": THREAD + "for (uint j = 0; j < COUNT; ++j) {" + DISTANCE + SHIFT + "}" + WRITE,
    "shifts if near": THREAD
    + "for (int j = 0; j < COUNT; ++j) {"
    + DISTANCE
    + "if (distance >= best[3]) continue;"
    + SHIFT
    + "}"
    + WRITE,
    "insertion, bounds and sizes from the shapes": "int i = thread_position_in_grid.x; if (i >= q_shape[0]) return;"
    + OWN
    + ARRAY
    + "for (int j = 0; j < p_shape[0]; ++j) {"
    + DISTANCE
    + INSERT
    + "}"
    + WRITE,
    "size from a buffer, while, pointer moved": THREAD
    + """
    const device float* from = p;
    uint j = 0;
    while (j < n[0]) {
        float dx = from[0] - x, dy = from[1] - y, dz = from[2] - z;
        float distance = dx * dx + dy * dy + dz * dz;
    """
    + INSERT
    + "from += 3; ++j; }"
    + WRITE,
    "packed_float3, variables": """
        uint i = thread_position_in_grid.x;
        float3 own = float3(((const device packed_float3*)q)[i]);
        float4 best = INFINITY;
        int4 where = -1;
        for (int j = 0; j < COUNT; ++j) {
            float3 d = float3(((const device packed_float3*)p)[j]) - own;
            float distance = dot(d, d);
            if (distance < best.x) {
                best = float4(distance, best.xyz);
                where = int4(j, where.xyz);
            } else if (distance < best.y) {
                best = float4(best.x, distance, best.yz);
                where = int4(where.x, j, where.yz);
            } else if (distance < best.z) {
                best = float4(best.xy, distance, best.z);
                where = int4(where.xy, j, where.z);
            } else if (distance < best.w) {
                best.w = distance;
                where.w = j;
            }
        }
        ((device int4*)index)[i] = where;""",
    "tile of 256, insertion": """
        threadgroup float tile[256 * 3];
        uint item = thread_position_in_threadgroup.x;
    """
    + THREAD
    + """
        for (int first = 0; first < COUNT; first += 256) {
            for (int k = item; k < 256 * 3; k += 256) tile[k] = p[first * 3 + k];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (int t = 0; t < 256; ++t) {
                int j = first + t;
                float dx = tile[t * 3] - x, dy = tile[t * 3 + 1] - y, dz = tile[t * 3 + 2] - z;
                float distance = dx * dx + dy * dy + dz * dz;
    """
    + INSERT
    + """
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    """
    + WRITE,
    "tile of 256, float3, shifts": """
        threadgroup float3 tile[256];
        uint item = thread_position_in_threadgroup.x, i = thread_position_in_grid.x;
        float3 own = float3(q[i * 3], q[i * 3 + 1], q[i * 3 + 2]);
    """
    + ARRAY
    + """
        for (uint first = 0; first < COUNT; first += 256) {
            const device float* from = p + (first + item) * 3;
            tile[item] = float3(from[0], from[1], from[2]);
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (uint t = 0; t < 256; ++t) {
                int j = first + t;
                float3 d = tile[t] - own;
                float distance = dot(d, d);
    """
    + SHIFT
    + """
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
    """
    + WRITE,
}
# The lanes share the points; then the nearest of their lists is taken four times.
SIMDGROUP = (
    "uint i = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;"
    + OWN
    + ARRAY
    + "for (int j = lane; j < COUNT; j += 32) {"
    + DISTANCE
    + INSERT
    + """}
    int taken = 0;
    for (int k = 0; k < 4; ++k) {
        float own_best = INFINITY;
        int own_where = 0x7fffffff;
        for (int t = 0; t < 4; ++t)
            if (t == taken) {
                own_best = best[t];
                own_where = where[t];
            }
        float nearest = simd_min(own_best);
        int from = simd_min(own_best == nearest ? own_where : 0x7fffffff);
        if (own_where == from) ++taken;
        if (lane == 0) index[i * 4 + k] = from;
    }"""
)
# All distances in threadgroup memory, from which the nearest is taken four times.
ROUNDS = """
    threadgroup float distances[COUNT];
    uint i = threadgroup_position_in_grid.x, lane = thread_index_in_simdgroup;
    float x = q[i * 3], y = q[i * 3 + 1], z = q[i * 3 + 2];
    for (uint j = lane; j < COUNT; j += 32) {
        float dx = p[j * 3] - x, dy = p[j * 3 + 1] - y, dz = p[j * 3 + 2] - z;
        distances[j] = dx * dx + dy * dy + dz * dz;
    }
    for (int k = 0; k < 4; ++k) {
        simdgroup_barrier(mem_flags::mem_threadgroup);
        float own = INFINITY;
        int where = 0x7fffffff;
        for (uint j = lane; j < COUNT; j += 32)
            if (distances[j] < own) {
                own = distances[j];
                where = j;
            }
        float nearest = simd_min(own);
        int from = simd_min(own == nearest ? where : 0x7fffffff);
        simdgroup_barrier(mem_flags::mem_threadgroup);
        if (lane == 0) {
            index[i * 4 + k] = from;
            distances[from] = INFINITY;
        }
    }
"""


def reference(arrays: dict) -> dict:
    q, p = arrays["q"].astype(np.int64), arrays["p"].astype(np.int64)
    distances = ((q[:, None] - p[None]) ** 2).sum(2)
    return {"index": np.argsort(distances, 1, kind="stable")[:, :NEAREST]}


def rows(size: str) -> list[Computation]:
    count = 512 if size == "small" else 2048

    def inputs() -> dict:
        random = np.random.default_rng(0)
        return {
            **{name: random.integers(0, 1024, (count, 3)).astype(np.float32) for name in "qp"},
            "n": np.array([count], np.uint32),
        }

    made = Computation(
        name="nearest points",
        inputs=inputs,
        outputs={"index": ((count, NEAREST), "int32")},
        reference=reference,
        atol=0,
        rtol=0,
        limit=Limit("points", "nearest", ["q", "p"], [count, count]),
    )
    shared = {"inputs": ("q", "p", "n"), "template": {"COUNT": count}}
    for name, source in SOURCES.items():
        made.add(f"thread a query, {name}", source, (count,), (256,), **shared)
    made.add("SIMD-group a query, lists", SIMDGROUP, (count * 32,), (128,), **shared)
    made.add("SIMD-group a query, rounds", ROUNDS, (count * 32,), (32,), **shared)
    return [made]
