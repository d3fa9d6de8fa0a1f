"""Typical models and optimizers, for mypy --strict and for Python."""

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
from mlx.nn.layers.base import Module
from mlx.utils import tree_flatten


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(2, 3)
        self.layers: list[nn.Module] = [nn.Linear(3, 3)]

    def __call__(self, x: mx.array) -> mx.array:
        return nn.relu(self.first(x))


model = Model()
opt = optim.AdamW(learning_rate=optim.cosine_decay(0.1, 10))
step = nn.value_and_grad(model, lambda x: nn.losses.mse_loss(model(x), mx.zeros((1, 3))))
value, grads = step(mx.ones((1, 2)))
opt.update(model, grads)
m: Module = model.freeze(keys="bias")
weights: dict[str, mx.array] = tree_flatten(m.parameters(), destination={})
assert sorted(weights) == ["first.bias", "first.weight", "layers.0.bias", "layers.0.weight"]
assert opt.learning_rate.item() > 0
