"""Guards that compare a thread's index with sizes, near the ends of the index's type too."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one

THREADS, SIZE, START = 129, 70, 3

# An index of the thread p, and by what it differs from p.
INDICES = [
    ("uint i = p;", 0),
    ("int i = int(p);", 0),
    ("ushort i = ushort(p);", 0),
    ("long i = p;", 0),
    ("int i = int(p) - 50;", -50),
    ("uint i = p - 50u;", 2**32 - 50),
    ("uint i = p + 4294967200u;", 2**32 - 96),
    ("int i = int(p + 2147483600u);", 2**31 - 48),
]
GUARDS = {
    "i < n": lambda i, n, m: i < n,
    "i <= n": lambda i, n, m: i <= n,
    "i > n": lambda i, n, m: i > n,
    "i >= n": lambda i, n, m: i >= n,
    "n > i": lambda i, n, m: n > i,
    "n <= i": lambda i, n, m: n <= i,
    "!(i < n)": lambda i, n, m: i >= n,
    "i < n && i > m": lambda i, n, m: (i < n) & (i > m),
    "i < n && i < m": lambda i, n, m: i < m,
    "i < m || i < n": lambda i, n, m: i < n,
    "i < m || i > n": lambda i, n, m: (i < m) | (i > n),
    "i > n || i > m": lambda i, n, m: i > m,
    "i < n && n < 100": lambda i, n, m: i < n,
    "i < n || n > 100": lambda i, n, m: i < n,
    "i < n && i % 2 == 0": lambda i, n, m: (i < n) & (i % 2 == 0),
}


def index_of(declaration: str, difference: int) -> np.ndarray:
    """The index of every thread, with the range of its type, as 64-bit integers."""
    kind = np.uint32 if declaration.startswith("uint") else np.int32
    return (np.arange(THREADS, dtype=np.int64) + difference).astype(kind).astype(np.int64)


@pytest.mark.parametrize("guard", GUARDS)
@pytest.mark.parametrize(("declaration", "difference"), INDICES)
def test_guards(declaration: str, difference: int, guard: str) -> None:
    unsigned = declaration.startswith("uint")
    source = f"""
        const uint p = thread_position_in_grid.x;
        {declaration}
        const {"uint" if unsigned else "int"} n = bounds[0], m = bounds[1];
        if ({guard}) out[p] += int(x[p]);"""
    x = np.arange(THREADS, dtype=np.float32)
    got = run_one(
        source,
        {"bounds": np.array([SIZE, START] * 4, np.uint32 if unsigned else np.int32), "x": x},
        {"out": ((THREADS,), mx.int32)},
        THREADS,
        64,
        init_value=1,
    )
    runs = GUARDS[guard](index_of(declaration, difference), SIZE, START)
    assert np.array_equal(got, np.where(runs, 1 + x, 1))
