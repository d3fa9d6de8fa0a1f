"""PointCNN's convolution: an MLP on the features and positions of neighbours."""

import mlx.core as mx
import mlx.nn as nn
from mlx_sample_extensions._ext import segment_reduce
from mlx_sample_extensions.errors import refuse
from mlx_sample_extensions.nn.checks import check_fits, check_positive, checked_features
from mlx_sample_extensions.nn.neighborhoods import Neighborhood, find_neighbors
from mlx_sample_extensions.point_clouds import Clouds

AGGREGATIONS = ("max", "mean", "sum")


class PointCNNConv(nn.Module):
    """Combines the features and the relative positions of each point's neighbours.

    Relative positions p are lifted by an MLP with one hidden layer, f = lift(p). Then a network of
    two layers takes each neighbour's lifted position and features, and its outputs are aggregated:
    ``y[k] = max over j of out(relu(from_features(x[j]) + from_positions(f[j, k])))``. The sum
    equals a linear layer on both concatenated, but the features' part is computed once per point.

    With ``x_transformation`` it is the X-Conv of Li et al. (2018), *PointCNN: convolution on
    X-transformed points*, Algorithm 1: an MLP makes a matrix X of shape (k, k) of all k relative
    positions, and ``y[k] = out(X @ [f, x])``, where ``out`` is a linear layer on all k rows.
    Neighbours are sorted by distance, so the order of points has no effect; missing ones are zero.

    Args:
        in_channels: The number of input features of a point.
        out_channels: The number of output features of a point.
        dims: The number of coordinates of a point, D.
        k: The largest number of neighbours of a point, itself included.
        radius: The largest distance of a neighbour; relative positions are divided by it.
        hidden_channels: The width of the hidden layer.
        lift_channels: The number of features that relative positions are lifted to.
        aggregation: "max", "mean" or "sum" over neighbours; unused by the X-transformation.
        x_transformation: Whether to use it.

    Raises:
        ValueError: If an argument is not as described.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        *,
        dims: int = 3,
        k: int = 16,
        radius: float | None = None,
        hidden_channels: int = 64,
        lift_channels: int = 16,
        aggregation: str = "max",
        x_transformation: bool = False,
    ) -> None:
        super().__init__()
        name = "PointCNNConv"
        sizes = ("in_channels", "out_channels", "dims", "k", "hidden_channels", "lift_channels")
        for argument in sizes:
            check_positive(name, argument, locals()[argument])
        if aggregation not in AGGREGATIONS:
            refuse(name, f"Invalid aggregation {aggregation!r}: it must be one of {AGGREGATIONS}.")
        self.in_channels, self.out_channels = in_channels, out_channels
        self.dims, self.k, self.radius = dims, k, radius
        self.aggregation, self.x_transformation = aggregation, x_transformation
        self.lift = _mlp(dims, lift_channels, lift_channels)
        if x_transformation:
            self.transform = _mlp(k * dims, k * k, k * k)
            self.out = nn.Linear(k * (lift_channels + in_channels), out_channels)
        else:
            self.from_features = nn.Linear(in_channels, hidden_channels)
            self.from_positions = nn.Linear(lift_channels, hidden_channels, bias=False)
            self.out = nn.Linear(hidden_channels, out_channels)

    def _extra_repr(self) -> str:
        return (
            f"{self.in_channels}, {self.out_channels}, dims={self.dims}, k={self.k}, "
            f"radius={self.radius}, aggregation={self.aggregation!r}, "
            f"x_transformation={self.x_transformation}"
        )

    def neighborhood(self, batch: Clouds, queries: Clouds | None = None) -> Neighborhood:
        """The neighbours in a batch: an argument for calls of the layer in compiled functions."""
        return find_neighbors(batch, self.k, queries, radius=self.radius)

    def __call__(
        self, batch: Clouds, queries: Clouds | None = None, neighbors: Neighborhood | None = None
    ) -> Clouds:
        """Computes the outputs.

        Args:
            batch: Clouds with positions of shape (N, dims) and features of shape (N, in_channels).
            queries: The points of the outputs, in as many clouds; by default the batch's points.
            neighbors: The result of :meth:`neighborhood`, which is called by default.

        Returns:
            The queries with features of shape (Q, out_channels), differentiable in features and
            positions. Without the X-transformation, a query without neighbours has zeros.

        Raises:
            TypeError: If batch or queries is no batch of point clouds.
            ValueError: If positions, features or neighbours do not fit.
        """
        name = "PointCNNConv"
        x = checked_features(name, batch, self.in_channels)
        queries = batch if queries is None else queries
        if batch.positions.shape[1] != self.dims:
            refuse(
                name,
                f"The batch's positions must have shape (points, {self.dims}), but they have shape "
                f"{batch.positions.shape}.",
            )
        if neighbors is None:
            neighbors = self.neighborhood(batch, queries)
        check_fits(name, neighbors, batch, queries)
        relative = neighbors.relative(batch.positions, queries.positions).astype(x.dtype)
        y = (self._x_conv if self.x_transformation else self._combine)(x, relative, neighbors)
        return queries.replace(queries.positions, y)

    def _combine(self, x: mx.array, relative: mx.array, neighbors: Neighborhood) -> mx.array:
        of_points = mx.take(self.from_features(x), neighbors.points, 0)
        pairs = self.out(nn.relu(of_points + self.from_positions(self.lift(relative))))
        return segment_reduce(pairs, neighbors.lengths, self.aggregation, check=False)

    def _x_conv(self, x: mx.array, relative: mx.array, neighbors: Neighborhood) -> mx.array:
        count, k = neighbors.n_queries, neighbors.k
        pairs = mx.concatenate([self.lift(relative), mx.take(x, neighbors.points, 0)], 1)
        flat = neighbors.padded(relative).reshape(count, k * self.dims)
        matrices = self.transform(flat).reshape(count, k, k)
        return self.out((matrices @ neighbors.padded(pairs)).reshape(count, k * pairs.shape[1]))


def _mlp(inputs: int, hidden: int, outputs: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inputs, hidden), nn.ReLU(), nn.Linear(hidden, outputs))
