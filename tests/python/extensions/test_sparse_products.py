"""Sums of indexed products against NumPy: values, layouts, types, batches, memory, errors."""

import mlx.core as mx
import numpy as np
import products
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_sample_extensions import mvmr, vvor

STREAMS = pytest.mark.parametrize("stream", [mx.cpu, mx.gpu], ids=["cpu", "gpu"])


class Problem:
    """Random arguments: K matrices of G groups of M x C, N vectors, n_o rows, T entries."""

    def __init__(self, rng, K=3, T=50, G=2, M=5, C=7, N=9, n_o=11, skew=1.0):
        self.n_o, self.entries, self.columns = n_o, T, C
        self.a = rng.standard_normal((K, G, M, C)).astype(np.float32)
        self.b = rng.standard_normal((N, G, C)).astype(np.float32)
        self.g = rng.standard_normal((n_o, G, M)).astype(np.float32)
        self.a_idx, self.b_idx, self.o_idx = (
            (size * rng.random(T) ** skew).astype(np.int32) for size in (K, N, n_o)
        )

    @property
    def mvmr(self) -> list:
        return [self.a, self.a_idx, self.b, self.b_idx, self.o_idx, self.n_o]

    @property
    def vvor(self) -> list:
        """With the outputs' vectors and a row for each matrix: the gradient of a."""
        return [self.g, self.o_idx, self.b, self.b_idx, self.a_idx, len(self.a)]


def run(operation, arguments, **options) -> np.ndarray:
    arrays = [mx.array(x) if isinstance(x, np.ndarray) else x for x in arguments]
    return np.array(operation(*arrays, **options).astype(mx.float32))


def close(got: np.ndarray, wanted: np.ndarray, tolerance: float = 2e-6, size: float = 1) -> bool:
    """Within the tolerance of the largest value, or of the usual size of values if that is larger:
    sums have many terms."""
    assert got.shape == wanted.shape
    largest = np.abs(wanted).max(initial=size)
    return np.abs(got - wanted).max(initial=0) <= tolerance * largest


def check(problem: Problem, stream=mx.cpu) -> None:
    a, *rest = problem.mvmr
    wanted = products.mvmr(*problem.mvmr)
    tolerance = 2e-6 + 6e-8 * problem.entries  # one row may get all entries
    size = max(1, problem.columns**0.5)  # of a sum of so many products of normal numbers
    assert close(run(mvmr, problem.mvmr, stream=stream), wanted, tolerance, size)
    turned = np.ascontiguousarray(a.swapaxes(2, 3))
    assert close(run(mvmr, [turned, *rest], transpose=True, stream=stream), wanted, tolerance, size)
    wanted = products.vvor(*problem.vvor)
    assert close(run(vvor, problem.vvor, stream=stream), wanted, tolerance)


# ---- values ----


@STREAMS
@pytest.mark.parametrize(
    "sizes",
    [
        {},
        {"T": 0},
        {"M": 1, "C": 1, "G": 3},
        {"n_o": 1, "T": 400, "M": 33},
        {"K": 1, "N": 1, "n_o": 1, "G": 1},
        {"K": 4, "T": 900, "G": 1, "M": 64, "C": 64, "N": 70, "n_o": 60},
        {"K": 2, "T": 700, "G": 1, "M": 100, "C": 300, "N": 20, "n_o": 30},
        {"K": 2, "T": 500, "G": 8, "M": 16, "C": 16, "N": 40, "n_o": 5000},
        {"K": 600, "T": 300, "G": 1, "M": 9, "C": 40},
        # A tile contains several groups.
        {"K": 2, "T": 3000, "G": 6, "M": 9, "C": 14, "N": 50, "n_o": 200},
        {"K": 40, "T": 900, "G": 7, "M": 21, "C": 17, "N": 50, "n_o": 20},
        {"K": 40, "T": 900, "G": 3, "M": 1, "C": 30, "N": 50, "n_o": 20},
        {"M": 0},
        {"C": 0},
        {"G": 0},
        {"T": 0, "n_o": 0},
    ],
    ids=str,
)
def test_values(rng, stream, sizes):
    check(Problem(rng, **sizes), stream)


@STREAMS
@pytest.mark.parametrize("skew", [4.0, 60.0])
def test_skew(rng, stream, skew):
    check(Problem(rng, K=5, T=3000, G=1, M=40, C=20, N=50, n_o=400, skew=skew), stream)


@settings(max_examples=40, deadline=None)
@given(
    sizes=st.fixed_dictionaries(
        {
            "K": st.integers(1, 40),
            "T": st.integers(0, 150),
            "G": st.integers(1, 4),
            "M": st.integers(1, 50),
            "C": st.integers(1, 50),
            "N": st.integers(1, 30),
            "n_o": st.integers(1, 200),
            "skew": st.sampled_from([1.0, 8.0, 100.0]),
        }
    ),
    seed=st.integers(0, 9),
    stream=st.sampled_from([mx.cpu, mx.gpu]),
)
def test_any_sizes(sizes, seed, stream):
    check(Problem(np.random.default_rng(seed), **sizes), stream)


@STREAMS
@pytest.mark.parametrize("order", ["a", "b", "o", "o then a"])
def test_sorted_entries(rng, stream, order):
    p = Problem(rng, K=4, T=500, G=1, M=32, C=16, n_o=90)
    keys = {"a": [p.a_idx], "b": [p.b_idx], "o": [p.o_idx], "o then a": [p.a_idx, p.o_idx]}
    by = np.lexsort(keys[order])
    p.a_idx, p.b_idx, p.o_idx = p.a_idx[by], p.b_idx[by], p.o_idx[by]
    check(p, stream)


@STREAMS
@pytest.mark.parametrize("missing", ["a", "b", "o", "ab", "bo", "abo"])
def test_entries_without_indices(rng, stream, missing):
    rows = {"K" if "a" in missing else "", "N" if "b" in missing else ""} - {""}
    sizes = dict.fromkeys(rows, 60) | ({"n_o": 60} if "o" in missing else {})
    p = Problem(rng, T=60, **sizes)
    for which in missing:
        setattr(p, f"{which}_idx", None)
    check(p, stream)


@STREAMS
@pytest.mark.parametrize("dtype", [np.int32, np.uint32, np.int64])
def test_types_of_indices(rng, stream, dtype):
    p = Problem(rng)
    p.a_idx, p.o_idx = p.a_idx.astype(dtype), p.o_idx.astype(dtype)
    check(p, stream)
    p.b_idx = p.b_idx.astype(np.int64)
    check(p, stream)


@STREAMS
@pytest.mark.parametrize("dtype, tolerance", [(mx.float16, 1e-3), (mx.bfloat16, 8e-3)])
@pytest.mark.parametrize("M, C", [(5, 7), (64, 300)])
def test_narrow_types(rng, stream, dtype, tolerance, M, C):
    p = Problem(rng, T=300, G=1, M=M, C=C)
    a, b, g = (mx.array(x).astype(dtype) for x in (p.a, p.b, p.g))
    p.a, p.b, p.g = (np.array(x.astype(mx.float32)) for x in (a, b, g))
    ia, ib, io = map(mx.array, (p.a_idx, p.b_idx, p.o_idx))
    out = mvmr(a, ia, b, ib, io, p.n_o, stream=stream)
    assert out.dtype == dtype
    # The result is rounded once: sums are computed in float32.
    wanted = products.mvmr(*p.mvmr)
    assert close(np.array(out.astype(mx.float32)), wanted, tolerance)
    turned = mvmr(a.swapaxes(2, 3), ia, b, ib, io, p.n_o, transpose=True, stream=stream)
    assert close(np.array(turned.astype(mx.float32)), wanted, tolerance)
    out = vvor(g, io, b, ib, ia, len(p.a), stream=stream)
    assert out.dtype == dtype
    assert close(np.array(out.astype(mx.float32)), products.vvor(*p.vvor), tolerance)


def test_types_promote():
    a, b, idx = mx.ones((1, 1, 2, 2)), mx.ones((1, 1, 2)), mx.array([0])
    assert mvmr(a.astype(mx.int32), idx, b.astype(mx.uint8), idx, idx, 1).dtype == mx.float32
    assert mvmr(a.astype(mx.float16), idx, b, idx, idx, 1).dtype == mx.float32
    assert mvmr(a.astype(mx.float16), idx, b.astype(mx.float16), idx, idx, 1).dtype == mx.float16


@STREAMS
def test_layouts(rng, stream):
    """Arguments that are views."""
    p = Problem(rng, T=40)
    a = mx.array(np.ascontiguousarray(p.a.transpose(3, 1, 0, 2))).transpose(2, 1, 3, 0)
    b = mx.array(np.repeat(p.b, 2, axis=0))[::2]
    ia, ib, io = (mx.array(np.repeat(x, 3))[::3] for x in (p.a_idx, p.b_idx, p.o_idx))
    out = mvmr(a, ia, b, ib, io, p.n_o, stream=stream)
    assert close(np.array(out), products.mvmr(*p.mvmr))


@STREAMS
def test_same_bits_every_time(rng, stream):
    p = Problem(rng, K=5, T=4000, G=2, M=32, C=16, n_o=50)
    for operation, arguments in ((mvmr, p.mvmr), (vvor, p.vvor)):
        first = run(operation, arguments, stream=stream)
        for _ in range(5):
            assert (run(operation, arguments, stream=stream) == first).all()


# ---- memory ----


def peak_beyond(function) -> int:
    """The peak bytes of a call beyond arguments and results."""
    mx.clear_cache()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    results = function()
    mx.eval(results)
    return mx.get_peak_memory() - before - sum(r.nbytes for r in results)


@pytest.mark.cpu_kernels
@STREAMS
def test_peak_memory(rng, stream):
    """The documented memory: T integers for the order, and less than 256 KiB for counting."""
    p = Problem(rng, K=27, T=50_000, G=1, M=32, C=32, N=5000, n_o=5000)
    a, ia, b, ib, io = (mx.array(x) for x in p.mvmr[:-1])
    g = mx.array(p.g)
    mx.eval(a, ia, b, ib, io, g)

    def forward(a, b):
        return mvmr(a, ia, b, ib, io, p.n_o, stream=stream)

    bound = 4 * p.entries + (256 << 10)
    assert peak_beyond(lambda: [forward(a, b)]) <= bound
    assert peak_beyond(lambda: [vvor(g, io, b, ib, ia, 27, stream=stream)]) <= bound
    # The two gradients may be computed at the same time.
    assert peak_beyond(lambda: mx.vjp(forward, [a, b], [g])[1]) <= 3 * bound


# ---- rejected arguments ----


def arguments(**changes) -> dict:
    values = {
        "a": mx.ones((3, 2, 4, 5)),
        "a_idx": mx.array([0, 1, 2]),
        "b": mx.ones((6, 2, 5)),
        "b_idx": mx.array([0, 5, 2]),
        "o_idx": mx.array([1, 1, 0]),
        "n_o": 2,
    }
    return values | changes


@pytest.mark.parametrize(
    "change, words",
    [
        ({"a": mx.ones((3, 4, 5))}, "a must have shape"),
        ({"b": mx.ones((6, 5))}, "b must have shape"),
        ({"b": mx.ones((6, 1, 5))}, "number of groups"),
        ({"b": mx.ones((6, 2, 4))}, "depth C"),
        ({"a": mx.ones((3, 2, 4, 5), mx.complex64)}, "a and b must be float32"),
        ({"a_idx": mx.array([0.0, 1.0, 2.0])}, "a_idx must be int32"),
        ({"b_idx": mx.array([0, 1, 2], mx.int16)}, "b_idx must be int32"),
        ({"o_idx": mx.array([[0, 1, 1]])}, "o_idx must have one dimension"),
        ({"o_idx": mx.array([0, 1])}, "number of entries"),
        ({"b_idx": None}, "number of rows of b is 6"),
        ({"n_o": -1}, "n_o must not be negative"),
        ({"a_idx": mx.array([0, 3, 0])}, r"a_idx: it holds 3 at position 1.*\[0, 3\)"),
        ({"b_idx": mx.array([0, -1, 0])}, "b_idx: it holds -1 at position 1"),
        ({"o_idx": mx.array([0, 1, 2], mx.uint32)}, "o_idx: it holds 2 at position 2"),
        ({"o_idx": mx.array([1 << 40, 1, 0], mx.int64)}, "o_idx: it holds 1099511627776"),
        ({"n_o": 0}, "o_idx: it holds 1"),
    ],
)
def test_bad_arguments(change, words):
    with pytest.raises(ValueError, match=words):
        mx.eval(mvmr(**arguments(**change)))


def test_bad_arguments_of_vvor():
    a, b, idx = mx.ones((3, 2, 4)), mx.ones((6, 2, 5)), mx.array([0, 2])
    assert vvor(a, idx, b, idx, idx, 3).shape == (3, 2, 4, 5)
    with pytest.raises(ValueError, match="o_idx: it holds 2"):
        mx.eval(vvor(a, idx, b, idx, idx, 2))
    with pytest.raises(ValueError, match="a must have shape"):
        vvor(mx.ones((3, 4)), idx, b, idx, idx, 3)


@STREAMS
def test_indices_that_are_known_late(stream):
    """Lazy indices are checked when the result is evaluated; later calls with valid ones work."""
    late = mx.array([0, 1, 2]) + 1
    out = mvmr(**arguments(a_idx=late), stream=stream)
    with pytest.raises(ValueError, match="a_idx: it holds 3 at position 2"):
        mx.eval(out)
    good = mvmr(**arguments(a_idx=mx.array([0, 1, 1]) + 1), stream=stream)
    assert mx.all(good == mx.array([5.0, 10.0])[:, None, None]).item()


def test_trusted_indices(rng):
    p = Problem(rng)
    assert close(run(mvmr, p.mvmr, check=False), products.mvmr(*p.mvmr))
