"""mx.compile records a function's graph when it must, and gives the function's results."""

import functools
import subprocess
import sys
import threading

import mlx.core as mx
import mlx.utils
import numpy as np
import pytest
from compiled_functions import Counted, same

pytestmark = pytest.mark.usefixtures("fused_at_once")


# ---- when a graph is recorded ----


def test_one_graph_for_each_signature():
    fun = Counted(lambda x, *, scale=1: x * scale)
    c = mx.compile(fun)
    for _ in range(2):
        c(mx.ones((3,)))
        c(mx.ones((4,)))
        c(mx.ones((3,), mx.float16))
        c(mx.ones((3, 1)))
        c(mx.ones((3,)), scale=2)
        c(mx.ones((3,)), scale=2.0)
        c(mx.ones((3,)), scale=True)
        c(mx.ones((3,)), scale=mx.array(2))
    assert fun.calls == 8


def test_structure_and_constants_of_arguments():
    fun = Counted(lambda tree, mode=None: (tree["a"][0] if mode != "b" else tree["b"]) + 1)
    c = mx.compile(fun)
    a, b = mx.array(1.0), mx.array(2.0)
    for _ in range(2):
        assert c({"a": [a], "b": b}).item() == 2
        assert c({"a": [a], "b": b}, "b").item() == 3
        assert c({"a": (a,), "b": b}).item() == 2
        assert c({"b": b, "a": [a]}).item() == 2
    assert fun.calls == 4


def test_arguments_that_are_neither_arrays_nor_constants():
    with pytest.raises(ValueError, match="trees of arrays and constants.*object"):
        mx.compile(lambda x: x)(object())
    with pytest.raises(TypeError, match="Expected a function but got int"):
        mx.compile(3)


def test_results_keep_their_structure():
    @mx.compile
    def f(x):
        return {"a": [x + 1, (x, None)], "n": 3, "s": "text"}

    out = f(mx.array(1.0))
    assert out["a"][0].item() == 2 and out["a"][1][0].item() == 1
    assert out["a"][1][1] is None and out["n"] == 3 and out["s"] == "text"
    assert mx.compile(lambda: None)() is None
    assert mx.compile(lambda x: x)(mx.array(3)).item() == 3


def test_captured_arrays_are_constants():
    y = mx.array(2.0) * 3  # not evaluated yet

    @mx.compile
    def f(x):
        return x * y + 1

    assert f(mx.array(2.0)).item() == 13
    mx.eval(y)
    assert f(mx.array(3.0)).item() == 19


def test_evaluation_inside_is_an_error():
    for inside in (lambda x: mx.eval(x + 1), lambda x: (x * 2).item(), lambda x: np.array(x)):
        with pytest.raises((ValueError, RuntimeError), match="Attempting to eval an array during"):
            mx.compile(inside)(mx.array(1.0))


def test_an_error_of_the_function_goes_on():
    state = [mx.array(1.0)]

    @functools.partial(mx.compile, inputs=state, outputs=state)
    def f(x):
        state[0] = state[0] + x
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        f(mx.array(1.0))
    assert state[0].item() == 1


def test_disabling():
    fun = Counted(lambda x: x + 1)
    c = mx.compile(fun)
    mx.disable_compile()
    try:
        assert [c(mx.array(i)).item() for i in range(3)] == [1, 2, 3]
        assert fun.calls == 3
    finally:
        mx.enable_compile()
    assert [c(mx.array(i)).item() for i in range(3)] == [1, 2, 3]
    assert fun.calls == 4


def test_methods():
    class Model:
        def __init__(self):
            self.weight = mx.array(3.0)

        @mx.compile
        def forward(self_is_a_constant, x):
            return x * 2

    with pytest.raises(ValueError):
        Model().forward(mx.array(1.0))  # an object is no constant
    model = Model()
    assert mx.compile(lambda x: x * model.weight)(mx.array(2.0)).item() == 6


def test_metadata_of_the_function():
    @mx.compile
    def documented(x):
        """What it does."""
        return x

    assert documented.__name__ == "documented" and documented.__doc__ == "What it does."
    for transform in (mx.grad, mx.value_and_grad, mx.vmap, mx.checkpoint):
        made = transform(documented)
        assert made.__name__ == "documented" and made.__doc__ == "What it does."


# ---- state ----


def test_state_is_read_and_changed():
    state = {"w": mx.array([1.0, 2.0]), "inner": [mx.array(0)], "name": "text"}

    def step(x):
        state["w"] = state["w"] - 0.5 * x
        state["inner"][0] = state["inner"][0] + 1
        return state["w"].sum()

    c = mx.compile(step, inputs=state, outputs=state)
    assert c(mx.array([1.0, 1.0])).item() == 2
    assert c(mx.array([1.0, 1.0])).item() == 1
    assert state["w"].tolist() == [0, 1] and state["inner"][0].item() == 2
    state["w"] = mx.array([10.0, 10.0])
    assert c(mx.array([0.0, 0.0])).item() == 20


def test_state_that_appears_in_the_first_call():
    state = {}

    def step(x):
        state["sum"] = state.get("sum", mx.zeros_like(x)) + x
        return state["sum"] * 1

    c = mx.compile(step, inputs=state, outputs=state)
    assert [c(mx.array(2.0)).item() for _ in range(3)] == [2, 4, 6]
    assert state["sum"].item() == 6


def test_state_that_occurs_twice_is_restored():
    shared = {"w": mx.array(2.0)}
    w = shared["w"]
    f = mx.compile(lambda x: x * shared["w"], inputs=[[shared, shared]])
    assert f(mx.array(3.0)).item() == 6
    assert shared["w"] is w
    assert f(mx.array(4.0)).item() == 8


def test_state_in_tuples():
    state = [(mx.array(1.0), mx.array(2.0))]

    def swap():
        state[0] = (state[0][1], state[0][0] + 1)
        return state[0][0] * 1

    c = mx.compile(swap, inputs=state, outputs=state)
    assert [c().item() for _ in range(3)] == [2, 2, 3]
    with pytest.raises(ValueError, match="State must be a list or a dictionary"):
        mx.compile(lambda: None, inputs=(mx.array(1.0),))()


def test_random_state():
    @functools.partial(mx.compile, inputs=mx.random.state, outputs=mx.random.state)
    def draw():
        return mx.random.uniform(shape=(4,))

    mx.random.seed(7)
    compiled = [draw().tolist() for _ in range(3)]
    mx.random.seed(7)
    assert compiled == [mx.random.uniform(shape=(4,)).tolist() for _ in range(3)]


# ---- with other transformations ----


def loss(w, x):
    return mx.mean(mx.square(mx.tanh(x @ w) * 2 - 1)) + mx.sum(mx.exp(w * 0.1) / 7)


def test_gradients_inside_and_outside():
    w, x = mx.random.normal((4, 3)), mx.random.normal((5, 4))
    expected = mx.value_and_grad(loss)(w, x)
    inside = mx.compile(mx.value_and_grad(loss))(w, x)
    outside = mx.value_and_grad(mx.compile(loss))(w, x)
    assert same(inside, expected)
    for a, b in zip(mlx.utils.tree_flatten(outside), mlx.utils.tree_flatten(expected)):
        assert mx.allclose(a[1], b[1], rtol=1e-5, atol=1e-6)
    second = mx.grad(lambda w: mx.grad(mx.compile(loss))(w, x).sum())(w)
    assert mx.allclose(
        second, mx.grad(lambda w: mx.grad(loss)(w, x).sum())(w), rtol=1e-4, atol=1e-5
    )


def test_stopped_gradients_stay_stopped():
    def f(x):
        return mx.sum(mx.exp(x) * mx.stop_gradient(mx.sin(x) * x))

    x = mx.random.normal((6,))
    assert mx.allclose(mx.grad(mx.compile(f))(x), mx.grad(f)(x), rtol=1e-5)


def test_jvp_and_vmap():
    f = lambda x, y: mx.sin(x) * y + x  # noqa: E731
    x, y = mx.random.normal((4, 5)), mx.random.normal((5,))
    t = mx.random.normal((4, 5))
    assert same(mx.jvp(mx.compile(f), [x, y], [t, y]), mx.jvp(f, [x, y], [t, y]))
    assert same(
        mx.jvp(lambda x: mx.compile(f)(x, y), [x], [t]), mx.jvp(lambda x: f(x, y), [x], [t])
    )
    for axes in ((0, None), (1, None), (0, None)):
        a, b = (x, y) if axes[0] == 0 else (x.T, y)
        a = a if axes[0] == 0 else a.T[:, :]
        mapped = mx.vmap(mx.compile(lambda x, y: mx.sin(x) * mx.sum(y)), in_axes=axes)
        assert same(mapped(a, b), mx.vmap(lambda x, y: mx.sin(x) * mx.sum(y), in_axes=axes)(a, b))


def test_compiled_functions_in_compiled_functions():
    inner = mx.compile(lambda x: mx.exp(x) - x)
    outer = mx.compile(lambda x: inner(x) * inner(x + 1))
    x = mx.random.normal((12,))
    assert same(outer(x), (mx.exp(x) - x) * (mx.exp(x + 1) - (x + 1)))


def test_custom_functions_keep_their_rules():
    @mx.custom_function
    def f(x):
        return mx.sin(x)

    @f.vjp
    def f_vjp(primals, cotangent, output):
        return cotangent * 5

    x = mx.random.normal((3,))
    assert same(mx.grad(mx.compile(lambda x: f(x).sum()))(x), mx.full((3,), 5.0))
    assert same(mx.compile(mx.grad(lambda x: f(x).sum()))(x), mx.full((3,), 5.0))


# ---- shapeless ----


def test_one_graph_for_all_shapes():
    def f(x, y):
        z = mx.softmax(x + y, axis=-1) * mx.ones_like(x) - 2
        return z, mx.sum(z * 3, axis=0), mx.expand_dims(z, 1).flatten(0, 1).T

    fun = Counted(f)
    c = mx.compile(fun, shapeless=True)
    for shape, other in (((2, 3), (1, 3)), ((5, 4), (5, 1)), ((1, 7), (3, 7)), ((4, 4), (4, 4))):
        x, y = mx.random.normal(shape), mx.random.normal(other)
        x = mx.broadcast_to(x, mx.broadcast_shapes(shape, other)) if shape[0] == 1 else x
        assert same(c(x, y), f(x, y))
    assert fun.calls == 1
    c(mx.ones((2, 2, 2)), mx.ones((2,)))
    assert fun.calls == 2


@pytest.mark.parametrize("first", range(4))
@pytest.mark.parametrize("weights", [(4, 5), (3, 4, 5), (1, 4, 5), (4,)], ids=str)
def test_products_of_all_batches(weights, first):
    w, bias = mx.random.normal(weights), mx.random.normal((5,))
    mx.eval(w, bias)
    shapes = [(2, 3, 6, 4), (1, 3, 2, 4), (3, 6, 4), (1, 6, 4)]
    for fun in (lambda x: x @ w, lambda x: mx.addmm(bias, x, w) if w.ndim > 1 else x @ w):
        c = mx.compile(fun, shapeless=True)
        for shape in shapes[first:] + shapes[:first]:
            x = mx.random.normal(shape)
            assert same(c(x), fun(x))


def test_derivatives_of_products_of_all_batches():
    f = lambda x, w: (x @ w[:, None]).sum()  # noqa: E731
    c = mx.compile(f, shapeless=True)
    w = mx.random.normal((3, 4, 5))
    for shape in ((1, 2, 4), (2, 2, 4), (3, 1, 2, 4)):
        x = mx.random.normal(shape)
        for found, expected in zip(mx.grad(c, (0, 1))(x, w), mx.grad(f, (0, 1))(x, w)):
            assert same(found, expected)
        assert same(mx.jvp(c, [x, w], [x, w]), mx.jvp(f, [x, w], [x, w]))
        assert same(mx.vmap(c, (0, None))(x, w), mx.vmap(f, (0, None))(x, w))


@pytest.mark.parametrize(
    "function",
    [mx.add, mx.divmod, mx.bitwise_and, lambda a, b: mx.where(a > 2, a, b),
     lambda a, b: mx.divmod(a + 1, b * 2)],
    ids=["add", "divmod", "and", "where", "fused"],
)  # fmt: skip
@pytest.mark.parametrize("recorded", [((2, 3), (2, 3)), ((3,), (2, 3))], ids=str)
def test_operations_that_broadcast_in_other_shapes(function, recorded):
    """What is of one shape in the first call need not be in the next ones."""
    compiled = mx.compile(function, shapeless=True)
    pairs = [recorded, ((2, 3), (2, 3)), ((4, 1), (1, 5)), ((1, 3), (2, 1)), ((2, 1), (2, 3))]
    for a, b in pairs:
        if len(a) != len(recorded[0]) or len(b) != len(recorded[1]):
            continue
        x, y = (mx.arange(1, int(np.prod(shape)) + 1).reshape(shape) for shape in (a, b))
        for got, want in zip(compiled(x, y), function(x, y), strict=True):
            assert got.shape == want.shape and mx.array_equal(got, want)


def test_shapes_that_cannot_change():
    c = mx.compile(lambda x: x.reshape(6) + 1, shapeless=True)
    assert c(mx.ones((2, 3))).shape == (6,)
    assert c(mx.ones((3, 2))).shape == (6,)
    with pytest.raises(ValueError, match=r"\[reshape\]"):
        c(mx.ones((2, 4)))
    c = mx.compile(lambda x: mx.broadcast_to(x, (4, 3)) * 2, shapeless=True)
    assert c(mx.ones((1, 3))).shape == (4, 3)
    with pytest.raises(ValueError, match="cannot be broadcast"):
        c(mx.ones((1, 5)))


def assigned(key, value):
    def fun(x):
        x = x + 1
        x[key] = value
        return x

    return fun


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[1],
        lambda x: x[-1],
        lambda x: x[:, 1],
        lambda x: x[None, -2, ..., None],
        lambda x: x[1, -1],
        lambda x: x[mx.array([1, 0])],
        lambda x: mx.take(x, mx.array([[2, -1]]), axis=1),
        assigned((1, -1), 7.0),
        assigned((slice(1, 3), 0), mx.array([7.0, 8.0])),
        lambda x: assigned(2, mx.array([7.0]))(x[:, 0]),
        lambda x: assigned(slice(1, 3), 7.0)(x[-1]),
        lambda x: mx.einsum("ij,kj->ik", x, x),
        lambda x: mx.einsum("ij,ij->i", x, x),
        lambda x: mx.einsum("ij,ij->", x, x),
        lambda x: mx.softmax(x),
        lambda x: mx.softmax(x.astype(mx.float16), axis=(0, 1)).sum(axis=0),
    ],
)
def test_elements_and_products_of_all_shapes(function):
    compiled = mx.compile(function, shapeless=True)
    for shape in ((4, 3), (4, 6), (6, 3), (3, 3), (7, 5)):
        x = mx.arange(shape[0] * shape[1]).reshape(shape) * 0.125
        found, wanted = compiled(x), function(x)
        assert found.shape == wanted.shape and found.dtype == wanted.dtype
        assert mx.allclose(found, wanted, rtol=1e-3, atol=1e-5)


def test_elements_of_axes_that_had_one_element():
    c = mx.compile(lambda x: x[:, -1, :], shapeless=True)
    assert c(mx.zeros((1, 1, 32))).shape == (1, 32)
    assert c(mx.zeros((2, 3, 16))).shape == (2, 16)


@pytest.mark.parametrize("key", [np.s_[1:], np.s_[:-1], np.s_[:, 1], np.s_[::-1]], ids=str)
def test_assignments_that_mean_others_in_other_shapes(key):
    """Which elements these select depends on the lengths of the axes: they are refused."""
    c = mx.compile(assigned(key, 7.0), shapeless=True)
    c(mx.zeros((3, 3)))
    with pytest.raises(ValueError, match="recorded for other shapes"):
        c(mx.zeros((5, 5)))


def test_gradient_of_a_shapeless_function():
    f = lambda x, y: mx.sum((x + y) * 2 + mx.zeros_like(y))  # noqa: E731
    c = mx.compile(f, shapeless=True)
    c(mx.ones((2, 3)), mx.ones((2, 3)))
    for shape in ((2, 3), (4, 1)):
        x, y = mx.ones(shape), mx.ones((4, 3) if shape[0] == 4 else shape)
        assert same(mx.grad(c)(x, y), mx.grad(f)(x, y))


# ---- threads, processes, memory ----


def test_several_threads():
    c = mx.compile(lambda x: mx.sin(x) * 2 + x)
    expected = {n: (mx.sin(mx.ones((n,))) * 2 + 1).tolist() for n in range(1, 9)}
    failures = []

    def work():
        for n in range(1, 9):
            if c(mx.ones((n,))).tolist() != expected[n]:
                failures.append(n)

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


ENDING = """
import mlx.core as mx
functions = [mx.compile(lambda x, i=i: mx.sin(x) * i + mx.exp(x - i) / 3) for i in range(20)]
mx.eval([f(mx.ones((4,))) for f in functions])
{end}
print("end", flush=True)
"""


@pytest.mark.parametrize(
    "end",
    [
        "",
        "import os; os._exit(0) if os.fork() == 0 and functions[3](mx.ones((5,))).tolist() else os.wait()",
    ],
)
def test_processes_end_while_kernels_are_made(end: str):
    import os

    environment = {k: v for k, v in os.environ.items() if k != "MLX_COMPILE_BACKGROUND"}
    result = subprocess.run(
        [sys.executable, "-c", ENDING.format(end=end)],
        capture_output=True,
        text=True,
        timeout=120,
        env=environment,
    )
    assert (result.returncode, result.stdout) == (0, "end\n"), result.stderr


def test_graphs_go_with_their_functions():
    import gc

    def make():
        big = mx.ones((1 << 20,))
        mx.eval(big)
        c = mx.compile(lambda x: x * big + 1)
        mx.eval(c(big))
        c.itself = c  # a cycle

    make()
    gc.collect()
    mx.synchronize()
    before = mx.get_active_memory()
    for _ in range(3):
        make()
    gc.collect()
    mx.synchronize()
    assert mx.get_active_memory() <= before


@pytest.mark.parametrize("shape", [(1,), (1, 1), (1, 1, 1)])
def test_one_element_beside_a_scalar_has_strides(shape):
    """Scalars are not broadcast to arrays of one element: the result still has all its dimensions."""
    operations = [mx.add, mx.minimum, lambda a, b: mx.rsqrt(mx.multiply(b, a)), mx.power]
    operations.append(lambda a, b: mx.where(a > b, a, b))
    for operation in operations:
        for operands in [(mx.array(2.0), mx.ones(shape) * 3), (mx.ones(shape) * 3, mx.array(2.0))]:
            result = mx.compile(operation)(*operands)
            assert result.shape == shape
            assert all(step % 4 == 0 and abs(step) <= 4 for step in memoryview(result).strides)
            plain = operation(*operands)
            assert result.item() == plain.item()
            assert all(step % 4 == 0 and abs(step) <= 4 for step in memoryview(plain).strides)


@pytest.mark.parametrize("transform", [mx.compile, mx.vmap])
def test_arrays_kept_from_a_transformation_have_no_value(transform):
    """The types of errors are MLX's: that of a bad call inside of it, another one afterwards."""
    kept = []

    def keep(x: mx.array) -> mx.array:
        kept.append(x * 2)
        return x

    def evaluate(x: mx.array) -> mx.array:
        mx.eval(x)
        return x

    transform(keep)(mx.ones((2, 2)))
    for use in (mx.eval, repr, mx.array.tolist, lambda x: mx.eval(x + 1)):
        with pytest.raises(RuntimeError, match="kept from a function transformation"):
            use(kept[0])
    with pytest.raises(ValueError, match="during function transformations"):
        transform(evaluate)(mx.ones((2, 2)))
