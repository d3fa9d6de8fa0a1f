"""Trains a transformer on the characters of Python's own manual, on the CPU, and lets it write.

    python examples/train_transformer.py            # about five minutes on two cores
    python examples/train_transformer.py --small    # a few steps, to see that it works

The text ships with Python (the help on its language). Needs Pillow for the picture of the learning
curve, and tqdm for the progress bar: ``pip install --group examples``. Writes
demo_output/train_transformer.png.
"""

import argparse
import math
import sys
import time
from dataclasses import dataclass
from functools import partial
from pydoc_data.topics import topics

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np
from drawing import OUTPUT, Curve, draw_curves
from mlx.utils import tree_flatten
from tqdm import tqdm


@dataclass(frozen=True)
class Size:
    """The sizes of the network, and of its training."""

    width: int
    heads: int
    layers: int
    context: int  # characters that the network sees
    batch: int
    steps: int
    report: int  # steps between evaluations on the held-back text


FULL = Size(width=192, heads=6, layers=4, context=128, batch=16, steps=700, report=50)
SMALL = Size(width=32, heads=2, layers=1, context=32, batch=8, steps=40, report=20)


class Block(nn.Module):
    """Attention to earlier characters, then a network of two layers, both added to the input."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.heads = size.heads
        self.attention_norm = nn.RMSNorm(size.width)
        self.attention = nn.Linear(size.width, 3 * size.width, bias=False)
        self.attention_out = nn.Linear(size.width, size.width, bias=False)
        self.rope = nn.RoPE(size.width // size.heads)
        self.norm = nn.RMSNorm(size.width)
        self.up = nn.Linear(size.width, 4 * size.width)
        self.down = nn.Linear(4 * size.width, size.width)

    def attend(self, x: mx.array) -> mx.array:
        rows, length, width = x.shape
        split = self.attention(x).reshape(rows, length, 3, self.heads, -1)
        queries, keys, values = (split[:, :, i].swapaxes(1, 2) for i in range(3))
        out = mx.fast.scaled_dot_product_attention(
            self.rope(queries),
            self.rope(keys),
            values,
            scale=(width // self.heads) ** -0.5,
            mask="causal",
        )
        return self.attention_out(out.swapaxes(1, 2).reshape(rows, length, width))

    def __call__(self, x: mx.array) -> mx.array:
        x = x + self.attend(self.attention_norm(x))
        return x + self.down(nn.gelu(self.up(self.norm(x))))


class Transformer(nn.Module):
    """For each position, the logits of the next character."""

    def __init__(self, size: Size, characters: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(characters, size.width)
        self.blocks = nn.Sequential(*(Block(size) for _ in range(size.layers)))
        self.norm = nn.RMSNorm(size.width)

    def __call__(self, tokens: mx.array) -> mx.array:
        return self.embedding.as_linear(self.norm(self.blocks(self.embedding(tokens))))


class Text:
    """A text as indices of characters. Its last tenth is held back."""

    def __init__(self, text: str) -> None:
        self.characters = sorted(set(text))
        number = {character: i for i, character in enumerate(self.characters)}
        tokens = np.array([number[character] for character in text], np.int32)
        split = len(tokens) * 9 // 10
        self.training, self.held_back = tokens[:split], tokens[split:]

    def decode(self, tokens: list[int]) -> str:
        return "".join(self.characters[token] for token in tokens)


def load_text() -> Text:
    """The topics of Python's help, without rare characters."""
    text = "\n\n".join(topics[name] for name in sorted(topics))
    return Text("".join(character for character in text if character.isascii()))


def pick_batch(tokens: np.ndarray, size: Size, rng: np.random.Generator) -> mx.array:
    """Pieces from random positions, one character longer than the context."""
    starts = rng.integers(0, len(tokens) - size.context, size.batch)
    return mx.array(tokens[starts[:, None] + np.arange(size.context + 1)])


def loss_of(model: nn.Module, batch: mx.array) -> mx.array:
    return nn.losses.cross_entropy(model(batch[:, :-1]), batch[:, 1:], reduction="mean")


def train(model: nn.Module, text: Text, size: Size) -> tuple[Curve, Curve]:
    """Trains with AdamW; the learning rate rises, then falls along a cosine."""
    warmup = size.steps // 20
    rate = optim.join_schedules(
        [optim.linear_schedule(0, 2e-3, warmup), optim.cosine_decay(2e-3, size.steps - warmup)],
        [warmup],
    )
    optimizer = optim.AdamW(rate, weight_decay=0.05)
    state = [model.state, optimizer.state]

    @partial(mx.compile, inputs=state, outputs=state)
    def step(batch: mx.array) -> mx.array:
        loss, gradient = nn.value_and_grad(model, loss_of)(model, batch)
        gradient, _ = optim.clip_grad_norm(gradient, 1.0)
        optimizer.update(model, gradient)
        return loss

    rng = np.random.default_rng(0)
    unseen = [pick_batch(text.held_back, size, rng) for _ in range(4)]
    training, held_back = Curve("training loss", "red", []), Curve("held-back loss", "blue", [])
    losses = []
    with tqdm(range(1, size.steps + 1), unit="step", disable=None) as progress:
        for number in progress:
            loss = step(pick_batch(text.training, size, rng))
            mx.eval(loss, state)
            losses.append(loss.item())
            if number % size.report == 0:
                training.values.append(sum(losses) / len(losses))
                held_back.values.append(sum(loss_of(model, b).item() for b in unseen) / 4)
                losses.clear()
                progress.set_postfix(loss=f"{held_back.values[-1]:.3f}")
    return training, held_back


def write(model: nn.Module, text: Text, size: Size, start: str, length: int) -> str:
    """Draws one likely character after the other."""
    tokens = [text.characters.index(character) for character in start]
    for _ in range(length):
        seen = mx.array(tokens[-size.context :])[None]
        tokens.append(mx.random.categorical(model(seen)[0, -1] * 1.25).item())
    return text.decode(tokens)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a few steps of a small network")
    size = SMALL if parser.parse_args().small else FULL

    mx.random.seed(0)
    text = load_text()
    model = Transformer(size, len(text.characters))
    parameters = sum(value.size for _, value in tree_flatten(model.parameters()))
    print(f"{parameters:,} parameters, {len(text.training):,} characters to learn from")
    start = time.perf_counter()
    curves = train(model, text, size)
    seconds = time.perf_counter() - start
    loss = curves[1].values[-1]
    guess = math.log(len(text.characters))
    print(
        f"{size.steps} steps in {seconds:.1f} s: {loss:.3f} nats a character ({guess:.3f} at first)"
    )

    path = OUTPUT / "train_transformer.png"
    draw_curves(list(curves), f"{size.steps} steps", path)
    print(f"learning curve in {path}\n")
    print(write(model, text, size, "The ", 60 if size is SMALL else 500))
    if size is FULL and loss > 1.6:
        print("the network has learned less than it should", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
