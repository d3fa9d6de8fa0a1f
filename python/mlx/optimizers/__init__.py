"""Optimizers and schedules of learning rates."""

# Nothing here uses these names. MLX's module has them, and programs import them from it.
from collections.abc import Callable  # noqa: F401
from typing import List, Optional, Tuple, Union  # noqa: F401, UP035

from mlx.nn.layers.base import Module  # noqa: F401
from mlx.optimizers import optimizers, schedulers
from mlx.optimizers.optimizers import *  # noqa: F403
from mlx.optimizers.schedulers import *  # noqa: F403
from mlx.utils import tree_flatten, tree_map, tree_merge, tree_reduce, tree_unflatten  # noqa: F401

__all__: list[str] = []
__all__ += optimizers.__all__
__all__ += schedulers.__all__
