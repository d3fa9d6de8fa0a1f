"""Long chains of elementwise operations, which run part by part, equal NumPy's."""

import mlx.core as mx
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

LENGTH = 70_000  # enough threads for all cores
MARGIN = 3

UNARY = {
    "negative": lambda m, a: -a,
    "square": lambda m, a: a * a,
    "to int16": lambda m, a: a.astype(m.int16).astype(m.int32),
    "to float": lambda m, a: (a.astype(m.float32) * 0.5).astype(m.int32),
    "add scalar": lambda m, a: a + 3,
    "clip": lambda m, a: m.clip(a, -100, 1000),
    "of another's element": lambda m, a: a + a[:1],
    "reversed": lambda m, a: a[::-1],
    "shifted": lambda m, a: m.concatenate([a[1:], a[:1]]),
}
BINARY = {
    "add": lambda m, a, b: a + b,
    "multiply": lambda m, a, b: a * b,
    "maximum": lambda m, a, b: m.maximum(a, b),
    "select": lambda m, a, b: m.where(a > b, a, b - 1),
}


@st.composite
def programs(draw):
    """Steps (operation, number of an earlier result, number of another); results 0 to 3 are slices
    of one array."""
    steps = []
    for i in range(draw(st.integers(2, 25))):
        name = draw(st.sampled_from([*UNARY, *BINARY]))
        steps.append((name, *draw(st.tuples(*[st.integers(0, 3 + i)] * 2))))
    return steps


def run(m, source, steps):
    results = [source[i : i + LENGTH] for i in range(MARGIN + 1)]
    for name, a, b in steps:
        if name in UNARY:
            results.append(UNARY[name](m, results[a]))
        else:
            results.append(BINARY[name](m, results[a], results[b]))
    return results


@given(programs(), st.booleans())
@settings(max_examples=60, deadline=None)
def test_chains_equal_numpy(steps, keeps):
    """Whether or not somebody keeps the intermediate results, whose memory is reused otherwise."""
    source = np.random.default_rng(0).integers(-99, 99, LENGTH + MARGIN).astype(np.int32)
    with np.errstate(all="ignore"):
        expected = run(np, source, steps)
    results = run(mx, mx.array(source), steps)
    kept = results if keeps else results[-1:]
    del results
    mx.eval(kept)
    for result, reference in zip(kept, expected if keeps else expected[-1:]):
        np.testing.assert_array_equal(np.array(result), reference)


def test_kernels_of_users_in_chains():
    """A user's elementwise kernels between operations, in place and with a shared element."""
    scaled = mx.fast.metal_kernel(
        "scaled",
        ["x", "s"],
        ["y"],
        "uint i = thread_position_in_grid.x; y[i] = x[i] * s[0] + 1;",
    )

    def scale(x, s):
        return scaled(
            inputs=[x, s],
            grid=(x.size, 1, 1),
            threadgroup=(256, 1, 1),
            output_shapes=[x.shape],
            output_dtypes=[x.dtype],
        )[0]

    x = np.arange(LENGTH, dtype=np.float32)
    a = mx.array(x)
    b = scale(mx.abs(a), a[5:6])
    c = scale(b - a, b[9:10])  # an element that another thread of the chain writes
    expected = x * 5 + 1
    np.testing.assert_array_equal(np.array(c), (expected - x) * expected[9] + 1)
