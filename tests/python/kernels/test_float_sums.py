"""Atomic additions to floats at places that threads read or compute, against NumPy."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, share

PLACES = {
    "sorted": lambda n, size, rng: np.sort(rng.integers(0, size, n)),
    "random": lambda n, size, rng: rng.integers(0, size, n),
    "one": lambda n, size, rng: np.full(n, size - 1),
    "a few": lambda n, size, rng: rng.integers(0, min(size, 3), n) * (size // 3),
    "lines apart": lambda n, size, rng: np.arange(n) * 16 % size,
}
# Each adds w[i] at places[i], and what NumPy adds besides: (source, places, addends).
FORMS = {
    "read": (
        "ADD(places[i], w[i]);",
        lambda p, w, size: (p, w),
    ),
    "computed": (
        "uint p = (places[i] * 5u + i) % SIZE; ADD(p, w[i]);",
        lambda p, w, size: ((p * 5 + np.arange(len(p))) % size, w),
    ),
    "for some lanes": (
        "if (w[i] > 1) ADD(places[i], w[i]);",
        lambda p, w, size: (p[w > 1], w[w > 1]),
    ),
    "neighbours, if inside": (
        "int p = int(places[i]); if (p > 0) ADD(p - 1, w[i]); ADD(p, 2 * w[i]);",
        lambda p, w, size: (np.r_[p[p > 0] - 1, p], np.r_[w[p > 0], 2 * w]),
    ),
    "in a loop": (
        "for (uint k = 0; k < uint(w[i]); ++k) ADD((places[i] + k * 7) % SIZE, 1.0f);",
        lambda p, w, size: (
            np.concatenate([(p[w > k] + 7 * k) % size for k in range(4)]),
            np.ones(int(w.sum())),
        ),
    ),
    "runs of four": (
        "uint p = places[i] / 4 * 4; for (uint k = 0; k < 4; ++k) if (p + k < SIZE) ADD(p + k, w[i]);",
        lambda p, w, size: tuple(
            np.concatenate(parts)
            for parts in zip(*(share_of_run(p // 4 * 4 + k, w, size) for k in range(4)))
        ),
    ),
    "read afterwards": (
        "ADD(places[i], w[i]); if (atomic_load_explicit(&out[0], memory_order_relaxed) < 0) ADD(0, 1);",
        lambda p, w, size: (p, w),
    ),
    "by exchanges": (
        "device atomic_uint* a = (device atomic_uint*)out + places[i];"
        "uint seen = atomic_load_explicit(a, memory_order_relaxed);"
        "while (!atomic_compare_exchange_weak_explicit(a, &seen, as_type<uint>(as_type<float>(seen)"
        " + w[i]), memory_order_relaxed, memory_order_relaxed)) {}",
        lambda p, w, size: (p, w),
    ),
    "a count beside it": (
        "ADD(places[i], w[i]); atomic_fetch_add_explicit(&counts[0], 1u, memory_order_relaxed);",
        lambda p, w, size: (p, w),
    ),
}
SIZES = [(1, 1), (33, 7), (5000, 1000), (70000, 30000), (300001, 513)]
CASES = share([(f, p, s) for f in FORMS for p in PLACES for s in SIZES])


def share_of_run(places, addends, size):
    return places[places < size], addends[places < size]


@pytest.mark.parametrize("form, place, sizes", CASES)
def test_every_addition_arrives(form: str, place: str, sizes: tuple[int, int]):
    threads, size = sizes
    rng = np.random.default_rng(threads)
    places = PLACES[place](threads, size, rng).astype(np.uint32)
    addends = rng.integers(0, 4, threads).astype(np.float32)  # sums of these are exact
    source, rule = FORMS[form]
    outputs = {"out": ((size,), mx.float32)}
    if "counts" in source:
        outputs["counts"] = ((1,), mx.uint32)
    got, *_ = run_kernel(
        f"uint i = thread_position_in_grid.x; {source}",
        {"places": places, "w": addends},
        outputs,
        threads,
        min(threads, 256),
        header="#define ADD(p, v) "
        "atomic_fetch_add_explicit(&out[p], float(v), memory_order_relaxed)\n"
        f"#define SIZE {size}u\n",
        atomic_outputs=True,
        init_value=0,
    )
    expected = np.zeros(size)
    np.add.at(expected, *rule(places.astype(np.int64), addends, size))
    np.testing.assert_array_equal(got, expected)
