"""Sample operations in C++ and Metal, built on the array library from outside."""

import mlx.core  # noqa: F401  # whose library the extension needs
from mlx_sample_extensions._ext import (
    axpby,
    grid_sample,
    indexed_distance,
    indexed_segment_reduce,
    knn,
    paired_distance,
    radius_search,
    repeat_interleave,
    scatter,
    segment_reduce,
)

__all__ = [
    "axpby",
    "grid_sample",
    "indexed_distance",
    "indexed_segment_reduce",
    "knn",
    "paired_distance",
    "radius_search",
    "repeat_interleave",
    "scatter",
    "segment_reduce",
]
