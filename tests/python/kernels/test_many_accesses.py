"""Kernels with hundreds of accesses or divisions, as code generators and unrolled loops make them."""

import re
import subprocess
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel

COUNT, THREADS, SIZE = 400, 70, 4096
# The statement of each k for thread i, and what it adds to the thread's sum, or writes.
ADDED = {
    "gathers": ("sum += x[at[i * COUNT + k]];", lambda x, at, i, k, w: x[at[i * COUNT + k]]),
    "guarded gathers": (
        "if (at[i + k] & 1) sum += x[at[i * COUNT + k]];",
        lambda x, at, i, k, w: np.where(at[i + k] & 1, x[at[i * COUNT + k]], 0),
    ),
    "strided loads": (
        "sum += x[(i * w + k * 11) % SIZE];",
        lambda x, at, i, k, w: x[(i * w + k * 11) % SIZE],
    ),
    "strided rows": (
        "sum += x[i * w + k * 2 + 1] - x[i * w + k * 2];",
        lambda x, at, i, k, w: x[i * w + k * 2 + 1] - x[i * w + k * 2],
    ),
    "quotients of indices": (
        "sum += x[(i + k) / w] - (i * 3 + k) % w;",
        lambda x, at, i, k, w: x[(i + k) // w] - (i * 3 + k) % w,
    ),
    "quotients of values": (
        "sum += (at[i] + k) / w - (at[i + k] + k) % w;",
        lambda x, at, i, k, w: (at[i] + k) // w - (at[i + k] + k) % w,
    ),
    "bytes": (
        "sum += ((const device uchar*)x)[at[i] + k];",
        lambda x, at, i, k, w: x.view(np.uint8)[at[i] + k],
    ),
}
WRITTEN = {
    "scattered stores": ("o[at[i] + k * 128] = k + i;", lambda at, i, k, w: at[i] + k * 128),
    "strided stores": ("o[i * w + k * 512] = k + i;", lambda at, i, k, w: i * w + k * 512),
    "guarded stores": ("if (i > k % 9) o[k * 512 + i] = k + i;", lambda at, i, k, w: k * 512 + i),
    "atomics": ("add(o + at[i] + k * 8, k + i);", lambda at, i, k, w: at[i] + k * 8),
}
HEADER = """
    inline void add(device int* place, int value) {
        metal::atomic_fetch_add_explicit((device metal::atomic_int*)place, value,
                                         metal::memory_order_relaxed);
    }
"""


def kernel_of(statement: str) -> str:
    lines = [re.sub(r"\bk\b", str(k), statement) for k in range(COUNT)]
    return "\n".join(
        ["const int i = thread_position_in_grid.x, w = width[0]; int sum = 0;", *lines]
    )


def inputs(rng: np.random.Generator, width: int) -> dict[str, np.ndarray]:
    # Neighbouring threads find one place, neighbouring places, or any.
    at = rng.integers(0, SIZE, THREADS * COUNT, dtype=np.int32)
    at[:THREADS] = np.arange(THREADS)[::-1] % 8
    at[THREADS * 100 : THREADS * 200] = 7
    return {
        "x": rng.integers(-1000, 1000, SIZE, dtype=np.int32),
        "at": at,
        "width": np.array([width], np.int32),
    }


@pytest.mark.parametrize("width", [1, 5])
@pytest.mark.parametrize("name", ADDED)
def test_sums(name: str, width: int, rng: np.random.Generator):
    statement, added = ADDED[name]
    given = inputs(rng, width)
    (got,) = run_kernel(
        kernel_of(statement) + "\no[i] = sum;",
        given,
        {"o": ((THREADS,), mx.int32)},
        THREADS,
        template=[("COUNT", COUNT), ("SIZE", SIZE)],
    )
    i = np.arange(THREADS)
    want = sum(added(given["x"], given["at"], i, k, width).astype(np.int64) for k in range(COUNT))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("width", [1, 5])
@pytest.mark.parametrize("name", WRITTEN)
def test_results(name: str, width: int, rng: np.random.Generator):
    statement, place = WRITTEN[name]
    given = inputs(rng, width)
    given["at"][:THREADS] = rng.permutation(THREADS)
    size = COUNT * 512
    (got,) = run_kernel(
        kernel_of(statement),
        given,
        {"o": ((size,), mx.int32)},
        THREADS,
        header=HEADER,
        template=[("COUNT", COUNT), ("SIZE", SIZE)],
        init_value=0,
    )
    want = np.zeros(size, np.int32)
    for i in range(THREADS):
        for k in range(COUNT):
            if name == "atomics":
                want[place(given["at"], i, k, width)] += k + i
            elif name != "guarded stores" or i > k % 9:
                want[place(given["at"], i, k, width)] = k + i
    np.testing.assert_array_equal(got, want)


def test_few_of_many_accesses_are_tested(tmp_path: Path):
    """Only some of the gathers have code for neighbouring lanes: for all of them, it would take
    long to compile."""
    body = kernel_of(ADDED["gathers"][0]).replace("COUNT", str(COUNT))
    signature = (
        "kernel void many(const device int* x [[buffer(0)]], const device int* at [[buffer(1)]],\n"
        "    const device int* width [[buffer(2)]], device int* o [[buffer(3)]],\n"
        "    uint3 thread_position_in_grid [[thread_position_in_grid]]) {\n"
    )
    (tmp_path / "many.metal").write_text(f"{signature}{body}\no[i] = sum; }}\n")
    metalc = Path(mx.__file__).resolve().parent / "bin" / "metalc"
    command = [metalc, "--emit", "llvm-opt", tmp_path / "many.metal"]
    code = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert 0 < len(re.findall(r"^either\.yes", code, re.MULTILINE)) < 1.5 * COUNT
