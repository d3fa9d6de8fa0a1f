"""Small programs on layers, losses and optimizers whose results are compared with the published MLX.

The file imports nothing but `mlx` and NumPy, so that both can run it, each in a process of its own:
``python nn_cases.py FOLDER`` writes ``numbers.npz`` and ``facts.json`` there. Numbers are compared within
a tolerance, facts exactly.
"""

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np
from mlx.nn import init, losses
from mlx.nn.layers import distributed as parts
from mlx.nn.layers import upsample
from mlx.nn.utils import checkpoint, clip_grad_norm_sharded
from mlx.utils import tree_flatten, tree_map

Numbers = dict[str, np.ndarray]


def normal(*shape: int, key: int = 0) -> mx.array:
    """The same numbers in both libraries, without MLX's generator."""
    values = np.random.default_rng(key).standard_normal(shape)
    return mx.array(values.astype(np.float32))


# ---- layers: how to construct each, and the shapes of its inputs ----

LAYERS: dict[str, tuple[Callable[[], Any], list[tuple[int, ...]]]] = {
    "Linear": (lambda: nn.Linear(5, 3), [(2, 7, 5)]),
    "Linear without bias": (lambda: nn.Linear(5, 3, bias=False), [(5,)]),
    "Identity": (lambda: nn.Identity(1, a=2), [(2, 3)]),
    "Bilinear": (lambda: nn.Bilinear(3, 4, 5), [(6, 3), (6, 4)]),
    "Bilinear without bias": (lambda: nn.Bilinear(3, 4, 1, bias=False), [(2, 3, 3), (2, 3, 4)]),
    "Conv1d": (lambda: nn.Conv1d(4, 6, 3, 2, 1, 2, 2), [(2, 9, 4)]),
    "Conv2d": (lambda: nn.Conv2d(4, 6, (3, 2), 2, (1, 0), 1, 2), [(2, 7, 6, 4)]),
    "Conv2d without bias": (lambda: nn.Conv2d(3, 2, 3, bias=False), [(1, 5, 5, 3)]),
    "Conv3d": (lambda: nn.Conv3d(2, 3, (3, 2, 1), 2, 1), [(2, 5, 4, 3, 2)]),
    "ConvTranspose1d": (lambda: nn.ConvTranspose1d(4, 3, 3, 2, 1, 1, 1), [(2, 5, 4)]),
    "ConvTranspose2d": (lambda: nn.ConvTranspose2d(2, 3, 3, 2, 1, 1, (1, 0)), [(1, 4, 3, 2)]),
    "ConvTranspose3d": (lambda: nn.ConvTranspose3d(2, 3, 2, 2, 0, 1), [(1, 2, 3, 2, 2)]),
    "InstanceNorm": (lambda: nn.InstanceNorm(4), [(2, 5, 3, 4)]),
    "InstanceNorm, affine": (lambda: nn.InstanceNorm(4, affine=True), [(2, 5, 4)]),
    "LayerNorm": (lambda: nn.LayerNorm(7), [(3, 7)]),
    "LayerNorm, not affine": (lambda: nn.LayerNorm(7, affine=False), [(3, 7)]),
    "LayerNorm without bias": (lambda: nn.LayerNorm(7, bias=False), [(3, 7)]),
    "RMSNorm": (lambda: nn.RMSNorm(7), [(3, 7)]),
    "GroupNorm": (lambda: nn.GroupNorm(2, 6), [(2, 5, 6)]),
    "GroupNorm of PyTorch": (
        lambda: nn.GroupNorm(3, 6, pytorch_compatible=True),
        [(2, 3, 4, 6)],
    ),
    "BatchNorm": (lambda: nn.BatchNorm(4), [(5, 4)]),
    "BatchNorm, evaluated": (lambda: nn.BatchNorm(4).eval(), [(5, 3, 4)]),
    "BatchNorm, not affine": (lambda: nn.BatchNorm(4, affine=False), [(2, 3, 2, 4)]),
    "BatchNorm, untracked": (lambda: nn.BatchNorm(4, track_running_stats=False), [(5, 4)]),
    "MaxPool1d": (lambda: nn.MaxPool1d(3, 2, 1), [(2, 8, 3)]),
    "MaxPool2d": (lambda: nn.MaxPool2d(2), [(2, 6, 4, 3)]),
    "MaxPool2d, odd": (lambda: nn.MaxPool2d((2, 3)), [(1, 5, 7, 2)]),
    "MaxPool3d": (lambda: nn.MaxPool3d(2, 1, 1), [(1, 3, 2, 3, 2)]),
    "AvgPool1d": (lambda: nn.AvgPool1d((3,), stride=2, padding=1), [(2, 7, 3)]),
    "AvgPool2d": (lambda: nn.AvgPool2d(2, 2, (1, 0)), [(2, 5, 4, 3)]),
    "AvgPool3d": (lambda: nn.AvgPool3d(2), [(1, 4, 2, 5, 2)]),
    "RoPE": (lambda: nn.RoPE(6), [(2, 3, 5, 8)]),
    "RoPE, traditional": (
        lambda: nn.RoPE(8, traditional=True, base=100, scale=0.5),
        [(1, 3, 5, 8)],
    ),
    "SinusoidalPositionalEncoding": (lambda: nn.SinusoidalPositionalEncoding(6), [(4,)]),
    "SinusoidalPositionalEncoding, turns": (
        lambda: nn.SinusoidalPositionalEncoding(8, 0.01, 2, None, True, True),
        [(2, 3)],
    ),
    "ALiBi": (lambda: nn.ALiBi(), [(1, 6, 3, 4)]),
    "RNN": (lambda: nn.RNN(3, 4), [(2, 5, 3)]),
    "RNN without bias": (lambda: nn.RNN(3, 4, bias=False), [(5, 3)]),
    "GRU": (lambda: nn.GRU(3, 4), [(2, 5, 3), (2, 4)]),
    "GRU without bias": (lambda: nn.GRU(3, 4, bias=False), [(2, 5, 3)]),
    "LSTM": (lambda: nn.LSTM(3, 4), [(2, 5, 3), (2, 4), (2, 4)]),
    "LSTM without bias": (lambda: nn.LSTM(3, 4, bias=False), [(5, 3)]),
    "MultiHeadAttention": (lambda: nn.MultiHeadAttention(8, 2), [(2, 3, 8)] * 3),
    "MultiHeadAttention of many sizes": (
        lambda: nn.MultiHeadAttention(8, 2, 3, 5, 7, 6, 9, True),
        [(2, 4, 3), (2, 5, 5), (2, 5, 7)],
    ),
    "Upsample": (lambda: nn.Upsample(2), [(1, 3, 2, 2)]),
    "Upsample, fractional": (lambda: nn.Upsample((1.5, 0.6)), [(1, 4, 5, 2)]),
    "Upsample, linear": (lambda: nn.Upsample((2, 1.5), "linear"), [(1, 3, 4, 2)]),
    "Upsample, cubic": (lambda: nn.Upsample((2, 0.5), "cubic"), [(1, 3, 6, 2)]),
    "Upsample, corners": (lambda: nn.Upsample(1.7, "linear", True), [(1, 5, 2)]),
    "PReLU": (lambda: nn.PReLU(3, 0.1), [(4, 3)]),
    "GLU": (lambda: nn.GLU(), [(4, 6)]),
    "AllToShardedLinear": (lambda: parts.AllToShardedLinear(5, 3), [(2, 5)]),
    "ShardedToAllLinear": (lambda: parts.ShardedToAllLinear(5, 3), [(2, 5)]),
    "FullyShardedModule": (lambda: parts.FullyShardedModule(nn.Linear(4, 3)), [(2, 4)]),
    "QuantizedLinear": (lambda: nn.QuantizedLinear(64, 5), [(2, 64)]),
    "QuantizedLinear of 8 bits": (
        lambda: nn.QuantizedLinear(64, 5, bias=False, group_size=32, bits=8),
        [(2, 64)],
    ),
    "QuantizedAllToShardedLinear": (
        lambda: parts.QuantizedAllToShardedLinear(64, 8),
        [(2, 64)],
    ),
    "QuantizedShardedToAllLinear": (
        lambda: parts.QuantizedShardedToAllLinear(64, 8, bias=False),
        [(2, 64)],
    ),
    "Sequential": (lambda: nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 2)), [(5, 3)]),
}
for _name in (
    "Sigmoid Mish ReLU ReLU2 ReLU6 LeakyReLU ELU Softmax Softplus Softsign Softshrink CELU SiLU"
    " LogSoftmax LogSigmoid GELU Tanh Hardswish Step SELU HardTanh HardShrink Softmin"
).split():
    LAYERS[_name] = (getattr(nn, _name), [(4, 9)])
LAYERS["GELU, precise"] = (lambda: nn.GELU("precise"), [(4, 9)])
LAYERS["GELU, fast"] = (lambda: nn.GELU("fast"), [(4, 9)])

# Layers whose arguments are not only arrays of floats.
OTHERS: dict[str, Callable[[], Any]] = {
    "Embedding": lambda: nn.Embedding(7, 4),
    "QuantizedEmbedding": lambda: nn.QuantizedEmbedding(7, 64),
    "QQLinear": lambda: nn.QQLinear(64, 32),
    "QQLinear, mxfp8": lambda: nn.QQLinear(64, 32, mode="mxfp8"),
    "QuantizedLinear, mxfp4": lambda: nn.QuantizedLinear(64, 5, mode="mxfp4"),
    "QuantizedLinear, nvfp4": lambda: nn.QuantizedLinear(64, 5, mode="nvfp4"),
    "QuantizedEmbedding, mxfp8": lambda: nn.QuantizedEmbedding(7, 64, mode="mxfp8"),
    "Dropout": lambda: nn.Dropout(0.5),
    "Dropout2d": lambda: nn.Dropout2d(0.25),
    "Dropout3d": lambda: nn.Dropout3d(),
    "TransformerEncoderLayer": lambda: nn.TransformerEncoderLayer(8, 2, 12),
    "TransformerEncoder": lambda: nn.TransformerEncoder(2, 8, 2, norm_first=False),
    "TransformerDecoderLayer": lambda: nn.TransformerDecoderLayer(8, 2, norm_first=False),
    "TransformerDecoder": lambda: nn.TransformerDecoder(2, 8, 4),
    "Transformer": lambda: nn.Transformer(8, 2, 1, 2, 16),
}


def scalar(result: Any) -> mx.array:
    """A number that depends on every element of a result, with different weights."""
    leaves = [x for _, x in tree_flatten(result)]
    return sum((x * mx.cos(mx.arange(x.size).reshape(x.shape))).sum() for x in leaves)


def flat(name: str, tree: Any) -> Iterator[tuple[str, np.ndarray]]:
    for path, leaf in tree_flatten(tree):
        yield f"{name}/{path}" if path else name, np.array(leaf.astype(mx.float32))


def layer_numbers() -> Iterator[tuple[str, np.ndarray]]:
    for name, (make, shapes) in LAYERS.items():
        mx.random.seed(3)
        layer = make()
        inputs = [normal(*shape, key=i) for i, shape in enumerate(shapes)]
        is_quantised = name.startswith("Quantized")
        if not is_quantised:
            yield from flat(f"layer {name}/parameters", layer.parameters())
        yield from flat(f"layer {name}/result", layer(*inputs))
        if is_quantised or name.startswith("Step"):
            continue
        if tree_flatten(layer.trainable_parameters()):
            loss = nn.value_and_grad(layer, lambda *x, layer=layer: scalar(layer(*x)))
            yield from flat(f"layer {name}/gradients", loss(*inputs)[1])
        of_input = mx.grad(lambda *x, layer=layer: scalar(layer(*x)))(*inputs)
        yield from flat(f"layer {name}/gradient of input", of_input)
        yield from flat(f"layer {name}/afterwards", layer.parameters())


def transformer_numbers() -> Iterator[tuple[str, np.ndarray]]:
    x, memory = normal(2, 5, 8), normal(2, 4, 8, key=1)
    mask = nn.MultiHeadAttention.create_additive_causal_mask(5)
    calls: dict[str, Callable[[Any], Any]] = {
        "TransformerEncoderLayer": lambda layer: layer(x, mask),
        "TransformerEncoder": lambda layer: layer(x, None),
        "TransformerDecoderLayer": lambda layer: layer(x, memory, mask, None),
        "TransformerDecoder": lambda layer: layer(x, memory, mask, None),
        "Transformer": lambda layer: layer(memory, x, None, mask, None),
    }
    for name, call in calls.items():
        mx.random.seed(3)
        layer = OTHERS[name]()
        result, gradients = nn.value_and_grad(layer, lambda c=call, m=layer: scalar(c(m)))()
        yield from flat(f"transformer {name}/result", call(layer))
        yield from flat(f"transformer {name}/gradients", gradients)


def other_numbers() -> Iterator[tuple[str, np.ndarray]]:
    ids = mx.array([[1, 0, 6], [3, 3, 2]])
    mx.random.seed(5)
    embedding = nn.Embedding(7, 64)
    yield from flat("embedding/result", embedding(ids))
    yield from flat("embedding/as linear", embedding.as_linear(normal(3, 64)))
    quantised = embedding.to_quantized(32, 8)
    yield from flat("quantised embedding/result", quantised(ids))
    yield from flat("quantised embedding/as linear", quantised.as_linear(normal(3, 64)))
    for name, layer, shape in (
        ("Dropout", nn.Dropout(0.3), (5, 7)),
        ("Dropout2d", nn.Dropout2d(0.5), (2, 3, 3, 5)),
        ("Dropout2d of one", nn.Dropout2d(0.5), (3, 3, 8)),
        ("Dropout3d", nn.Dropout3d(0.5), (2, 2, 2, 2, 5)),
    ):
        yield from flat(f"dropout/{name}", layer(normal(*shape)))
    model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 4))
    nn.quantize(model, 32, 4)
    yield from flat("quantize/result", model(normal(2, 64)))
    yield from flat("quantize/next random number", mx.random.uniform())
    mx.random.seed(5)
    linear = nn.Linear(4, 3)
    again = checkpoint(linear)
    yield from flat("checkpoint", mx.grad(lambda x: scalar(again(x)))(normal(2, 4)))
    for offset in (0, 3):
        yield from flat(f"alibi {offset}", nn.ALiBi()(mx.zeros((1, 3, 2, 5)), offset=offset))
        yield from flat(f"rope {offset}", nn.RoPE(4)(normal(1, 2, 3, 4), offset=offset))


def upsample_numbers() -> Iterator[tuple[str, np.ndarray]]:
    # The cubic kernel is not tested where smaller outputs lie exactly on inputs: there the
    # published MLX gives zero.
    x = normal(1, 7, 2)
    for scale in (0.3, 0.5, 0.8, 1.25, 1.3, 1.5, 2.0, 3.5):
        for align in (False, True):
            yield f"linear {scale} {align}", np.array(upsample.upsample_linear(x, (scale,), align))
        yield f"nearest {scale}", np.array(upsample.upsample_nearest(x, (scale,)))
        wide = upsample.upsample_linear(x, (scale,), antialias=True)
        yield f"linear {scale}, antialias", np.array(wide)
    for scale in (0.5, 2.0, 4.0):
        for antialias in (False, True):
            wide = upsample.upsample_cubic(normal(1, 8, 2), (scale,), antialias=antialias)
            yield f"cubic {scale} {antialias}", np.array(wide)


def loss_numbers() -> Iterator[tuple[str, np.ndarray]]:
    x, y, z = normal(4, 5), normal(4, 5, key=1), normal(4, 5, key=2)
    classes = mx.array([0, 4, 2, 2])
    signs, chances = mx.sign(y), mx.sigmoid(y)
    weights = mx.array([0.5, 2.0, 0.0, 1.0])
    cases: dict[str, Callable[..., mx.array]] = {
        "cross_entropy": lambda v, **k: losses.cross_entropy(v, classes, **k),
        "cross_entropy, smooth": lambda v, **k: losses.cross_entropy(
            v, classes, weights, label_smoothing=0.2, **k
        ),
        "cross_entropy of chances": lambda v, **k: losses.cross_entropy(
            v, mx.softmax(y), label_smoothing=0.1, **k
        ),
        "cross_entropy, axis 0": lambda v, **k: losses.cross_entropy(
            v, mx.array([0, 1, 2, 3, 0]), axis=0, **k
        ),
        "binary_cross_entropy": lambda v, **k: losses.binary_cross_entropy(v, chances, **k),
        "binary_cross_entropy of chances": lambda v, **k: losses.binary_cross_entropy(
            mx.sigmoid(v), chances, mx.abs(z), with_logits=False, **k
        ),
        "l1_loss": lambda v, **k: losses.l1_loss(v, y, **k),
        "mse_loss": lambda v, **k: losses.mse_loss(v, y, **k),
        "nll_loss": lambda v, **k: losses.nll_loss(v, classes, **k),
        "gaussian_nll_loss": lambda v, **k: losses.gaussian_nll_loss(v, y, mx.abs(z), **k),
        "gaussian_nll_loss, full": lambda v, **k: losses.gaussian_nll_loss(
            v, y, mx.abs(z), full=True, eps=0.5, **k
        ),
        "kl_div_loss": lambda v, **k: losses.kl_div_loss(v, nn.log_softmax(y), **k),
        "smooth_l1_loss": lambda v, **k: losses.smooth_l1_loss(v, y, beta=0.7, **k),
        "triplet_loss": lambda v, **k: losses.triplet_loss(v, y, z, **k),
        "triplet_loss, p 3": lambda v, **k: losses.triplet_loss(v, y, z, p=3, margin=2.0, **k),
        "hinge_loss": lambda v, **k: losses.hinge_loss(v, signs, **k),
        "huber_loss": lambda v, **k: losses.huber_loss(v, y, delta=0.6, **k),
        "log_cosh_loss": lambda v, **k: losses.log_cosh_loss(v, y, **k),
        "cosine_similarity_loss": lambda v, **k: losses.cosine_similarity_loss(v, y, **k),
        "margin_ranking_loss": lambda v, **k: losses.margin_ranking_loss(
            v, y, signs, margin=0.3, **k
        ),
    }
    for name, loss in cases.items():
        for reduction in ("none", "mean", "sum"):
            yield from flat(f"loss {name}/{reduction}", loss(x, reduction=reduction))
        gradient = mx.grad(lambda v, loss=loss: loss(v, reduction="sum"))(x)
        yield from flat(f"loss {name}/gradient", gradient)


def init_numbers() -> Iterator[tuple[str, np.ndarray]]:
    matrix = mx.zeros((6, 5))
    filters = mx.zeros((4, 3, 2, 5))
    for name, function, array in (
        ("constant", init.constant(0.5), matrix),
        ("normal", init.normal(1.0, 0.5), matrix),
        ("uniform", init.uniform(-1, 2), filters),
        ("identity", init.identity(), mx.zeros((3, 3))),
        ("glorot_normal", init.glorot_normal(), matrix),
        ("glorot_uniform", init.glorot_uniform(), filters),
        ("he_normal", init.he_normal(), filters),
        ("he_uniform", init.he_uniform(), matrix),
        ("sparse", init.sparse(0.3), matrix),
        ("orthogonal", init.orthogonal(1.5), matrix),
        ("orthogonal, wide", init.orthogonal(), mx.zeros((3, 5))),
    ):
        mx.random.seed(7)
        yield from flat(f"init {name}", function(array))
    mx.random.seed(7)
    yield from flat("init he_normal, fan out", init.he_normal()(filters, "fan_out", 2.0))
    yield from flat("init glorot_uniform, gain", init.glorot_uniform()(matrix, 3.0))


def optimizers() -> dict[str, Callable[[], optim.Optimizer]]:
    rate = 0.05
    return {
        "SGD": lambda: optim.SGD(rate),
        "SGD, momentum": lambda: optim.SGD(rate, 0.9, 0.1, 0.2),
        "SGD, nesterov": lambda: optim.SGD(rate, momentum=0.9, nesterov=True),
        "RMSprop": lambda: optim.RMSprop(rate, 0.9),
        "Adagrad": lambda: optim.Adagrad(rate),
        "AdaDelta": lambda: optim.AdaDelta(rate),
        "Adam": lambda: optim.Adam(rate),
        "Adam, corrected": lambda: optim.Adam(rate, bias_correction=True),
        "AdamW": lambda: optim.AdamW(rate, weight_decay=0.1),
        "Adamax": lambda: optim.Adamax(rate),
        "Lion": lambda: optim.Lion(rate, weight_decay=0.1),
        "Adafactor": lambda: optim.Adafactor(),
        "Adafactor, own rate": lambda: optim.Adafactor(
            rate, beta_1=0.9, weight_decay=0.1, relative_step=False
        ),
        "Muon": lambda: optim.Muon(rate),
        "Muon, plain": lambda: optim.Muon(rate, nesterov=False, ns_steps=3),
        "SGD, schedule": lambda: optim.SGD(optim.cosine_decay(0.1, 3)),
        "MultiOptimizer": lambda: optim.MultiOptimizer(
            [optim.Muon(rate), optim.AdamW(0.01)], [lambda _, g: g.ndim > 1]
        ),
    }


def optimizer_numbers() -> Iterator[tuple[str, np.ndarray]]:
    start = {"a": normal(4, 3), "l": [normal(5, key=1), {"c": normal(2, 3, 4, key=2)}]}
    for name, make in optimizers().items():
        optimizer, parameters = make(), start
        for step in range(4):
            gradients = tree_map(lambda p, s=step: mx.sin(p * (s + 1)), start)
            parameters = optimizer.apply_gradients(gradients, parameters)
        yield from flat(f"optimizer {name}/parameters", parameters)
        yield from flat(f"optimizer {name}/state", optimizer.state)
    clipped, norm = optim.clip_grad_norm(start, 1.5)
    yield from flat("clip_grad_norm", [clipped, norm])
    yield from flat("clip_grad_norm_sharded", list(clip_grad_norm_sharded(start, 1.5)))


def schedule_numbers() -> Iterator[tuple[str, np.ndarray]]:
    schedules = {
        "exponential_decay": optim.exponential_decay(0.1, 0.9),
        "step_decay": optim.step_decay(0.1, 0.5, 4),
        "cosine_decay": optim.cosine_decay(0.1, 10, 0.01),
        "linear_schedule": optim.linear_schedule(0.0, 0.1, 10),
        "join_schedules": optim.join_schedules(
            [optim.linear_schedule(0.0, 0.1, 4), optim.cosine_decay(0.1, 6)], [4]
        ),
    }
    for name, schedule in schedules.items():
        values = [float(np.array(schedule(step))) for step in range(14)]
        yield f"schedule {name}", np.array(values)


def numbers() -> Numbers:
    families = (
        layer_numbers,
        transformer_numbers,
        other_numbers,
        upsample_numbers,
        loss_numbers,
        init_numbers,
        optimizer_numbers,
        schedule_numbers,
    )
    return {name: value for family in families for name, value in family()}


# ---- facts ----


def described(tree: Any) -> dict[str, str]:
    return {
        path: f"{x.dtype} {tuple(x.shape)}".removeprefix("mlx.core.") if hasattr(x, "dtype") else x
        for path, x in tree_flatten(tree)
    }


def facts() -> dict[str, Any]:
    """Names, shapes and types of the arrays in layers and optimizers, and their representations."""
    found: dict[str, Any] = {}
    makers = OTHERS | {name: make for name, (make, _) in LAYERS.items()}
    for name, make in makers.items():
        layer = make()
        found[f"layer {name}"] = {
            "text": repr(layer).split(" at 0x")[0],
            "parameters": described(layer.parameters()),
            "trainable": sorted(described(layer.trainable_parameters())),
            "items": list(layer),
        }
    start = {"a": normal(4, 3), "l": [normal(5), {"h": normal(2, 2).astype(mx.float16)}]}
    for name, make in optimizers().items():
        optimizer = make()
        result = optimizer.apply_gradients(start, start)
        found[f"optimizer {name}"] = {
            "state": described(optimizer.state),
            "result": described(result),
        }
    return found


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    np.savez_compressed(folder / "numbers.npz", **numbers())
    (folder / "facts.json").write_text(json.dumps(facts(), indent=1, sort_keys=True) + "\n")
