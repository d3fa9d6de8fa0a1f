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
    sparse_matrix_vector_multiplication_reduction,
    sparse_vector_vector_outer_product_reduction,
)
from mlx_sample_extensions.point_clouds import OffsetPointCloudBatch, PointCloudBatch
from mlx_sample_extensions.subsampling import grid_subsample

mvmr = sparse_matrix_vector_multiplication_reduction
vvor = sparse_vector_vector_outer_product_reduction

__all__ = [
    "OffsetPointCloudBatch",
    "PointCloudBatch",
    "axpby",
    "grid_sample",
    "grid_subsample",
    "indexed_distance",
    "indexed_segment_reduce",
    "knn",
    "mvmr",
    "paired_distance",
    "radius_search",
    "repeat_interleave",
    "scatter",
    "segment_reduce",
    "sparse_matrix_vector_multiplication_reduction",
    "sparse_vector_vector_outer_product_reduction",
    "vvor",
]
