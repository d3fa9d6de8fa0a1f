"""Objects of registered classes as inner nodes of trees: in mlx.utils and in transformations."""

import mlx.core as mx
import mlx.utils
import pytest


class Pair:
    """Two trees, which are transformed, and a label, which is not."""

    def __init__(self, first, second, label):
        self.first, self.second, self.label = first, second, label


mlx.utils.register_tree_class(
    Pair,
    lambda p: ({"first": p.first, "second": p.second}, p.label),
    lambda children, label: Pair(children["first"], children["second"], label),
)


def pair() -> Pair:
    return Pair(mx.array([1.0, 2.0]), [mx.array(3.0)], "name")


def value(p: Pair) -> mx.array:
    assert p.label == "name"
    return (p.first**2).sum() * p.second[0]


def test_gradients():
    gradient = mx.grad(value)(pair())
    assert type(gradient) is Pair and gradient.label == "name"
    assert gradient.first.tolist() == [6, 12] and gradient.second[0].item() == 5
    total, (by_pair, by_factor) = mx.value_and_grad(lambda p, f: value(p) * f, argnums=(0, 1))(
        pair(), mx.array(2.0)
    )
    assert total.item() == 30 and by_factor.item() == 15 and by_pair.first.tolist() == [12, 24]


def test_functions_that_return_objects():
    double = mx.checkpoint(lambda p: Pair(p.first * 2, p.second, p.label))
    assert double(pair()).first.tolist() == [2, 4]
    assert mx.grad(lambda p: value(double(p)))(pair()).first.tolist() == [24, 48]

    @mx.custom_function
    def custom(p):
        return Pair(p.first * 2, p.second, p.label)

    @custom.vjp
    def custom_vjp(primals, cotangents, outputs):
        return Pair(cotangents.first * 100, cotangents.second, primals.label)

    assert mx.grad(lambda p: value(custom(p)))(pair()).first.tolist() == [1200, 2400]
    assert mx.vmap(lambda p: p.first + 1)(Pair(mx.zeros((3,)), [], "")).tolist() == [1, 1, 1]


def test_eval():
    lazy = Pair(mx.ones(3) + 1, {"x": (mx.ones(2) * 4,)}, None)
    mx.eval([lazy])
    assert lazy.second["x"][0].tolist() == [4, 4]


@pytest.mark.parametrize(
    "labels",
    [
        [1, 2, "1", None, 1.0, True],
        [mx.float16, mx.float32],
        [mx.array([1, 2]), mx.array([2, 1]), mx.array([[1, 2]]), mx.array([1.0, 2.0])],
        [(1, {"a": mx.array(1)}), (1, {"a": mx.array(2)}), [1, {"a": mx.array(1)}]],
    ],
)
def test_compiled_functions_tell_labels_apart(labels):
    calls = []

    @mx.compile
    def twice(p):
        calls.append(p.label)
        return Pair(p.first * 2, p.second, p.label)

    for _ in range(2):
        for label in labels:
            out = twice(Pair(mx.array([1.0, 2.0]), mx.array(3.0), label))
            assert out.label is label and out.first.tolist() == [2, 4]
    assert len(calls) == len(labels)


def test_compiled_functions_take_no_other_labels():
    with pytest.raises(ValueError, match="besides its children .* but something is a object"):
        mx.compile(lambda p: p.first)(Pair(mx.array(1.0), mx.array(2.0), object()))


def test_state_with_labels():
    state = [Pair(mx.array(1.0), mx.array(0.0), mx.array([3]))]
    scaled = mx.compile(lambda x: x * state[0].first * state[0].label, inputs=state)

    assert scaled(mx.array(2.0)).tolist() == [6]
    state[0] = Pair(mx.array(2.0), mx.array(0.0), mx.array([5]))
    assert scaled(mx.array(2.0)).tolist() == [20]


def test_utils():
    mapped = mlx.utils.tree_map(lambda a, b: a + b, pair(), pair())
    assert mapped.first.tolist() == [2, 4] and mapped.label == "name"
    flat = mlx.utils.tree_flatten({"p": pair()})
    assert [path for path, _ in flat] == ["p.first", "p.second.0"]
    assert mlx.utils.tree_reduce(lambda n, a: n + a.size, pair(), 0) == 3


def test_what_is_no_rule():
    with pytest.raises(TypeError, match="must be functions"):
        mlx.utils.register_tree_class(Pair, None, lambda children, rest: None)

    class Odd:
        pass

    mlx.utils.register_tree_class(Odd, lambda o: 1, lambda children, rest: Odd())
    with pytest.raises(ValueError, match="flatten must return a pair"):
        mx.eval(Odd())
