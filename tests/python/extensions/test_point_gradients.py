"""Gradients of the layers on point clouds, in float64 against finite differences."""

import double_operations
import mlx.core as mx
import numpy as np
import pytest
from mlx.utils import tree_flatten, tree_map, tree_unflatten
from mlx_sample_extensions import PointCloudBatch
from point_layers import LAYERS, batch_of, close, structure

STEP = 1e-6


def problem(name: str, rng: np.random.Generator):
    """A layer, what its gradients are by, and the function of it: a weighted sum of the outputs."""
    layer, batch = LAYERS[name](), batch_of(rng)
    known = structure(layer, batch)
    values = {
        "parameters": layer.trainable_parameters(),
        "positions": batch.positions,
        "features": batch.features,
    }
    weights = mx.array(rng.standard_normal(layer(batch, **known).features.shape))

    def function(values: dict) -> mx.array:
        layer.update(values["parameters"])
        clouds = PointCloudBatch._make(values["positions"], values["features"], batch.lengths)
        out = layer(clouds, **known).features
        return (out * weights.astype(out.dtype)).sum()

    return values, function


@pytest.mark.parametrize("name", LAYERS)
def test_gradients_are_those_of_finite_differences(rng, name, monkeypatch):
    values, function = problem(name, rng)
    single = dict(tree_flatten(mx.grad(function)(values)))
    mx.eval(single)

    double_operations.use(monkeypatch)
    with mx.stream(mx.cpu):
        exact = tree_map(lambda v: v.astype(mx.float64), values)
        gradient = mx.grad(function)(exact)
        mx.eval(gradient)
        flat = dict(tree_flatten(gradient))
        for path, by in flat.items():
            assert by.dtype == mx.float64
            # What single precision gives, by the real operations.
            assert close(single[path], by, 2e-3), path
            direction = mx.array(rng.standard_normal(by.shape))

            def moved(step: float, path=path, direction=direction) -> float:
                at = dict(tree_flatten(exact))
                at[path] = at[path] + step * direction
                return function(tree_unflatten(list(at.items()))).item()

            slope = (moved(STEP) - moved(-STEP)) / (2 * STEP)
            assert (by * direction).sum().item() == pytest.approx(slope, rel=1e-5, abs=1e-7), path


@pytest.mark.parametrize("name", ["cnn", "x", "kernel", "mlp"])
def test_gradients_reach_every_parameter(rng, name):
    values, function = problem(name, rng)
    for path, gradient in tree_flatten(mx.grad(function)(values)["parameters"]):
        assert mx.isfinite(gradient).all().item() and gradient.abs().max().item() > 0, path
