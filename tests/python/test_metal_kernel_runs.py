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
