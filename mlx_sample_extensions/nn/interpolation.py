"""Interpolation of features by distance."""

import mlx.core as mx
from mlx_sample_extensions._ext import segment_reduce
from mlx_sample_extensions._ext import sparse_vector_vector_outer_product_reduction as vvor
from mlx_sample_extensions.errors import refuse
from mlx_sample_extensions.nn.checks import check_batch, check_fits
from mlx_sample_extensions.nn.neighborhoods import Neighborhood, find_neighbors
from mlx_sample_extensions.point_clouds import Clouds

SMALLEST = 1e-8  # of squared distances


def interpolate(
    source: Clouds, target: Clouds, k: int = 3, neighbors: Neighborhood | None = None
) -> mx.array:
    """Interpolates features at the target's points: weighted means of the k nearest points.

    ``y[t] = sum over j of w[t, j] x[j] / sum over j of w[t, j]`` with
    ``w[t, j] = 1 / max(|p[t] - p[j]|^2, 1e-8)``, from Qi et al. (2017), *PointNet++*, equation 2
    with p = 2. Sums are made in float32 by ``vvor``.

    Args:
        source: Clouds with features of shape (N, C).
        target: The points of the results, in as many clouds.
        k: The number of points of a mean.
        neighbors: The result of ``find_neighbors(source, k, target)``, which is the default.

    Returns:
        Features of shape (Q, C), differentiable in features and all positions. They are zero
        in clouds without points in the source.

    Raises:
        TypeError: If source or target is no batch of point clouds.
        ValueError: If features or neighbours do not fit.
    """
    check_batch("interpolate", "source", source)
    check_batch("interpolate", "target", target)
    x = source.features
    if x is None or x.ndim != 2:
        refuse("interpolate", "source must have features of shape (points, channels).")
    if neighbors is None:
        neighbors = find_neighbors(source, k, target)
    check_fits("interpolate", neighbors, source, target)
    relative = neighbors.relative(source.positions, target.positions)
    if relative.dtype.size == 2:
        relative = relative.astype(mx.float32)
    squares = (relative**2).sum(1)
    weights = 1 / mx.maximum(squares, SMALLEST)
    sums = segment_reduce(weights, neighbors.lengths, check=False)
    shares = weights / mx.take(sums, neighbors.queries)
    y = vvor(
        shares.astype(x.dtype)[:, None, None],
        None,
        x[:, None],
        neighbors.points,
        neighbors.queries,
        neighbors.n_queries,
        check=False,
    )
    return y.reshape(neighbors.n_queries, x.shape[1])
