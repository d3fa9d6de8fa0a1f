"""From coarse levels back to every point."""

from collections.abc import Callable, Sequence

import mlx.core as mx
import mlx.nn as nn
from mlx_sample_extensions.nn.checks import check_positive, refuse
from mlx_sample_extensions.nn.encoder import PointCNNEncoder
from mlx_sample_extensions.nn.interpolation import interpolate
from mlx_sample_extensions.nn.levels import PointLevels
from mlx_sample_extensions.nn.point_cnn import PointCNNConv
from mlx_sample_extensions.nn.pointwise import PointMLP
from mlx_sample_extensions.point_clouds import Clouds


class PointCNNDecoder(nn.Module):
    """Brings the features of the coarsest level back to the finest, from level to level.

    Each step interpolates by distance (:func:`interpolate`), puts the encoder's features of the
    finer level beside, and applies a :class:`PointMLP`, as the feature propagation of Qi et al.
    (2017), *PointNet++*, does.

    Args:
        channels: Features of a point on each of the encoder's levels, the finest first.

    Raises:
        ValueError: If there are none.
    """

    def __init__(self, channels: Sequence[int]) -> None:
        super().__init__()
        if not channels:
            refuse("PointCNNDecoder", "channels must have a number for at least one level.")
        self.steps = [PointMLP(a + b, a) for a, b in zip(channels, channels[1:])]

    def __call__(self, outputs: Sequence[Clouds], levels: PointLevels) -> Clouds:
        """The finest level with features of shape (T, channels[0]).

        Args:
            outputs: What the encoder returned for the levels.
            levels: Levels that were made with ``upwards``.

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
    """An encoder, a decoder with a way across on each level, and a linear layer: for each point.

    The shape is that of Ronneberger et al. (2015), *U-Net*.

    Args:
        in_channels: Features of a point before.
        out_channels: Features of a point behind.
        channels: As of :class:`PointCNNEncoder`, as are all below.
        grid_sizes: See there.
        convolution: See there.
        reduce: See there.
        k: Of how many points of the next level features are interpolated.

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
        """The batch with features of shape (T, out_channels).

        Args:
            batch: Clouds with features of shape (T, in_channels).
            levels: What :meth:`levels` gave for the batch; by default it is called.
        """
        levels = self.levels(batch) if levels is None else levels
        fine = self.decoder(self.encoder(batch, levels), levels)
        return fine.replace(fine.positions, self.out(fine.features))
