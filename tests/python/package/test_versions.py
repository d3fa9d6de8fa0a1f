"""The version of this package, and the version of MLX whose interface it has."""

import re
from pathlib import Path

import mlx.core as mx
import mlx_anywhere
from commands import ROOT

MLX = f"mlx=={mx.__version__}+anywhere"


def first(pattern: str, file: str) -> str:
    return re.search(pattern, (ROOT / file).read_text())[1]


def test_versions():
    assert mx.__version__ == "0.32.4"
    assert mlx_anywhere.__version__ == first(r"mlx_anywhere VERSION ([\d.]+)", "CMakeLists.txt")
    assert mlx_anywhere.__version__ == first(r'ANYWHERE_VERSION "(.*)"', "cpp/mlx/version.h")
    assert f'mlx = ["{MLX}"]' in (ROOT / "pyproject.toml").read_text()
    assert first(r'version = "(.*)"', "packaging/mlx/pyproject.toml") == MLX.partition("==")[2]


def test_cmake_packages_may_ask_for_a_version_of_mlx():
    folder = Path(mx.__file__).parent / "share" / "cmake" / "MLX"
    text = (folder / "MLXConfigVersion.cmake").read_text()
    assert f'set(PACKAGE_VERSION "{mx.__version__}")' in text
