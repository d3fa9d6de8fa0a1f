"""Optimizers against NumPy over several steps; their states, schedules and errors."""

import math
from collections.abc import Callable
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import nn_references as ref
import numpy as np
import pytest
from mlx.utils import tree_flatten, tree_map

RATE = 0.05
OPTIMIZERS: dict[str, tuple[Callable[[], optim.Optimizer], ref.Step]] = {
    "SGD": (lambda: optim.SGD(RATE), ref.sgd()),
    "SGD, momentum": (lambda: optim.SGD(RATE, 0.9, 0.1, 0.2), ref.sgd(0.9, 0.1, 0.2)),
    "SGD, nesterov": (
        lambda: optim.SGD(RATE, 0.9, nesterov=True),
        ref.sgd(0.9, nesterov=True),
    ),
    "RMSprop": (lambda: optim.RMSprop(RATE, 0.9), ref.rmsprop),
    "Adagrad": (lambda: optim.Adagrad(RATE), ref.adagrad),
    "AdaDelta": (lambda: optim.AdaDelta(RATE), ref.adadelta),
    "Adam": (lambda: optim.Adam(RATE), ref.adam()),
    "Adam, corrected": (lambda: optim.Adam(RATE, bias_correction=True), ref.adam(True)),
    "AdamW": (lambda: optim.AdamW(RATE, weight_decay=0.3), ref.adam(decay=0.3)),
    "Adamax": (lambda: optim.Adamax(RATE), ref.adamax),
    "Lion": (lambda: optim.Lion(RATE, weight_decay=0.1), ref.lion),
    "Adafactor": (lambda: optim.Adafactor(), ref.adafactor()),
    "Adafactor, own rate": (
        lambda: optim.Adafactor(RATE, beta_1=0.9, weight_decay=0.1, relative_step=False),
        ref.adafactor(RATE, 0.9, 0.1),
    ),
    "Muon": (lambda: optim.Muon(RATE), ref.muon()),
    "Muon, plain": (lambda: optim.Muon(RATE, nesterov=False, ns_steps=3), ref.muon(False, 3)),
}


@pytest.mark.parametrize("shape", [(7,), (4, 3), (3, 5), (2, 3, 4)], ids=str)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps(name: str, shape: tuple[int, ...], rng: np.random.Generator):
    make, step = OPTIMIZERS[name]
    optimizer, remembered = make(), {}
    wanted = rng.standard_normal(shape)
    parameters = {"w": mx.array(wanted.astype(np.float32))}
    for t in range(1, 6):
        gradient = rng.standard_normal(shape)
        gradients = {"w": mx.array(gradient.astype(np.float32))}
        parameters = optimizer.apply_gradients(gradients, parameters)
        wanted = step(wanted, gradient, remembered, t)
        np.testing.assert_allclose(np.array(parameters["w"]), wanted, rtol=1e-4, atol=2e-5)
    assert optimizer.step.item() == 5


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.float32], ids=str)
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_types_are_kept(name: str, dtype: mx.Dtype):
    start = {"l": [mx.ones((3, 2), dtype), {"b": mx.ones((4,), dtype)}]}
    optimizer = OPTIMIZERS[name][0]()
    result = optimizer.apply_gradients(start, start)
    own = [x for path, x in tree_flatten(optimizer.state) if path.startswith("l.")]
    assert {x.dtype for x in own} <= {dtype}
    assert [x.dtype for _, x in tree_flatten(result)] == [dtype, dtype]
    assert all(mx.isfinite(x).all().item() for _, x in tree_flatten(result))


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_model_learns(name: str):
    mx.random.seed(0)
    model = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
    x = mx.random.normal((32, 3))
    y = mx.sum(mx.sin(x), axis=1, keepdims=True)
    step = nn.value_and_grad(model, lambda: nn.losses.mse_loss(model(x), y))
    optimizer = OPTIMIZERS[name][0]()
    first = step()[0].item()
    for _ in range(40):
        optimizer.update(model, step()[1])
        mx.eval(model.parameters(), optimizer.state)
    assert step()[0].item() < first


# ---- state ----


def test_init_keeps_what_is_there():
    optimizer = optim.Adam(RATE)
    optimizer.init({"a": mx.ones(3)})
    optimizer.state["a"]["m"] = mx.ones(3)
    optimizer.init({"a": mx.ones(3), "b": [mx.ones(2)]})
    paths = [path for path, _ in tree_flatten(optimizer.state)]
    assert paths == ["step", "learning_rate", "a.m", "a.v", "b.0.m", "b.0.v"]
    assert optimizer.state["a"]["m"].tolist() == [1, 1, 1]


def test_a_run_goes_on_from_a_saved_state():
    gradients = {"a": mx.array([1.0, -2.0])}
    one, other = optim.Adam(RATE), optim.Adam(1.0)
    parameters = one.apply_gradients(gradients, gradients)
    other.state = tree_map(lambda x: x, one.state)
    wanted = one.apply_gradients(gradients, parameters)
    found = other.apply_gradients(gradients, parameters)
    assert mx.array_equal(wanted["a"], found["a"]) and other.step.item() == 2


def test_gradients_of_a_part():
    model = nn.Linear(2, 2)
    bias = model.bias
    optim.SGD(1.0).update(model, {"weight": model.weight})
    assert mx.all(model.weight == 0).item() and model.bias is bias


def test_learning_rate():
    optimizer = optim.SGD(0.1)
    optimizer.learning_rate = 0.5
    assert optimizer.learning_rate.item() == 0.5
    assert optimizer.learning_rate.dtype == mx.float32


def test_schedules_set_the_learning_rate():
    optimizer = optim.SGD(lambda step: 0.5 / (step + 1))
    gradients = {"a": mx.ones(1)}
    rates = []
    for _ in range(3):
        optimizer.apply_gradients(gradients, gradients)
        rates.append(optimizer.learning_rate.item())
    np.testing.assert_allclose(rates, [0.5, 0.25, 0.5 / 3], rtol=1e-6)


def test_steps_can_be_compiled():
    mx.random.seed(0)
    model, optimizer = nn.Linear(3, 1), optim.Adam(RATE)
    optimizer.init(model.trainable_parameters())
    x = mx.random.normal((8, 3))
    loss_and_gradient = nn.value_and_grad(model, lambda v: mx.square(model(v) - 1).mean())
    state = [model.state, optimizer.state]

    def step(v: mx.array) -> mx.array:
        loss, gradients = loss_and_gradient(v)
        optimizer.update(model, gradients)
        return loss

    compiled = mx.compile(step, inputs=state, outputs=state)
    values = []
    for _ in range(20):
        values.append(compiled(x).item())
        mx.eval(state)
    assert values[-1] < values[0] and optimizer.step.item() == 20


def test_multi_optimizer():
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    start = tree_map(lambda x: x, model.parameters())
    optimizer = optim.MultiOptimizer(
        [optim.SGD(1.0), optim.SGD(0.5), optim.SGD(0.0)],
        [lambda path, g: path.endswith("bias"), lambda path, g: "layers.1" in path],
    )
    optimizer.update(model, tree_map(mx.ones_like, start))
    moved = tree_map(lambda a, b: (a - b).mean().item(), start, model.parameters())
    found = [round(value, 5) for _, value in sorted(tree_flatten(moved))]
    assert found == [1.0, 0.0, 1.0, 0.5]
    assert [s["step"].item() for s in optimizer.state["states"]] == [1, 1, 1]
    optimizer.learning_rate = 0.25
    assert [o.learning_rate.item() for o in optimizer.optimizers] == [0.25] * 3
    with pytest.raises(ValueError, match="1 filters but 0 needed"):
        optim.MultiOptimizer([optim.SGD(1.0)], [lambda *_: True])
    with pytest.raises(ValueError, match="Invalid state"):
        optimizer.state = {"states": []}


def test_multi_optimizer_of_a_model_with_gaps():
    model = nn.Sequential(nn.Linear(2, 2), nn.ReLU(), nn.Linear(2, 1))
    first = model.layers[0].weight
    optimizer = optim.MultiOptimizer(
        [optim.SGD(1.0), optim.SGD(0.0)], [lambda path, g: path == "layers.0.weight"]
    )
    for _ in range(2):
        optimizer.update(model, tree_map(mx.ones_like, model.parameters()))
    assert mx.allclose(model.layers[0].weight, first - 2)
    # An optimizer whose filter accepts nothing has no work.
    idle = optim.MultiOptimizer([optim.SGD(1.0), optim.SGD(1.0)], [lambda path, g: False])
    idle.update(model, tree_map(mx.ones_like, model.parameters()))
    assert mx.allclose(model.layers[0].weight, first - 3)


# ---- schedules ----


@pytest.mark.parametrize("kind", [int, mx.array])
def test_schedules(kind: Callable[[int], Any]):
    half_turn = [0.01 + 0.045 * (1 + math.cos(math.pi * min(s, 10) / 10)) for s in range(14)]
    joined = [
        0.025 * s if s < 4 else 0.05 * (1 + math.cos(math.pi * min(s - 4, 6) / 6))
        for s in range(14)
    ]
    cases = {
        optim.exponential_decay(0.1, 0.9): [0.1 * 0.9**s for s in range(14)],
        optim.step_decay(0.1, 0.5, 4): [0.1 * 0.5 ** (s // 4) for s in range(14)],
        optim.cosine_decay(0.1, 10, 0.01): half_turn,
        optim.linear_schedule(0.2, 0.1, 10): [0.2 - 0.01 * min(s, 10) for s in range(14)],
        optim.join_schedules(
            [optim.linear_schedule(0.0, 0.1, 4), optim.cosine_decay(0.1, 6)], [4]
        ): joined,
    }
    for schedule, wanted in cases.items():
        found = [float(np.array(schedule(kind(s)))) for s in range(14)]
        np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-8)


# ---- gradients ----


@pytest.mark.parametrize("dtype", [mx.float16, mx.float32], ids=str)
def test_clip_grad_norm(dtype: mx.Dtype):
    grads = {"a": mx.array([3.0, 0.0], dtype), "b": [mx.array([[4.0]], dtype)]}
    clipped, norm = optim.clip_grad_norm(grads, 2.5)
    assert norm.item() == 5 and norm.dtype == mx.float32
    np.testing.assert_allclose(np.array(clipped["a"]), [1.5, 0], rtol=1e-3)
    assert clipped["b"][0].dtype == dtype
    same, _ = optim.clip_grad_norm(grads, 50)
    assert same["a"].tolist() == [3, 0]
    large = {"a": mx.full((100,), 500.0).astype(mx.float16)}
    assert optim.clip_grad_norm(large, 10)[1].item() == 5000


# ---- errors ----


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: optim.SGD(0.1, nesterov=True), "Nesterov"),
        (lambda: optim.SGD(0.1, 0.9, dampening=0.1, nesterov=True), "Nesterov"),
        (lambda: optim.RMSprop(0.1, alpha=-1), "RMSprop alpha should be >=0, -1"),
        (lambda: optim.RMSprop(0.1, eps=-1), "RMSprop epsilon"),
        (lambda: optim.Adagrad(0.1, eps=-1), "Adagrad epsilon"),
        (lambda: optim.AdaDelta(0.1, rho=-1), "AdaDelta rho"),
        (lambda: optim.AdaDelta(0.1, eps=-1), "AdaDelta epsilon"),
        (lambda: optim.Adam(0.1, betas=[2, 0.9]), r"Adam beta1 should be in \[0, 1\), 2"),
        (lambda: optim.AdamW(0.1, betas=[0.9, 1]), "AdamW beta2"),
        (lambda: optim.Adamax(0.1, eps=-1), "Adamax epsilon"),
        (lambda: optim.Lion(0.1, betas=[0.9, -1]), "Lion beta2"),
        (lambda: optim.cosine_decay(0.1, 0), "decay_steps must be greater than 0, but got 0"),
        (lambda: optim.linear_schedule(0, 1, -1), "steps must be greater than 0, but got -1"),
        (lambda: optim.join_schedules([], []), "at least 1 schedule"),
        (lambda: optim.join_schedules([len], [1]), "1 boundaries but expected 0"),
    ],
)
def test_errors(make: Callable[[], Any], message: str):
    with pytest.raises(ValueError, match=message):
        make()


def test_the_base_class_does_nothing():
    for call in (
        lambda: optim.Optimizer().init_single(mx.ones(1), {}),
        lambda: optim.Optimizer().apply_single(mx.ones(1), mx.ones(1), {}),
    ):
        with pytest.raises(NotImplementedError):
            call()
