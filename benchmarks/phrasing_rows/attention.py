"""Attention of one query: 16 heads of 128, each over 2048 keys."""

import numpy as np
from bench.row import Metal

from .phrasing import Computation, Limit, Phrasing

HEADS, WIDTH = 16, 128

# A threadgroup of 256 a head: all scores first, then their powers, then the sum of the values.
# FILL_SCORES is one of SCORES.
SCORES_FIRST = """
    threadgroup float scores[KEYS], parts[8], halves[128];
    uint head = threadgroup_position_in_grid.x, item = thread_position_in_threadgroup.x;
    uint lane = thread_index_in_simdgroup, simdgroup = simdgroup_index_in_threadgroup;
    const device float* query = q + head * 128;
    const device float* keys = k + head * KEYS * 128;
    const device float* values = v + head * KEYS * 128;
    const float scale = rsqrt(128.0f);
    FILL_SCORES
    threadgroup_barrier(mem_flags::mem_threadgroup);

    float most = -INFINITY;
    for (uint i = item; i < KEYS; i += 256) most = max(most, scores[i]);
    most = simd_max(most);
    if (lane == 0) parts[simdgroup] = most;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = 0; i < 8; ++i) most = max(most, parts[i]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float sum = 0;
    for (uint i = item; i < KEYS; i += 256) {
        scores[i] = exp(scores[i] - most);
        sum += scores[i];
    }
    sum = simd_sum(sum);
    if (lane == 0) parts[simdgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    sum = 0;
    for (uint i = 0; i < 8; ++i) sum += parts[i];

    float result = 0;
    uint column = item % 128;
    for (uint i = item / 128; i < KEYS; i += 2) result += scores[i] * values[i * 128 + column];
    if (item >= 128) halves[column] = result;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (item < 128) o[head * 128 + column] = (result + halves[column]) / sum;
"""
SCORES = {
    "SIMD-group a key": """
        for (uint i = simdgroup; i < KEYS; i += 8) {
            float sum = 0;
            for (uint j = lane; j < 128; j += 32) sum += query[j] * keys[i * 128 + j];
            sum = simd_sum(sum);
            if (lane == 0) scores[i] = sum * scale;
        }""",
    "SIMD-group a key, float4": """
        float4 own = ((const device float4*)query)[lane] * scale;
        for (uint i = simdgroup; i < KEYS; i += 8) {
            float sum = simd_sum(dot(own, ((const device float4*)keys)[i * 32 + lane]));
            if (lane == 0) scores[i] = sum;
        }""",
    "thread a key": """
        for (uint i = item; i < KEYS; i += 256) {
            float sum = 0;
            for (uint j = 0; j < 128; ++j) sum += query[j] * keys[i * 128 + j];
            scores[i] = sum * scale;
        }""",
    "thread a key, pointers moved": """
        for (uint i = item; i < KEYS; i += 256) {
            const device float* key = keys + i * 128;
            const device float* own = query;
            float sum = 0;
            for (const device float* end = key + 128; key != end;) sum += *own++ * *key++;
            scores[i] = sum * scale;
        }""",
    "thread a key, four sums": """
        for (int i = item; i < KEYS; i += 256) {
            float sums[4] = {0, 0, 0, 0};
            for (int j = 0; j < 128; j += 4)
                for (int k = 0; k < 4; ++k) sums[k] += query[j + k] * keys[i * 128 + j + k];
            scores[i] = ((sums[0] + sums[1]) + (sums[2] + sums[3])) * scale;
        }""",
    "thread a key, float4": """
        for (int i = item; i < KEYS; i += 256) {
            const device float4* key = (const device float4*)(keys + i * 128);
            float4 sums = 0;
            for (int j = 0; j < 32; ++j) sums += ((const device float4*)query)[j] * key[j];
            scores[i] = (sums.x + sums.y + sums.z + sums.w) * scale;
        }""",
}

# GROUPS SIMD-groups a head go through the keys in turn; each keeps the largest score, the sum of
# powers and the weighted sum of values; these are put together at the end.
ONLINE = """
    threadgroup float most_of[GROUPS], sum_of[GROUPS], results[GROUPS][128];
    uint head = threadgroup_position_in_grid.x, item = thread_position_in_threadgroup.x;
    uint lane = thread_index_in_simdgroup, simdgroup = simdgroup_index_in_threadgroup;
    const float scale = rsqrt(128.0f);
    float most = -INFINITY, sum = 0;
    LOOP
    if (lane == 0) {
        most_of[simdgroup] = most;
        sum_of[simdgroup] = sum;
    }
    for (int j = 0; j < 4; ++j) results[simdgroup][FIRST + j * STEP] = result[j];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (item >= 128) return;
    float all = -INFINITY, total = 0, value = 0;
    for (int i = 0; i < GROUPS; ++i) all = max(all, most_of[i]);
    for (int i = 0; i < GROUPS; ++i) {
        float factor = exp(most_of[i] - all);
        total += factor * sum_of[i];
        value += factor * results[i][item];
    }
    o[head * 128 + item] = value / total;
"""
LOOPS = {
    "apart": (
        "lane",
        "32",
        """
        float own[4], result[4] = {0, 0, 0, 0};
        for (int j = 0; j < 4; ++j) own[j] = q[head * 128 + lane + j * 32] * scale;
        for (uint i = simdgroup; i < KEYS; i += GROUPS) {
            uint at = (head * KEYS + i) * 128 + lane;
            float score = 0;
            for (int j = 0; j < 4; ++j) score += own[j] * k[at + j * 32];
            score = simd_sum(score);
            float now = max(most, score), factor = exp(most - now), power = exp(score - now);
            most = now;
            sum = sum * factor + power;
            for (int j = 0; j < 4; ++j) result[j] = result[j] * factor + power * v[at + j * 32];
        }""",
    ),
    "a run of four a lane, pointers moved": (
        "lane * 4",
        "1",
        """
        float own[4], result[4] = {0, 0, 0, 0};
        const device float* from_k = k + (head * n[0] + simdgroup) * 128 + lane * 4;
        const device float* from_v = v + (head * n[0] + simdgroup) * 128 + lane * 4;
        for (int j = 0; j < 4; ++j) own[j] = scale * q[head * 128 + lane * 4 + j];
        for (uint i = simdgroup; i < n[0]; i += GROUPS) {
            float score = 0;
            for (int j = 0; j < 4; ++j) score += own[j] * from_k[j];
            score = simd_sum(score);
            float now = max(most, score);
            float factor = exp(most - now), power = exp(score - now);
            most = now;
            sum = sum * factor + power;
            for (int j = 0; j < 4; ++j) result[j] = result[j] * factor + power * from_v[j];
            from_k += GROUPS * 128;
            from_v += GROUPS * 128;
        }""",
    ),
    "float4, sizes from the shape": (
        "lane * 4",
        "1",
        """
        int keys = k_shape[1];
        float4 own = ((const device float4*)q)[head * 32 + lane] * scale, result = 0;
        for (int i = simdgroup; i < keys; i += GROUPS) {
            int at = (int(head) * keys + i) * 32 + lane;
            float score = simd_sum(dot(own, ((const device float4*)k)[at]));
            float now = max(most, score), factor = exp(most - now), power = exp(score - now);
            most = now;
            sum = sum * factor + power;
            result = result * factor + power * ((const device float4*)v)[at];
        }""",
    ),
    "a run of keys each, held": (
        "lane * 4",
        "1",
        """
        float own[4], result[4] = {0, 0, 0, 0};
        for (ushort j = 0; j < 4; ++j) own[j] = q[head * 128 + lane * 4 + j] * scale;
        uint first = simdgroup * (KEYS / GROUPS);
        for (uint i = first; i < first + KEYS / GROUPS; ++i) {
            uint at = (head * KEYS + i) * 128 + lane * 4;
            float keys[4], values[4], score = 0;
            for (ushort j = 0; j < 4; ++j) {
                keys[j] = k[at + j];
                values[j] = v[at + j];
            }
            for (ushort j = 0; j < 4; ++j) score += own[j] * keys[j];
            score = simd_sum(score);
            float now = max(most, score), factor = exp(most - now), power = exp(score - now);
            most = now;
            sum = sum * factor + power;
            for (ushort j = 0; j < 4; ++j) result[j] = result[j] * factor + power * values[j];
        }""",
    ),
}

# Two launches: a SIMD-group for each part of a head's keys, then a thread for each result.
PART = """
    uint head = thread_position_in_grid.y, part = thread_position_in_grid.x / 32;
    uint lane = thread_index_in_simdgroup;
    float4 own = ((const device float4*)q)[head * 32 + lane] * rsqrt(128.0f), result = 0;
    float most = -INFINITY, sum = 0;
    for (uint i = part * (KEYS / PARTS); i < (part + 1) * (KEYS / PARTS); ++i) {
        uint at = (head * KEYS + i) * 32 + lane;
        float score = simd_sum(dot(own, ((const device float4*)k)[at]));
        float now = max(most, score), factor = exp(most - now), power = exp(score - now);
        most = now;
        sum = sum * factor + power;
        result = result * factor + power * ((const device float4*)v)[at];
    }
    ((device float4*)results)[(head * PARTS + part) * 32 + lane] = result;
    if (lane == 0) {
        mosts[head * PARTS + part] = most;
        totals[head * PARTS + part] = sum;
    }
"""
TOGETHER = """
    uint at = thread_position_in_grid.x, head = at / 128, column = at % 128;
    float all = -INFINITY, total = 0, value = 0;
    for (uint i = 0; i < PARTS; ++i) all = max(all, mosts[head * PARTS + i]);
    for (uint i = 0; i < PARTS; ++i) {
        float factor = exp(mosts[head * PARTS + i] - all);
        total += factor * totals[head * PARTS + i];
        value += factor * results[(head * PARTS + i) * 128 + column];
    }
    o[at] = value / total;
"""


def reference(arrays: dict) -> dict:
    q, k, v = (arrays[name].astype(np.float64) for name in "qkv")
    scores = np.einsum("hd,hkd->hk", q, k) / np.sqrt(WIDTH)
    powers = np.exp(scores - scores.max(1, keepdims=True))
    return {"o": np.einsum("hk,hkd->hd", powers / powers.sum(1, keepdims=True), v)}


def in_parts(made: Computation, keys: int, parts: int) -> Phrasing:
    template = {"KEYS": keys, "PARTS": parts}
    middle = {
        "results": ((HEADS, parts, WIDTH), "float32"),
        "mosts": ((HEADS, parts), "float32"),
        "totals": ((HEADS, parts), "float32"),
    }
    first = Metal(
        PART, ["q", "k", "v"], middle, (32 * parts, HEADS, 1), (32, 1, 1), template=template
    )
    grid = (HEADS * WIDTH, 1, 1)
    second = Metal(TOGETHER, list(middle), made.outputs, grid, (128, 1, 1), template=template)
    return Phrasing(f"two launches, {parts} parts a head", [first, second])


def rows(size: str) -> list[Computation]:
    keys = 256 if size == "small" else 2048

    def inputs() -> dict:
        random = np.random.default_rng(0)
        return {
            "q": random.standard_normal((HEADS, WIDTH), np.float32),
            "k": random.standard_normal((HEADS, keys, WIDTH), np.float32),
            "v": random.standard_normal((HEADS, keys, WIDTH), np.float32),
            "n": np.array([keys], np.uint32),
        }

    made = Computation(
        name="attention",
        inputs=inputs,
        outputs={"o": ((HEADS, WIDTH), "float32")},
        reference=reference,
        rtol=1e-4,
        atol=1e-4,
        limit=Limit("products", "attention", ["q", "k", "v"], [HEADS, keys]),
    )
    shared = {"inputs": ("q", "k", "v", "n")}
    for name, scores in SCORES.items():
        source = SCORES_FIRST.replace("FILL_SCORES", scores)
        template = {"KEYS": keys}
        made.add(
            f"scores first, {name}", source, (256 * HEADS,), (256,), template=template, **shared
        )
    for name, (first, step, loop) in LOOPS.items():
        source = ONLINE.replace("LOOP", loop).replace("FIRST", first).replace("STEP", step)
        for groups in (8, 32):
            made.add(
                f"online, {groups} SIMD-groups, {name}",
                source,
                (32 * groups * HEADS,),
                (32 * groups,),
                template={"KEYS": keys, "GROUPS": groups},
                **shared,
            )
    made.phrasings += [in_parts(made, keys, parts) for parts in (8, 32)]
    return [made]
