"""Modules made of other modules."""

from collections.abc import Callable
from typing import Any

from mlx.nn.layers.base import Module


class Sequential(Module):
    """Calls modules one after the other, each with the result of the one before.

    Args:
        modules: The modules, or any functions of one argument. They are in the list ``layers``.
    """

    def __init__(self, *modules: Callable[..., Any]) -> None:
        super().__init__()
        self.layers = list(modules)

    def __call__(self, x: Any) -> Any:
        for layer in self.layers:
            x = layer(x)
        return x
