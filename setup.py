"""Builds the native parts with CMake and puts them into the package `mlx`."""

import os
import re
import sys
from pathlib import Path

from setuptools import Extension, find_packages, setup
from setuptools.command.build_ext import build_ext

ROOT = Path(__file__).resolve().parent


class CMakeExtension(Extension):
    """A module whose sources CMake knows."""

    def __init__(self, name: str):
        super().__init__(name, sources=[])


class CMakeBuild(build_ext):
    """Configures, builds, installs with CMake: into python/mlx in place, else for the wheel."""

    def run(self) -> None:
        self.in_place = bool(self.inplace or getattr(self, "editable_mode", False))
        # In place shares the folder of the preset `release`: the Makefile builds the same files.
        build_dir = ROOT / "build" / "release" if self.in_place else Path(self.build_temp).resolve()
        package = ROOT / "python" if self.in_place else Path(self.build_lib).resolve()
        self.configure(build_dir)
        jobs = str(self.jobs())
        target = ["--target", "package_files"]  # without the tests
        self.spawn(["cmake", "--build", str(build_dir), "--parallel", jobs, *target])
        strip = [] if self.in_place or self.debug else ["--strip"]
        self.spawn(["cmake", "--install", str(build_dir), "--prefix", str(package / "mlx"), *strip])
        manifest = build_dir / "install_manifest.txt"
        self.installed = manifest.read_text().splitlines()

    def configure(self, build_dir: Path) -> None:
        arguments = [
            f"-DCMAKE_BUILD_TYPE={'Debug' if self.debug else 'Release'}",
            f"-DPython_EXECUTABLE={sys.executable}",
            "-DMLX_STATIC_LIBRARIES=OFF",  # where CMAKE_ARGS says nothing else
        ]
        if not (build_dir / "CMakeCache.txt").exists():
            arguments.append("-DMLX_BUILD_TESTS=OFF")
        ninja = ninja_path()
        if ninja:
            # An isolated build environment has its own Ninja, in another folder each time.
            arguments += ["-GNinja", f"-DCMAKE_MAKE_PROGRAM={ninja}"]
        arguments += os.environ.get("CMAKE_ARGS", "").split()
        self.spawn(["cmake", "-S", str(ROOT), "-B", str(build_dir), *arguments])

    def jobs(self) -> int:
        return int(
            self.parallel or os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL") or os.cpu_count() or 1
        )

    def get_outputs(self) -> list[str]:
        return getattr(self, "installed", [])

    def get_output_mapping(self) -> dict[str, str]:
        return {}


def ninja_path() -> str | None:
    """The Ninja of the Python environment, or the one on PATH."""
    try:
        import ninja

        return str(Path(ninja.BIN_DIR) / "ninja")
    except ImportError:
        import shutil

        return shutil.which("ninja")


def version() -> str:
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(mlx_anywhere VERSION ([\d.]+)", text).group(1)


setup(
    version=version(),
    packages=find_packages("python"),
    package_dir={"": "python"},
    package_data={"": ["py.typed", "*.pyi"]},
    include_package_data=False,
    ext_modules=[CMakeExtension("mlx.core")],
    cmdclass={"build_ext": CMakeBuild},
)
