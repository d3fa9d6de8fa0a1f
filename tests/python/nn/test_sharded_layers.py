"""Layers divided among processes, simulated in a single process.

`Processes` runs the same function once for each rank; exchanges happen in rounds: all
run up to the first exchange, then again with the result of that, and so on.
"""

from collections.abc import Callable
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from mlx.nn.layers import distributed as parts
from mlx.nn.utils import average_gradients, clip_grad_norm_sharded
from mlx.utils import tree_flatten


class Waiting(Exception):
    """A rank needs the other ranks' arrays for an exchange."""


class Group:
    """The group of one simulated rank."""

    def __init__(self, processes: "Processes", rank: int) -> None:
        self.processes, self._rank = processes, rank
        self.exchanges = 0

    def rank(self) -> int:
        return self._rank

    def size(self) -> int:
        return self.processes.count

    def exchange(self, x: mx.array) -> list[mx.array]:
        """The arrays of all ranks at this exchange."""
        number = self.exchanges
        self.exchanges += 1
        given = self.processes.given.setdefault(number, {})
        given.setdefault(self._rank, x)
        if len(given) < self.size():
            raise Waiting
        return [given[rank] for rank in range(self.size())]


class Processes:
    """Runs a function of a group for each rank."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.given: dict[int, dict[int, mx.array]] = {}

    def run(self, function: Callable[[Any], Any]) -> list[Any]:
        for _ in range(30):
            results = []
            for rank in range(self.count):
                try:
                    results.append(function(Group(self, rank)))
                except Waiting:
                    pass
            if len(results) == self.count:
                return results
        raise AssertionError("the ranks never finish")


@pytest.fixture(autouse=True)
def exchanges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replaces the collective operations by ones for simulated groups."""

    def all_sum(x: mx.array, *, group: Group, stream: Any = None) -> mx.array:
        return sum(group.exchange(x))

    def all_gather(x: mx.array, *, group: Group, stream: Any = None) -> mx.array:
        return mx.concatenate(group.exchange(x))

    def sum_scatter(x: mx.array, *, group: Group, stream: Any = None) -> mx.array:
        return mx.split(sum(group.exchange(x)), group.size())[group.rank()]

    for function in (all_sum, all_gather, sum_scatter):
        monkeypatch.setattr(mx.distributed, function.__name__, function)


COUNT = 2


def joined(results: list[Any], axis: int) -> np.ndarray:
    return np.concatenate([np.array(r) for r in results], axis)


def test_two_linear_layers():
    mx.random.seed(0)
    first, second = nn.Linear(6, 8), nn.Linear(8, 4)
    x = mx.random.normal((3, 6))

    def run(group: Any) -> Any:
        a = parts.shard_linear(first, "all-to-sharded", group=group)
        b = parts.shard_linear(second, "sharded-to-all", group=group)
        assert repr(a) == repr(first).replace("Linear", "AllToShardedLinear")
        assert repr(b) == repr(second).replace("Linear", "ShardedToAllLinear")
        hidden = nn.relu(a(x))
        return hidden, b(hidden)

    results = Processes(COUNT).run(run)
    hidden = nn.relu(first(x))
    np.testing.assert_allclose(joined([r[0] for r in results], -1), np.array(hidden), atol=1e-5)
    for _, y in results:
        assert mx.allclose(y, second(hidden), atol=1e-5)


def test_gradients_of_inputs_are_summed():
    linear = nn.Linear(3, 4)
    x = mx.random.normal((2, 3))

    def run(group: Any) -> mx.array:
        layer = parts.AllToShardedLinear.from_linear(linear, group=group)
        return mx.grad(lambda v: layer(v).sum())(x)

    wanted = mx.grad(lambda v: linear(v).sum())(x)
    for found in Processes(COUNT).run(run):
        assert mx.allclose(found, wanted, atol=1e-5)


SEGMENTS = [
    (1, [[0, 1, 2, 3], [4, 5, 6, 7]]),
    (2, [[0, 1, 4, 5], [2, 3, 6, 7]]),
    ([0.25], [[0, 2, 3, 4], [1, 5, 6, 7]]),
    ([0.25, 0.5], [[0, 2, 4, 5], [1, 3, 6, 7]]),
    ([2, 4], [[0, 2, 4, 5], [1, 3, 6, 7]]),
]


@pytest.mark.parametrize("segments, wanted", SEGMENTS, ids=str)
def test_segments(segments: Any, wanted: list[list[int]]):
    linear = nn.Linear(8, 8)
    linear.weight = mx.arange(64).reshape(8, 8)
    linear.bias = mx.arange(8)
    for rank in range(COUNT):
        group = Group(Processes(COUNT), rank)
        outputs = parts.shard_linear(linear, "all-to-sharded", segments=segments, group=group)
        assert outputs.bias.tolist() == wanted[rank]
        assert (outputs.weight[:, 0] // 8).tolist() == wanted[rank]
        inputs = parts.shard_linear(linear, "sharded-to-all", segments=segments, group=group)
        assert inputs.weight[0].tolist() == wanted[rank] and inputs.bias.shape == (8,)


@pytest.mark.parametrize("sharding", ["all-to-sharded", "sharded-to-all"])
@pytest.mark.parametrize("mode", ["affine", "mxfp4"])
def test_quantised(sharding: str, mode: str):
    mx.random.seed(0)
    layer = nn.QuantizedLinear(128, 8, mode=mode)
    layer.bias = mx.arange(8.0)
    x = mx.random.normal((3, 128))

    def run(group: Any) -> mx.array:
        part = parts.shard_linear(layer, sharding, group=group)
        name = type(part).__name__
        assert repr(part) == repr(layer).replace("QuantizedLinear", name)
        part.unfreeze()
        assert tree_flatten(part.trainable_parameters()) == []
        if sharding == "all-to-sharded":
            return part(x)
        size = 128 // COUNT
        return part(x[:, group.rank() * size : (group.rank() + 1) * size])

    results = Processes(COUNT).run(run)
    wanted = np.array(layer(x))
    if sharding == "all-to-sharded":
        found = joined(results, -1)
    else:
        found = np.array(results[0])
    np.testing.assert_allclose(found, wanted, atol=1e-3)


def test_layers_made_in_parts():
    group: Any = Group(Processes(COUNT), 1)
    shapes = [
        (parts.AllToShardedLinear(4, 6, group=group), (3, 4), (3,)),
        (parts.ShardedToAllLinear(4, 6, group=group), (6, 2), (6,)),
        (parts.QuantizedAllToShardedLinear(128, 8, group=group), (4, 16), (4,)),
        (parts.QuantizedShardedToAllLinear(128, 8, group=group), (8, 8), (8,)),
    ]
    for layer, weight, bias in shapes:
        assert layer.weight.shape == weight and layer.bias.shape == bias


def test_shard_inplace():
    group: Any = Group(Processes(COUNT), 0)
    model = nn.Sequential(nn.Linear(4, 6))
    parts.shard_inplace(
        model, lambda path, w: (0, 3) if path.endswith("weight") else None, group=group
    )
    assert model.layers[0].weight.shape == (3, 4) and model.layers[0].bias.shape == (6,)
    parts.shard_inplace(model, "sharded-to-all", group=group)
    assert model.layers[0].weight.shape == (3, 2) and model.layers[0].bias.shape == (6,)


# ---- fully sharded ----


def test_fully_sharded_modules():
    mx.random.seed(0)
    linear = nn.Linear(4, 6)
    full = {"weight": linear.weight, "bias": linear.bias}
    x = mx.random.normal((5, 4))

    def run(group: Any) -> Any:
        own = nn.Linear(4, 6)
        own.update(full)
        module = nn.FullyShardedModule(own, group)
        assert module.module.weight.shape == (3, 4)
        step = nn.value_and_grad(module, lambda v: mx.sin(module(v)).sum() * (group.rank() + 1))
        result = step(x), module.module.weight
        assert module.module.weight.shape == (3, 4)
        return result

    loss = nn.value_and_grad(linear, lambda v: mx.sin(linear(v)).sum())
    value, gradients = loss(x)
    results = Processes(COUNT).run(run)
    for rank, ((found, _), weight) in enumerate(results):
        assert mx.allclose(found, value * (rank + 1), rtol=1e-5)
        assert mx.array_equal(weight, full["weight"][3 * rank : 3 * rank + 3])
    for name in ("weight", "bias"):
        found = joined([r[0][1]["module"][name] for r in results], 0)
        # The mean of gradients that are once and twice as large.
        np.testing.assert_allclose(found, 1.5 * np.array(gradients[name]), rtol=1e-5)


def test_what_fully_sharded_modules_change_stays_changed():
    def run(group: Any) -> mx.array:
        module = nn.FullyShardedModule(nn.BatchNorm(4), group)
        module(mx.arange(8.0).reshape(2, 4))
        return module.module.running_mean

    whole = nn.BatchNorm(4)
    whole(mx.arange(8.0).reshape(2, 4))
    found = joined(Processes(COUNT).run(run), 0)
    np.testing.assert_allclose(found, np.array(whole.running_mean), rtol=1e-6)


def test_fully_shard_nests_and_converts():
    def run(group: Any) -> Any:
        inner = nn.fully_shard(nn.Linear(4, 6), group=group)
        model = nn.fully_shard(
            nn.Sequential(inner, nn.Linear(6, 8)), group=group, compute_dtype=mx.float16
        )
        assert repr(model).startswith("FullyShardedModule(num_sharded_params=2")
        return model.module.layers[1].weight.dtype, model(mx.ones((1, 4))).shape

    assert Processes(COUNT).run(run) == [(mx.float32, (1, 8))] * COUNT
    alone = nn.Linear(4, 6)
    assert nn.fully_shard(alone) is alone
    table = nn.FullyShardedModule(nn.Embedding(8, 4))
    assert table.as_linear(mx.ones((1, 4))).shape == (1, 8)


# ---- gradients ----


@pytest.mark.parametrize("size", [32 * 1024**2, 8, 0])
def test_average_gradients(size: int):
    def run(group: Any) -> Any:
        k = group.rank() + 1
        gradients = {
            "a": mx.array([3.0, 4.0]) * k,
            "l": [mx.ones((2, 2), mx.float16) * k, mx.ones(3) * k],
        }
        return average_gradients(gradients, group, size)

    for found in Processes(COUNT).run(run):
        assert found["a"].tolist() == [4.5, 6.0]
        assert found["l"][0].tolist() == [[1.5, 1.5], [1.5, 1.5]]
        assert found["l"][0].dtype == mx.float16 and found["l"][1].tolist() == [1.5] * 3


def test_clip_grad_norm_sharded():
    def run(group: Any) -> Any:
        return clip_grad_norm_sharded({"a": mx.array([3.0, 4.0]) * (group.rank() + 1)}, 1.0, group)

    for rank, (clipped, norm) in enumerate(Processes(COUNT).run(run)):
        assert norm.item() == pytest.approx(125**0.5)
        wanted = np.array([3, 4]) * (rank + 1) / 125**0.5
        np.testing.assert_allclose(np.array(clipped["a"]), wanted, rtol=1e-5)


# ---- errors ----


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda g: parts.AllToShardedLinear(4, 5, group=g), "output of size 5 across 2"),
        (lambda g: parts.ShardedToAllLinear(5, 4, group=g), "input of size 5 across 2"),
        (lambda g: parts.shard_linear(nn.Linear(4, 5), "all-to-sharded", group=g), "size 5"),
        (lambda g: parts.shard_linear(nn.Linear(4, 4), "x", group=g), "sharding='x'"),
        (lambda g: parts.shard_inplace(nn.Linear(4, 4), "x", group=g), "sharding='x'"),
        (lambda g: parts.FullyShardedModule(nn.Linear(4, 5), g), r"'weight' with shape \(5, 4\)"),
    ],
)
def test_errors(call: Callable[[Any], Any], message: str):
    with pytest.raises(ValueError, match=message):
        call(Group(Processes(COUNT), 0))
