"""A decoder from the coarsest level to the finest, and the U-shaped network."""

from collections.abc import Callable, Sequence

import mlx.core as mx
import mlx.nn as nn
from mlx_sample_extensions.errors import refuse
from mlx_sample_extensions.nn.checks import check_positive
from mlx_sample_extensions.nn.encoder import PointCNNEncoder
from mlx_sample_extensions.nn.interpolation import interpolate
from mlx_sample_extensions.nn.levels import PointLevels
from mlx_sample_extensions.nn.point_cnn import PointCNNConv
from mlx_sample_extensions.nn.pointwise import PointMLP
from mlx_sample_extensions.point_clouds import Clouds


class PointCNNDecoder(nn.Module):
    """Interpolates features from the coarsest level to the finest, level by level.

    Each step interpolates by distance (:func:`interpolate`), concatenates the encoder's features of
    the finer level, and applies a :class:`PointMLP`: the feature propagation of Qi et al. (2017),
    *PointNet++*.

    Args:
        channels: The number of features on each of the encoder's levels, the finest first.

    Raises:
        ValueError: If there are none.
    """

    def __init__(self, channels: Sequence[int]) -> None:
        super().__init__()
        if not channels:
            refuse("PointCNNDecoder", "channels must have a number for at least one level.")
        self.steps = [PointMLP(a + b, a) for a, b in zip(channels, channels[1:])]

    def __call__(self, outputs: Sequence[Clouds], levels: PointLevels) -> Clouds:
        """Computes the finest level, with features of shape (T, channels[0]).

        Args:
            outputs: The encoder's outputs.
            levels: Levels with ``upwards``.

        Raises:
            ValueError: If outputs or levels do not fit.
        """
        wanted = len(self.steps)
        if len(outputs) != wanted + 1 or len(levels.upwards) != wanted:
            refuse(
                "PointCNNDecoder",
                f"There must be {wanted + 1} outputs, and levels with {wanted} upwards, but there "
                f"are {len(outputs)} and {len(levels.upwards)}.",
            )
        batch = outputs[-1]
        for number in reversed(range(wanted)):
            finer = outputs[number]
            below = interpolate(batch, finer, neighbors=levels.upwards[number])
            both = mx.concatenate([finer.features, below], 1)
            batch = self.steps[number](finer.replace(finer.positions, both))
        return batch


class PointUNet(nn.Module):
    """An encoder, a decoder with skip connections, and a linear layer on each point.

    The shape is that of Ronneberger et al. (2015), *U-Net*.

    Args:
        in_channels: The number of input features of a point.
        out_channels: The number of output features of a point.
        channels: See :class:`PointCNNEncoder`.
        grid_sizes: See :class:`PointCNNEncoder`.
        convolution: See :class:`PointCNNEncoder`.
        reduce: See :class:`PointCNNEncoder`.
        k: The number of points to interpolate from.

    Raises:
        ValueError: If an argument is not as described.
    """

    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        channels: Sequence[int],
        grid_sizes: Sequence[float] | float,
        convolution: Callable[[int, int], nn.Module] = PointCNNConv,
        reduce: str = "max",
        k: int = 3,
    ) -> None:
        super().__init__()
        check_positive("PointUNet", "out_channels", out_channels)
        check_positive("PointUNet", "k", k)
        self.encoder = PointCNNEncoder(in_channels, channels, grid_sizes, convolution, reduce)
        self.decoder = PointCNNDecoder(channels)
        self.out = nn.Linear(channels[0], out_channels)
        self.k = k

    def levels(self, batch: Clouds) -> PointLevels:
        """The levels of a batch: see :meth:`PointCNNEncoder.levels`."""
        return self.encoder.levels(batch, upwards=self.k)

    def __call__(self, batch: Clouds, levels: PointLevels | None = None) -> Clouds:
        """Computes the batch with features of shape (T, out_channels).

        Args:
            batch: Clouds with features of shape (T, in_channels).
            levels: The result of :meth:`levels`, which is called by default.
        """
        levels = self.levels(batch) if levels is None else levels
        fine = self.decoder(self.encoder(batch, levels), levels)
        return fine.replace(fine.positions, self.out(fine.features))
