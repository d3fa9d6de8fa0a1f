"""The tasks of train_points.py: clouds from packages' data and meshes, and a network for each."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import mlx.core as mx
import mlx.nn as nn
import numpy as np
from mlx_sample_extensions import PointCloudBatch
from mlx_sample_extensions.data import Cloud, jitter, rotate, scale
from mlx_sample_extensions.nn import GlobalPool, PointCNNConv, PointCNNEncoder, PointConv, PointUNet


@dataclass
class Task:
    """Clouds with labels, a network, and a function that prepares its inputs.

    `prepare` takes a batch and a key; without a key it augments nothing.
    """

    name: str
    classes: list[str]
    training: list[Cloud]
    held_back: list[Cloud]
    model: nn.Module
    prepare: Callable[[PointCloudBatch, mx.array | None], PointCloudBatch]
    epochs: int
    batch: int
    wanted: float  # share of the held-back labels that must be right
    rate: float = field(default=2e-3)


class Classifier(nn.Module):
    """An encoder, the largest and the mean features of its last level, and two linear layers."""

    def __init__(self, encoder: PointCNNEncoder, width: int, classes: int) -> None:
        super().__init__()
        self.encoder, self.pool = encoder, GlobalPool(["max", "mean"])
        self.head = nn.Sequential(
            nn.Linear(2 * width, width), nn.ReLU(), nn.Dropout(0.2), nn.Linear(width, classes)
        )

    def __call__(self, batch: PointCloudBatch) -> mx.array:
        return self.head(self.pool(self.encoder(batch)[-1]))


class Segmenter(PointUNet):
    """A U-shaped network that returns the classes of points."""

    def __call__(self, batch: PointCloudBatch) -> mx.array:
        return super().__call__(batch).features


# ---- handwritten digits, as points in the plane ----


def digit_clouds() -> list[Cloud]:
    """scikit-learn's digits of 8 x 8 pixels: a point for each that is not white."""
    from sklearn.datasets import load_digits

    clouds = []
    for image, label in zip(*load_digits(return_X_y=True)):
        (places,) = np.nonzero(image)
        rows, columns = np.divmod(places, 8)
        positions = np.stack([columns / 3.5 - 1, 1 - rows / 3.5], 1).astype(np.float32)
        ink = (image[places, None] / 16).astype(np.float32)
        clouds.append(Cloud(mx.array(positions), mx.array(ink), int(label)))
    return clouds


def prepare_digits(batch: PointCloudBatch, key: mx.array | None) -> PointCloudBatch:
    """Augments digits with small changes; features are intensity and position."""
    if key is not None:
        keys = mx.random.split(key, 3)
        batch = scale(rotate(batch, largest=0.15, key=keys[0]), 0.9, 1.1, key=keys[1])
        batch = jitter(batch, 0.02, 0.05, key=keys[2])
    return batch.replace(batch.positions, mx.concatenate([batch.features, batch.positions], 1))


def digits(small: bool, rng: np.random.Generator) -> Task:
    clouds = digit_clouds()
    clouds = [clouds[i] for i in rng.permutation(len(clouds))]
    split = len(clouds) * 4 // 5
    widths = [8, 16] if small else [32, 64, 128]
    encoder = PointCNNEncoder(3, widths, 0.45, partial(PointConv, kernel_offsets=9, k=9))
    return Task(
        "digits",
        [str(digit) for digit in range(10)],
        clouds[: 200 if small else split],
        clouds[split : split + 50] if small else clouds[split:],
        Classifier(encoder, widths[-1], 10),
        prepare_digits,
        epochs=3 if small else 25,
        batch=32,
        wanted=0.97,
    )


# ---- shapes of meshes ----


def shape_makers() -> dict[str, Callable]:
    """A mesh of each kind, of random proportions. Needs trimesh."""
    from trimesh import creation, util

    def bars(rng: np.random.Generator, angle: bool) -> object:
        """Three beams: crossing each other, or from one corner."""
        length, width = rng.uniform(0.8, 1.2), rng.uniform(0.15, 0.25)
        boxes = []
        for axis in range(3):
            size = np.full(3, width)
            size[axis] = length
            box = creation.box(size)
            if angle:
                box.apply_translation((size - width) / 2)
            boxes.append(box)
        return util.concatenate(boxes)

    def pyramid(rng: np.random.Generator) -> object:
        return creation.cone(rng.uniform(0.6, 0.8), rng.uniform(0.7, 1.0), sections=4)

    return {
        "box": lambda rng: creation.box(rng.uniform(0.6, 1.0, 3)),
        "cylinder": lambda rng: creation.cylinder(rng.uniform(0.3, 0.5), rng.uniform(0.8, 1.2)),
        "cone": lambda rng: creation.cone(rng.uniform(0.4, 0.6), rng.uniform(0.8, 1.2)),
        "sphere": lambda rng: creation.icosphere(3, rng.uniform(0.4, 0.6)),
        "torus": lambda rng: creation.torus(rng.uniform(0.5, 0.6), rng.uniform(0.1, 0.25)),
        "capsule": lambda rng: creation.capsule(rng.uniform(0.7, 1.2), rng.uniform(0.25, 0.35)),
        "tube": lambda rng: creation.annulus(rng.uniform(0.3, 0.4), 0.5, rng.uniform(0.6, 1.0)),
        "pyramid": pyramid,
        "cross": partial(bars, angle=False),
        "corner": partial(bars, angle=True),
    }


def surface_points(mesh: object, count: int, rng: np.random.Generator) -> np.ndarray:
    from trimesh.sample import sample_surface

    points, _ = sample_surface(mesh, count, seed=int(rng.integers(1 << 31)))
    return np.asarray(points, np.float32)


def shape_clouds(count: int, points: int, rng: np.random.Generator) -> list[Cloud]:
    """So many of each kind in turn, with different numbers of points."""
    makers = list(shape_makers().values())
    clouds = []
    for number in range(count * len(makers)):
        label = number % len(makers)
        drawn = surface_points(
            makers[label](rng), int(rng.integers(points * 3 // 4, points + 1)), rng
        )
        clouds.append(Cloud(mx.array(drawn), None, label))
    return clouds


def centred(batch: PointCloudBatch) -> PointCloudBatch:
    """Each cloud with its centre at the origin and a mean square distance of 1 from it."""
    middle = batch.segment_reduce(batch.positions, "mean")
    positions = batch.positions - mx.take(middle, batch.indices, 0)
    size = mx.sqrt(batch.segment_reduce((positions**2).sum(1, keepdims=True), "mean"))
    return batch.replace(positions / mx.take(size, batch.indices, 0))


def prepare_shapes(batch: PointCloudBatch, key: mx.array | None) -> PointCloudBatch:
    """Rotates and scales shapes, held-back ones always alike; features are positions."""
    keys = mx.random.split(mx.random.key(1) if key is None else key, 3)
    batch = scale(rotate(batch, key=keys[0]), 0.5, 2.0, key=keys[1])
    batch = centred(batch)
    if key is not None:
        batch = jitter(batch, 0.01, 0.03, key=keys[2])
    distances = mx.sqrt((batch.positions**2).sum(1, keepdims=True))
    return batch.replace(batch.positions, mx.concatenate([batch.positions, distances], 1))


def shapes(small: bool, rng: np.random.Generator) -> Task:
    widths = [8, 16] if small else [32, 64, 128]
    points = 64 if small else 256
    convolution = partial(PointCNNConv, k=8 if small else 12, hidden_channels=widths[0])
    encoder = PointCNNEncoder(4, widths, 0.35, convolution)
    kinds = list(shape_makers())
    return Task(
        "shapes",
        kinds,
        shape_clouds(6 if small else 80, points, rng),
        shape_clouds(2 if small else 30, points, rng),
        Classifier(encoder, widths[-1], len(kinds)),
        prepare_shapes,
        epochs=3 if small else 15,
        batch=32,
        wanted=0.95,
    )


# ---- a scene, whose points have classes ----

THINGS = ["ground", "house", "pole", "ball", "tree"]


def scene_parts(rng: np.random.Generator) -> list[tuple[int, object]]:
    """The class and the mesh of each thing in a garden of 4 x 4."""
    from trimesh import creation

    def placed(mesh: object, x: float, y: float, z: float) -> object:
        mesh.apply_transform(turn)
        mesh.apply_translation((x, y, z))
        return mesh

    parts = [(0, creation.box((4, 4, 0.01)))]
    corners = rng.permutation(16)[:9]
    for number, corner in enumerate(corners):
        x, y = corner % 4 - 1.5, corner // 4 - 1.5
        x, y = rng.uniform(-0.15, 0.15, 2) + (x, y)
        angle = rng.uniform(-math.pi, math.pi)
        turn = np.eye(4)
        turn[:2, :2] = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
        kind = 1 + number % 4
        height = rng.uniform(0.5, 0.9)
        if kind == 1:
            box = creation.box((*rng.uniform(0.4, 0.6, 2), height))
            parts.append((1, placed(box, x, y, height / 2)))
        elif kind == 2:
            parts.append((2, placed(creation.cylinder(0.04, height), x, y, height / 2)))
        elif kind == 3:
            radius = rng.uniform(0.15, 0.3)
            parts.append((3, placed(creation.icosphere(3, radius), x, y, radius)))
        else:
            parts.append((4, placed(creation.cone(0.3, height), x, y, 0.2)))
            parts.append((4, placed(creation.cylinder(0.06, 0.2), x, y, 0.1)))
    return parts


def scene_clouds(count: int, density: float, rng: np.random.Generator) -> list[Cloud]:
    """Scenes with points evenly over all surfaces, and the class of each point."""
    clouds = []
    for _ in range(count):
        drawn, labels = [], []
        for kind, mesh in scene_parts(rng):
            points = surface_points(mesh, int(mesh.area * density), rng)
            if kind:  # the undersides of things cannot be told from the ground
                points = points[points[:, 2] > 0.03]
            points[:, 2] += rng.normal(0, 0.005, len(points))
            drawn.append(points)
            labels.append(np.full(len(points), kind, np.int32))
        order = rng.permutation(sum(map(len, drawn)))
        positions = np.concatenate(drawn)[order].astype(np.float32)
        clouds.append(Cloud(mx.array(positions), None, mx.array(np.concatenate(labels)[order])))
    return clouds


def prepare_scene(batch: PointCloudBatch, key: mx.array | None) -> PointCloudBatch:
    """Rotates scenes around the vertical axis; the feature is the height."""
    if key is not None:
        keys = mx.random.split(key, 2)
        batch = jitter(rotate(batch, axis=2, key=keys[0]), 0.005, 0.02, key=keys[1])
    height = batch.positions[:, 2:]
    return batch.replace(batch.positions, mx.concatenate([mx.ones_like(height), height], 1))


def scene(small: bool, rng: np.random.Generator) -> Task:
    widths = [8, 16] if small else [24, 48, 96]
    density = 10.0 if small else 40.0
    convolution = partial(PointConv, k=8 if small else 12)
    return Task(
        "scene",
        THINGS,
        scene_clouds(8 if small else 48, density, rng),
        scene_clouds(2 if small else 8, density, rng),
        Segmenter(2, len(THINGS), widths, 0.25, convolution),
        prepare_scene,
        epochs=3 if small else 20,
        batch=4,
        wanted=0.95,
        rate=5e-3,
    )


TASKS: dict[str, Callable[[bool, np.random.Generator], Task]] = {
    "digits": digits,
    "shapes": shapes,
    "scene": scene,
}
