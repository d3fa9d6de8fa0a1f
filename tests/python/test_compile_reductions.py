"""Reductions that are fused with the chain that they end: the same bits as apart, and no copy of the chain's result."""

import time
from collections.abc import Callable

import mlx.core as mx
import numpy as np
import pytest
from compiled_functions import same
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.usefixtures("fused_at_once")

REDUCTIONS = (mx.sum, mx.prod, mx.max, mx.min, mx.mean, mx.all, mx.any, mx.var)
FLOATS = (mx.float32, mx.float16, mx.bfloat16)
DTYPES = (*FLOATS, mx.int8, mx.uint8, mx.int32, mx.uint16, mx.int64, mx.bool_, mx.complex64)
CHAINS: dict[str, Callable[..., mx.array]] = {
    "difference": lambda x, y, z: mx.square(x - y),
    "one operation": lambda x, y, z: x * y,
    "product and sum": lambda x, y, z: x * y + z,
    "comparison": lambda x, y, z: mx.abs(x) != mx.abs(y),
    "choice": lambda x, y, z: mx.where(x == y, z, x),
    "conversion": lambda x, y, z: (x + z).astype(mx.float32),
    "constants": lambda x, y, z: (x * 3 + 1) * (y - 2),
}
# Shapes and axes for all loops: rows, columns, short rows, one pass and two, odd numbers of rows.
CASES = [
    ((7, 33), -1),
    ((8, 64), 1),
    ((33, 7), 0),
    ((300, 5), 0),
    ((5, 3), 1),
    ((5, 3), 0),
    ((129, 130), None),
    ((3, 20000), 1),
    ((40000,), 0),
    ((4, 6, 40), (0, 2)),
    ((4, 40, 6), 1),
    ((3, 2, 5000), (0, 2)),
    ((3, 2, 70, 64), (0, 2)),
    ((20, 1100), 0),
    ((2, 3, 4, 5, 6), (1, 3)),
    ((2, 1, 35), (0, 1)),
    ((1, 1), None),
    ((6, 1), 1),
    ((0, 4), 0),
    ((4, 0), 1),
]
LAYOUTS = [
    "dense",
    "transposed",
    "every second",
    "backwards",
    "one row",
    "one column",
    "scalar",
    "repeated",
]


def make_input(rng: np.random.Generator, dtype: mx.Dtype, shape: tuple, layout: str) -> mx.array:
    """Small numbers in an array that can be combined with others of this shape."""
    full = list(shape)
    if layout == "one row":
        full[:-1] = [1] * (len(shape) - 1)
    if layout == "one column":
        full[-1] = 1
    if layout == "scalar":
        full = []
    if layout == "transposed":
        full.reverse()
    a = mx.array(rng.integers(-3, 4, full).astype(np.float32) / 2).astype(dtype)
    if layout == "transposed":
        return a.T
    if layout == "every second" and a.size:
        return mx.concatenate([a, a], axis=-1)[..., ::2]
    if layout == "backwards":
        return a[..., ::-1]
    return mx.broadcast_to(a[:1], shape) if layout == "repeated" and a.size else a


def reduced(reduce: Callable, a: mx.array, axis: object, keepdims: bool = False) -> mx.array:
    return reduce(a, axis=axis, keepdims=keepdims)


def check(chain: Callable, reduce: Callable, axis: object, arrays: list[mx.array]) -> None:
    """Fused, and compiled apart: the same bits."""
    fused = mx.compile(lambda *xs: reduced(reduce, chain(*xs), axis))
    apart = mx.compile(chain)
    assert same(fused(*arrays), reduced(reduce, apart(*arrays), axis))


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(st.integers(0, 2**32 - 1), st.data())
def test_random_reductions(seed: int, data):
    rng = np.random.default_rng(seed)
    shape, axis = data.draw(st.sampled_from(CASES))
    chain = data.draw(st.sampled_from(list(CHAINS.values())))
    reduce = data.draw(st.sampled_from(REDUCTIONS))
    dtype = data.draw(st.sampled_from(DTYPES))
    arrays = [make_input(rng, dtype, shape, data.draw(st.sampled_from(LAYOUTS))) for _ in range(3)]
    arrays[0] = make_input(rng, dtype, shape, data.draw(st.sampled_from(LAYOUTS[:4])))
    with mx.stream(data.draw(st.sampled_from([mx.cpu, mx.gpu]))):
        try:
            mx.eval(reduced(reduce, chain(*arrays), axis))
        except ValueError:
            return  # types without this operation, or no elements for max and min
        check(chain, reduce, axis, arrays)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape, axis", [c for c in CASES if c[0] not in ((0, 4), (4, 0))])
def test_results_in_double_precision(dtype: mx.Dtype, shape, axis, rng):
    f = mx.compile(lambda x, y: mx.mean(mx.abs(x - y), axis=axis, keepdims=True))
    x, y = (mx.array(rng.integers(-50, 50, shape).astype(np.float32)).astype(dtype) for _ in "xy")
    want = np.abs(np.array(x.astype(mx.float32), np.float64) - np.array(y.astype(mx.float32)))
    want = want.mean(axis=axis, keepdims=True)
    tolerance = {mx.float32: 1e-6, mx.float16: 1e-3, mx.bfloat16: 8e-3}[dtype]
    np.testing.assert_allclose(np.array(f(x, y).astype(mx.float32)), want, rtol=tolerance)


def node_names(path, *outputs: mx.array) -> str:
    mx.export_to_dot(str(path / "graph.dot"), *outputs)
    return (path / "graph.dot").read_text()


def test_a_chain_and_its_reduction_are_one_node(tmp_path):
    x, y = mx.ones((4, 5)), mx.ones((4, 5))
    f = mx.compile(lambda x, y: mx.sum(mx.square(x - y), axis=-1))
    assert "CompiledSubtractSquareSum" in node_names(tmp_path, f(x, y))
    single = mx.compile(lambda x, y: mx.max(x * y, axis=0))
    assert "CompiledMultiplyMax" in node_names(tmp_path, single(x, y))


def test_a_result_that_others_need_stays(tmp_path):
    x = mx.random.normal((40, 50))

    def returned(x):
        chain = mx.exp(x) * 2
        return chain, mx.sum(chain, axis=1)

    def used_again(x):
        chain = mx.exp(x) * 2
        return mx.sum(chain, axis=1) + mx.max(chain, axis=1)

    def inside_is_returned(x):
        inside = mx.exp(x)
        return inside, mx.sum(inside * 2, axis=1)

    for f in (returned, used_again, inside_is_returned):
        got = mx.compile(f)(x)
        outputs = got if isinstance(got, tuple) else (got,)
        assert "CompiledExpMultiplySum" not in node_names(tmp_path, *outputs)
        assert same(got, f(x))


def test_a_reduction_on_another_stream_is_apart(tmp_path):
    def f(x):
        return mx.sum(mx.exp(x, stream=mx.cpu), axis=0, stream=mx.gpu)

    x = mx.random.normal((40, 50))
    assert "ExpSum" not in node_names(tmp_path, mx.compile(f)(x))
    assert mx.allclose(mx.compile(f)(x), f(x)).item()


def test_a_reduction_after_a_reduction():
    def f(x):
        centered = x - mx.mean(x * 2, axis=1, keepdims=True)
        return mx.max(mx.sum(mx.square(centered), axis=1) + 1)

    x = mx.random.normal((70, 90))
    assert same(mx.compile(f)(x), f(x))


@pytest.mark.parametrize(
    "shapes, axis",
    [
        ([(1 << 10, 1 << 10)] * 2, 1),
        ([(1 << 10, 1 << 10)] * 2, 0),
        ([(1 << 10, 1 << 10)] * 2, None),
        ([(1 << 10, 1 << 10), (1 << 10, 1)], 1),
        ([(1 << 10, 1 << 10), (1 << 10,)], 0),
        ([(1 << 10, 1, 3), (1, 1 << 10, 3)], -1),
    ],
)
def test_the_chain_takes_no_memory(shapes, axis):
    f = mx.compile(lambda x, y: mx.sum(mx.square(x - y), axis=axis))
    x, y = (mx.random.normal(shape) for shape in shapes)
    result = f(x, y)
    mx.eval(x, y, result)
    allowed = result.nbytes + (1 << 20)  # two passes need some memory between them
    assert allowed < (x - y).nbytes

    def memory_taken() -> int:
        mx.synchronize()
        mx.clear_cache()
        before = mx.get_active_memory()
        mx.reset_peak_memory()
        mx.eval(f(x, y))
        return mx.get_peak_memory() - before

    assert min(memory_taken() for _ in range(3)) <= allowed


def test_derivatives_and_vmap():
    def f(x, y):
        return mx.sum(mx.square(x - y), axis=-1)

    c = mx.compile(f)
    x, y = mx.random.normal((6, 40)), mx.random.normal((6, 40))
    assert mx.allclose(mx.grad(lambda x: c(x, y).sum())(x), 2 * (x - y)).item()
    assert same(mx.jvp(c, [x, y], [y, x]), mx.jvp(f, [x, y], [y, x]))
    assert same(mx.vmap(c, in_axes=(1, 1))(x, y), mx.vmap(f, in_axes=(1, 1))(x, y))
    assert same(mx.compile(mx.grad(lambda x: c(x, y).sum()))(x), 2 * (x - y))


def test_shapeless():
    c = mx.compile(lambda x, y: mx.mean(mx.abs(x - y), axis=1), shapeless=True)
    for rows, columns in ((3, 50), (7, 4), (1, 1), (0, 5), (300, 64)):
        x, y = mx.random.normal((rows, columns)), mx.random.normal((rows, columns))
        assert mx.allclose(c(x, y), mx.mean(mx.abs(x - y), axis=1), atol=1e-6).item()
        row = mx.random.normal((1, columns))
        assert mx.allclose(c(x, row), mx.mean(mx.abs(x - row), axis=1), atol=1e-6).item()
    # A chain of scalars gets its shape from a broadcast.
    c = mx.compile(lambda x: mx.sum(mx.broadcast_to(x, (3, 4)) * 2, axis=1), shapeless=True)
    assert c(mx.array(2.0)).tolist() == [16, 16, 16]


def test_exported_functions_hold_the_operations(tmp_path):
    f = mx.compile(lambda x: mx.sum(mx.exp(x) * 2, axis=0))
    x = mx.random.normal((40, 6))
    path = str(tmp_path / "f.mlxfn")
    mx.export_function(path, f, x)
    assert mx.allclose(mx.import_function(path)(x)[0], f(x)).item()


def test_results_are_the_same_while_kernels_are_made(monkeypatch):
    monkeypatch.delenv("MLX_COMPILE_BACKGROUND")

    def f(x, y):
        return mx.sum(mx.cos(x) * y / 3.75, axis=1), mx.max(mx.abs(x - y))

    c = mx.compile(f)
    x, y = mx.random.normal((50, 400)), mx.random.normal((50, 400))
    expected = f(x, y)
    for _ in range(60):
        assert same(c(x, y), expected)
        time.sleep(0.01)


@pytest.mark.parametrize("count", [23, 24, 40])
def test_many_inputs(count: int):
    arrays = [mx.full((5, 40), i) for i in range(count)]
    total = mx.compile(lambda *xs: mx.sum(sum(xs), axis=1))
    assert total(*arrays).tolist() == [40 * sum(range(count))] * 5
