"""The examples run, and print what they promise."""

import subprocess
import sys
from pathlib import Path

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def run(name: str) -> str:
    return subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
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
