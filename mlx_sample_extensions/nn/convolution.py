"""Convolution of points with a matrix for each cell of a kernel."""

import math

import mlx.core as mx
import mlx.nn as nn
from mlx_sample_extensions._ext import sparse_matrix_vector_multiplication_reduction as mvmr
from mlx_sample_extensions.errors import refuse
from mlx_sample_extensions.nn.checks import check_fits, check_positive, checked_features
from mlx_sample_extensions.nn.neighborhoods import Neighborhood, find_neighbors
from mlx_sample_extensions.point_clouds import Clouds


class PointConv(nn.Module):
    """Sums the products of each neighbour's features with the matrix of its kernel cell.

    ``y[k] = sum over triplets (i, j, k) of weight[i] @ x[j] + bias``, in each group of channels on
    its own. As in PointCNN++, points keep their positions instead of being rounded to voxels; a
    neighbour's cell i is computed from its relative position (see :func:`find_neighbors`). The
    triplets are sorted by output once per batch, and ``mvmr`` sums the products without storing
    them. ``mvmr`` also computes the gradient of the features, and ``vvor`` that of the weights.
    16-bit sums are made in float32. Positions have no gradient.

    ``weight`` has shape (kernel_offsets, groups, out_channels / groups, in_channels / groups) and
    starts uniformly between +-sqrt(3 / (k in_channels / groups)), so that k neighbours give outputs of
    the inputs' variance; ``bias`` has shape (out_channels,) and starts at 0.

    Args:
        in_channels: The number of input features of a point.
        out_channels: The number of output features of a point.
        kernel_offsets: The number of kernel cells: n^D for points with D coordinates.
        groups: The number of groups of channels; it must divide both numbers of channels.
        k: The largest number of neighbours of a point, itself included.
        radius: The largest distance of a neighbour; by default there is none.
        bias: Whether there is a ``bias``.

    Raises:
        ValueError: If an argument is not as described.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        kernel_offsets: int = 27,
        groups: int = 1,
        *,
        k: int = 16,
        radius: float | None = None,
        bias: bool = True,
    ) -> None:
        super().__init__()
        for name in ("in_channels", "out_channels", "kernel_offsets", "groups", "k"):
            check_positive("PointConv", name, locals()[name])
        if in_channels % groups or out_channels % groups:
            refuse(
                "PointConv",
                f"groups ({groups}) must divide in_channels ({in_channels}) and out_channels "
                f"({out_channels}).",
            )
        self.in_channels, self.out_channels = in_channels, out_channels
        self.kernel_offsets, self.groups = kernel_offsets, groups
        self.k, self.radius = k, radius
        scale = math.sqrt(3 * groups / (k * in_channels))
        shape = (kernel_offsets, groups, out_channels // groups, in_channels // groups)
        self.weight = mx.random.uniform(-scale, scale, shape)
        if bias:
            self.bias = mx.zeros((out_channels,))

    def _extra_repr(self) -> str:
        return (
            f"{self.in_channels}, {self.out_channels}, kernel_offsets={self.kernel_offsets}, "
            f"groups={self.groups}, k={self.k}, radius={self.radius}, bias={'bias' in self}"
        )

    def neighborhood(self, batch: Clouds, queries: Clouds | None = None) -> Neighborhood:
        """The triplets of a batch: an argument for calls of the layer in compiled functions."""
        return find_neighbors(
            batch, self.k, queries, radius=self.radius, kernel_offsets=self.kernel_offsets
        )

    def __call__(
        self, batch: Clouds, queries: Clouds | None = None, neighbors: Neighborhood | None = None
    ) -> Clouds:
        """Computes the outputs.

        Args:
            batch: Clouds with features of shape (N, in_channels).
            queries: The points of the outputs, in as many clouds; by default the batch's points.
            neighbors: The result of :meth:`neighborhood`, which is called by default.

        Returns:
            The queries with features of shape (Q, out_channels), zero but for the bias where a
            query has no neighbour. They have the features' type if the weights have it.

        Raises:
            TypeError: If batch or queries is no batch of point clouds.
            ValueError: If features or neighbours do not fit.
        """
        x = checked_features("PointConv", batch, self.in_channels)
        queries = batch if queries is None else queries
        if neighbors is None:
            neighbors = self.neighborhood(batch, queries)
        check_fits("PointConv", neighbors, batch, queries)
        if neighbors.cells is None:
            refuse("PointConv", "neighbors must have kernel cells: see find_neighbors.")
        y = mvmr(
            self.weight,
            neighbors.cells,
            x.reshape(x.shape[0], self.groups, self.in_channels // self.groups),
            neighbors.points,
            neighbors.queries,
            neighbors.n_queries,
            check=False,
        ).reshape(neighbors.n_queries, self.out_channels)
        return queries.replace(queries.positions, y + self.bias if "bias" in self else y)
