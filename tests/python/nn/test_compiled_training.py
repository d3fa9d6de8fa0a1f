"""A training step is compiled with the model, the optimizer and the random numbers as its state."""

from functools import partial

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import pytest
from mlx.utils import tree_flatten

OPTIMIZERS = {
    "SGD": lambda: optim.SGD(0.1),
    "momentum": lambda: optim.SGD(optim.cosine_decay(0.1, 20), momentum=0.9, weight_decay=1e-3),
    "Adam": lambda: optim.Adam(optim.linear_schedule(1e-3, 1e-2, 4), bias_correction=True),
    "AdamW": lambda: optim.AdamW(1e-2),
    "Adamax": lambda: optim.Adamax(1e-2),
    "RMSprop": lambda: optim.RMSprop(1e-2),
    "Adagrad": lambda: optim.Adagrad(1e-1),
    "AdaDelta": lambda: optim.AdaDelta(1.0),
    "Lion": lambda: optim.Lion(1e-3),
    "Adafactor": lambda: optim.Adafactor(),
    "Muon": lambda: optim.Muon(1e-2),
    "several": lambda: optim.MultiOptimizer(
        [optim.SGD(0.1), optim.Adam(1e-2)], [lambda path, _: "bias" in path]
    ),
}


def train(make_optimizer, compiled: bool, initialized: bool) -> tuple[list[float], dict]:
    """Losses of some steps, and the final state of the model and the optimizer."""
    mx.random.seed(3)
    model = nn.Sequential(
        nn.Linear(8, 16),
        nn.BatchNorm(16),
        nn.GELU(),
        nn.Dropout(0.2),
        nn.LayerNorm(16),
        nn.Linear(16, 1),
    )
    optimizer = make_optimizer()
    if initialized:
        optimizer.init(model.trainable_parameters())
    x = mx.random.normal((32, 8))
    y = mx.sum(x, axis=-1, keepdims=True)
    loss_and_grad = nn.value_and_grad(model, lambda model: nn.losses.mse_loss(model(x), y))
    state = [model.state, optimizer.state, mx.random.state]

    def step():
        loss, gradients = loss_and_grad(model)
        optimizer.update(model, gradients)
        return loss

    if compiled:
        step = partial(mx.compile, inputs=state, outputs=state)(step)
    losses = [step().item() for _ in range(5)]
    left = dict(tree_flatten([model.state, optimizer.state]))
    return losses, {name: value.tolist() for name, value in left.items()}


@pytest.mark.parametrize("initialized", [True, False])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_steps_are_the_same(name: str, initialized: bool, monkeypatch):
    monkeypatch.setenv("MLX_COMPILE_BACKGROUND", "0")
    plain = train(OPTIMIZERS[name], False, initialized)
    compiled = train(OPTIMIZERS[name], True, initialized)
    assert plain[0] == compiled[0]
    assert plain[1] == compiled[1]
