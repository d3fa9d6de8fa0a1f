"""The type stubs equal the golden files, and mypy accepts them."""

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
GOLDEN = HERE / "golden" / "core"
PACKAGE = Path(mx.__file__).resolve().parent
needs_mypy = pytest.mark.skipif(
    importlib.util.find_spec("mypy") is None, reason="mypy is not installed"
)


def generated() -> dict[str, str]:
    path = ROOT / "tools" / "generate_stubs.py"
    spec = importlib.util.spec_from_file_location("generate_stubs", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.stubs(mx)


def test_stubs_are_the_recorded_ones():
    recorded = {path.name: path.read_text() for path in GOLDEN.glob("*.pyi")}
    assert generated() == recorded, (
        "The signatures have changed. If that is right, record them:\n"
        f"{sys.executable} tools/generate_stubs.py tests/python/golden/core"
    )


def test_package_has_the_stubs():
    assert (PACKAGE / "py.typed").exists()
    installed = {path.name: path.read_text() for path in (PACKAGE / "core").glob("*.pyi")}
    assert installed == generated()


def mypy(*files: Path, cache: Path, strict: bool = True) -> subprocess.CompletedProcess[str]:
    # mypy finds packages of the environment without it, and they must not be named.
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
    if PACKAGE.parent.name != "site-packages":
        environment["MYPYPATH"] = str(PACKAGE.parent)
    command = [
        sys.executable,
        "-m",
        "mypy",
        *(["--strict"] if strict else ["--explicit-package-bases"]),
        "--cache-dir",
        str(cache),
        *map(str, files),
    ]
    return subprocess.run(command, capture_output=True, text=True, cwd=cache, env=environment)


each_use = pytest.mark.parametrize("name", ["use.py", "use_nn.py"])


@needs_mypy
@each_use
def test_real_use_is_well_typed(name: str, tmp_path: Path):
    done = mypy(HERE / "typing" / name, cache=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@each_use
def test_real_use_runs(name: str):
    done = subprocess.run(
        [sys.executable, str(HERE / "typing" / name)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr


@needs_mypy
def test_stubs_themselves_are_well_typed(tmp_path: Path):
    done = mypy(*sorted((PACKAGE / "core").glob("*.pyi")), cache=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_mypy
def test_python_modules_are_well_typed(tmp_path: Path):
    modules = [PACKAGE / "utils.py", *(PACKAGE / "nn").rglob("*.py")]
    done = mypy(*modules, *(PACKAGE / "optimizers").glob("*.py"), cache=tmp_path, strict=False)
    assert done.returncode == 0, done.stdout + done.stderr


@needs_mypy
def test_errors_are_found(tmp_path: Path):
    path = HERE / "typing" / "errors.py"
    done = mypy(path, cache=tmp_path)
    found = re.findall(r"errors\.py:(\d+): error: .*\[([\w-]+)\]", done.stdout)
    marks = [
        (str(number), mark[1])
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if (mark := re.search(r"# error: ([\w-]+)$", line))
    ]
    assert len(marks) == 5 and found == marks, done.stdout
