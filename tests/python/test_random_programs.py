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


def test_values_in_a_file_are_those_that_were_written():
    """Also lists whose largest number is negative."""
    code = (
        "from programs.regression import rule_for\n"
        "from programs.scalars import SCALARS\n"
        "assert rule_for(SCALARS['int'], [0, 1, 2, 0]) == 'count 3'\n"
        "assert rule_for(SCALARS['float'], [-1.0, -2.0]) == 'values -1.0 -2.0'\n"
        "assert rule_for(SCALARS['int'], [-1, -2]) == 'values -1 -2'\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=FUZZ, check=True)
