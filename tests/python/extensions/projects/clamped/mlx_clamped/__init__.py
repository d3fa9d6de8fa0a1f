import mlx.core as mx  # noqa: F401

from .mlx_clamped import *  # noqa: F403
