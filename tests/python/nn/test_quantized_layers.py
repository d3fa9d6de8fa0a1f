"""Quantised layers against their dequantised weights; replacement of layers in models."""

from typing import Any

import mlx.core as mx
import mlx.nn as nn
import numpy as np
import pytest
from mlx.utils import tree_flatten

MODES = ["affine", "mxfp4", "nvfp4", "mxfp8"]


def meant(layer: Any) -> np.ndarray:
    """The dequantised matrix of a layer."""
    return np.array(
        mx.dequantize(
            layer.weight,
            layer.scales,
            layer.get("biases"),
            group_size=layer.group_size,
            bits=layer.bits,
            mode=layer.mode,
        ).astype(mx.float32)
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("bias", [True, False])
def test_linear(mode: str, bias: bool):
    mx.random.seed(0)
    linear = nn.Linear(128, 6, bias=bias)
    layer = linear.to_quantized(mode=mode)
    assert isinstance(layer, nn.QuantizedLinear)
    x = mx.random.normal((3, 128))
    wanted = np.array(x) @ meant(layer).T + (np.array(linear.bias) if bias else 0)
    np.testing.assert_allclose(np.array(layer(x)), wanted, rtol=1e-4, atol=1e-4)
    assert np.abs(meant(layer) - np.array(linear.weight)).max() < 0.03
    names = {"weight", "scales"} | ({"biases"} if mode == "affine" else set())
    assert set(layer) == names | ({"bias"} if bias else set())
    assert [path for path, _ in tree_flatten(layer.trainable_parameters())] == ["bias"] * bias
    gradient = mx.grad(lambda v: (layer(v) ** 2).sum())(x)
    expected = 2 * wanted @ meant(layer)
    np.testing.assert_allclose(np.array(gradient), expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("mode", MODES)
def test_embedding(mode: str):
    mx.random.seed(0)
    layer = nn.Embedding(7, 64).to_quantized(mode=mode)
    ids = mx.array([[1, 6], [0, 0]])
    found = np.array(layer(ids).astype(mx.float32))
    np.testing.assert_allclose(found, meant(layer)[np.array(ids)], rtol=1e-2)
    x = mx.random.normal((3, 64))
    np.testing.assert_allclose(
        np.array(layer.as_linear(x)), np.array(x) @ meant(layer).T, rtol=1e-4, atol=1e-4
    )
    assert tree_flatten(layer.trainable_parameters()) == []


@pytest.mark.parametrize("mode", ["nvfp4", "mxfp8"])
def test_quantised_inputs(mode: str):
    mx.random.seed(0)
    linear = nn.Linear(64, 32, bias=False)
    layer = linear.to_quantized(mode=mode, quantize_input=True)
    assert isinstance(layer, nn.QQLinear) and layer.training
    x = mx.random.normal((4, 64))
    trained = layer(x)
    exact = np.array(linear(x))
    assert np.abs(np.array(trained.astype(mx.float32)) - exact).max() < 0.5
    assert set(layer) == {"weight"} and layer.weight.shape == (32, 64)
    layer.eval()
    assert set(layer) == {"weight", "scales"}
    np.testing.assert_allclose(
        np.array(layer(x).astype(mx.float32)),
        np.array(trained.astype(mx.float32)),
        rtol=1e-5,
        atol=1e-5,
    )
    assert "input_dims=64, output_dims=32" in repr(layer)
    layer.quantize()
    layer.train()
    assert set(layer) == {"weight"} and layer.weight.shape == (32, 64)
    linear.eval()
    assert set(nn.QQLinear.from_linear(linear, mode=mode)) == {"weight", "scales"}


def test_quantize_replaces_layers():
    def model() -> nn.Sequential:
        return nn.Sequential(
            nn.Linear(64, 64), nn.Embedding(10, 64), nn.Linear(64, 33, bias=False), nn.LayerNorm(33)
        )

    all_of_them = model()
    nn.quantize(all_of_them)
    kinds = [type(layer).__name__ for layer in all_of_them.layers]
    assert kinds == ["QuantizedLinear", "QuantizedEmbedding", "QuantizedLinear", "LayerNorm"]
    one = model()
    nn.quantize(one, 32, 8, class_predicate=lambda path, layer: path == "layers.0")
    assert [type(layer).__name__ for layer in one.layers][:2] == ["QuantizedLinear", "Embedding"]
    assert (one.layers[0].group_size, one.layers[0].bits) == (32, 8)
    own = model()
    asked = []

    def settings(path: str, layer: nn.Module) -> dict[str, int] | None:
        asked.append(path)
        return {"group_size": 32, "bits": 2} if hasattr(layer, "to_quantized") else None

    nn.quantize(own, class_predicate=settings)
    assert own.layers[2].bits == 2
    assert sorted(asked) == [f"layers.{i}" for i in range(4)]
    inputs = nn.Sequential(nn.Linear(64, 32, bias=False))
    nn.quantize(inputs, mode="nvfp4", quantize_input=True)
    assert isinstance(inputs.layers[0], nn.QQLinear)


def test_weights_of_quantised_models_survive_a_file(tmp_path: Any):
    model = nn.Sequential(nn.Linear(64, 8))
    nn.quantize(model)
    file = str(tmp_path / "w.safetensors")
    model.save_weights(file)
    other = nn.Sequential(nn.Linear(64, 8))
    nn.quantize(other)
    other.load_weights(file)
    x = mx.random.normal((2, 64))
    assert mx.array_equal(model(x), other(x))


def test_errors():
    with pytest.raises(ValueError, match="mode .*'bad'"):
        nn.QuantizedLinear(64, 8, mode="bad")
    with pytest.raises(ValueError, match="group size 64"):
        nn.QuantizedLinear(60, 8)
    with pytest.raises(ValueError, match="quantize_input must be False"):
        nn.Embedding(8, 64).to_quantized(quantize_input=True)
    with pytest.raises(ValueError, match="mode must be"):
        nn.Linear(64, 8, bias=False).to_quantized(quantize_input=True)
    with pytest.raises(NotImplementedError, match="bias"):
        nn.QQLinear.from_linear(nn.Linear(64, 8))
    with pytest.raises(ValueError, match="class_predicate must return"):
        nn.quantize(nn.Sequential(nn.Linear(64, 8)), class_predicate=lambda path, layer: 3)
    with pytest.raises(ValueError, match="'layers.1', but a ReLU has no quantised form"):
        nn.quantize(nn.Sequential(nn.Linear(64, 8), nn.ReLU()), class_predicate=lambda *_: True)
