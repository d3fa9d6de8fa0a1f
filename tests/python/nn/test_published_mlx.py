"""Layers, losses and optimizers give what the published MLX gives: see nn_cases.py.

The published results are in the folder ``golden``. Where ``MLX_PUBLISHED_PYTHON`` is the path of a
Python whose environment has it (``pip install "mlx[cpu]==0.32.4" numpy`` in a virtual environment of its own),
that runs the programs again.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import nn_cases
import numpy as np
import pytest

HERE = Path(__file__).resolve().parent
PUBLISHED = os.environ.get("MLX_PUBLISHED_PYTHON")


def compare_numbers(found: dict[str, np.ndarray], wanted: dict[str, np.ndarray]) -> None:
    assert set(found) == set(wanted)
    for name, expected in wanted.items():
        # With small gradients, Adam divides small numbers by each other.
        tolerance = 1e-4 if name.startswith("optimizer") else 2e-5
        np.testing.assert_allclose(
            found[name], expected, rtol=tolerance, atol=tolerance, err_msg=name
        )


def compare_facts(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert set(found) == set(wanted)
    for name, expected in wanted.items():
        assert found[name] == expected, name


def load(folder: Path) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    numbers = dict(np.load(folder / "numbers.npz"))
    return numbers, json.loads((folder / "facts.json").read_text())


@pytest.fixture(scope="module")
def ours() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    facts = json.loads(json.dumps(nn_cases.facts()))
    return nn_cases.numbers(), facts


def test_recorded_numbers(ours: tuple[dict[str, np.ndarray], dict[str, Any]]):
    compare_numbers(ours[0], load(HERE / "golden")[0])


def test_recorded_facts(ours: tuple[dict[str, np.ndarray], dict[str, Any]]):
    compare_facts(ours[1], load(HERE / "golden")[1])


@pytest.mark.skipif(
    PUBLISHED is None,
    reason="MLX_PUBLISHED_PYTHON does not name a Python with the published mlx",
)
def test_published_mlx_itself(ours: tuple[dict[str, np.ndarray], dict[str, Any]], tmp_path: Path):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [PUBLISHED, str(HERE / "nn_cases.py"), str(tmp_path)]
    subprocess.run(command, check=True, env=environment, cwd=tmp_path)
    numbers, facts = load(tmp_path)
    compare_numbers(ours[0], numbers)
    compare_facts(ours[1], facts)
