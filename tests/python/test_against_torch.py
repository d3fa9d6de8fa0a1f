"""Results beside PyTorch's, above all in bfloat16, which NumPy does not have."""

import importlib
import sys
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples"))

pytestmark = pytest.mark.torch

UNARY = ["abs", "ceil", "cos", "exp", "floor", "log1p", "negative", "round", "rsqrt", "sigmoid"]
UNARY += ["sin", "sqrt", "square", "tanh"]
BINARY = ["add", "divide", "maximum", "minimum", "multiply", "subtract"]


def both(torch, values: np.ndarray, dtype: str):
    """The same numbers as our array and as a tensor."""
    return (
        mx.array(values).astype(getattr(mx, dtype)),
        torch.from_numpy(values).to(getattr(torch, dtype)),
    )


def as_numpy(result) -> np.ndarray:
    """Either library's result in float32."""
    if isinstance(result, mx.array):
        return np.array(result.astype(mx.float32))
    return result.float().numpy()


def units_in_last_place(dtype: str) -> float:
    return {"float32": 2.0**-23, "float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_array(name: str, dtype: str, torch, rng):
    ours, theirs = both(torch, rng.uniform(0.1, 4, 5000).astype(np.float32), dtype)
    expected = getattr(torch, name)(theirs.double()).to(theirs.dtype)
    got, expected = as_numpy(getattr(mx, name)(ours)), as_numpy(expected)
    np.testing.assert_allclose(got, expected, rtol=4 * units_in_last_place(dtype), atol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("name", BINARY)
def test_functions_of_two_arrays_round_alike(name: str, dtype: str, torch, rng):
    a, a_theirs = both(torch, rng.normal(size=5000).astype(np.float32), dtype)
    b, b_theirs = both(torch, rng.normal(size=5000).astype(np.float32), dtype)
    got = as_numpy(getattr(mx, name)(a, b))
    assert np.array_equal(got, as_numpy(getattr(torch, name)(a_theirs, b_theirs)))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
def test_matmul_and_softmax(dtype: str, torch, rng):
    a, a_theirs = both(torch, rng.normal(size=(3, 33, 70)).astype(np.float32), dtype)
    b, b_theirs = both(torch, rng.normal(size=(3, 70, 29)).astype(np.float32), dtype)
    tolerance = 8 * units_in_last_place(dtype)
    np.testing.assert_allclose(
        as_numpy(a @ b), as_numpy(a_theirs @ b_theirs), rtol=tolerance, atol=10 * tolerance
    )
    got = as_numpy(mx.softmax(a, axis=-1, precise=True))
    np.testing.assert_allclose(got, as_numpy(a_theirs.softmax(-1)), rtol=tolerance, atol=1e-6)


def test_the_demo_samples_as_grid_sample_does(torch, rng):
    demo = importlib.import_module("demo")
    x = rng.normal(size=(2, 9, 7, 5)).astype(np.float32)
    grid = rng.uniform(-1.3, 1.3, size=(2, 6, 11, 2)).astype(np.float32)
    name, expected = demo.reference(x, grid)
    assert name == "PyTorch"
    for function in (demo.grid_sample, demo.grid_sample_arrays):
        got = np.array(function(mx.array(x), mx.array(grid)))
        np.testing.assert_allclose(got, expected, rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(demo.grid_sample_numpy(x, grid), expected, rtol=1e-4, atol=1e-5)
