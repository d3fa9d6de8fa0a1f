"""The wheels, made once, and an environment with them."""

import os
import re
import sys
from pathlib import Path

import pytest
from commands import ROOT, succeed


@pytest.fixture(scope="session")
def wheels() -> Path:
    """The folder with what `make wheels` makes."""
    succeed("make", "wheels")
    return ROOT / "dist"


def quick_start() -> str:
    """The commands of that page."""
    page = (ROOT / "docs" / "quick_start.md").read_text()
    return re.search(r"^```shell\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)[1]


@pytest.fixture(scope="session")
def installed(wheels: Path, tmp_path_factory) -> Path:
    """An environment made by the quick start's commands, with the wheel."""
    folder = tmp_path_factory.mktemp("installed")
    (folder / "tools").symlink_to(ROOT / "tools")
    commands = quick_start()
    assert "pip install .\n" in commands
    wheel = next(wheels.glob("mlx_anywhere-*.whl"))
    commands = commands.replace("pip install .\n", f"pip install {wheel}\n")
    tools = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    output = succeed("bash", "-euc", commands, cwd=folder, PATH=tools)
    assert "Device(gpu, 0)" in output
    return folder / "env"
