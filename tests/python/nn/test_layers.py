"""Layers against NumPy in double precision: element types, odd sizes, empty batches, errors."""

from collections.abc import Callable
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import nn_references as ref
import numpy as np
import pytest

TOLERANCE = {mx.float32: 2e-5, mx.float16: 1e-2, mx.bfloat16: 6e-2}
each_type = pytest.mark.parametrize("dtype", TOLERANCE, ids=str)


def inputs(rng: np.random.Generator, dtype: mx.Dtype, *shape: int) -> tuple[mx.array, np.ndarray]:
    """Random numbers, and the same rounded to the type, in double precision."""
    x = mx.array(rng.standard_normal(shape).astype(np.float32)).astype(dtype)
    return x, np.array(x.astype(mx.float32), np.float64)


def close(found: mx.array, wanted: np.ndarray, dtype: mx.Dtype = mx.float32) -> None:
    values = np.array(found.astype(mx.float32), np.float64)
    assert values.shape == wanted.shape
    scale = TOLERANCE[dtype]
    np.testing.assert_allclose(values, wanted, rtol=scale, atol=scale * 2)


def double(x: mx.array) -> np.ndarray:
    return np.array(x.astype(mx.float32), np.float64)


# ---- activations ----


@each_type
@pytest.mark.parametrize("name", ref.ACTIVATIONS)
def test_activations(name: str, dtype: mx.Dtype, rng: np.random.Generator):
    x, wide = inputs(rng, dtype, 5, 34)
    x, wide = x * 3, double(x * 3)
    function = getattr(nn, name)
    close(function(x), ref.ACTIVATIONS[name](wide), dtype)
    if name != "step":
        assert function(x).dtype == dtype
    assert function(x[:0]).shape[0] == 0
    classes = {cls.lower(): cls for cls in dir(nn) if cls[0].isupper()}
    if name.replace("_", "") in classes:
        layer = getattr(nn, classes[name.replace("_", "")])
        assert mx.array_equal(layer()(x), function(x))


def test_activations_where_their_branches_meet():
    x = mx.array([-1.0, 0.0, 1.0])
    assert nn.step(x).tolist() == [0, 1, 1]
    assert nn.Step(1.0)(x).tolist() == [0, 0, 1]
    far = mx.array([0.0, -0.0, 1e9, -1e9, float("inf")])
    slopes = mx.grad(lambda v: nn.elu(v, 0.5).sum())(far)
    np.testing.assert_allclose(np.array(slopes), [0.5, 0.5, 1, 0, 1], rtol=1e-6)
    slopes = mx.grad(lambda v: nn.selu(v).sum())(far)
    np.testing.assert_allclose(
        np.array(slopes), 1.0507 * np.array([1.67326, 1.67326, 1, 0, 1]), rtol=1e-5
    )


def test_activations_with_arguments(rng: np.random.Generator):
    x, wide = inputs(rng, mx.float32, 4, 6)
    close(nn.LeakyReLU(0.3)(x), np.where(wide > 0, wide, 0.3 * wide))
    close(nn.ELU(2.0)(x), ref.elu(wide, 2.0))
    close(nn.CELU(2.0)(x), np.maximum(wide, 0) + 2 * np.expm1(np.minimum(wide, 0) / 2))
    close(nn.Softshrink(0.2)(x), np.sign(wide) * np.maximum(abs(wide) - 0.2, 0))
    close(nn.HardShrink(0.2)(x), np.where(abs(wide) > 0.2, wide, 0))
    close(nn.Step(0.3)(x), (wide > 0.3).astype(float))
    close(nn.hard_tanh(x, -0.5, 0.2), np.clip(wide, -0.5, 0.2))
    close(nn.GLU(0)(x), wide[:2] * ref.sigmoid(wide[2:]))
    close(nn.softmax(x, 0), ref.softmax(wide.T).T)
    close(nn.log_softmax(x, 0), np.log(ref.softmax(wide.T).T))
    close(nn.softmin(x, 0), ref.softmax(-wide.T).T)
    close(nn.PReLU(6, 0.1)(x), np.where(wide > 0, wide, 0.1 * wide))


def test_no_activation_has_infinite_gradients():
    x = mx.array([-1e4, -100.0, 0.5, 100.0, 1e4])
    for name in ref.ACTIVATIONS:
        if name not in (
            "glu",
            "step",
            "gelu_approx",
        ):  # gelu_approx overflows in the product of the cube of 1e4
            function = getattr(nn, name)
            gradient = mx.grad(lambda v, f=function: f(v).sum())(x)
            assert mx.all(mx.isfinite(gradient)).item(), name


# ---- products and convolutions ----


@each_type
@pytest.mark.parametrize("batch", [(), (3,), (0,), (2, 5)], ids=str)
def test_linear(dtype: mx.Dtype, batch: tuple[int, ...], rng: np.random.Generator):
    for bias in (True, False):
        layer = nn.Linear(7, 5, bias=bias)
        layer.set_dtype(dtype)
        x, wide = inputs(rng, dtype, *batch, 7)
        wanted = wide @ double(layer.weight).T + (double(layer.bias) if bias else 0)
        close(layer(x), wanted, dtype)
        assert layer(x).dtype == dtype


@pytest.mark.parametrize("batch", [(), (4,), (2, 3)], ids=str)
def test_bilinear(batch: tuple[int, ...], rng: np.random.Generator):
    layer = nn.Bilinear(3, 4, 5)
    a, x1 = inputs(rng, mx.float32, *batch, 3)
    b, x2 = inputs(rng, mx.float32, *batch, 4)
    wanted = np.einsum("...i,kji,...j->...k", x1, double(layer.weight), x2)
    close(layer(a, b), wanted + double(layer.bias))


@pytest.mark.parametrize(
    "make, shape",
    [
        (lambda: nn.Conv1d(3, 4, 3, 2, 1), (2, 9, 3)),
        (lambda: nn.Conv2d(3, 5, (2, 3), (1, 2), (1, 0)), (2, 5, 7, 3)),
        (lambda: nn.Conv3d(2, 3, 2, 2, 1), (1, 3, 4, 5, 2)),
    ],
    ids=["1d", "2d", "3d"],
)
def test_convolutions(make: Callable[[], Any], shape: tuple[int, ...], rng: np.random.Generator):
    layer = make()
    x, wide = inputs(rng, mx.float32, *shape)
    count = len(shape) - 2
    as_list = lambda value: [value] * count if isinstance(value, int) else list(value)  # noqa: E731
    wanted = ref.convolution(
        wide, double(layer.weight), as_list(layer.stride), as_list(layer.padding)
    )
    close(layer(x), wanted + double(layer.bias))


def test_transposed_convolutions_are_adjoint(rng: np.random.Generator):
    """The product of a result with an array is that of the input with its convolution."""
    for transposed, plain, shape in (
        (nn.ConvTranspose1d(3, 2, 3, 2, 1, bias=False), nn.Conv1d(2, 3, 3, 2, 1, bias=False), (5,)),
        (
            nn.ConvTranspose2d(3, 2, 3, 2, 1, bias=False),
            nn.Conv2d(2, 3, 3, 2, 1, bias=False),
            (4, 5),
        ),
        (nn.ConvTranspose3d(3, 2, 2, bias=False), nn.Conv3d(2, 3, 2, bias=False), (2, 3, 4)),
    ):
        plain.weight = mx.swapaxes(transposed.weight, 0, -1)
        x, _ = inputs(rng, mx.float32, 2, *shape, 3)
        y = transposed(x)
        z = mx.array(rng.standard_normal(y.shape).astype(np.float32))
        a, b = (y * z).sum().item(), (x * plain(z)).sum().item()
        assert abs(a - b) < 1e-3 * max(1, abs(a))


def test_embedding(rng: np.random.Generator):
    layer = nn.Embedding(6, 5)
    ids = np.array([[1, 5, 0], [2, 2, 3]])
    close(layer(mx.array(ids)), double(layer.weight)[ids])
    assert layer(mx.zeros((0, 2), dtype=mx.int32)).shape == (0, 2, 5)
    x, wide = inputs(rng, mx.float32, 3, 5)
    close(layer.as_linear(x), wide @ double(layer.weight).T)


# ---- normalisation ----


def standardised(x: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
    return (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)


@each_type
@pytest.mark.parametrize("size", [1, 7, 64, 515])
def test_layer_and_rms_norm(dtype: mx.Dtype, size: int, rng: np.random.Generator):
    x, wide = inputs(rng, dtype, 3, size)
    norm, rms = nn.LayerNorm(size), nn.RMSNorm(size)
    for layer in (norm, rms):
        layer.weight = mx.array(rng.standard_normal(size).astype(np.float32))
        layer.set_dtype(dtype)
    close(norm(x), standardised(wide, (-1,)) * double(norm.weight), dtype)
    length = np.sqrt((wide**2).mean(-1, keepdims=True) + 1e-5)
    close(rms(x), wide / length * double(rms.weight), dtype)
    assert norm(x).dtype == rms(x).dtype == dtype and norm(x[:0]).shape == (0, size)


def test_group_and_instance_norm(rng: np.random.Generator):
    x, wide = inputs(rng, mx.float32, 2, 3, 5, 6)
    close(nn.InstanceNorm(6)(x), standardised(wide, (1, 2)))
    for compatible in (False, True):
        layer = nn.GroupNorm(2, 6, pytorch_compatible=compatible)
        layer.weight, layer.bias = mx.arange(6.0), mx.arange(6.0) - 2
        split = (2, 3, 5, 2, 3) if compatible else (2, 3, 5, 3, 2)
        axes = (1, 2, 4) if compatible else (1, 2, 3)
        wanted = standardised(wide.reshape(split), axes).reshape(wide.shape)
        close(layer(x), wanted * np.arange(6) + np.arange(6) - 2)


@pytest.mark.parametrize("shape", [(5, 3), (4, 6, 3), (2, 3, 4, 3)], ids=str)
def test_batch_norm(shape: tuple[int, ...], rng: np.random.Generator):
    layer = nn.BatchNorm(3)
    axes = tuple(range(len(shape) - 1))
    mean, var = np.zeros(3), np.ones(3)
    for _ in range(3):
        x, wide = inputs(rng, mx.float32, *shape)
        close(layer(x), standardised(wide, axes))
        mean = 0.9 * mean + 0.1 * wide.mean(axes)
        var = 0.9 * var + 0.1 * wide.var(axes, ddof=1)
        close(layer.running_mean, mean)
        close(layer.running_var, var)
    layer.eval()
    close(layer(x), (wide - mean) / np.sqrt(var + 1e-5))
    close(layer.running_mean, mean)


# ---- pooling and resizing ----


@pytest.mark.parametrize(
    "kernel, stride, padding, shape",
    [
        ([3], [2], [1], (2, 8, 3)),
        ([2], [2], [0], (2, 7, 1)),
        ([2, 3], [1, 2], [1, 0], (2, 5, 7, 2)),
        ([2, 2], [2, 2], [0, 0], (2, 6, 4, 3)),
        ([2, 1, 3], [1, 2, 2], [1, 0, 1], (1, 3, 4, 5, 2)),
        ([5], [5], [0], (1, 3, 2)),
    ],
    ids=str,
)
def test_pooling(
    kernel: list[int], stride: list[int], padding: list[int], shape: tuple[int, ...], rng
):
    count = len(kernel)
    arguments = [tuple(values) for values in (kernel, stride, padding)]
    x, wide = inputs(rng, mx.float32, *shape)
    axes = tuple(range(count + 1, 2 * count + 1))
    if any(n + 2 * p < k for n, k, p in zip(shape[1:], kernel, padding)):
        assert getattr(nn, f"MaxPool{count}d")(*arguments)(x).size == 0
        return
    largest = ref.windows(wide, kernel, stride, padding, -np.inf).max(axes)
    for training in (True, False):
        close(getattr(nn, f"MaxPool{count}d")(*arguments).train(training)(x), largest)
    mean = ref.windows(wide, kernel, stride, padding, 0).mean(axes)
    close(getattr(nn, f"AvgPool{count}d")(*arguments)(x), mean)
    # The pooled array is not contiguous:
    turned = mx.contiguous(x.swapaxes(0, -1)).swapaxes(0, -1)
    for training in (True, False):
        close(getattr(nn, f"AvgPool{count}d")(*arguments).train(training)(turned), mean)


def test_pooling_of_integers_and_empty_batches():
    x = mx.arange(-4, 0).reshape(1, 4, 1)
    assert nn.MaxPool1d(2, 2, 1)(x).flatten().tolist() == [-4, -2, -1]
    assert nn.MaxPool2d(2)(mx.zeros((0, 4, 4, 3))).shape == (0, 2, 2, 3)


def test_upsampling_cubic_goes_through_its_inputs():
    x = mx.arange(1, 6, dtype=mx.float32).reshape(1, 5, 1)
    y = nn.Upsample(2.7, "cubic")(x)
    assert abs(y[0, 6, 0].item() - 3) < 1e-6


def test_upsampling_keeps_constants_and_lines(rng: np.random.Generator):
    line = mx.arange(9, dtype=mx.float32).reshape(1, 9, 1)
    for mode in ("linear", "cubic"):
        for antialias in (False, True):
            ones = nn.Upsample((1.7, 0.4), mode, antialias=antialias)(mx.ones((1, 5, 10, 2)))
            close(ones, np.ones((1, 8, 4, 2)))
    close(nn.Upsample(2, "linear", align_corners=True)(line), np.linspace(0, 8, 18)[None, :, None])
    assert nn.Upsample(2)(mx.zeros((0, 3, 3, 1))).shape == (0, 6, 6, 1)
    assert nn.Upsample(0.1)(line).shape == nn.Upsample(0.1, "linear")(line).shape == (1, 0, 1)
    assert nn.Upsample(2)(mx.arange(4).reshape(1, 4, 1)).dtype == mx.int32


def test_upsample_says_whether_it_smooths():
    assert repr(nn.Upsample(2, "cubic", antialias=True)).endswith(
        "align_corners=False, antialias=True)"
    )
    assert repr(nn.Upsample(2, "cubic")).endswith("align_corners=False)")


# ---- dropout ----


@pytest.mark.parametrize(
    "layer, shape, one_of",
    [
        (nn.Dropout(0.3), (50, 40), lambda x: x),
        (nn.Dropout2d(0.3), (20, 3, 3, 40), lambda x: x[:, :1, :1]),
        (nn.Dropout2d(0.3), (3, 3, 800), lambda x: x[:1, :1]),
        (nn.Dropout3d(0.3), (20, 2, 2, 2, 40), lambda x: x[:, :1, :1, :1]),
    ],
    ids=["Dropout", "Dropout2d", "Dropout2d of one", "Dropout3d"],
)
def test_dropout(layer: nn.Module, shape: tuple[int, ...], one_of: Callable[[Any], Any]):
    mx.random.seed(0)
    y = np.array(layer.train()(mx.ones(shape)))
    assert set(np.unique(y.round(4))) == {0.0, np.float32(1 / 0.7).round(4)}
    assert 0.2 < (one_of(y) == 0).mean() < 0.4
    assert (y == one_of(y)).all()
    x = mx.ones(shape)
    assert layer.eval()(x) is x
    layer.train()


@pytest.mark.parametrize("layer", [nn.Dropout(0.5), nn.Dropout2d(0.5), nn.Dropout3d(0.5)])
def test_dropout_keeps_the_type_of_floats(layer: nn.Module):
    for dtype in (mx.float16, mx.bfloat16, mx.float32, mx.complex64):
        assert layer(mx.ones((2, 2, 2, 2), dtype=dtype)).dtype == dtype
    assert layer(mx.ones((2, 2, 2, 2), dtype=mx.int32)).dtype == mx.float32


# ---- positions and attention ----


def test_rope_rotates_pairs(rng: np.random.Generator):
    x, wide = inputs(rng, mx.float32, 2, 5, 8)
    for traditional in (False, True):
        angles = (np.arange(5) + 3)[:, None] * 10000.0 ** (-np.arange(3) / 3)
        a, b = (
            (wide[..., 0:6:2], wide[..., 1:6:2]) if traditional else (wide[..., :3], wide[..., 3:6])
        )
        turned = a * np.cos(angles) - b * np.sin(angles), a * np.sin(angles) + b * np.cos(angles)
        wanted = wide.copy()
        if traditional:
            wanted[..., 0:6:2], wanted[..., 1:6:2] = turned
        else:
            wanted[..., :3], wanted[..., 3:6] = turned
        close(nn.RoPE(6, traditional=traditional)(x, offset=3), wanted)


def test_alibi_slopes():
    assert nn.ALiBi.create_alibi_slope(4).flatten().tolist() == [2**-2, 2**-4, 2**-6, 2**-8]
    assert nn.ALiBi.create_alibi_slope(3).flatten().tolist() == [2**-4, 2**-8, 2**-2]
    matrix = nn.ALiBi.create_alibi_matrix(3, 4, 2, 1)
    assert matrix.shape == (1, 2, 2, 4)
    assert matrix[0, 0].tolist() == [
        [-(2**-4), 0, -(2**-4), -(2**-3)],
        [-(2**-3), -(2**-4), 0, -(2**-4)],
    ]


@each_type
def test_attention(dtype: mx.Dtype, rng: np.random.Generator):
    layer = nn.MultiHeadAttention(8, 2, bias=True)
    layer.set_dtype(dtype)
    x, wide = inputs(rng, dtype, 3, 5, 8)
    mask = nn.MultiHeadAttention.create_additive_causal_mask(5, dtype)

    def projected(name: str, value: np.ndarray) -> np.ndarray:
        return value @ double(layer[name].weight).T + double(layer[name].bias)

    q, k, v = (
        projected(name, wide).reshape(3, 5, 2, 4).swapaxes(1, 2)
        for name in ("query_proj", "key_proj", "value_proj")
    )
    result = ref.attention(q, k, v, np.triu(np.full((5, 5), -np.inf), 1))
    wanted = projected("out_proj", result.swapaxes(1, 2).reshape(3, 5, 8))
    close(layer(x, x, x, mask), wanted, dtype)
    close(layer(x, x, x, mx.tril(mx.ones((5, 5), dtype=mx.bool_))), wanted, dtype)


def test_transformers_with_and_without_checkpoints_agree():
    x, memory = mx.random.normal((2, 3, 8)), mx.random.normal((2, 4, 8))
    for norm_first in (True, False):
        models = []
        for checkpoint in (False, True):
            mx.random.seed(0)
            models.append(nn.Transformer(8, 2, 2, 2, norm_first=norm_first, checkpoint=checkpoint))
        results = [
            nn.value_and_grad(m, lambda m=m: m(memory, x, None, None, None).square().sum())()
            for m in models
        ]
        assert mx.allclose(results[0][0], results[1][0])
        a, b = (r[1]["encoder"]["layers"][0]["linear1"]["weight"] for r in results)
        assert mx.allclose(a, b, atol=1e-5)
    custom = nn.Transformer(8, 2, custom_encoder=nn.Identity(), num_decoder_layers=1)
    assert isinstance(custom.encoder, nn.Identity)


def test_dropout_of_transformers_depends_on_the_mode():
    layer = nn.TransformerEncoderLayer(8, 2, dropout=0.5)
    x = mx.random.normal((1, 3, 8))
    assert not mx.array_equal(layer(x, None), layer(x, None))
    layer.eval()
    assert mx.array_equal(layer(x, None), layer(x, None))


# ---- recurrent layers ----


def steps(name: str, layer: Any, x: np.ndarray, h: np.ndarray, c: np.ndarray) -> list[np.ndarray]:
    """The states, by the definitions."""
    w = {key: double(value) for key, value in layer.items()}
    found = []
    for t in range(x.shape[-2]):
        v = x[..., t, :]
        if name == "RNN":
            h = np.tanh(v @ w["Wxh"].T + h @ w["Whh"].T + w["bias"])
        elif name == "GRU":
            a, b = v @ w["Wx"].T + w["b"], h @ w["Wh"].T
            r, z = (ref.sigmoid(a[..., s] + b[..., s]) for s in (slice(0, 4), slice(4, 8)))
            n = np.tanh(a[..., 8:] + r * (b[..., 8:] + w["bhn"]))
            h = (1 - z) * n + z * h
        else:
            i, f, g, o = np.split(v @ w["Wx"].T + h @ w["Wh"].T + w["bias"], 4, -1)
            c = ref.sigmoid(f) * c + ref.sigmoid(i) * np.tanh(g)
            h = ref.sigmoid(o) * np.tanh(c)
        found.append(h)
    return found


@pytest.mark.parametrize("batch", [(), (3,), (0,), (2, 2)], ids=str)
@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
def test_recurrent(name: str, batch: tuple[int, ...], rng: np.random.Generator):
    layer = getattr(nn, name)(3, 4)
    x, wide = inputs(rng, mx.float32, *batch, 5, 3)
    zero = np.zeros((*batch, 4))
    starts = [inputs(rng, mx.float32, *batch, 4) for _ in range(2 if name == "LSTM" else 1)]
    for given, (h, c) in (
        ([], (zero, zero)),
        ([s for s, _ in starts], (starts[0][1], starts[-1][1])),
    ):
        result = layer(x, *given)
        states = result[0] if name == "LSTM" else result
        close(states, np.stack(steps(name, layer, wide, h, c), -2))
    # An empty sequence has no states.
    empty = layer(x[..., :0, :])
    assert (empty[0] if name == "LSTM" else empty).shape == (*batch, 0, 4)


@pytest.mark.parametrize("nonlinearity", [nn.relu, nn.ReLU()])
def test_recurrent_nonlinearity(nonlinearity: Any):
    layer = nn.RNN(2, 3, nonlinearity=nonlinearity)
    assert mx.all(layer(mx.random.normal((4, 2))) >= 0).item()


# ---- errors ----


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda: nn.Dropout(1.0), "p, the dropout probability, is 1.0"),
        (lambda: nn.Dropout2d(0.5)(mx.ones((2, 3))), "2 dimensions. Expected 3 or 4"),
        (lambda: nn.Dropout3d(0.5)(mx.ones((2, 3))), "2 dimensions. Expected 4 or 5"),
        (lambda: nn.Conv1d(5, 6, 3, groups=2), r"in_channels.*\(5\).*groups \(2\)"),
        (lambda: nn.Conv2d(5, 6, 3, groups=2), "in_channels"),
        (lambda: nn.GroupNorm(3, 4), r"dims.*\(4\).*num_groups \(3\)"),
        (lambda: nn.InstanceNorm(3)(mx.ones((2, 3))), "at least 3 dimensions"),
        (lambda: nn.BatchNorm(2)(mx.ones((2,))), "2, 3 or 4 dimensions, but got 1"),
        (lambda: nn.BatchNorm(2)(mx.ones((1, 2))), "more than one value"),
        (lambda: nn.MaxPool2d((1, 2, 3)), "'kernel_size' must be an integer or a tuple"),
        (lambda: nn.AvgPool1d(2, "a"), "'stride' must be"),
        (lambda: nn.MaxPool2d(2)(mx.ones((2, 4, 1))), "4 dimensions"),
        (lambda: nn.GELU("bad"), "approx should be in .*'bad'"),
        (lambda: nn.MultiHeadAttention(8, 3), r"dims \(8\).*num_heads \(3\)"),
        (lambda: nn.SinusoidalPositionalEncoding(7), "positive and even but it is 7"),
        (lambda: nn.RNN(2, 3, nonlinearity=3), "nonlinearity"),
        (lambda: nn.Upsample(2, mode="bad"), "mode.*'bad'"),
        (lambda: nn.Upsample(2, antialias=True), "antialias"),
        (lambda: nn.Upsample(2, "linear", True, True), "align_corners"),
        (lambda: nn.Upsample(2)(mx.ones((2, 3))), "at least 1 spatial dimension"),
        (lambda: nn.Upsample((2, 2))(mx.ones((1, 3, 2))), "One scale per spatial dimension"),
    ],
)
def test_errors(call: Callable[[], Any], message: str):
    with pytest.raises(ValueError, match=message):
        call()
