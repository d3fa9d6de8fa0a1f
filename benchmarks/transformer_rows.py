"""A transformer of 12 layers, written with operations only: its output, and its gradient."""

import math
from functools import cache

import numpy as np
from bench.row import Row

LAYERS = 12


def sizes(size: str) -> dict[str, int]:
    small = size == "small"
    return {"batch": 1, "length": 16 if small else 128, "width": 32 if small else 256, "heads": 4}


def make_inputs(size: str) -> dict[str, np.ndarray]:
    s = sizes(size)
    random = np.random.default_rng(0)
    width = s["width"]

    def weights(*shape: int) -> np.ndarray:
        return (random.standard_normal(shape) / math.sqrt(shape[-2])).astype(np.float32)

    return {
        "x": random.standard_normal((s["batch"], s["length"], width), np.float32),
        "qkv": weights(LAYERS, width, 3 * width),
        "out": weights(LAYERS, width, width),
        "up": weights(LAYERS, width, 4 * width),
        "down": weights(LAYERS, 4 * width, width),
    }


def block(f, x, qkv, out, up, down, heads: int):
    """`f` has a library's softmax, norm and gelu."""
    batch, length, width = x.shape
    q, k, v = (
        part.reshape(batch, length, heads, width // heads).swapaxes(1, 2)
        for part in f.thirds(f.norm(x) @ qkv)
    )
    scores = q @ k.swapaxes(-1, -2) / math.sqrt(width // heads)
    mixed = (f.softmax(scores) @ v).swapaxes(1, 2).reshape(batch, length, width)
    x = x + mixed @ out
    return x + f.gelu(f.norm(x) @ up) @ down


def run(f, heads: int, x, qkv, out, up, down):
    for layer in range(LAYERS):
        x = block(f, x, qkv[layer], out[layer], up[layer], down[layer], heads)
    return x


class NumPy:
    @staticmethod
    def norm(x):
        centered = x - x.mean(-1, keepdims=True)
        return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5)

    @staticmethod
    def softmax(x):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    @staticmethod
    def gelu(x):
        return x * (1 + np.vectorize(math.erf)(x / math.sqrt(2))) / 2

    @staticmethod
    def thirds(x):
        return np.split(x, 3, -1)


@cache
def ours(mx):
    class Ours:
        norm = staticmethod(lambda x: mx.fast.layer_norm(x, None, None, 1e-5))
        softmax = staticmethod(lambda x: mx.softmax(x, axis=-1))
        gelu = staticmethod(mx.compile(lambda x: x * (1 + mx.erf(x / math.sqrt(2))) / 2))
        thirds = staticmethod(lambda x: mx.split(x, 3, -1))

    return Ours


def theirs(torch):
    functional = torch.nn.functional

    class Theirs:
        norm = staticmethod(lambda x: functional.layer_norm(x, x.shape[-1:], None, None, 1e-5))
        softmax = staticmethod(lambda x: torch.softmax(x, -1))
        gelu = staticmethod(functional.gelu)
        thirds = staticmethod(lambda x: x.chunk(3, -1))

    return Theirs


def rows(size: str) -> list[Row]:
    heads = sizes(size)["heads"]
    names = ("qkv", "out", "up", "down")

    def forward(arrays: dict) -> dict:
        doubles = {k: a.astype(np.float64) for k, a in arrays.items()}
        return {"y": run(NumPy, heads, **doubles)}

    def loss_of(mx, *weights, x):
        return (run(ours(mx), heads, x, *weights) ** 2).mean()

    def our_gradient(mx, x, **weights):
        grad = mx.grad(lambda *w: loss_of(mx, *w, x=x), argnums=(0, 1, 2, 3))
        return grad(*(weights[n] for n in names))

    def torch_gradient(torch, x, **weights):
        leaves = [weights[n].requires_grad_() for n in names]

        def call():
            loss = (run(theirs(torch), heads, x, *leaves) ** 2).mean()
            return torch.autograd.grad(loss, leaves)

        return [call]

    return [
        Row(
            name="transformer",
            inputs=lambda: make_inputs(size),
            outputs={"y": ((), "float32")},
            reference=forward,
            array=lambda mx, **a: [run(ours(mx), heads, **a)],
            torch=lambda torch, **a: [lambda: run(theirs(torch), heads, **a)],
            rtol=1e-2,
            atol=1e-2,
            targets={"kept": 1 / 0.8},
        ),
        Row(
            name="gradient of the transformer",
            inputs=lambda: make_inputs(size),
            outputs={n: ((), "float32") for n in names},
            reference=lambda arrays: {},
            array=our_gradient,
            torch=torch_gradient,
            targets={"kept": 1 / 0.8},
        ),
    ]
