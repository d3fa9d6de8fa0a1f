"""The examples run, and print the documented output."""

import re
import runpy
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(name: str, *arguments: str) -> str:
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name), *arguments],
        check=True,
        capture_output=True,
        text=True,
        timeout=300,
    ).stdout


def test_custom_kernel():
    text = run("custom_kernel.py")
    assert text.count("True") == 3 and "False" not in text


def test_grid_sample():
    assert "[0.1, -0.06]" in run("grid_sample.py")


def test_axpby():
    text = run("axpby.py")
    assert "all 6: True" in text and "custom axpby" in text


def test_segment_reduce():
    text = run("segment_reduce.py")
    assert text.count("True") == 4 and "False" not in text


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-5), ("float16", 4e-3)])
@pytest.mark.parametrize("lengths", [[1], [0, 0], [300, 0, 1, 17], [1] * 50], ids=len)
def test_kernel_of_segment_reduce(rng, lengths, dtype, tolerance):
    example = runpy.run_path(str(EXAMPLES / "segment_reduce.py"))
    x = rng.standard_normal((sum(lengths), 33)).astype(dtype)
    parts = np.split(x.astype(np.float64), np.cumsum(lengths)[:-1])
    for maximum in (False, True):
        got = example["reduce_segments"](mx.array(x), mx.array(lengths), maximum)
        wanted = [part.max(0) if maximum and len(part) else part.sum(0) for part in parts]
        assert got.shape == (len(lengths), 33)
        assert np.allclose(np.array(got, np.float64), wanted, rtol=tolerance, atol=20 * tolerance)


def test_train_in_processes():
    text = run("train_in_processes.py")
    assert text.count("step") == 4 and float(text.split()[-1]) < 0.01


def test_sparse_products():
    text = run("sparse_products.py")
    assert text.count("True") == 2 and "False" not in text


def test_train_mlp():
    pytest.importorskip("sklearn", reason="scikit-learn is not installed")
    pytest.importorskip("PIL", reason="Pillow is not installed")
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    lines = run("train_mlp.py", "--small").splitlines()
    losses = [float(line.split()[3]) for line in lines[:3]]
    assert losses == sorted(losses, reverse=True)
    assert float(re.search(r"([\d.]+)% of the test digits", lines[3])[1]) > 80
    assert Path(lines[4].removeprefix("learning curve in ")).is_file()


def test_train_transformer():
    pytest.importorskip("PIL", reason="Pillow is not installed")
    pytest.importorskip("tqdm", reason="tqdm is not installed")
    lines = run("train_transformer.py", "--small").splitlines()
    loss, at_first = map(float, re.search(r": ([\d.]+) nats .*\(([\d.]+)", lines[1]).groups())
    assert loss < 0.8 * at_first
    assert Path(lines[2].removeprefix("learning curve in ")).is_file()
    assert len("\n".join(lines[4:])) >= 60


def point_losses(text: str) -> list[list[str]]:
    """Of each task, as hexadecimal numbers."""
    return [line.split()[1:] for line in text.splitlines() if line.startswith("losses ")]


@pytest.fixture(scope="module")
def points_run(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """What the whole of train_points.py prints, small, and the folder that it wrote to."""
    for module in ("sklearn", "PIL", "tqdm", "trimesh", "matplotlib"):
        pytest.importorskip(module, reason=f"{module} is not installed")
    folder = tmp_path_factory.mktemp("points")
    return run("train_points.py", "--small", "--output", str(folder)), folder


def test_train_points(points_run):
    text, folder = points_run
    assert len(re.findall(r"% of the held-back labels right", text)) == 3
    for losses in point_losses(text):
        assert len(losses) == 3 and float.fromhex(losses[2]) < float.fromhex(losses[0])
    for name in ("digits", "shapes", "scene"):
        for picture in ("curve", "confusion", "clouds"):
            content = (folder / f"{name}_{picture}.png").read_bytes()
            assert content.startswith(b"\x89PNG") and len(content) > 2000


def test_train_points_resumes_to_the_bit(points_run, tmp_path):
    arguments = ("train_points.py", "--small", "--output", str(tmp_path))
    stopped = run(*arguments, "--stop-after", "1")
    assert [len(losses) for losses in point_losses(stopped)] == [1, 1, 1]
    assert point_losses(run(*arguments, "--resume")) == point_losses(points_run[0])
