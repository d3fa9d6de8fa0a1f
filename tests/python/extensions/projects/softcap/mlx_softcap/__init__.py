import mlx.core as mx  # noqa: F401

from ._ext import capped_rows, softcap  # noqa: F401
