"""Attributes, trees, files, freezing and modes of Module."""

import copy
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from mlx.utils import tree_flatten, tree_unflatten


class Model(nn.Module):
    """A module with parameters and modules in all possible places."""

    def __init__(self) -> None:
        super().__init__()
        self.a = mx.ones((2,))
        self.linear = nn.Linear(2, 3)
        self.layers = [nn.Linear(2, 2), {"k": nn.Linear(2, 1), "s": 3}, "text", [mx.ones(1)]]
        self.table = {"x": mx.zeros((1,)), "f": len}
        self._hidden = mx.ones((1,))
        self.pair = (nn.Linear(1, 1), mx.ones((1,)))
        self.number = 3
        self.nothing = None

    def __call__(self, x: mx.array) -> mx.array:
        return self.linear(x * self.a)


OWN = ["a", "layers.3.0", "table.x"]
BELOW = [
    f"{path}.{name}" for path in ("linear", "layers.0", "layers.1.k") for name in ("weight", "bias")
]


@pytest.fixture
def model() -> Model:
    mx.random.seed(0)
    return Model()


def paths(tree: Any) -> list[str]:
    return sorted(path for path, _ in tree_flatten(tree))


# ---- attributes ----


def test_containers_and_arrays_are_items_the_rest_attributes(model: Model):
    assert list(model) == ["a", "linear", "layers", "table", "_hidden", "pair"]
    assert model.number == 3 and model.nothing is None and "number" in vars(model)
    assert model["a"] is model.a


def test_what_is_set_anew_changes_its_place(model: Model):
    model.a = 3
    model.number = mx.ones((1,))
    assert "a" not in model and vars(model)["a"] == 3
    assert "number" in model and "number" not in vars(model)


def test_missing_attributes(model: Model):
    with pytest.raises(AttributeError, match="'Model' object has no attribute 'nope'"):
        _ = model.nope
    with pytest.raises(AttributeError, match="'nope'"):
        del model.nope
    with pytest.raises(AttributeError):
        model.training = False
    assert not hasattr(model, "nope") and getattr(model, "nope", 1) == 1


def test_items_under_the_name_of_something_of_the_class_are_refused():
    class Child(Model):
        table_of_class = (1, 2)
        count = 3

    child = Child()
    for value in (mx.ones(2), [1], (), {}, Model()):
        for name in ("table_of_class", "count", "training", "parameters", "__call__"):
            with pytest.raises(AttributeError, match=f"has an attribute '{name}': modules cannot"):
                setattr(child, name, value)
    # Everything else hides what the class has, as in any object.
    child.count = 4
    assert child.count == 4 and Child.count == 3 and "count" not in child
    child.count = mx.ones(1)  # as an attribute became an item before
    child["table_of_class"] = mx.ones(1)
    child.table_of_class = mx.zeros(1)
    assert child["table_of_class"].item() == 0


def test_deleting(model: Model):
    del model.a, model.number
    assert "a" not in model and not hasattr(model, "number")


def test_modules_without_init_hold_parameters():
    class Careless(nn.Module):
        def __init__(self) -> None:
            self.a = mx.ones((1,))

    assert list(Careless()) == ["a"]


def test_copies_are_independent(model: Model):
    other = copy.deepcopy(model)
    other.linear.weight = mx.zeros((3, 2))
    assert mx.any(model.linear.weight != 0).item()
    assert paths(other.parameters()) == paths(model.parameters())


def test_text(model: Model):
    assert repr(model) == (
        "Model(\n"
        "  (linear): Linear(input_dims=2, output_dims=3, bias=True)\n"
        "  (layers.0): Linear(input_dims=2, output_dims=2, bias=True)\n"
        "  (layers.1.k): Linear(input_dims=2, output_dims=1, bias=True)\n"
        ")"
    )
    assert repr(nn.Sequential(nn.Sequential(nn.ReLU()))) == (
        "Sequential(\n  (layers.0): Sequential(\n    (layers.0): ReLU()\n  )\n)"
    )


# ---- trees ----


def test_parameters(model: Model):
    assert paths(model.parameters()) == sorted(OWN + BELOW)
    assert model.state is model
    # Lists keep their length.
    assert model.parameters()["layers"][2] == {}


def test_children_and_modules(model: Model):
    assert paths_of_modules(model.children()) == ["layers.0", "layers.1.k", "linear"]
    assert [path for path, _ in model.named_modules()] == ["", "layers.1.k", "layers.0", "linear"]
    assert [type(m).__name__ for m in model.modules()] == ["Model"] + ["Linear"] * 3
    outer = nn.Sequential(nn.Sequential(nn.Linear(1, 1), nn.ReLU()), nn.Identity())
    leaves = paths_of_modules(outer.leaf_modules())
    assert leaves == ["layers.0.layers.0", "layers.0.layers.1", "layers.1"]


def paths_of_modules(tree: Any) -> list[str]:
    return sorted(path for path, _ in tree_flatten(tree, is_leaf=nn.Module.is_module))


def test_filter_and_map(model: Model):
    shapes = model.filter_and_map(
        lambda module, key, value: isinstance(value, mx.array) and key.startswith("_"),
        lambda x: x.shape,
    )
    assert shapes == {"_hidden": (1,)}
    seen = []

    def every_parameter(module: nn.Module, key: str, value: Any) -> bool:
        seen.append((type(module).__name__, key))
        return nn.Module.valid_parameter_filter(module, key, value)

    model.filter_and_map(every_parameter)
    assert ("Model", "layers.1.k") in seen and ("Linear", "weight") in seen
    assert ("Model", "table.f") in seen
    with pytest.raises(RuntimeError, match="leaf"):
        model.filter_and_map(
            nn.Module.valid_parameter_filter, None, lambda m, k, v: isinstance(v, nn.Module)
        )


def test_apply_and_set_dtype(model: Model):
    model.count = mx.array([1])
    assert model.apply(lambda x: x + 1) is model
    assert model.a.tolist() == [2, 2] and model.table["x"].tolist() == [1]
    assert model._hidden.tolist() == [1]
    model.set_dtype(mx.float16)
    assert model.a.dtype == model.layers[1]["k"].weight.dtype == mx.float16
    assert model.count.dtype == mx.int32 and model._hidden.dtype == mx.float32
    model.set_dtype(mx.bfloat16, lambda dtype: True)
    assert model.count.dtype == mx.bfloat16
    model.set_dtype(mx.float32, None)
    assert model.count.dtype == mx.float32


def test_apply_to_modules(model: Model):
    seen = []
    assert model.apply_to_modules(lambda path, m: seen.append(path)) is model
    assert seen == ["", "layers.1.k", "layers.0", "linear"]


# ---- update ----


def test_update(model: Model):
    new = {"a": mx.zeros((2,)), "layers": [{}, {"k": {"bias": mx.ones((1,))}}]}
    assert model.update(new) is model
    assert model.a.tolist() == [0, 0] and model.layers[1]["k"].bias.tolist() == [1]
    assert model.update({"a": mx.zeros((7,))}).a.shape == (7,)


def test_updates_without_items(model: Model):
    """tree_unflatten makes a list of no items, as it does of items 0, 1, and so on."""
    before, parameters = model.linear, tree_flatten(model.parameters())
    for nothing in (tree_unflatten([]), {}, {"linear": []}, {"layers": [[], {"k": []}]}):
        model.update(nothing)
        model.update_modules(nothing)
    assert model.linear is before
    after = tree_flatten(model.parameters())
    assert [path for path, _ in after] == [path for path, _ in parameters]


@pytest.mark.parametrize(
    "new, message",
    [
        ({"zz": mx.zeros((2,))}, 'parameter named "zz"'),
        ({"layers": [{}, {}, {}, {}, {"bias": 1}]}, "index 4 is out of bounds .* length 4"),
        ({"linear": mx.zeros((1,))}, "invalid type: array"),
        ({"a": 3}, "invalid type: int"),
        ({"a": {"x": mx.zeros((1,))}}, "invalid type: dict"),
        ([1], "invalid type: list"),
    ],
)
def test_strict_update(model: Model, new: Any, message: str):
    with pytest.raises(ValueError, match=message):
        model.update(new)


def test_update_that_is_not_strict(model: Model):
    before = model.linear
    model.update({"zz": mx.zeros((2,)), "linear": mx.zeros((1,))}, strict=False)
    assert "zz" not in model and model.linear is before


def test_update_modules(model: Model):
    model.update_modules({"linear": nn.ReLU(), "layers": [nn.Identity(), {"k": nn.Tanh()}]})
    assert isinstance(model.linear, nn.ReLU) and isinstance(model.layers[1]["k"], nn.Tanh)
    for wrong in ({"zz": nn.ReLU()}, {"linear": mx.zeros((1,))}, {"a": nn.ReLU()}):
        with pytest.raises(ValueError):
            model.update_modules(wrong)
        model.update_modules(wrong, strict=False)
    assert isinstance(model.linear, nn.ReLU)


# ---- freezing ----


def test_freeze(model: Model):
    assert model.freeze() is model and paths(model.trainable_parameters()) == []
    model.unfreeze()
    assert paths(model.trainable_parameters()) == sorted(OWN + BELOW)
    model.freeze(recurse=False)
    assert paths(model.trainable_parameters()) == sorted(BELOW)
    model.unfreeze(recurse=False).freeze(keys="bias")
    wanted = OWN + [path for path in BELOW if path.endswith("weight")]
    assert paths(model.trainable_parameters()) == sorted(wanted)
    model.freeze().unfreeze(keys=["weight", "a"])
    assert paths(model.trainable_parameters()) == sorted(
        ["a"] + [path for path in BELOW if path.endswith("weight")]
    )


def test_strict_freeze(model: Model):
    model.freeze(keys="weight", strict=True)
    for change in (model.freeze, model.unfreeze):
        with pytest.raises(KeyError, match="zz"):
            change(keys=["weight", "zz"], strict=True)
    with pytest.raises(KeyError, match="weight"):
        model.freeze(keys="weight", strict=True, recurse=False)


def test_running_values_never_train():
    layer = nn.BatchNorm(3)
    for keys in (None, "running_mean"):
        layer.unfreeze(keys=keys)
        assert paths(layer.trainable_parameters()) == ["bias", "weight"]


# ---- modes ----


def test_train_and_eval(model: Model):
    assert model.training and model.eval() is model
    assert not any(module.training for module in model.modules())
    assert all(module.training for module in model.train().modules())


# ---- files ----


@pytest.mark.parametrize("name", ["w.npz", "w.safetensors"])
def test_weights_survive_a_file(model: Model, tmp_path: Path, name: str):
    file = str(tmp_path / name)
    model.save_weights(file)
    assert sorted(mx.load(file)) == sorted(OWN + BELOW)
    other = Model()
    assert other.load_weights(file) is other
    for path, array in tree_flatten(other.parameters()):
        assert mx.array_equal(array, dict(tree_flatten(model.parameters()))[path]), path


def test_unknown_kinds_of_files(model: Model, tmp_path: Path):
    with pytest.raises(ValueError, match="npz"):
        model.save_weights(str(tmp_path / "w.txt"))
    mx.save(str(tmp_path / "w.npy"), mx.ones(1))
    with pytest.raises(ValueError, match="several arrays"):
        model.load_weights(str(tmp_path / "w.npy"))


WEIGHT, BIAS = ("weight", mx.ones((3, 2))), ("bias", mx.ones((3,)))


@pytest.mark.parametrize(
    "weights, message",
    [
        ([WEIGHT], r"Missing 1 parameters: \nbias"),
        ([WEIGHT, BIAS, ("z", mx.ones(1))], r"Received 1 parameters not in model: \nz"),
        ([("weight", mx.ones((2, 2))), BIAS], r"Expected shape \(3, 2\) but received .*\(2, 2\)"),
        ([("weight", 3), BIAS], "Expected mx.array but received .*int"),
    ],
)
def test_strict_loading(weights: list[tuple[str, Any]], message: str):
    with pytest.raises(ValueError, match=message):
        nn.Linear(2, 3).load_weights(weights)


def test_loading_that_is_not_strict():
    layer = nn.Linear(2, 3)
    layer.load_weights([("weight", mx.zeros((2, 2))), ("z", mx.ones(1))], strict=False)
    assert layer.weight.shape == (2, 2) and "z" not in layer
    assert nn.Linear(2, 3).load_weights(dict([WEIGHT, BIAS])).bias.tolist() == [1, 1, 1]


# ---- gradients ----


def test_value_and_grad_is_by_what_trains(model: Model):
    model.freeze(keys="bias")
    step = nn.value_and_grad(model, lambda x, scale=1: (model(x).sum() * scale, x + 1))
    (value, extra), gradients = step(mx.ones((1, 2)), scale=2)
    assert paths(gradients) == paths(model.trainable_parameters())
    assert extra.tolist() == [[2, 2]]
    np.testing.assert_allclose(np.array(gradients["linear"]["weight"]), np.full((3, 2), 2.0))
    assert np.isclose(value.item(), 2 * model(mx.ones((1, 2))).sum().item())


def test_states_can_be_evaluated_and_compiled(model: Model):
    mx.eval(model.parameters(), model.state)
    compiled = mx.compile(lambda x: model(x), inputs=[model.state])
    x = mx.ones((1, 2))
    before = compiled(x)
    model.linear.bias = model.linear.bias + 1
    np.testing.assert_allclose(np.array(compiled(x)), np.array(before) + 1, rtol=1e-6)
