"""Loops of threads over elements that are far apart. Iterations of a row's threads run in turns."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_runner import FLOATS, INTEGERS, run_one, share

TYPES = {**INTEGERS, **FLOATS}
# {body} computes with k; {count} is n[0], and {grid} the number of threads.
FORMS = {
    "uint": "for (uint k = i; k < n[0]; k += threads_per_grid.x) {{ {body} }}",
    "int": "for (int k = i; k < x_shape[0]; k += threads_per_grid.x) {{ {body} }}",
    "size_t": "for (size_t k = i; k < n[0]; k += threads_per_grid.x) {{ {body} }}",
    "ushort": "for (ushort k = i; k < ushort(n[0]); k += ushort(threads_per_grid.x)) {{ {body} }}",
    "while": "int k = i; while (k < int(n[0])) {{ {body} k += int(threads_per_grid.x); }}",
    "do": """
        ulong k = i;
        if (k < n[0]) do {{ {body} k += threads_per_grid.x; }} while (k < n[0]);""",
    "break": """
        uint k = i;
        for (;;) {{ if (k >= n[0]) break; {body} k += threads_per_grid.x; }}""",
    "limit first": "for (uint k = i; n[0] > k; k = threads_per_grid.x + k) {{ {body} }}",
    "step of a buffer": "for (uint k = i; k < n[0]; k += n[1]) {{ {body} }}",
    "last number": "for (uint k = i; k <= n[0] - 1; k += threads_per_grid.x) {{ {body} }}",
    "counted": """
        for (uint q = 0; q * threads_per_grid.x + i < n[0]; ++q) {{
            uint k = q * threads_per_grid.x + i; {body}
        }}""",
    "constants": "for (uint k = i; k < {count}u; k += {grid}u) {{ {body} }}",
    "signed constants": "for (int k = i; k < {count}; k += {grid}) {{ {body} }}",
    "long constants, do": """
        ulong k = i;
        if (k < {count}) do {{ {body} k += {grid}; }} while (k < {count});""",
    "pointers": """
        auto from = x + i;
        auto end = x + n[0];
        for (; from < end; from += threads_per_grid.x) {{ uint k = from - x; {body} }}""",
}
# In MSL, and in NumPy for the elements that a thread comes to.
BODIES = {
    "each": ("o[k] = x[k] * T(3) + T(5);", lambda x, o, k, step: x[k] * 3 + 5),
    "some": ("if (x[k] > T(20)) o[k] = x[k];", lambda x, o, k, step: np.where(x[k] > 20, x[k], o[k])),
    "before": (  # reads what the iteration before wrote
        "o[k] = k >= step ? o[k - step] + T(1) : x[k];",
        lambda x, o, k, step: np.where(k >= step, o[np.maximum(k, step) - step] + 1, x[k]),
    ),
    "loop": (
        "T s = 0; for (uint j = 0; j < uint(k % 4); ++j) s += x[(k + j) % n[0]]; o[k] = s;",
        lambda x, o, k, step: sum(
            np.where(j < k % 4, x[(k + j) % len(x)], 0) for j in range(3)
        ),
    ),
    "first": ("o[k] = x[k] + first;", lambda x, o, k, step: x[k] + x[0]),
}  # fmt: skip
START = """
    uint i = thread_position_in_grid.x;
    const uint step = threads_per_grid.x;
    T first = x[0];
"""


def check(
    form: str, body: str, type: str, count: int, grid: int, threadgroup: int, room=40
) -> None:
    dtype = TYPES[type]
    text, reference = BODIES[body]
    x = np.random.default_rng(count).integers(0, 25, count)
    got = run_one(
        START + FORMS[form].format(body=text, count=count, grid=grid),
        {"x": mx.array(x).astype(dtype), "n": np.array([count, grid], np.uint32)},
        {"o": ((count + room,), dtype)},
        grid,
        threadgroup,
        template=[("T", dtype)],
        init_value=7,
    )
    expected = np.full(count + room, 7)
    for start in range(0, count, grid):
        k = np.arange(start, min(start + grid, count))
        expected[k] = reference(x, expected, k, grid)
    assert np.array_equal(got.astype(np.float64), expected)


@pytest.mark.parametrize("body", BODIES)
@pytest.mark.parametrize("form", share(list(FORMS)))
def test_forms(form: str, body: str) -> None:
    few = ((5000, 64), (3001, 1000), (333, 300), (64, 64), (31, 128), (1, 33))
    for count, grid in (*few, (9000, 1100), (4400, 1100), (4401, 1100), (2000, 1024)):
        check(form, body, "float", count, grid, 64)


@pytest.mark.parametrize("type", share(list(TYPES)))
def test_types(type: str) -> None:
    for body in ("each", "some", "loop"):
        check("uint", body, type, 2003, 96, 32)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(list(FORMS)),
    st.sampled_from(list(BODIES)),
    st.integers(1, 3000),
    st.integers(1, 700),
    st.sampled_from([1, 7, 32, 33, 64, 256]),
)
def test_sizes(form: str, body: str, count: int, grid: int, threadgroup: int) -> None:
    check(form, body, "int", count, grid, threadgroup)


# The row's last numbers would wrap around if they went on, so its gangs run one after the other. Two
# threads add to the same element.
@pytest.mark.cpu_kernels
@pytest.mark.parametrize("bits", [16, 32])
def test_numbers_at_the_end_of_their_type(bits: int) -> None:
    type = {16: "ushort", 32: "uint"}[bits]
    start, limit = 2**bits - 300, 2**bits - 200
    got = run_one(
        f"""
        for ({type} k = {type}({start}u + thread_position_in_grid.x); k < {type}({limit}u); k += 50)
            o[k - {start}u] += 1;""",
        {"x": np.zeros(1, np.float32)},
        {"o": ((100,), mx.int32)},
        100,
        64,
        init_value=0,
    )
    assert np.array_equal(got, np.where(np.arange(100) < 50, 1, 2))


@pytest.mark.parametrize("type", ["ushort", "uint", "short", "int"])
@pytest.mark.parametrize("beyond", [1000, 5000])
def test_constant_numbers_at_the_end_of_their_type(type: str, beyond: int) -> None:
    bits = np.iinfo({"ushort": "uint16", "short": "int16", "uint": "uint32", "int": "int32"}[type])
    limit = bits.max - beyond
    start, threads = limit - 3500, 1024
    got = run_one(
        f"""
        uint i = thread_position_in_grid.x, turn = 0;
        for ({type} k = {type}({start}u + i); k < {type}({limit}u); k += 1000, ++turn)
            o[turn * {threads} + i] = int(k - {start});""",
        {"x": np.zeros(1, np.float32)},
        {"o": ((4, threads), mx.int32)},
        threads,
        64,
        init_value=-1,
    )
    numbers = np.arange(threads) + np.arange(4)[:, None] * 1000
    assert np.array_equal(got, np.where(numbers < 3500, numbers, -1))


def test_rows_below_each_other() -> None:
    """Each row of the grid has its own elements; a store comes before the loop, another one after."""
    for before, after in (("", ""), ("o[y * 1000 + i] = -3;", ""), ("", "o[y * 1000 + i] = -4;")):
        got = run_one(
            f"""
            uint i = thread_position_in_grid.x, y = thread_position_in_grid.y;
            {before}
            for (uint k = i; k < 700 + y * 50; k += threads_per_grid.x) o[y * 1000 + k] = k + y;
            {after}""",
            {"x": np.zeros(1, np.float32)},
            {"o": ((3, 1000), mx.int32)},
            (150, 3, 1),
            (64, 2, 1),
            init_value=0,
        )
        k, y = np.arange(1000), np.arange(3)[:, None]
        expected = np.where(k < 700 + y * 50, k + y, 0)
        if after:
            expected[:, :150] = -4
        assert np.array_equal(got, expected)


def test_read_before_the_loop_writes() -> None:
    """The loop overwrites what was read before it, so it must not be read again."""
    got = run_one(
        """
        uint i = thread_position_in_grid.x;
        int base = o[i + threads_per_grid.x];
        for (uint k = i; k < 1000; k += threads_per_grid.x) o[k] = base + 1;""",
        {"x": np.zeros(1, np.float32)},
        {"o": ((1000,), mx.int32)},
        100,
        50,
        init_value=5,
    )
    # Thread i alone reads and writes the elements i, i + 100, ...
    assert np.array_equal(got, np.full(1000, 6))
