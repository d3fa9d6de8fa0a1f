"""Layers and models, losses, initial values, and gradients with respect to parameters."""

from mlx.nn import init, layers, losses
from mlx.nn.layers import *  # noqa: F403
from mlx.nn.layers import (
    activations,
    base,
    containers,
    convolution,
    convolution_transpose,
    distributed,
    dropout,
    embedding,
    linear,
    normalization,
    pooling,
    positional_encoding,
    quantized,
    recurrent,
    transformer,
    upsample,
)
from mlx.nn.utils import average_gradients, value_and_grad

__all__ = ["average_gradients", "init", "losses", "value_and_grad"]
__all__ += layers.__all__
# The files of the layers, which are at this place in MLX as well.
__all__ += [
    "activations",
    "base",
    "containers",
    "convolution",
    "convolution_transpose",
    "distributed",
    "dropout",
    "embedding",
    "linear",
    "normalization",
    "pooling",
    "positional_encoding",
    "quantized",
    "recurrent",
    "transformer",
    "upsample",
]
