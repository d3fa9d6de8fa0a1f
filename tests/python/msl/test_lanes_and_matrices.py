"""SIMD-group functions and positions in kernels that multiply matrices, where a GPU's lanes run the threads in
another order."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel

INCLUDE = "#include <metal_simdgroup_matrix>\n"

# The whole SIMD-groups multiply matrices: tiles of half, whose products and sums are exact.
PRODUCT = """
    uint lane = thread_index_in_simdgroup, item = thread_index_in_threadgroup;
    uint group = threadgroup_position_in_grid.x + threadgroup_position_in_grid.y;
    threadgroup half tile[8 * 24];
    for (uint i = item; i < 8 * 24; i += threads_per_threadgroup.x * threads_per_threadgroup.y)
        tile[i] = a[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup_index_in_threadgroup == 0) {
        simdgroup_half8x8 x, y;
        simdgroup_float8x8 sum = simdgroup_float8x8(1.0f);
        simdgroup_load(x, tile, 24);
        simdgroup_load(y, tile + 8, 24, ulong2(0, 0), true);
        simdgroup_multiply_accumulate(sum, x, y, sum);
        simdgroup_load(x, tile + 16, 24);
        simdgroup_multiply_accumulate(sum, x, x, sum);
        if (group == 0) simdgroup_store(sum, product, 8);
    }
"""

FUNCTIONS = {
    "simd_sum": "simd_sum(v)",
    "simd_sum of some": "lane % 3 == 1 ? simd_sum(v) : 0",
    "simd_max": "simd_max(v)",
    "inclusive": "simd_prefix_inclusive_sum(v)",
    "exclusive": "simd_prefix_exclusive_sum(int(v))",
    "exclusive of some": "lane % 3 == 1 ? simd_prefix_exclusive_sum(v) : 0",
    "xor": "simd_shuffle_xor(v, 5)",
    "shuffle": "simd_shuffle(v, (lane * 7 + 3) % count)",
    "up": "simd_shuffle_up(v, 3) * (lane >= 3)",
    "rotate": "simd_shuffle_rotate_down(v, 4)",
    "broadcast": "simd_broadcast(v, 3)",
    "first": "simd_broadcast_first(v)",
    "is first": "simd_is_first()",
    "ballot": "uint(static_cast<ulong>(simd_ballot(int(v) % 3 == 0))) % 65536",
    "all": "simd_all(v > 2) + 2 * simd_any(v > 90)",
    "quad sum": "quad_sum(v)",
    "quad shuffle": "quad_shuffle_xor(v, 2)",
    "lane": "lane + 100 * thread_index_in_quadgroup",
}


def expected(name: str, v: np.ndarray) -> np.ndarray:
    """What the threads of a SIMD-group get, of which thread i has v[i]."""
    n, at = len(v), np.arange(len(v))
    some = at % 3 == 1
    match name:
        case "simd_sum":
            return np.full(n, v.sum())
        case "simd_sum of some":
            return np.where(some, v[some].sum(), 0)
        case "simd_max":
            return np.full(n, v.max())
        case "inclusive":
            return v.cumsum()
        case "exclusive":
            return v.cumsum() - v
        case "exclusive of some":
            return np.where(some, (v * some).cumsum() - v, 0)
        case "xor":
            return np.where((at ^ 5) < n, v[(at ^ 5) % n], v)
        case "shuffle":
            return v[(at * 7 + 3) % n]
        case "up":
            return np.where(at < 3, 0, v[at - 3])
        case "rotate":
            return np.where((at + 4) % 32 < n, v[(at + 4) % 32 % n], v)
        case "broadcast":
            return np.full(n, v[3])
        case "first":
            return np.full(n, v[0])
        case "is first":
            return at == 0
        case "ballot":
            return np.full(n, sum(1 << int(i) for i in at if v[i] % 3 == 0) % 65536)
        case "all":
            return np.full(n, (v > 2).all() + 2 * (v > 90).any())
        case "quad sum":
            return v.reshape(-1, 4).sum(1).repeat(4)
        case "quad shuffle":
            return v[at ^ 2]
        case "lane":
            return at + 100 * (at % 4)
    raise AssertionError(name)


THREADGROUPS = [(32, 1, 1), (64, 1, 1), (8, 8, 1), (52, 1, 1), (12, 3, 1)]
GROUPS = 3


def launch(value: str, threadgroup: tuple[int, int, int], a: np.ndarray, values: np.ndarray):
    """Runs groups side by side, each thread of which writes `value`, and checks their product."""
    width, height, _ = threadgroup
    threads = width * height
    body = f"""{PRODUCT}
        uint place = group * {threads} + item;
        uint count = min(32u, {threads} - simdgroup_index_in_threadgroup * 32);
        float v = values[place];
        out[place] = {value};
    """
    out, product = run_kernel(
        body,
        {"a": mx.array(a).astype(mx.float16), "values": mx.array(values)},
        {"out": ((GROUPS, threads), mx.float32), "product": ((8, 8), mx.float32)},
        (width * GROUPS, height, 1),
        threadgroup,
        header=INCLUDE,
    )
    x, y, z = (a[:, i : i + 8] for i in (0, 8, 16))
    np.testing.assert_array_equal(product, np.eye(8) + x @ y.T + z @ z)
    return out


@pytest.mark.parametrize("threadgroup", THREADGROUPS, ids=str)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(rng: np.random.Generator, name: str, threadgroup: tuple[int, int, int]):
    a = rng.integers(-3, 4, (8, 24)).astype(np.float32)
    values = rng.integers(0, 100, (GROUPS, threadgroup[0] * threadgroup[1])).astype(np.float32)
    out = launch(FUNCTIONS[name], threadgroup, a, values)
    for got, group in zip(out, values, strict=True):
        for first in range(0, len(group), 32):
            part = slice(first, first + 32)
            np.testing.assert_array_equal(got[part], expected(name, group[part]))


@pytest.mark.parametrize("threadgroup", THREADGROUPS, ids=str)
def test_positions(rng: np.random.Generator, threadgroup: tuple[int, int, int]):
    width, height, _ = threadgroup
    a = rng.integers(-3, 4, (8, 24)).astype(np.float32)
    values = np.zeros((GROUPS, width * height), np.float32)
    y, x = np.indices((height, width))
    for where in ("threadgroup", "grid"):
        text = f"thread_position_in_{where}.x + 1000 * thread_position_in_{where}.y"
        for group, got in enumerate(launch(text, threadgroup, a, values)):
            left = group * width if where == "grid" else 0
            np.testing.assert_array_equal(got, (left + x + 1000 * y).ravel())


def test_a_group_that_the_grid_clips(rng: np.random.Generator):
    """The last group of 64 threads has 33 of them."""
    a = rng.integers(-3, 4, (8, 24)).astype(np.float32)
    x = rng.integers(0, 100, 97).astype(np.float32)
    body = f"""{PRODUCT}
        uint i = thread_position_in_grid.x;
        out[i] = simd_prefix_inclusive_sum(from[i]) + 1000 * lane;
    """
    out, _ = run_kernel(
        body,
        {"a": mx.array(a).astype(mx.float16), "from": mx.array(x)},
        {"out": ((97,), mx.float32), "product": ((8, 8), mx.float32)},
        97,
        64,
        header=INCLUDE,
    )
    for first in range(0, 97, 32):
        part = x[first : first + 32]
        np.testing.assert_array_equal(
            out[first : first + 32], part.cumsum() + 1000 * np.arange(len(part))
        )
