"""Elements of small tables, and elements that are close to each other: processors find them in
registers."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import FLOATS, INTEGERS, run_kernel, run_one, share, to_numpy

TYPES = INTEGERS | FLOATS | {"bool": mx.bool_}
COUNTS = [1, 3, 8, 16, 17, 32, 50, 64, 65, 256]
# Where a table is: what declares it, and what a thread reads.
PLACES = {
    "buffer": ("", "x[%s]"),
    "constant": ("", "table[%s]"),
    "variable": (
        "T local[COUNT]; for (int k = 0; k < COUNT; ++k) local[k] = table[k];",
        "local[%s]",
    ),
    "threadgroup": (
        """threadgroup T shared[COUNT];
        for (uint k = thread_index_in_threadgroup; k < COUNT; k += threads_per_threadgroup.x)
            shared[k] = x[k];
        threadgroup_barrier(mem_flags::mem_threadgroup);""",
        "shared[%s]",
    ),
}


def values_of(dtype: mx.Dtype, shape, rng) -> np.ndarray:
    return to_numpy(mx.array(rng.integers(0, 100, shape)).astype(dtype))


def literal(value) -> str:
    return str(value).lower() if isinstance(value, np.bool_) else str(value)


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("name", share(list(TYPES)))
def test_tables(name: str, count: int, place: str, rng):
    """Under a guard that some threads fail, and with threads that have no gang of their own."""
    dtype = TYPES[name]
    table = values_of(dtype, count, rng)
    places = rng.integers(0, 2**16, 1000).astype(np.uint16)
    index = f"q[i] & {count - 1}" if count & (count - 1) == 0 else f"q[i] % {count}u"
    declaration, read = PLACES[place]
    source = f"""
        uint i = thread_position_in_grid.x;
        {declaration}
        if (q[i] % 3 != 0) o[i] = {read % index};
    """
    entries = ", ".join(f"T({literal(value)})" for value in table)
    got = run_one(
        source.replace("T ", f"{name} ").replace("COUNT", str(count)),
        {"x": mx.array(table).astype(dtype), "q": places},
        {"o": ((1000,), dtype)},
        1000,
        100,
        header=f"constant {name} table[{count}] = {{{entries.replace('T(', name + '(')}}};",
        init_value=0,
    )
    np.testing.assert_array_equal(got, np.where(places % 3 != 0, table[places % count], 0))


def test_entries_of_structs(rng):
    """A member of an entry, and rows of a table."""
    source = """
        uint i = thread_position_in_grid.x;
        const device Entry* entries = (const device Entry*)x;
        o[i] = entries[q[i] & 15].b + rows[row[0]][q[i] >> 4 & 7];
    """
    x = rng.integers(0, 1000, (16, 3)).astype(np.int32)
    q = rng.integers(0, 256, 500).astype(np.uint8)
    rows = rng.integers(0, 1000, (3, 8))
    text = ", ".join("{" + ", ".join(map(str, row)) + "}" for row in rows)
    got = run_one(
        source,
        {"x": x, "q": q, "row": np.array([2], np.int32)},
        {"o": ((500,), mx.int32)},
        500,
        header=f"struct Entry {{ int a, b, c; }}; constant int rows[3][8] = {{{text}}};",
    )
    np.testing.assert_array_equal(got, x[q & 15, 1] + rows[2, q >> 4 & 7])


# The column of the image that a thread reads.
COLUMNS = {
    "magnified": "int((i + 0.5f) * 0.3f)",
    "reduced": "min(int(i * 1.7f), int(W) - 1)",
    "far apart": "int(i * 7.5f) % W",
    "reversed": "W - 1 - int(i * 0.9f)",
    "all in one": "int(i * 0.0001f)",
    "uneven": "int(500 + 400 * sin(i * 0.013f))",
    "turned back": "int(abs(i * 0.5f - 200))",
    "squares": "int(i * i) % W",
}


@pytest.mark.parametrize("index", ["int", "uint", "long"])
@pytest.mark.parametrize("column", COLUMNS)
@pytest.mark.parametrize("name", share(["float", "half", "uchar", "short", "bfloat", "long"]))
def test_close_elements(name: str, column: str, index: str, rng):
    """Elements of two rows, where a guard excludes some threads."""
    dtype = TYPES[name]
    image = values_of(dtype, (40, 1000), rng)
    source = f"""
        {index} i = thread_position_in_grid.x, W = x_shape[1];
        {index} y = thread_position_in_grid.y, at = {COLUMNS[column]}, next = at + 1 < W ? at + 1 : at;
        if (i % 11 == 3) return;
        o[y * 600 + i] = float(x[y * W + at]) + 2 * float(x[y * W + next])
                         + 4 * float(x[(y + 1) * W + at]);
        column[i] = at;
    """
    got, at = run_kernel(
        source,
        {"x": mx.array(image).astype(dtype)},
        {"o": ((39, 600), mx.float32), "column": ((600,), mx.int32)},
        (600, 39, 1),
        (50, 4, 1),
        init_value=-1,
    )
    runs = np.arange(600) % 11 != 3
    assert (at[runs] >= 0).all() and (at[~runs] == -1).all()
    at = np.where(runs, at, 0)
    image = image.astype(np.float32)
    expected = image[:39, at] + 2 * image[:39, np.minimum(at + 1, 999)] + 4 * image[1:, at]
    np.testing.assert_array_equal(got, np.where(runs, expected, -1))


@pytest.mark.parametrize("table", ["x", "table"])
def test_codes_of_four_bits(table: str, rng):
    """Each thread writes what two codes of a byte stand for, or those of a word."""
    codes = rng.integers(0, 256, 1200).astype(np.uint8)
    values = rng.integers(-100, 100, 16).astype(np.float32)
    scales = rng.standard_normal(75).astype(np.float32)
    bodies = {
        2: "uchar v = q[i]; o[2 * i] = t[v & 15] * s; o[2 * i + 1] = t[v >> 4] * s;",
        8: """
            uint v = ((const device uint*)q)[i];
            for (int k = 0; k < 8; ++k) o[8 * i + k] = t[v >> 4 * k & 15] * s;""",
    }
    both = np.stack([values[codes & 15], values[codes >> 4]], 1).reshape(-1)
    for count, body in bodies.items():
        got = run_one(
            f"""
            uint i = thread_position_in_grid.x;
            float s = scales[i * {count} / 32];
            {body.replace("t[", table + "[")}
            """,
            {"q": codes, "x": values, "scales": scales},
            {"o": ((2400,), mx.float32)},
            2400 // count,
            100,
            header=f"constant float table[16] = {{{', '.join(map(str, values))}}};",
        )
        np.testing.assert_array_equal(got, both * np.repeat(scales, 32))
