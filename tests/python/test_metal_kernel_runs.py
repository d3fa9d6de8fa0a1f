"""Threads that compute with several neighbouring elements, one after the other or as vectors."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_runner import INTEGERS, run_one

# What is computed of an element x, with k, its place in the run, and i, the thread; in MSL and in NumPy.
SAME = ("x * 3 + 5", lambda x, k, i: x * 3 + 5)
OF_THREAD = ("x * T(i % 7) - x", lambda x, k, i: x * (i % 7).astype(x.dtype) - x)
OF_PLACE = ("x + T(k * k)", lambda x, k, i: x + (k * k).astype(x.dtype))
CHOSEN = ("x > T(40) ? x - T(3) : x", lambda x, k, i: np.where(x > 40, x - x.dtype.type(3), x))
MIXED = ("k % 2 ? x * 2 : x + 1", lambda x, k, i: np.where(k % 2 == 1, x * 2, x + 1))
OPERATIONS = [SAME, OF_THREAD, OF_PLACE, CHOSEN, MIXED]
TYPES = {
    **{k: v for k, v in INTEGERS.items() if k != "char"},
    "float": mx.float32,
    "half": mx.float16,
}

LOOP = "for (uint k = 0; k < {run}; ++k) {{ T x = in[at + k]; out[at + k] = {value}; }}"
COUNT_DOWN = "for (int k = {run} - 1; k >= 0; --k) {{ T x = in[at + k]; out[at + k] = {value}; }}"
POINTERS = """
    const device T* p = in + at;
    device T* q = out + at;
    for (uint k = 0; k < {run}; ++k) {{ T x = *p++; *q++ = {value}; }}"""
HELD = """
    T held[{run}];
    for (uint k = 0; k < {run}; ++k) held[k] = in[at + k];
    for (uint k = 0; k < {run}; ++k) {{ T x = held[k]; held[k] = {value}; }}
    for (uint k = 0; k < {run}; ++k) out[at + k] = held[k];"""
EACH_CHECKED = """
    for (uint k = 0; k < {run}; ++k) if (at + k < count) {{
      T x = in[at + k]; out[at + k] = {value};
    }}"""
ENDS_EARLY = """
    for (uint k = 0; k < {run} && at + k < count; ++k) {{ T x = in[at + k]; out[at + k] = {value}; }}"""
FORMS = [LOOP, COUNT_DOWN, POINTERS, HELD, EACH_CHECKED, ENDS_EARLY]
VECTOR = """
    vec<T, {run}> v = *(const device vec<T, {run}>*)(in + at), w;
    for (uint k = 0; k < {run}; ++k) {{ T x = v[k]; w[k] = {value}; }}
    *(device vec<T, {run}>*)(out + at) = w;"""

THREADS = 203


def source(form: str, run: int, value: str, guard: str) -> str:
    body = form.format(run=run, value=value)
    start = f"uint i = thread_position_in_grid.x, at = i * {run}; const uint count = in_shape[0];"
    return f"{start} {guard} {{ {body} }}"


def check(form: str, run: int, operation: tuple, type_name: str, guard: str = "") -> None:
    value, reference = operation
    dtype = TYPES[type_name]
    count = THREADS * run - (run // 2 if form in (EACH_CHECKED, ENDS_EARLY) else 0)
    numbers = np.random.default_rng(run).integers(0, 60, count)
    x = np.array(mx.array(numbers).astype(dtype))
    place, thread = np.arange(count) % run, np.arange(count) // run
    with np.errstate(over="ignore"):
        expected = reference(x, place, thread).astype(x.dtype)
    if guard:
        expected = np.where(thread % 3 == 0, expected, 0).astype(x.dtype)
    got = run_one(
        source(form, run, value, guard),
        {"in": mx.array(x)},
        {"out": ((count,), dtype)},
        THREADS,
        64,
        template=[("T", dtype)],
        init_value=0,
    )
    assert np.array_equal(got, expected), (form, run, value, type_name, guard)


@pytest.mark.parametrize("operation", OPERATIONS, ids=[value for value, _ in OPERATIONS])
@pytest.mark.parametrize("run", [2, 3, 4, 8])
def test_runs(run: int, operation: tuple) -> None:
    check(LOOP, run, operation, "float")


@settings(deadline=None, max_examples=60)
@given(
    form=st.sampled_from(FORMS),
    run=st.integers(1, 9),
    operation=st.sampled_from(OPERATIONS),
    type_name=st.sampled_from(sorted(TYPES)),
    guard=st.sampled_from(["", "if (i % 3 == 0)"]),
)
def test_random_runs(form: str, run: int, operation: tuple, type_name: str, guard: str) -> None:
    check(form, run, operation, type_name, guard)


@settings(deadline=None, max_examples=20)
@given(
    run=st.sampled_from([2, 4]),
    operation=st.sampled_from(OPERATIONS),
    type_name=st.sampled_from(sorted(TYPES)),
    guard=st.sampled_from(["", "if (i % 3 == 0)"]),
)
def test_random_vectors(run: int, operation: tuple, type_name: str, guard: str) -> None:
    check(VECTOR, run, operation, type_name, guard)


# Sums that a thread carries through a loop over the rows of `in`; what a row adds is the expression
# `term` of x, k, i and r.
SUMS = """
    uint i = thread_position_in_grid.x, at = i * {run};
    T sums[{run}];
    for (uint k = 0; k < {run}; ++k) sums[k] = {start};
    for (uint r = 0; r < in_shape[0]; ++r) {{
        {skip}
        for (uint k = 0; k < {run}; ++k) {{ T x = in[r * in_shape[1] + at + k]; sums[k] += {term}; }}
    }}
    {guard} for (uint k = 0; k < {run}; ++k) out[at + k] = sums[k];"""
VECTOR_SUMS = """
    uint i = thread_position_in_grid.x, at = i * {run};
    vec<T, {run}> sums;
    for (uint k = 0; k < {run}; ++k) sums[k] = {start};
    for (uint r = 0; r < in_shape[0]; ++r) {{
        {skip}
        vec<T, {run}> v = *(const device vec<T, {run}>*)(in + r * in_shape[1] + at), w;
        for (uint k = 0; k < {run}; ++k) {{ T x = v[k]; w[k] = {term}; }}
        sums += w;
    }}
    {guard} *(device vec<T, {run}>*)(out + at) = sums;"""
STARTS = [
    ("T(0)", lambda k, i: 0 * k),
    ("T(k)", lambda k, i: k),
    ("T(i % 5)", lambda k, i: i % 5),
]
TERMS = [
    ("x", lambda x, k, i, r: x),
    ("x * T(r + 1)", lambda x, k, i, r: x * (r + 1)),
    ("x * T(i % 3)", lambda x, k, i, r: x * (i % 3)),
    ("x * T(k + 1)", lambda x, k, i, r: x * (k + 1)),
    ("k % 2 ? x : T(1)", lambda x, k, i, r: np.where(k % 2, x, 1)),
]
SKIPS = [
    ("", lambda i, r: i < 0),
    ("if (r % 2) continue;", lambda i, r: r % 2 + 0 * i > 0),
    ("if ((i + r) % 3 == 0) continue;", lambda i, r: (i + r) % 3 == 0),
    ("if (r > i) break;", lambda i, r: r > i),
]


@settings(deadline=None, max_examples=60)
@given(
    form=st.sampled_from([SUMS, VECTOR_SUMS]),
    run=st.sampled_from([2, 4]),
    rows=st.integers(0, 7),
    start=st.sampled_from(STARTS),
    term=st.sampled_from(TERMS),
    skip=st.sampled_from(SKIPS),
    guard=st.sampled_from(["", "if (i % 3 == 0)"]),
    type_name=st.sampled_from(["float", "half", "int", "short"]),
    threadgroup=st.sampled_from([7, 32, 64]),
)
def test_sums_of_runs(form, run, rows, start, term, skip, guard, type_name, threadgroup) -> None:
    dtype = TYPES[type_name]
    numbers = np.random.default_rng(run).integers(0, 6, (max(rows, 1), THREADS * run))[:rows]
    place, thread = np.arange(THREADS * run) % run, np.arange(THREADS * run) // run
    expected = start[1](place, thread)
    for r in range(rows):
        added = term[1](numbers[r], place, thread, r)
        expected = expected + np.where(skip[1](thread, r), 0, added)
    if guard:
        expected = np.where(thread % 3 == 0, expected, 0)
    body = form.format(run=run, start=start[0], term=term[0], skip=skip[0], guard=guard)
    got = run_one(
        body,
        {"in": mx.array(numbers.astype(np.float32)).astype(dtype)},
        {"out": ((THREADS * run,), dtype)},
        THREADS,
        threadgroup,
        template=[("T", dtype)],
        init_value=0,
    )
    assert np.array_equal(got, expected), (body, rows, type_name, threadgroup)


BLOCKS_OF_FOUR = """
    threadgroup float a_tile[TOP][DEPTH], b_tile[DEPTH][64];
    uint item = thread_index_in_threadgroup, count = TOP / 4 * 16;
    uint row = item / 16 * 4, column = item % 16 * 4;
    uint top = threadgroup_position_in_grid.y * TOP, left = threadgroup_position_in_grid.x * 64;
    const uint height = a_shape[0], depth = a_shape[1], width = b_shape[1];
    float4 sums[4] = {0, 0, 0, 0};
    for (uint k = 0; k < depth; k += DEPTH) {
        for (uint i = item; i < TOP * DEPTH; i += count) {
            uint r = top + i / DEPTH, c = k + i % DEPTH;
            a_tile[i / DEPTH][i % DEPTH] = r < height && c < depth ? a[r * depth + c] : 0;
        }
        for (uint i = item; i < DEPTH * 64; i += count) {
            uint r = k + i / 64, c = left + i % 64;
            b_tile[i / 64][i % 64] = r < depth && c < width ? b[r * width + c] : 0;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < DEPTH; ++i) {
            float4 values = *(const threadgroup float4*)&b_tile[i][column];
            for (uint j = 0; j < 4; ++j) sums[j] += a_tile[row + j][i] * values;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    for (uint j = 0; j < 4; ++j)
        for (uint l = 0; l < 4; ++l)
            if (top + row + j < height && left + column + l < width)
                c[(top + row + j) * width + left + column + l] = sums[j][l];
"""


@pytest.mark.parametrize("top", [16, 64])
@pytest.mark.parametrize("tile_depth", [8, 13])
@pytest.mark.parametrize(
    ("height", "depth", "width"), [(64, 16, 64), (128, 48, 64), (61, 37, 131), (3, 1, 5)]
)
def test_blocks_of_a_product(top, tile_depth, height, depth, width) -> None:
    random = np.random.default_rng(height)
    a, b = random.integers(-5, 6, (height, depth)), random.integers(-5, 6, (depth, width))
    got = run_one(
        BLOCKS_OF_FOUR,
        {"a": a.astype(np.float32), "b": b.astype(np.float32)},
        {"c": ((height, width), mx.float32)},
        (-(-width // 64) * 16, -(-height // top) * (top // 4), 1),
        (16, top // 4, 1),
        template=[("TOP", top), ("DEPTH", tile_depth)],
    )
    assert np.array_equal(got, a @ b)
