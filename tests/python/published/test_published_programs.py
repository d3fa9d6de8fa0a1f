"""Short programs give what the published MLX gives: see programs.py.

The published results are in ``golden.json``. Where ``MLX_PUBLISHED_PYTHON`` is the path of a Python
whose environment has it (see nn/test_published_mlx.py), that runs the programs again.
"""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import mlx.core as mx
import numpy as np
import programs
import pytest

HERE = Path(__file__).resolve().parent
PUBLISHED = os.environ.get("MLX_PUBLISHED_PYTHON")
TOLERANCES = {"mlx.core.float16": 5e-3, "mlx.core.bfloat16": 3e-2}


def equal_arrays(found: list[Any], wanted: list[Any]) -> bool:
    """Whether two records of arrays have one type and shape, and about the same numbers."""
    if found[:3] != wanted[:3]:
        return False
    ours, theirs = (np.array([str(v) for v in np.ravel(a[3])]) for a in (found, wanted))
    if np.isin(ours, ["True", "False"]).any():
        return np.array_equal(ours, theirs)
    ours, theirs = ours.astype(float), theirs.astype(float)
    if "float" not in found[1] and "complex" not in found[1]:
        return np.array_equal(ours, theirs)
    tolerance = TOLERANCES.get(found[1], 2e-5)
    return np.allclose(ours, theirs, rtol=tolerance, atol=tolerance, equal_nan=True)


def equal(found: Any, wanted: Any) -> bool:
    if isinstance(wanted, dict):  # an exception of that type, or of one derived from it
        return isinstance(found, dict) and wanted["raises"][0] in found["raises"]
    if isinstance(wanted, list) and isinstance(found, list):
        if wanted[:1] == ["array"]:
            return found[:1] == ["array"] and equal_arrays(found, wanted)
        return len(found) == len(wanted) and all(map(equal, found, wanted))
    if isinstance(wanted, float) and isinstance(found, float):
        return np.isclose(found, wanted, rtol=2e-5)
    return type(found) is type(wanted) and found == wanted


def compare(found: dict[str, Any], wanted: dict[str, Any]) -> None:
    assert set(found) == set(wanted)
    different = [p for p in wanted if not equal(found[p], wanted[p])]
    assert not different, "\n".join(
        f"{p}\n  here:      {found[p]}\n  published: {wanted[p]}" for p in different
    )


def ours() -> dict[str, Any]:
    return {program: programs.result(program) for program in programs.programs()}


@pytest.mark.parametrize("device", [mx.gpu, mx.cpu], ids=["gpu", "cpu"])
def test_recorded_results(device: mx.DeviceType):
    before = mx.default_device()
    mx.set_default_device(device)
    try:
        found = json.loads(json.dumps(ours()))
    finally:
        mx.set_default_device(before)
    compare(found, json.loads((HERE / "golden.json").read_text()))


@pytest.mark.skipif(
    PUBLISHED is None,
    reason="MLX_PUBLISHED_PYTHON does not name a Python with the published mlx",
)
def test_published_mlx_itself(tmp_path: Path):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [PUBLISHED, str(HERE / "programs.py"), str(tmp_path / "results.json")]
    subprocess.run(command, check=True, env=environment, cwd=tmp_path)
    compare(json.loads((tmp_path / "results.json").read_text()),
            json.loads((HERE / "golden.json").read_text()))  # fmt: skip
