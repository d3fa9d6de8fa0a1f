"""The levels of a batch, from fine to coarse, and the indices that connect them."""

from collections.abc import Callable, Sequence
from typing import Any

import mlx.core as mx
import mlx.utils
from mlx_sample_extensions._ext import scatter
from mlx_sample_extensions.nn.neighborhoods import Neighborhood, find_neighbors
from mlx_sample_extensions.point_clouds import Clouds
from mlx_sample_extensions.subsampling import grid_subsample


class PointLevels:
    """The levels of a batch in :class:`PointCNNEncoder` and :class:`PointUNet`, and all neighbours.

    Made by their ``levels`` once per batch. A tree for transformations with its arrays as children,
    so that compiled functions can take it as an argument.

    Attributes:
        neighbors: The neighbours in each level, the finest first.
        lengths: Points of each cloud in each level, arrays of shape (B,).
        cells: For each level but the last: the point of the next level that contains each, (T,).
        upwards: For each level but the last: its points' neighbours in the next. May be empty.
    """

    def __init__(
        self,
        neighbors: list[Neighborhood],
        lengths: list[mx.array],
        cells: list[mx.array],
        upwards: list[Neighborhood],
    ) -> None:
        self.neighbors, self.lengths, self.cells = neighbors, lengths, cells
        self.upwards = upwards

    def __len__(self) -> int:
        return len(self.neighbors)

    def __repr__(self) -> str:
        return f"PointLevels({[found.n_points for found in self.neighbors]} points)"

    def coarser(self, batch: Clouds, level: int, reduce: str) -> Clouds:
        """The next level's batch: means of positions, and features reduced as ``scatter`` does."""
        count = self.neighbors[level + 1].n_points
        cells = self.cells[level]
        positions = scatter(batch.positions, cells, 0, count, "mean", check=False)
        features = scatter(batch.features, cells, 0, count, reduce, check=False)
        return batch._make(positions, features, self.lengths[level + 1])


def build_levels(
    batch: Clouds,
    neighborhoods: Sequence[Callable[[Clouds], Neighborhood]],
    grid_sizes: Sequence[float],
    upwards: int,
) -> PointLevels:
    """Levels by grids of ever larger cells, with a search for neighbours in each.

    Args:
        batch: The finest level.
        neighborhoods: A function for each level that finds neighbours.
        grid_sizes: The edges of the cells between levels, one fewer.
        upwards: The number of neighbours in the next level of each point; 0 for none.
    """
    levels = PointLevels([], [], [], [])
    for number, find in enumerate(neighborhoods):
        levels.neighbors.append(find(batch))
        levels.lengths.append(batch.lengths)
        if number == len(grid_sizes):
            break
        positions, _, lengths, cells = grid_subsample(
            mx.stop_gradient(batch.positions).astype(mx.float32),
            grid_sizes[number],
            lengths=batch.lengths,
            check=False,
        )
        levels.cells.append(cells)
        coarse = batch._make(positions, None, lengths)
        if upwards:
            levels.upwards.append(find_neighbors(coarse, upwards, batch))
        batch = coarse
    mx.eval(levels)
    return levels


def _flatten(levels: PointLevels) -> tuple[dict[str, Any], None]:
    return dict(vars(levels)), None


def _unflatten(children: dict[str, Any], rest: None) -> PointLevels:
    return PointLevels(**children)


mlx.utils.register_tree_class(PointLevels, _flatten, _unflatten)
