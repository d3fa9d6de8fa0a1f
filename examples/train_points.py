"""Trains networks on point clouds, on the CPU: digits, shapes in space, and the parts of a scene.

    python examples/train_points.py                  # all three, in minutes on two cores
    python examples/train_points.py shapes           # one of digits, shapes, scene
    python examples/train_points.py --small          # a few steps, to see that it works
    python examples/train_points.py digits --stop-after 5 && python examples/train_points.py digits --resume

The digits are scikit-learn's; shapes and scenes are sampled from trimesh's meshes. Each epoch ends
with a checkpoint. A resumed run has exactly the losses of a run without a stop.
Needs ``pip install --group examples``. Writes pictures and checkpoints to demo_output/points.
"""

import argparse
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import mlx.core as mx
import mlx.nn as nn
import mlx.optimizers as optim
import numpy as np
from drawing import OUTPUT, Curve, draw_curves
from mlx.utils import tree_flatten, tree_unflatten
from mlx_sample_extensions import PointCloudBatch
from mlx_sample_extensions.data import batches
from point_pictures import draw_clouds, draw_confusion
from point_tasks import TASKS, Task
from tqdm import tqdm


class Training:
    """A task, its optimizer, and the losses and accuracies of the epochs so far."""

    def __init__(self, task: Task) -> None:
        self.task = task
        steps = task.epochs * -(-len(task.training) // task.batch)
        self.optimizer = optim.AdamW(optim.cosine_decay(task.rate, steps), weight_decay=0.05)
        self.optimizer.init(task.model.trainable_parameters())
        self.losses: list[float] = []
        self.accuracies: list[float] = []
        self.step = nn.value_and_grad(task.model, self.loss)

    @property
    def epoch(self) -> int:
        """The number of epochs that are done."""
        return len(self.losses)

    def loss(self, batch: PointCloudBatch, labels: mx.array) -> mx.array:
        logits = self.task.model(batch)
        return nn.losses.cross_entropy(logits, labels, label_smoothing=0.05, reduction="mean")

    def run_epoch(self, progress: tqdm) -> None:
        """Seeds all random numbers with the epoch's number, so checkpoints need none."""
        task, total, count = self.task, 0.0, 0
        order, *keys = mx.random.split(mx.random.key(1000 + self.epoch), 1 + len(task.training))
        mx.random.seed(self.epoch)  # dropout
        for number, (batch, labels) in enumerate(batches(task.training, task.batch, key=order)):
            value, gradient = self.step(task.prepare(batch, keys[number]), labels)
            gradient, _ = optim.clip_grad_norm(gradient, 1.0)
            self.optimizer.update(task.model, gradient)
            mx.eval(task.model.state, self.optimizer.state, value)
            total, count = total + value.item(), count + 1
            progress.update()
        self.losses.append(total / count)
        self.accuracies.append(accuracy(confusions(task)))
        progress.set_postfix(loss=f"{self.losses[-1]:.3f}", right=f"{self.accuracies[-1]:.1%}")

    # ---- checkpoints ----

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        state = {"model": self.task.model.parameters(), "optimizer": self.optimizer.state}
        history = {"losses": self.losses, "accuracies": self.accuracies}
        # Replaces the previous checkpoint only when complete.
        new = path.with_name(f"new_{path.name}")
        mx.save_safetensors(str(new), dict(tree_flatten(state)), {"history": json.dumps(history)})
        new.replace(path)

    def load(self, path: Path) -> None:
        arrays, metadata = mx.load(str(path), return_metadata=True)
        state = tree_unflatten(list(arrays.items()))
        self.task.model.update(state["model"])
        self.optimizer.state = state["optimizer"]
        history = json.loads(metadata["history"])
        self.losses, self.accuracies = history["losses"], history["accuracies"]
        mx.eval(self.task.model.state, self.optimizer.state)


def predictions(task: Task) -> Iterator[tuple[PointCloudBatch, np.ndarray, np.ndarray]]:
    """Batches of the held-back clouds, their labels and the network's predictions."""
    task.model.eval()
    for batch, labels in batches(task.held_back, task.batch):
        batch = task.prepare(batch, None)
        said = mx.argmax(task.model(batch), axis=1)
        yield batch, np.array(labels), np.array(said)
    task.model.train()


def confusions(task: Task) -> np.ndarray:
    """The number of labels of each class (rows) predicted as each class (columns)."""
    count = len(task.classes)
    matrix = np.zeros((count, count), np.int64)
    for _, labels, said in predictions(task):
        np.add.at(matrix, (labels, said), 1)
    return matrix


def accuracy(matrix: np.ndarray) -> float:
    return float(np.trace(matrix) / matrix.sum())


def coloured_clouds(task: Task) -> list[tuple[str, np.ndarray, np.ndarray]]:
    """Some held-back clouds with titles and colours: labels and predictions."""
    batch, labels, said = next(iter(predictions(task)))
    chosen = []
    for number in range(min(batch.batch_size, 8)):
        start, end = batch.offsets[number].item(), batch.offsets[number + 1].item()
        positions = np.array(batch.positions[start:end])
        if len(labels) == batch.total_points:
            chosen.append(("true parts", positions, labels[start:end]))
            chosen.append(("predicted parts", positions, said[start:end]))
        else:
            title = f"{task.classes[labels[number]]}: predicted {task.classes[said[number]]}"
            chosen.append((title, positions, np.array(batch.features[start:end, 0])))
    return chosen[:8]


def train(task: Task, output: Path, resume: bool, stop_after: int | None) -> bool:
    """Trains, draws pictures, and returns whether enough predictions are right."""
    training = Training(task)
    checkpoint = output / f"{task.name}.safetensors"
    if resume:
        if not checkpoint.exists():
            sys.exit(f"there is no {checkpoint} to go on from")
        training.load(checkpoint)
    end = min(task.epochs, stop_after or task.epochs)
    start, first = time.perf_counter(), training.epoch
    steps = -(-len(task.training) // task.batch)
    with tqdm(
        total=end * steps, initial=first * steps, desc=task.name, unit="step", disable=None
    ) as progress:
        while training.epoch < end:
            training.run_epoch(progress)
            training.save(checkpoint)
    seconds = time.perf_counter() - start
    print(f"{task.name}: {training.epoch - first} epochs in {seconds:.1f} s")
    print("losses", *(loss.hex() for loss in training.losses))
    if training.epoch < task.epochs:
        return True
    matrix = confusions(task)
    curves = [
        Curve("loss", "red", training.losses),
        Curve("held-back accuracy", "blue", training.accuracies),
    ]
    draw_curves(curves, f"epochs 1 to {task.epochs}", output / f"{task.name}_curve.png")
    draw_confusion(matrix, task.classes, output / f"{task.name}_confusion.png")
    draw_clouds(coloured_clouds(task), output / f"{task.name}_clouds.png")
    recalls = np.diag(matrix) / np.maximum(matrix.sum(1), 1)
    print(
        f"{accuracy(matrix):.1%} of the held-back labels right, {recalls.mean():.1%} in the mean of "
        f"the classes; pictures in {output}"
    )
    return accuracy(matrix) >= task.wanted


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tasks", nargs="*", metavar="task", help=f"of {', '.join(TASKS)}; or all")
    parser.add_argument("--small", action="store_true", help="a few steps of small networks")
    parser.add_argument("--resume", action="store_true", help="go on from the checkpoints")
    parser.add_argument("--stop-after", type=int, metavar="EPOCHS", help="stop early")
    parser.add_argument("--output", type=Path, default=OUTPUT / "points", help="a folder")
    options = parser.parse_args()
    if unknown := set(options.tasks) - set(TASKS):
        parser.error(f"there is no task {', '.join(sorted(unknown))}: choose of {', '.join(TASKS)}")

    enough = True
    for name in options.tasks or TASKS:
        mx.random.seed(0)
        task = TASKS[name](options.small, np.random.default_rng(0))
        right = train(task, options.output, options.resume, options.stop_after)
        if not (right or options.small):
            print(f"{name}: fewer than {task.wanted:.0%} are right", file=sys.stderr)
            enough = False
    return 0 if enough else 1


if __name__ == "__main__":
    sys.exit(main())
