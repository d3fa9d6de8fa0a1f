"""The cache key contains a hash of the sources that generate code."""

import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "cmake" / "code_version.cmake"


def version_of(folder: Path) -> str:
    output = folder / "code_version.inc"
    command = ["cmake", f"-DROOT={folder}", f"-DOUTPUT={output}", "-P", str(SCRIPT)]
    subprocess.run(command, check=True)
    return output.read_text()


@pytest.fixture
def sources(tmp_path: Path) -> Path:
    return Path(shutil.copytree(ROOT / "cpp" / "metal", tmp_path / "metal"))


@pytest.mark.parametrize(
    "name",
    [
        "compiler/kernel_form.cpp",
        "cpu/abi.h",
        "cpu/vectorizer/widen/widen.cpp",
        "cuda/code_generator.cpp",
        "stdlib/metal_math",
        "stdlib/mlx/backend/metal/kernels/utils.h",
    ],
)
def test_every_source_counts(sources: Path, name: str):
    before = version_of(sources)
    assert version_of(sources) == before
    with (sources / name).open("a") as file:
        file.write("\n")
    assert version_of(sources) != before


def test_names_count(sources: Path):
    before = version_of(sources)
    (sources / "cpu" / "abi.h").rename(sources / "cpu" / "binary_interface.h")
    assert version_of(sources) != before


def test_the_host_side_does_not_count(sources: Path):
    before = version_of(sources)
    (sources / "host" / "device.cpp").write_text("")
    assert version_of(sources) == before
