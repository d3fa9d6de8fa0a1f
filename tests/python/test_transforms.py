"""eval, gradients, vmap, custom functions and compile over trees of arrays."""

import functools
import gc
import inspect
import threading
import weakref

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest


def close(a, b):
    np.testing.assert_allclose(np.array(a), np.array(b), rtol=1e-5, atol=1e-6)


def test_eval_walks_trees_and_ignores_other_leaves():
    a, b, c = mx.array(1) + 1, mx.array(2) + 1, mx.array(3) + 1
    mx.eval(a, [b, {"c": (c, None, "text", 3)}])
    mx.eval()
    mx.async_eval(a + 1, {"b": b})
    assert (a.item(), b.item(), c.item()) == (2, 3, 4)


def test_grad_by_one_and_several_arguments():
    def f(x, y):
        return (x * x * y).sum()

    x, y = mx.array([1.0, 2.0]), mx.array([3.0, 4.0])
    close(mx.grad(f)(x, y), [6, 16])
    close(mx.grad(f, argnums=1)(x, y), [1, 4])
    gx, gy = mx.grad(f, argnums=(0, 1))(x, y)
    close(gx, [6, 16])
    close(gy, [1, 4])
    close(mx.grad(f, argnums=[1])(x, y), [1, 4])


def test_grad_by_names():
    def f(x, *, w, b=0.0):
        return (x * w + b).sum()

    x, w = mx.array([1.0, 2.0]), mx.array([3.0, 4.0])
    nothing, by_name = mx.grad(f, argnames="w")(x, w=w)
    assert nothing is None
    close(by_name["w"], [1, 2])
    gx, by_name = mx.grad(f, argnums=0, argnames=["w"])(x, w=w, b=mx.array(1.0))
    close(gx, [3, 4])
    assert set(by_name) == {"w"}
    value, (_, by_name) = mx.value_and_grad(f, argnames=["w", "b"])(x, w=w, b=mx.array(1.0))
    assert value.item() == 13 and by_name["b"].item() == 2


def test_gradients_have_the_structure_of_the_arguments():
    params = {
        "layers": [{"w": mx.array([1.0, 2.0])}, {"w": mx.array([3.0])}],
        "b": (mx.array(4.0),),
    }

    def loss(p, scale):
        total = sum((layer["w"] ** 2).sum() for layer in p["layers"])
        return total * scale + p["b"][0], {"extra": total, "text": "aux"}

    (value, aux), grads = mx.value_and_grad(loss)(params, 2.0)
    assert value.item() == 32 and aux["extra"].item() == 14 and aux["text"] == "aux"
    close(grads["layers"][0]["w"], [4, 8])
    close(grads["layers"][1]["w"], [12])
    assert isinstance(grads["b"], tuple) and grads["b"][0].item() == 1


def test_functions_get_the_objects_that_they_are_called_with():
    module = nn.Linear(2, 1)
    weight = module.weight
    others = {"scale": mx.array([3.0])}

    def loss(model, x, *, others):
        assert model is module and others is given
        assert model.weight is not weight
        return (model(x) * others["scale"]).sum()

    given = others
    x = mx.array([1.0, 2.0])
    by_model, by_name = mx.grad(loss, argnums=0, argnames="others")(module, x, others=others)
    close(by_model["weight"], [[3, 6]])
    close(by_name["others"]["scale"], module(x))
    assert type(by_model) is dict
    assert module.weight is weight


def test_arguments_hold_their_arrays_again_after_an_error():
    x = {"a": mx.ones(2), "b": [mx.ones(3)]}
    a, b = x["a"], x["b"][0]
    with pytest.raises(ZeroDivisionError):
        mx.grad(lambda x: x["a"].sum() / (1 // 0))(x)
    assert x["a"] is a and x["b"][0] is b


def test_what_functions_put_into_arguments_stays():
    x = {"a": mx.array([1.0, 2.0]), "b": mx.array([3.0]), "c": [mx.array(4.0), mx.array(5.0)]}

    def loss(x):
        x["new"] = x["a"] * 2
        b = x.pop("b")
        x["c"].pop()
        x["c"][0] = x["c"][0] * 10
        return (x["new"] * b).sum()

    gradients = mx.grad(loss)(x)
    assert list(gradients) == ["a", "b", "c"] and len(gradients["c"]) == 2
    close(gradients["a"], [6, 6])
    close(gradients["b"], [6])
    assert list(x) == ["a", "c", "new"]
    close(x["new"], [2, 4])
    assert [c.item() for c in x["c"]] == [40]


def test_containers_that_occur_twice_have_two_gradients():
    x = {"a": mx.array([1.0, 2.0])}
    first, second = mx.grad(lambda x, y: (3 * x["a"] + y["a"]).sum(), argnums=(0, 1))(x, x)
    close(first["a"], [3, 3])
    close(second["a"], [1, 1])


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * x * x,
        lambda x: mx.sin(x) * x,
        lambda x: mx.sin(x) * mx.cos(x),
        lambda x: mx.cumprod(mx.exp(x)) * x,
        lambda x: mx.softmax(x * x) * x,
        lambda x: mx.fast.rms_norm(x * x, None, 1e-5) * x,
        lambda x: mx.where(x > 0, x * x, mx.exp(x)) * x,
        lambda x: mx.compile(lambda y: mx.tanh(y) * y)(x * x) * x,
        lambda x: mx.sort(x * x) * mx.exp(x),
    ],
)
@pytest.mark.parametrize("evaluate", [mx.eval, lambda y: y.sum().item()])
def test_evaluating_inside_changes_no_gradient(function, evaluate):
    x = mx.array([2.0, -1.5, 0.5, 3.0])

    def loss(x, evaluates):
        y = function(x)
        if evaluates:
            evaluate(y)
        return (y * mx.array([1.0, 2.0, 3.0, 4.0])).sum()

    close(mx.grad(loss)(x, True), mx.grad(loss)(x, False))
    close(*(mx.jvp(lambda x: loss(x, e), [x], [mx.ones(4)])[1][0] for e in (True, False)))  # noqa: B023


def test_gradients_of_gradients():
    f = lambda x: (x**3).sum()  # noqa: E731
    close(mx.grad(lambda x: mx.grad(f)(x).sum())(mx.array([1.0, 2.0])), [6, 12])


def test_grad_errors():
    f = lambda x, y=None: x.sum()  # noqa: E731
    x = mx.ones(2)
    with pytest.raises(ValueError, match="negative argument index"):
        mx.grad(f, argnums=-1)
    with pytest.raises(ValueError, match="no argument requested"):
        mx.grad(f, argnums=[])
    with pytest.raises(ValueError, match="argument index 2"):
        mx.grad(f, argnums=2)(x)
    with pytest.raises(ValueError, match="keyword argument 'z'"):
        mx.grad(f, argnames="z")(x, y=x)
    with pytest.raises(ValueError, match="only arrays"):
        mx.grad(f)([x, 1.0])
    with pytest.raises(ValueError, match="scalar array"):
        mx.grad(lambda x: 1.0)(x)
    with pytest.raises(ValueError):
        mx.grad(lambda x: x)(x)
    with pytest.raises(TypeError):
        mx.grad(3)
    with pytest.raises(ZeroDivisionError):
        mx.grad(lambda x: x.sum() / (1 // 0))(x)
    close(mx.grad(f)(x), [1, 1])


def test_vjp_and_jvp():
    f = lambda x, y: [x * y, x + y]  # noqa: E731
    x, y = mx.array([1.0, 2.0]), mx.array([3.0, 4.0])
    outputs, products = mx.vjp(f, [x, y], [mx.array([1.0, 1.0]), mx.array([2.0, 0.0])])
    assert isinstance(outputs, list) and isinstance(products, list)
    close(outputs[0], [3, 8])
    close(products[0], [5, 4])
    close(products[1], [3, 2])
    outputs, products = mx.jvp(f, [x, y], [mx.array([1.0, 0.0]), mx.array([0.0, 1.0])])
    close(products[0], [3, 2])
    close(products[1], [1, 1])
    outputs, products = mx.vjp(mx.sin, [x], [mx.ones(2)])
    close(products[0], np.cos([1, 2]))


def test_stop_gradient():
    close(mx.grad(lambda x: (x * mx.stop_gradient(x)).sum())(mx.array([2.0])), [2])


def test_vmap_over_trees():
    x = mx.arange(6.0).reshape(2, 3)
    close(mx.vmap(lambda a: a * 2)(x), np.arange(6).reshape(2, 3) * 2)
    close(
        mx.vmap(lambda a, b: a + b, in_axes=(0, None))(x, mx.array([1.0, 1, 1])),
        np.arange(6).reshape(2, 3) + 1,
    )
    close(mx.vmap(lambda a: a.sum(), in_axes=1)(x), [3, 5, 7])
    close(mx.vmap(lambda a: a.sum(), in_axes=-1)(x), [3, 5, 7])
    close(mx.vmap(lambda a: a, out_axes=1)(x), np.arange(6).reshape(2, 3).T)
    out = mx.vmap(
        lambda t: {"s": t["a"].sum(), "p": (t["b"][0] * 2,)}, in_axes=({"a": 0, "b": 1},)
    )({"a": x, "b": [x.T]})
    close(out["s"], [3, 12])
    close(out["p"][0], 2 * np.arange(6).reshape(2, 3))
    close(
        mx.vmap(mx.vmap(lambda a, b: a * b, in_axes=(None, 0)), in_axes=(0, None))(
            mx.arange(3.0), mx.arange(2.0)
        ),
        np.outer(np.arange(3), np.arange(2)),
    )
    close(mx.vmap(lambda a, n: a * n, in_axes=(0, None))(x, 3), np.arange(6).reshape(2, 3) * 3)


@pytest.mark.parametrize(
    "axes",
    [
        {"a": 0, "b": 1},
        {"a": 0, "b": [1]},
        {"a": None, "b": [1]},
        {"a": 0, "b": None},
        {"a": -2, "b": (-1,)},
    ],
    ids=str,
)
def test_vmap_axes_of_a_single_tree(axes):
    """They may be given with or without the tuple of arguments."""
    x = np.arange(6.0, dtype=np.float32).reshape(2, 3)
    b = axes["b"] if axes["b"] is None or isinstance(axes["b"], int) else axes["b"][0]

    def of_lane(array, axis, lane):
        return array if axis is None else np.take(array, lane, axis)

    want = [of_lane(x, axes["a"], i).sum() - of_lane(x.T, b, i).max() for i in range(2)]
    given = {"a": mx.array(x), "b": [mx.array(x.T)]}
    for in_axes in (axes, (axes,), [axes]):
        close(mx.vmap(lambda t: t["a"].sum() - t["b"][0].max(), in_axes=in_axes)(given), want)
    in_axes = [axes["a"], axes["b"]]
    for same in (in_axes, tuple(in_axes), (in_axes,), [tuple(in_axes)]):
        mapped = mx.vmap(lambda t: t[0].sum() - t[1][0].max(), in_axes=same)
        close(mapped([given["a"], given["b"]]), want)


@pytest.mark.parametrize(
    "axes",
    [{"a": 0}, {"a": 0, "c": 1}, {"a": 0, "b": [1, 1]}, {"a": 0, "b": 1, "c": 0}, {"a": 0, "b": []},
     {"a": 0, "b": {"c": 1}}, {"a": "0", "b": 1}, {"a": 0.0, "b": 1}, {"a": [0], "b": 1}, [0, 1], "a"],
    ids=str,
)  # fmt: skip
def test_vmap_axes_that_do_not_match(axes):
    x = mx.zeros((2, 2))
    for in_axes in (axes, (axes,)):
        with pytest.raises((ValueError, TypeError), match="vmap"):
            mx.vmap(lambda t: t["a"], in_axes=in_axes)({"a": x, "b": [x]})


def test_vmap_of_grad():
    x = mx.arange(6.0).reshape(2, 3)
    close(mx.vmap(mx.grad(lambda a: (a * a).sum()))(x), 2 * np.arange(6).reshape(2, 3))


def test_vmap_of_slices_with_starts_of_their_own():
    """As without vmap: negative starts count from the end, and all leave room for the slice."""
    x, update = mx.arange(30).reshape(3, 10), mx.full((3, 2), -1)
    for dtype in (mx.int32, mx.int64, mx.int8):
        starts = mx.array([[0], [-3], [-20], [9], [7], [-1]], dtype)
        mapped = mx.vmap(lambda s: mx.slice(x, s, (1,), (3, 2)))(starts)
        expected = mx.stack([mx.slice(x, s, (1,), (3, 2)) for s in starts])
        assert mx.array_equal(mapped, expected)
        mapped = mx.vmap(lambda s: mx.slice_update(x, update, s, (1,)))(starts)
        expected = mx.stack([mx.slice_update(x, update, s, (1,)) for s in starts])
        assert mx.array_equal(mapped, expected)


def test_vmap_errors():
    x = mx.zeros((2, 3))
    with pytest.raises(ValueError, match="out of range"):
        mx.vmap(lambda a: a, in_axes=2)(x)
    with pytest.raises(ValueError, match="structure"):
        mx.vmap(lambda a: a, in_axes=(0, 0))(x)
    with pytest.raises(ValueError):
        mx.vmap(lambda a, b: a)(x, mx.zeros((3, 3)))
    with pytest.raises(TypeError):
        mx.vmap(None)


def test_custom_function_without_rules_is_the_function():
    @mx.custom_function
    def f(x, *, scale=2.0):
        """Scales."""
        return x * scale

    assert f(mx.array(2.0)).item() == 4 and f(mx.array(2.0), scale=3.0).item() == 6
    assert f.__name__ == "f" and f.__doc__ == "Scales." and f.__wrapped__
    assert list(inspect.signature(f).parameters) == ["x", "scale"]
    close(mx.grad(lambda x: f(x).sum())(mx.array([1.0])), [2])


def test_vjp_ignores_more_cotangents_than_outputs():
    x, v, other = mx.array([1.0, 2.0]), mx.array([3.0, 4.0]), mx.ones(5)
    outputs, products = mx.vjp(mx.square, [x], [v, other])
    assert len(outputs) == 1 and products[0].tolist() == [6, 16]
    _, products = mx.vjp(lambda a, b: (a * 2, b * 3), [x, x], [v, x, other])
    assert [product.tolist() for product in products] == [[6, 8], [3, 6]]
    assert mx.vjp(lambda a: [], [x], [v])[1][0].tolist() == [0, 0]
    with pytest.raises(ValueError, match="Got 1 cotangents for 2 outputs"):
        mx.vjp(lambda a, b: (a * 2, b * 3), [x, x], [v])


def test_custom_vjp_rule():
    @mx.custom_function
    def f(x, y):
        return mx.sin(x) * y

    seen = []

    @f.vjp
    def f_vjp(primals, cotangent, output):
        x, y = primals
        seen.append(output)
        return cotangent * 10, cotangent * 20

    x, y = mx.array([1.0]), mx.array([2.0])
    gx, gy = mx.grad(lambda a, b: f(a, b).sum(), argnums=(0, 1))(x, y)
    assert gx.item() == 10 and gy.item() == 20
    close(seen[0], np.sin([1]) * 2)
    assert f_vjp is f


def test_gradients_may_come_in_lists_of_one():
    @mx.custom_function
    def f(x, y):
        return x * y

    @f.vjp
    def f(primals, cotangent, output):
        return [cotangent * 2], (cotangent * 3,)

    found = mx.grad(f, (0, 1))(mx.array(1.0), mx.array(1.0))
    assert [g.item() for g in found] == [2, 3]


def test_rules_may_have_the_name_of_the_function():
    @mx.custom_function
    def f(x):
        return mx.sin(x)

    @f.vjp
    def f(x, cotangent, output):
        return cotangent * 10

    @f.jvp
    def f(x, tangent):
        return tangent * 20

    @f.vmap
    def f(x, axis):
        return x * 30, axis

    x = mx.array(1.0)
    close(f(x), np.sin(1))
    close(mx.grad(f)(x), 10)
    close(mx.jvp(f, [x], [x])[1][0], 20)
    close(mx.vmap(f)(x[None]), [30])


def test_custom_vjp_rule_of_one_argument_and_of_trees():
    @mx.custom_function
    def one(x):
        return x * x, x + 1

    @one.vjp
    def one_vjp(x, cotangents, outputs):
        return cotangents[0] * 7 + cotangents[1]

    close(mx.grad(lambda x: sum(o.sum() for o in one(x)))(mx.array([3.0])), [8])

    @mx.custom_function
    def tree(p, n):
        return {"out": p["a"] * n + p["b"][0]}

    @tree.vjp
    def tree_vjp(primals, cotangent, output):
        p, n = primals
        assert n == 3
        return {"a": cotangent["out"] * 5, "b": None}, None

    grads = mx.grad(lambda p: tree(p, 3)["out"].sum())(
        {"a": mx.array([1.0]), "b": [mx.array([2.0])]}
    )
    assert grads["a"].item() == 5 and grads["b"][0].item() == 0


def test_custom_vjp_rule_with_keywords():
    @mx.custom_function
    def f(x, *, w):
        return x * w

    @f.vjp
    def f_vjp(x, cotangent, output, w):
        return cotangent * 3, {"w": cotangent * 4}

    gx, by_name = mx.grad(lambda x, w: f(x, w=w).sum(), argnums=0, argnames="w")(
        mx.array([1.0]), w=mx.array([2.0])
    )
    assert gx.item() == 3 and by_name["w"].item() == 4


def test_custom_jvp_and_vmap_rules():
    @mx.custom_function
    def f(x, y):
        return x * y

    @f.jvp
    def f_jvp(primals, tangents):
        x, y = primals
        dx, dy = tangents
        assert dy is None
        return dx * 100

    @f.vmap
    def f_vmap(inputs, axes):
        x, y = inputs
        assert axes == (0, None)
        return x + y, 0

    x, y = mx.array([1.0, 2.0]), mx.array([3.0, 4.0])
    _, products = mx.jvp(lambda a: f(a, y), [x], [mx.ones(2)])
    close(products[0], [100, 100])
    close(mx.vmap(f, in_axes=(0, None))(x, mx.array(5.0)), [6, 7])


def test_vmap_rules_with_results_that_are_not_batched():
    @mx.custom_function
    def f(x, y):
        return x * y, {"a": x + y, "b": y}

    @f.vmap
    def f_vmap(inputs, axes):
        x, y = inputs
        return [x.T * y, {"a": x, "b": y}], [1, {"a": axes[0], "b": None}]

    x, y = mx.arange(6.0).reshape(2, 3), mx.array([1.0, 2.0, 3.0])[:, None]
    product, others = mx.vmap(f, in_axes=(0, None))(x, y)
    close(product, (np.array(x).T * np.array(y)).T)
    close(others["a"], np.array(x))
    close(others["b"], np.broadcast_to(np.array(y), (2, 3, 1)))
    _, others = mx.vmap(f, in_axes=(0, None), out_axes=(0, {"a": 0, "b": 2}))(x, y)
    assert others["b"].shape == (3, 1, 2)


def test_rules_that_return_the_wrong_thing_raise():
    def attempt(result):
        f = mx.custom_function(lambda x, y: x * y)
        f.vjp(lambda p, c, o: result)
        return mx.grad(lambda x, y: f(x, y).sum(), argnums=(0, 1))(mx.ones(2), mx.ones(2))

    for result in ((mx.ones(2),), mx.ones(2), (mx.ones(3), mx.ones(2)), ("a", None)):
        with pytest.raises(ValueError):
            attempt(result)
    gx, gy = attempt((None, None))
    assert gx.tolist() == gy.tolist() == [0, 0]


@pytest.mark.parametrize("wrap", [lambda g: g, lambda g: (g,), lambda g: [g]])
def test_rules_may_leave_out_the_gradients_of_the_last_arguments(wrap):
    def made(function):
        f = mx.custom_function(function)
        f.vjp(lambda primals, cotangent, output, **names: wrap(cotangent * 5))
        return f

    f = made(lambda x, y: x * y)
    x, y = mx.array([1.0, 2.0]), mx.array([3.0, 4.0])
    assert mx.grad(lambda x: f(x, y).sum())(x).tolist() == [5, 5]
    gradients = mx.vmap(mx.grad(lambda x, y: f(x, y).sum()), in_axes=(0, None))
    assert gradients(mx.ones((3, 2)), y).tolist() == [[5, 5]] * 3
    with pytest.raises(ValueError, match="a gradient for argument 1, but the rule returned 1 for"):
        mx.grad(lambda y: f(x, y).sum())(y)
    # The gradients of keyword arguments follow those of all others.
    f = made(lambda x, y, scale: x * y * scale)
    with pytest.raises(ValueError, match="Expected 2 gradients, one for each positional"):
        mx.grad(lambda x: f(x, y, scale=y).sum())(x)


def test_gradients_of_rules_may_lack_axes():
    f = mx.custom_function(lambda x: x * 2)
    for gradient in (mx.full(3, 5.0), mx.full((1, 3), 5.0), mx.array(5.0), mx.full((2, 1), 5.0)):
        f.vjp(lambda p, c, o: gradient)  # noqa: B023
        assert mx.grad(lambda x: f(x).sum())(mx.ones((2, 3))).tolist() == [[5] * 3] * 2
    f.vjp(lambda p, c, o: mx.ones((1, 2, 3)))
    with pytest.raises(ValueError, match="gradient of shape"):
        mx.grad(lambda x: f(x).sum())(mx.ones((2, 3)))


def test_rules_that_return_too_few_outputs_raise():
    x = mx.array([1.0, 2.0])
    for given in ([], [x]):
        f = mx.custom_function(lambda a: (a * 2, a + 1))
        f.vmap(lambda inputs, axes, given=given: (given, [0] * len(given)))
        with pytest.raises(ValueError, match=f"2 arrays of the vmap rule.*got {len(given)}"):
            mx.vmap(f)(x)
        f.jvp(lambda primals, tangents, given=given: given)
        with pytest.raises(ValueError, match=f"2 arrays of the jvp rule.*got {len(given)}"):
            mx.jvp(f, [x], [x])


def test_custom_functions_as_methods():
    class Scaler:
        factor = 3.0

        @mx.custom_function
        def scale(self, x):
            return x * self.factor

        @scale.vjp
        def scale_vjp(primals, cotangent, output):
            return None, cotangent * 11

    close(Scaler().scale(mx.array([2.0])), [6])
    close(mx.grad(lambda x: Scaler().scale(x).sum())(mx.array([2.0])), [11])


def test_defvjp_passes_residuals():
    @mx.custom_vjp
    def f(x, n):
        return x**n

    calls = []

    def fwd(x, n):
        calls.append("fwd")
        return x**n, (x, n)

    def bwd(residuals, g):
        x, n = residuals
        calls.append("bwd")
        return g * n * x ** (n - 1) * 2, None

    f.defvjp(fwd, bwd)
    assert f.__name__ == "f"
    close(f(mx.array([3.0]), 2), [9])
    assert calls == []
    value, grad = mx.value_and_grad(lambda x: f(x, 2).sum())(mx.array([3.0]))
    assert value.item() == 9 and grad.item() == 12 and calls == ["fwd", "bwd"]


def test_defvjp_errors():
    f = mx.custom_vjp(lambda x: x)
    with pytest.raises(TypeError):
        f.defvjp(1, 2)
    f.defvjp(lambda x: x, lambda r, g: g)
    with pytest.raises(ValueError, match="pair"):
        mx.grad(lambda x: f(x).sum())(mx.ones(2))


def test_checkpoint_gives_the_same_gradient():
    calls = []

    def f(p, x):
        calls.append(1)
        return mx.sin(p["w"] * x)

    p, x = {"w": mx.array([1.0, 2.0])}, mx.array([0.5, 0.25])
    plain = mx.grad(lambda p: f(p, x).sum())(p)
    saved = mx.grad(lambda p: mx.checkpoint(f)(p, x).sum())(p)
    close(plain["w"], saved["w"])


def test_compile_keeps_results_signature_and_state():
    state = {"count": mx.array(0)}

    @functools.partial(mx.compile, inputs=state, outputs=state)
    def f(x, *, y=1.0):
        """Adds."""
        state["count"] = state["count"] + 1
        return {"sum": x + y}

    assert f(mx.array(1.0))["sum"].item() == 2 and f(mx.array(1.0), y=2.0)["sum"].item() == 3
    assert state["count"].item() == 2 and f.__doc__ == "Adds." and f.__name__ == "f"
    close(mx.grad(mx.compile(lambda x: (x * x).sum()))(mx.array([3.0])), [6])
    mx.disable_compile()
    assert mx.compile(lambda x: x, shapeless=True)(mx.array(1)).item() == 1
    mx.enable_compile()
    with pytest.raises(TypeError):
        mx.compile(1)


def test_depends():
    a, b = mx.array(1), mx.array(2) + 1
    assert mx.depends(a, b).item() == 1
    x, y = mx.depends([a, b], [b])
    assert x.item() == 1 and y.item() == 3


def test_graphs_with_rules_leave_nothing_behind():
    class Marked:
        pass

    mark = Marked()
    reference = weakref.ref(mark)

    def build(mark):
        f = mx.custom_function(lambda x: x * 2 if mark else x)
        f.vjp(lambda p, c, o: c if mark else None)
        return mx.grad(lambda x: f(x).sum())(mx.ones(3))

    mx.eval(build(mark))
    del mark
    gc.collect()
    assert reference() is None


def test_transformations_in_threads():
    results = {}

    def work(k):
        results[k] = mx.grad(lambda x: (x**2).sum())(mx.full((4,), float(k))).tolist()

    threads = [threading.Thread(target=work, args=(k,)) for k in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == {k: [2.0 * k] * 4 for k in range(8)}
