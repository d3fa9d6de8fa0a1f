"""Random programs give the same results in all forms of code: see tests/fuzz/programs."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

FUZZ = Path(__file__).resolve().parents[1] / "fuzz"
PROGRAMS = 200
SEED = 1

pytestmark = pytest.mark.timeout(1200)


def run(*arguments: object) -> None:
    command = [sys.executable, "-m", "programs", *map(str, arguments)]
    result = subprocess.run(command, cwd=FUZZ, capture_output=True, text=True)
    assert result.returncode == 0, (result.stdout + result.stderr)[-8000:]


def test_programs_of_a_fixed_seed():
    run("--programs", PROGRAMS, "--seed", SEED, "--jobs", os.cpu_count())


def test_checks_report_nothing():
    """The programs are right, and checked code computes the same."""
    forms = ("--forms", "reference", "checked")
    run("--programs", PROGRAMS // 4, "--seed", SEED, "--jobs", os.cpu_count(), *forms)


def test_programs_that_once_differed():
    run("--regressions")
