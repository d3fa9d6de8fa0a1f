"""The listing in the documentation is the vectoriser's output."""

import os
import platform
import subprocess
from pathlib import Path

import mlx.core as mx
import pytest

LISTINGS = Path(__file__).parents[2] / "docs" / "listings"
METALC = Path(mx.__file__).resolve().parent / "bin" / "metalc"
SETTINGS = {"MLX_CPU_TARGET": "x86-64-v3", "MLX_PRINT_VECTORIZER": "1"}


@pytest.mark.cpu_kernels
@pytest.mark.skipif(platform.machine() != "x86_64", reason="the listing is of code for x86-64")
def test_listing_is_what_the_vectoriser_prints():
    printed = subprocess.run(
        [METALC, "--emit", "llvm-opt", "roots.metal"],
        cwd=LISTINGS,
        env=os.environ | SETTINGS,
        capture_output=True,
        text=True,
        check=True,
    ).stderr
    # To update it, run the command with these settings and write its standard error to the file.
    assert printed.lstrip("\n") == (LISTINGS / "roots.ll").read_text()
