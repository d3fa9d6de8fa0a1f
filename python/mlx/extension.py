"""Building extension packages: C++ operations and Metal kernels, with CMake and setuptools.

A project's ``setup.py`` names its module as a `CMakeExtension` and `CMakeBuild` as the command that
builds it. Its ``CMakeLists.txt`` finds the array library with ``find_package(MLX CONFIG)``. All
files in ``CMAKE_LIBRARY_OUTPUT_DIRECTORY`` (the module, its shared library, its ``.metallib``) are
installed side by side in the package.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from setuptools import Extension
from setuptools.command.build_ext import build_ext

__all__ = ["CMakeBuild", "CMakeExtension"]

_PACKAGE = Path(__file__).resolve().parent
# Where a module finds the libraries beside it, and the array library: its package may be a
# neighbour of ours, or the module may be outside of a package.
_RUN_PATH = ("$ORIGIN", "$ORIGIN/../mlx/lib", "$ORIGIN/mlx/lib")


class CMakeExtension(Extension):
    """A module that the ``CMakeLists.txt`` in `sourcedir` builds."""

    def __init__(self, name: str, sourcedir: str | os.PathLike[str] = "") -> None:
        super().__init__(name, sources=[])
        self.sourcedir = str(Path(sourcedir).resolve())


class CMakeBuild(build_ext):
    """The command ``build_ext`` for extensions that CMake builds."""

    def build_extension(self, ext: Extension) -> None:
        """Configures and builds one extension into its place."""
        if not isinstance(ext, CMakeExtension):
            return super().build_extension(ext)
        output = self._output_directory(ext)
        build = Path(self.build_temp).resolve() / ext.name
        build.mkdir(parents=True, exist_ok=True)
        output.mkdir(parents=True, exist_ok=True)
        self._run("cmake", "-S", ext.sourcedir, "-B", build, *self._arguments(output))
        self._run("cmake", "--build", build, "--parallel", self._jobs())

    def copy_extensions_to_source(self) -> None:
        """Copies nothing: for in-place builds CMake writes its outputs into the sources."""
        extensions = self.extensions
        self.extensions = [ext for ext in extensions if not isinstance(ext, CMakeExtension)]
        try:
            super().copy_extensions_to_source()
        finally:
            self.extensions = extensions

    def get_outputs(self) -> list[str]:
        """The modules and the files beside them."""
        outputs = super().get_outputs()
        for ext in self.extensions:
            if isinstance(ext, CMakeExtension):
                folder = self._output_directory(ext)
                for pattern in ("*.so", "*.metallib"):
                    outputs += [str(path) for path in folder.glob(pattern)]
        return list(dict.fromkeys(outputs))

    def get_output_mapping(self) -> dict[str, str]:
        """Returns nothing: outputs are built where they are needed."""
        return {}

    def _in_place(self) -> bool:
        return bool(self.inplace or getattr(self, "editable_mode", False) or self._was_in_place)

    _was_in_place = False

    def run(self) -> None:
        """Builds all extensions."""
        # setuptools clears `inplace` while it builds, and copies modules afterwards.
        self._was_in_place = bool(self.inplace)
        super().run()

    def _output_directory(self, ext: Extension) -> Path:
        package = ext.name.rpartition(".")[0]
        if self._in_place():
            return Path(self.get_finalized_command("build_py").get_package_dir(package)).resolve()
        return Path(self.build_lib, *package.split(".")).resolve()

    def _arguments(self, output: Path) -> list[str]:
        run_path = list(_RUN_PATH)
        if self._in_place():
            run_path.append(str(_PACKAGE / "lib"))
        arguments = [
            f"-DCMAKE_LIBRARY_OUTPUT_DIRECTORY={output}",
            f"-DCMAKE_BUILD_TYPE={'Debug' if self.debug else 'Release'}",
            "-DBUILD_SHARED_LIBS=ON",
            f"-DMLX_DIR={_PACKAGE / 'share' / 'cmake' / 'MLX'}",
            "-DCMAKE_BUILD_WITH_INSTALL_RPATH=ON",
            f"-DCMAKE_INSTALL_RPATH={';'.join(run_path)}",
            *(f"-D{name}_EXECUTABLE={sys.executable}" for name in ("Python", "Python3", "PYTHON")),
            *_pybind11_argument(),
        ]
        if shutil.which("ninja") and "CMAKE_GENERATOR" not in os.environ:
            arguments.append("-GNinja")
        return arguments + os.environ.get("CMAKE_ARGS", "").split()

    def _jobs(self) -> str:
        given = self.parallel or os.environ.get("CMAKE_BUILD_PARALLEL_LEVEL")
        return str(given or os.cpu_count() or 1)

    def _run(self, *command: object) -> None:
        if shutil.which(str(command[0])) is None:
            raise RuntimeError(f"{command[0]} is not installed: pip install {command[0]}")
        subprocess.run([str(part) for part in command], check=True)


def _pybind11_argument() -> list[str]:
    """The CMake folder of pybind11, if pybind11 is installed for this Python."""
    try:
        import pybind11
    except ImportError:
        return []
    return [f"-Dpybind11_DIR={pybind11.get_cmake_dir()}"]
