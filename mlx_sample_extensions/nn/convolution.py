"""Convolution of points with a matrix for each cell of a kernel."""

import math

import mlx.core as mx
import mlx.nn as nn
from mlx_sample_extensions._ext import sparse_matrix_vector_multiplication_reduction as mvmr
from mlx_sample_extensions.nn.checks import check_fits, check_positive, checked_features, refuse
from mlx_sample_extensions.nn.neighborhoods import Neighborhood, find_neighbors
from mlx_sample_extensions.point_clouds import Clouds


class PointConv(nn.Module):
    """Multiplies each neighbour's features with the matrix of its kernel cell, and adds up.

    ``y[k] = sum over triplets (i, j, k) of weight[i] @ x[j] + bias``, in each group of channels on
    its own. Points stay where they are in space, as in PointCNN++: nothing is put into voxels. A
    neighbour's cell i follows from its relative position as :func:`find_neighbors` says. The
    triplets are sorted by output once a batch, and ``mvmr`` sums the products without storing any.
    Gradients of features are ``mvmr``'s, too, and those of the weights ``vvor``'s. 16-bit sums are
    made in float32. Positions have no gradient.

    ``weight`` has shape (kernel_offsets, groups, out_channels / groups, in_channels / groups) and
    starts uniformly between +-sqrt(3 / (k in_channels / groups)), so that k neighbours give outputs of
    the inputs' variance; ``bias`` has shape (out_channels,) and starts at 0.

    Args:
        in_channels: Features of a point before.
        out_channels: Features of a point behind.
        kernel_offsets: The number of kernel cells: n^D for points with D coordinates.
        groups: Into how many groups channels are divided; it must divide both numbers.
        k: The most neighbours that a point sees; itself is one of them.
        radius: How far they may be away; by default as far as the k nearest are.
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
        """The triplets of a batch, to be given to the layer where it is compiled."""
        return find_neighbors(
            batch, self.k, queries, radius=self.radius, kernel_offsets=self.kernel_offsets
        )

    def __call__(
        self, batch: Clouds, queries: Clouds | None = None, neighbors: Neighborhood | None = None
    ) -> Clouds:
        """The batch of the outputs.

        Args:
            batch: Clouds with features of shape (N, in_channels).
            queries: Where outputs are, as many clouds: by default where the batch's points are.
            neighbors: What :meth:`neighborhood` gave for these; by default it is called.

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
