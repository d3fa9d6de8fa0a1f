"""Readers of point clouds, which use libraries."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

import mlx.core as mx
import numpy as np
from mlx_sample_extensions.data.batching import Cloud


def read_ply(path: str | Path, features: Sequence[str] | None = None) -> Cloud:
    """Reads the vertices of a PLY file. Needs plyfile.

    Args:
        path: The file.
        features: The properties of vertices to use as features, such as ("red", "green", "blue");
            by default all numbers but the coordinates, in the file's order.

    Returns:
        Positions of shape (N, 3) and features of shape (N, properties), None if there are none:
        float32, values as they are in the file.

    Raises:
        ImportError: If plyfile is not installed.
        ValueError: If the file is no PLY file, or lacks vertices, coordinates or properties.
    """
    plyfile = _needed("read_ply", "plyfile")
    try:
        data = plyfile.PlyData.read(str(path))
    except plyfile.PlyParseError as error:
        raise ValueError(f"[read_ply] {path} is no PLY file: {error}") from error
    if "vertex" not in data:
        raise ValueError(f"[read_ply] {path} has no vertices.")
    vertices = data["vertex"].data
    lists = {p.name for p in data["vertex"].properties if hasattr(p, "len_dtype")}
    known = [name for name in vertices.dtype.names if name not in lists]
    others = [name for name in known if name not in ("x", "y", "z")]
    chosen = others if features is None else list(features)
    for name in ("x", "y", "z", *chosen):
        if name not in known:
            raise ValueError(f"[read_ply] Vertices of {path} have no {name!r}, but {known}.")
    columns = _columns(vertices, chosen) if chosen else None
    return Cloud(_columns(vertices, ["x", "y", "z"]), columns)


def read_off(path: str | Path, samples: int | None = None, seed: int = 0) -> Cloud:
    """Reads the vertices of an OFF file, or samples its surface. Needs trimesh.

    Args:
        path: The file.
        samples: The number of points to sample, uniformly by area; without it the vertices are
            returned.
        seed: The seed of the samples.

    Returns:
        Positions of shape (N, 3), float32.

    Raises:
        ImportError: If trimesh is not installed.
        ValueError: If the file is no OFF file, or has no surface to sample.
    """
    trimesh = _needed("read_off", "trimesh")
    with open(path, "rb") as file:
        try:
            parts = trimesh.exchange.off.load_off(file)
        except (ValueError, IndexError, NameError, TypeError, KeyError) as error:
            raise ValueError(f"[read_off] {path} is no OFF file: {error}") from error
    mesh = trimesh.Trimesh(parts["vertices"], parts.get("faces"), process=False)
    if samples is None:
        return Cloud(mx.array(np.asarray(mesh.vertices, np.float32)))
    if samples < 0:
        raise ValueError(f"[read_off] Invalid samples {samples}: it must not be negative.")
    if not len(mesh.faces) or not mesh.area > 0:
        raise ValueError(f"[read_off] {path} has no surface to sample.")
    drawn, _ = trimesh.sample.sample_surface(mesh, samples, seed=seed)
    return Cloud(mx.array(np.asarray(drawn, np.float32)))


def read_npz(path: str | Path) -> Cloud:
    """Reads the arrays ``positions``, ``features`` and ``label``; the last two are optional.

    Args:
        path: The file.

    Returns:
        The cloud, with the file's dtypes.

    Raises:
        ValueError: If the file is no NPZ file, has no positions, or arrays of other shapes.
    """
    try:
        arrays = np.load(path)
        if isinstance(arrays, np.ndarray):
            raise ValueError("it has one array")
    except (ValueError, EOFError) as error:
        raise ValueError(f"[read_npz] {path} is no NPZ file: {error}") from error
    with arrays:
        if "positions" not in arrays:
            raise ValueError(f"[read_npz] {path} has no positions, but {sorted(arrays)}.")
        positions = arrays["positions"]
        features, label = (arrays[k] if k in arrays else None for k in ("features", "label"))
    if positions.ndim != 2:
        raise ValueError(
            f"[read_npz] positions of {path} must have shape (N, D), not {positions.shape}."
        )
    for name, values in (("features", features), ("label", label)):
        if values is not None and values.ndim and len(values) != len(positions):
            raise ValueError(
                f"[read_npz] {name} of {path} must have {len(positions)} rows, not {len(values)}."
            )
    if label is not None:
        label = mx.array(label) if label.ndim else int(label)
    return Cloud(mx.array(positions), None if features is None else mx.array(features), label)


def _needed(function: str, module: str) -> ModuleType:
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"[{function}] {module} is needed: pip install {module}") from error


def _columns(rows: np.ndarray, names: Sequence[str]) -> mx.array:
    return mx.array(np.column_stack([rows[name].astype(np.float32) for name in names]))
