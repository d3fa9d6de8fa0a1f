"""Distances between points in NumPy, and their derivatives, for the tests of distances."""

import mlx.core as mx
import numpy as np

METRICS = ["euclidean", "squared_euclidean", "cosine", "manhattan"]


def distances(a: np.ndarray, b: np.ndarray, metric: str) -> np.ndarray:
    """Distances of points along the last axis, broadcast, in double precision."""
    a, b = a.astype(np.float64), b.astype(np.float64)
    if metric == "cosine":
        norms = np.linalg.norm(a, axis=-1) * np.linalg.norm(b, axis=-1)
        return 1 - (a * b).sum(-1) / np.where(norms == 0, 1, norms)
    if metric == "manhattan":
        return np.abs(a - b).sum(-1)
    squares = ((a - b) ** 2).sum(-1)
    return squares if metric == "squared_euclidean" else np.sqrt(squares)


def all_pairs(a: np.ndarray, b: np.ndarray, metric: str) -> np.ndarray:
    return distances(a[:, None], b[None], metric)


def differences(value, arguments: list[np.ndarray], step: float = 1e-6) -> list[np.ndarray]:
    """Derivatives of value(*arguments) in its arguments, by finite differences."""
    arguments = [a.astype(np.float64) for a in arguments]
    result = []
    for i, argument in enumerate(arguments):
        derivative = np.zeros_like(argument)
        for at in np.ndindex(argument.shape):
            moved = []
            for s in (step, -step):
                changed = list(arguments)
                changed[i] = argument.copy()
                changed[i][at] += s
                moved.append(value(*changed))
            derivative[at] = (moved[0] - moved[1]) / (2 * step)
        result.append(derivative)
    return result


def points(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


def check_close(got: mx.array, wanted: np.ndarray, tolerance: float = 1e-5) -> None:
    scale = max(1.0, np.abs(wanted).max(initial=0))
    assert tuple(got.shape) == wanted.shape
    np.testing.assert_allclose(np.array(got.astype(mx.float32)), wanted, atol=tolerance * scale)
