"""SwiGLU as one operation."""

import mlx.core  # noqa: F401  # whose library the extension needs

from mlx_swiglu._ext import swiglu

__all__ = ["swiglu"]
