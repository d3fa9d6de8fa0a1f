"""Layers and models, losses, initial values, and gradients with respect to parameters."""

from mlx.nn import init, layers, losses
from mlx.nn.layers import *  # noqa: F403
from mlx.nn.utils import average_gradients, value_and_grad

__all__ = ["average_gradients", "init", "losses", "value_and_grad"]
__all__ += layers.__all__
