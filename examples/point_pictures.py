"""Pictures of train_points.py's results: confusion matrices and coloured clouds."""

from pathlib import Path

import numpy as np


def draw_confusion(matrix: np.ndarray, classes: list[str], path: Path) -> None:
    """Draws a confusion matrix: rows are labels, columns predictions. Needs matplotlib."""
    figure, axes = _figure(6, 6)
    shares = matrix / np.maximum(matrix.sum(1, keepdims=True), 1)
    axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    for row, column in np.ndindex(*matrix.shape):
        if matrix[row, column]:
            colour = "white" if shares[row, column] > 0.5 else "black"
            text = str(matrix[row, column])
            axes.text(column, row, text, ha="center", va="center", color=colour, fontsize=8)
    places = range(len(classes))
    axes.set_xticks(places, classes, rotation=45, ha="right")
    axes.set_yticks(places, classes)
    axes.set_xlabel("predicted")
    axes.set_ylabel("true")
    _save(figure, path)


def draw_clouds(clouds: list[tuple[str, np.ndarray, np.ndarray]], path: Path) -> None:
    """Draws clouds: a title, positions of two or three coordinates, and values for colours."""
    from matplotlib.figure import Figure

    columns = min(4, len(clouds))
    rows = -(-len(clouds) // columns)
    figure = Figure(figsize=(3.2 * columns, 3.2 * rows))
    for number, (title, positions, colours) in enumerate(clouds, 1):
        flat = positions.shape[1] == 2
        axes = figure.add_subplot(rows, columns, number, projection=None if flat else "3d")
        size = 60 if flat else 4
        integers = np.issubdtype(colours.dtype, np.integer)
        if integers:
            axes.scatter(*positions.T, c=colours, cmap="tab10", vmin=0, vmax=9, s=size)
        else:
            axes.scatter(*positions.T, c=colours, cmap="viridis", s=size)
        axes.set_title(title, fontsize=9)
        axes.set_aspect("equal")
        axes.set_axis_off()
    _save(figure, path)


def _figure(width: float, height: float):
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height))
    return figure, figure.add_subplot()


def _save(figure, path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110, bbox_inches="tight")
