"""grid_sample in NumPy, in double precision: values are weighted sums of pixels."""

import numpy as np


def unnormalise(c: np.ndarray, size: int, align: bool) -> np.ndarray:
    return (c + 1) / 2 * (size - 1) if align else ((c + 1) * size - 1) / 2


def reflect(u: np.ndarray, size: int, align: bool) -> np.ndarray:
    low, span = (0.0, size - 1.0) if align else (-0.5, float(size))
    if span <= 0:
        return np.zeros_like(u)
    rest = np.mod(u - low, 2 * span)
    return low + np.minimum(rest, 2 * span - rest)


def pad(u: np.ndarray, size: int, padding: str, align: bool) -> np.ndarray:
    if padding == "reflection":
        u = reflect(u, size, align)
    return u if padding == "zeros" else np.clip(u, 0, size - 1)


def cubic(distance: np.ndarray) -> np.ndarray:
    a, d = -0.75, np.abs(distance)
    near = (a + 2) * d**3 - (a + 3) * d**2 + 1
    far = a * d**3 - 5 * a * d**2 + 8 * a * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def taps(c: np.ndarray, size: int, mode: str, padding: str, align: bool) -> list:
    """Pairs of pixel indices (-1: none) and weights."""
    u = unnormalise(c, size, align)
    if mode != "bicubic":
        u = pad(u, size, padding, align)
    if mode == "nearest":
        pairs = [(np.rint(u), np.ones_like(u))]
    elif mode == "bilinear":
        pairs = [(np.floor(u) + k, 1 - np.abs(u - np.floor(u) - k)) for k in (0, 1)]
    else:
        pairs = [(np.floor(u) + k, cubic(u - np.floor(u) - k)) for k in (-1, 0, 1, 2)]
    result = []
    for index, weight in pairs:
        if mode == "bicubic":
            index = pad(index, size, padding, align)
        inside = (index >= 0) & (index <= size - 1)
        result.append((np.where(inside, index, 0).astype(int), np.where(inside, weight, 0)))
    return result


def grid_sample(x, grid, mode="bilinear", padding="zeros", align=False) -> np.ndarray:
    x, grid = x.astype(np.float64), grid.astype(np.float64)
    image = np.arange(len(x))[:, None, None]
    out = np.zeros((*grid.shape[:3], x.shape[3]))
    for column, column_weight in taps(grid[..., 0], x.shape[2], mode, padding, align):
        for row, row_weight in taps(grid[..., 1], x.shape[1], mode, padding, align):
            out += (column_weight * row_weight)[..., None] * x[image, row, column]
    return out


def gradients(
    x, grid, cotangent, mode="bilinear", padding="zeros", align=False
) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of sum(cotangent * grid_sample(x, grid)): exact in x, differences in grid."""
    x, grid = x.astype(np.float64), grid.astype(np.float64)
    how = (mode, padding, align)
    step = 1e-6
    grid_grad = np.zeros_like(grid)
    for axis in (0, 1):
        by = np.zeros(2)
        by[axis] = step
        change = grid_sample(x, grid + by, *how) - grid_sample(x, grid - by, *how)
        grid_grad[..., axis] = (cotangent * change).sum(-1) / (2 * step)
    x_grad = np.zeros_like(x)
    image = np.broadcast_to(np.arange(len(x))[:, None, None], grid.shape[:3])
    for column, column_weight in taps(grid[..., 0], x.shape[2], *how):
        for row, row_weight in taps(grid[..., 1], x.shape[1], *how):
            weight = (column_weight * row_weight)[..., None]
            np.add.at(x_grad, (image, row, column), weight * cotangent)
    return x_grad, grid_grad
