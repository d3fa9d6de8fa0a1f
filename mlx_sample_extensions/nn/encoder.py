"""A stack of convolutions, with subsampling between them."""

from collections.abc import Callable, Sequence

import mlx.nn as nn
from mlx_sample_extensions.errors import refuse
from mlx_sample_extensions.nn.checks import check_batch, check_positive
from mlx_sample_extensions.nn.levels import PointLevels, build_levels
from mlx_sample_extensions.nn.point_cnn import PointCNNConv
from mlx_sample_extensions.nn.pointwise import PointBatchNorm, relu
from mlx_sample_extensions.point_clouds import Clouds

REDUCTIONS = ("max", "mean", "sum", "min")


class PointCNNEncoder(nn.Module):
    """Convolution, normalisation and ReLU on each level, and subsampling by a grid between levels.

    Args:
        in_channels: The number of input features of a point.
        channels: The number of features of a point on each level, of any number of levels.
        grid_sizes: The edges of the grid's cells between levels, in the points' unit; one fewer
            than channels, or one number for the first, which doubles from level to level.
        convolution: Makes the layer of a level from in_channels and out_channels: a class such as
            ``PointCNNConv``, or ``functools.partial(PointConv, kernel_offsets=27, k=8)``.
        reduce: How features of a cell become one: "max", "mean", "sum" or "min".

    Raises:
        ValueError: If an argument is not as described.
    """

    def __init__(
        self,
        in_channels: int,
        channels: Sequence[int],
        grid_sizes: Sequence[float] | float,
        convolution: Callable[[int, int], nn.Module] = PointCNNConv,
        reduce: str = "max",
    ) -> None:
        super().__init__()
        name = "PointCNNEncoder"
        check_positive(name, "in_channels", in_channels)
        if not channels:
            refuse(name, "channels must have a number for at least one level.")
        for count in channels:
            check_positive(name, "number of channels", count)
        if isinstance(grid_sizes, (int, float)):
            grid_sizes = [grid_sizes * 2**level for level in range(len(channels) - 1)]
        if len(grid_sizes) != len(channels) - 1:
            refuse(
                name,
                f"grid_sizes must have one number fewer than channels, {len(channels) - 1}, but "
                f"there are {len(grid_sizes)}.",
            )
        if not all(0 < size < float("inf") for size in grid_sizes):
            refuse(
                name, f"Invalid grid_sizes {list(grid_sizes)}: they must be finite and positive."
            )
        if reduce not in REDUCTIONS:
            refuse(name, f"Invalid reduce {reduce!r}: it must be one of {REDUCTIONS}.")
        self.convolutions = [convolution(a, b) for a, b in zip([in_channels, *channels], channels)]
        self.norms = [PointBatchNorm(count) for count in channels]
        self.grid_sizes = tuple(float(size) for size in grid_sizes)
        self.reduce = reduce

    def _extra_repr(self) -> str:
        return f"grid_sizes={list(self.grid_sizes)}, reduce={self.reduce!r}"

    def levels(self, batch: Clouds, upwards: int = 0) -> PointLevels:
        """Computes the levels of a batch, or returns those that it has cached.

        Evaluates the positions.

        Args:
            batch: Clouds.
            upwards: The number of neighbours in the next level to find for each point, which a
                decoder needs.
        """
        check_batch("PointCNNEncoder", "batch", batch)
        key = ("levels", id(self), upwards)
        if key not in batch._structures:
            finders = [convolution.neighborhood for convolution in self.convolutions]
            levels = build_levels(batch, finders, self.grid_sizes, upwards)
            # The reference to the encoder keeps others from getting its id.
            batch._structures[key] = self, levels
        return batch._structures[key][1]

    def __call__(self, batch: Clouds, levels: PointLevels | None = None) -> list[Clouds]:
        """Computes the outputs of all levels, the finest first.

        Args:
            batch: Clouds with features of shape (T, in_channels).
            levels: The result of :meth:`levels`, which is called by default. Compiled functions
                need it as an argument.

        Returns:
            A batch for each level, with features of shape (points of the level, its channels).

        Raises:
            TypeError: If batch is no batch of point clouds.
            ValueError: If features or levels do not fit.
        """
        levels = self.levels(batch) if levels is None else levels
        if len(levels) != len(self.convolutions):
            refuse(
                "PointCNNEncoder",
                f"There must be {len(self.convolutions)} levels, but there are {len(levels)}.",
            )
        # The levels' lengths: those of the batch are constants in a compiled function.
        check_batch("PointCNNEncoder", "batch", batch)
        batch = batch._make(batch.positions, batch.features, levels.lengths[0])
        outputs = []
        for number, convolution in enumerate(self.convolutions):
            if number:
                batch = levels.coarser(batch, number - 1, self.reduce)
            batch = convolution(batch, neighbors=levels.neighbors[number])
            batch = relu(self.norms[number](batch))
            outputs.append(batch)
        return outputs
