"""Trains a network with two hidden layers on scikit-learn's handwritten digits, on the CPU.

    python examples/train_mlp.py            # about 98 of 100 digits right, in less than a minute
    python examples/train_mlp.py --small    # a few steps, to see that it works

Needs scikit-learn for the digits, Pillow for the picture of the learning curve, and tqdm for the
progress bar: ``pip install --group examples``. Writes demo_output/train_mlp.png.
"""

import argparse
import sys
import time

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np
from drawing import OUTPUT, Curve, draw_curves
from tqdm import trange

WANTED = 0.97
Data = tuple[mx.array, mx.array]


class Perceptron(nn.Module):
    """Linear layers with ReLU and dropout between them."""

    def __init__(self, sizes: list[int], dropout: float) -> None:
        super().__init__()
        self.layers = [nn.Linear(a, b) for a, b in zip(sizes, sizes[1:])]
        self.dropout = nn.Dropout(dropout)

    def __call__(self, x: mx.array) -> mx.array:
        for layer in self.layers[:-1]:
            x = self.dropout(nn.relu(layer(x)))
        return self.layers[-1](x)


def load_digits(rng: np.random.Generator) -> tuple[Data, Data]:
    """1797 digits of 8 x 8 pixels: four fifths for training, the rest for the test."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = rng.permutation(len(digits.target))
    images = (digits.data[order] / 16).astype(np.float32)
    labels = digits.target[order].astype(np.int32)
    split = len(order) * 4 // 5
    return (
        (mx.array(images[:split]), mx.array(labels[:split])),
        (mx.array(images[split:]), mx.array(labels[split:])),
    )


def accuracy(model: nn.Module, data: Data) -> float:
    images, labels = data
    model.eval()
    right = mx.mean(mx.argmax(model(images), axis=1) == labels).item()
    model.train()
    return right


def train(
    model: nn.Module, training: Data, test: Data, epochs: int, batch: int
) -> tuple[Curve, Curve]:
    """Trains with AdamW, whose learning rate falls along a cosine: losses and accuracies."""
    images, labels = training
    steps = len(labels) // batch
    optimizer = optim.AdamW(optim.cosine_decay(2e-3, epochs * steps), weight_decay=0.05)

    def loss(x: mx.array, y: mx.array) -> mx.array:
        return nn.losses.cross_entropy(model(x), y, label_smoothing=0.05, reduction="mean")

    step = nn.value_and_grad(model, loss)
    losses, accuracies = Curve("loss", "red", []), Curve("test accuracy", "blue", [])
    epochs_left = trange(1, epochs + 1, unit="epoch", disable=None)
    for epoch in epochs_left:
        order = mx.random.permutation(len(labels))
        total = mx.array(0.0)
        for i in range(steps):
            chosen = order[i * batch : (i + 1) * batch]
            value, gradient = step(images[chosen], labels[chosen])
            gradient, _ = optim.clip_grad_norm(gradient, 1.0)
            optimizer.update(model, gradient)
            total = total + value
            mx.eval(model.parameters(), optimizer.state, total)
        losses.values.append(total.item() / steps)
        accuracies.values.append(accuracy(model, test))
        if epoch % max(1, epochs // 10) == 0:
            epochs_left.write(
                f"epoch {epoch:3}   loss {losses.values[-1]:.3f}"
                f"   test accuracy {accuracies.values[-1]:.1%}"
            )
    return losses, accuracies


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a few steps of a small network")
    small = parser.parse_args().small

    mx.random.seed(0)
    training, test = load_digits(np.random.default_rng(0))
    hidden, epochs = (32, 3) if small else (256, 40)
    model = Perceptron([64, hidden, hidden, 10], dropout=0.0 if small else 0.2)
    start = time.perf_counter()
    losses, accuracies = train(model, training, test, epochs, batch=64)
    seconds = time.perf_counter() - start

    path = OUTPUT / "train_mlp.png"
    draw_curves([losses, accuracies], f"epochs 1 to {epochs}", path)
    right = accuracies.values[-1]
    print(f"{epochs} epochs in {seconds:.1f} s, {right:.1%} of the test digits right")
    print(f"learning curve in {path}")
    if not small and right < WANTED:
        print(f"fewer than {WANTED:.0%} are right", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
