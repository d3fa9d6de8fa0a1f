"""The accelerations of bodies that attract each other."""

import numpy as np

from .phrasing import Computation, Limit

SOFTENING = 0.01
HEADER = """
// What a body at `to` with the mass to.w adds to the acceleration at `from`.
inline float3 pull(float3 from, float4 to) {
    float3 d = to.xyz - from;
    float square = metal::dot(d, d) + 0.01f;
    float inverse = metal::rsqrt(square);
    return d * (to.w * inverse * inverse * inverse);
}
"""
SOURCES = {
    "float4": """
        uint i = thread_position_in_grid.x;
        const device float4* bodies = (const device float4*)p;
        float3 own = bodies[i].xyz, sum = 0;
        for (uint j = 0; j < COUNT; ++j) sum += pull(own, bodies[j]);
        ((device float4*)a)[i] = float4(sum, 0);""",
    "scalars": """
        uint i = thread_position_in_grid.x;
        float x = p[i * 4], y = p[i * 4 + 1], z = p[i * 4 + 2];
        float sum_x = 0, sum_y = 0, sum_z = 0;
        for (uint j = 0; j < COUNT; ++j) {
            float dx = p[j * 4] - x, dy = p[j * 4 + 1] - y, dz = p[j * 4 + 2] - z;
            float inverse = rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
            float factor = p[j * 4 + 3] * inverse * inverse * inverse;
            sum_x += factor * dx;
            sum_y += factor * dy;
            sum_z += factor * dz;
        }
        a[i * 4] = sum_x;
        a[i * 4 + 1] = sum_y;
        a[i * 4 + 2] = sum_z;
        a[i * 4 + 3] = 0;""",
    "bounds and sizes from the shape, 1 / sqrt": """
        int i = thread_position_in_grid.x;
        if (i >= p_shape[0]) return;
        float own[3], sum[3] = {0, 0, 0};
        for (int k = 0; k < 3; ++k) own[k] = p[i * 4 + k];
        for (int j = 0; j < p_shape[0]; ++j) {
            float d[3], square = 0.01f;
            for (int k = 0; k < 3; ++k) {
                d[k] = p[j * 4 + k] - own[k];
                square += d[k] * d[k];
            }
            float inverse = 1 / sqrt(square);
            for (int k = 0; k < 3; ++k) sum[k] += p[j * 4 + 3] * d[k] * inverse * inverse * inverse;
        }
        for (int k = 0; k < 3; ++k) a[i * 4 + k] = sum[k];
        a[i * 4 + 3] = 0;""",
    "size from a buffer, pointer moved, while": """
        uint i = thread_position_in_grid.x;
        if (i < n[0]) {
            const device float* b = p;
            const device float* end = p + n[0] * 4;
            float3 own = float3(p[i * 4], p[i * 4 + 1], p[i * 4 + 2]), sum = 0;
            while (b != end) {
                sum += pull(own, float4(b[0], b[1], b[2], b[3]));
                b += 4;
            }
            a[i * 4] = sum.x;
            a[i * 4 + 1] = sum.y;
            a[i * 4 + 2] = sum.z;
            a[i * 4 + 3] = 0;
        }""",
    "skips itself": """
        uint i = thread_position_in_grid.x;
        const device float4* bodies = (const device float4*)p;
        float3 own = bodies[i].xyz, sum = 0;
        for (uint j = 0; j < COUNT; ++j) {
            if (j == i) continue;
            sum += pull(own, bodies[j]);
        }
        ((device float4*)a)[i] = float4(sum, 0);""",
    "four at a time, counting down": """
        uint i = thread_position_in_grid.x;
        const device float4* bodies = (const device float4*)p;
        float3 own = bodies[i].xyz, sums[4] = {0, 0, 0, 0};
        for (int j = COUNT - 4; j >= 0; j -= 4)
            for (int k = 0; k < 4; ++k) sums[k] += pull(own, bodies[j + k]);
        ((device float4*)a)[i] = float4(sums[0] + sums[1] + sums[2] + sums[3], 0);""",
    "tile of 256": """
        threadgroup float4 tile[256];
        uint i = thread_position_in_grid.x, item = thread_position_in_threadgroup.x;
        const device float4* bodies = (const device float4*)p;
        float3 own = bodies[i].xyz, sum = 0;
        for (uint first = 0; first < COUNT; first += 256) {
            tile[item] = bodies[first + item];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (uint j = 0; j < 256; ++j) sum += pull(own, tile[j]);
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        ((device float4*)a)[i] = float4(sum, 0);""",
    "tile of 256, an array a coordinate": """
        threadgroup float xs[256], ys[256], zs[256], masses[256];
        int i = thread_position_in_grid.x, item = thread_position_in_threadgroup.x;
        float3 own = float3(p[i * 4], p[i * 4 + 1], p[i * 4 + 2]), sum = 0;
        for (int first = 0; first < p_shape[0]; first += 256) {
            xs[item] = p[(first + item) * 4];
            ys[item] = p[(first + item) * 4 + 1];
            zs[item] = p[(first + item) * 4 + 2];
            masses[item] = p[(first + item) * 4 + 3];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (ushort j = 0; j < 256; ++j) sum += pull(own, float4(xs[j], ys[j], zs[j], masses[j]));
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        ((device float4*)a)[i] = float4(sum, 0);""",
    "lanes pass bodies on": """
        uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup;
        const device float4* bodies = (const device float4*)p;
        float3 own = bodies[i].xyz, sum = 0;
        for (uint first = 0; first < COUNT; first += 32) {
            float4 other = bodies[first + lane];
            for (ushort k = 0; k < 32; ++k) sum += pull(own, simd_broadcast(other, k));
        }
        ((device float4*)a)[i] = float4(sum, 0);""",
}
TWO_EACH = """
    uint i = thread_position_in_grid.x * 2;
    const device float4* bodies = (const device float4*)p;
    float3 own[2] = {bodies[i].xyz, bodies[i + 1].xyz}, sums[2] = {0, 0};
    for (size_t j = 0; j < COUNT; ++j) {
        float4 other = bodies[j];
        sums[0] += pull(own[0], other);
        sums[1] += pull(own[1], other);
    }
    for (int k = 0; k < 2; ++k) ((device float4*)a)[i + k] = float4(sums[k], 0);
"""
SIMDGROUP = """
    uint i = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    const device float4* bodies = (const device float4*)p;
    float3 own = bodies[i].xyz, sum = 0;
    for (uint j = lane; j < COUNT; j += 32) sum += pull(own, bodies[j]);
    sum = float3(simd_sum(sum.x), simd_sum(sum.y), simd_sum(sum.z));
    if (lane == 0) ((device float4*)a)[i] = float4(sum, 0);
"""


def reference(arrays: dict) -> dict:
    position, mass = arrays["p"][:, :3].astype(np.float64), arrays["p"][:, 3].astype(np.float64)
    sums = np.zeros((len(mass), 4))
    for first in range(0, len(mass), 256):
        d = position[None] - position[first : first + 256, None]
        factor = mass * ((d**2).sum(2) + SOFTENING) ** -1.5
        sums[first : first + 256, :3] = np.einsum("ij,ijk->ik", factor, d)
    return {"a": sums}


def rows(size: str) -> list[Computation]:
    count = 512 if size == "small" else 4096

    def inputs() -> dict:
        bodies = np.random.default_rng(0).random((count, 4), np.float32)
        bodies[:, 3] /= count
        return {"p": bodies, "n": np.array([count], np.uint32)}

    made = Computation(
        name="n-body",
        inputs=inputs,
        outputs={"a": ((count, 4), "float32")},
        reference=reference,
        rtol=1e-3,
        atol=1e-5,
        limit=Limit("points", "bodies", ["p"], [count]),
    )
    shared = {"inputs": ("p", "n"), "header": HEADER, "template": {"COUNT": count}}
    for name, source in SOURCES.items():
        made.add(name, source, (count,), (256,), **shared)
    made.add("two bodies a thread", TWO_EACH, (count // 2,), (64,), **shared)
    made.add("SIMD-group a body", SIMDGROUP, (count * 32,), (256,), **shared)
    return [made]
