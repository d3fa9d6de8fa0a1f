"""A fresh virtual environment with the package under test, in which extension projects are built."""

import os
import shutil
import site
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import mlx


class Environment:
    """Runs commands as a user would after activating the environment."""

    def __init__(self, folder: Path) -> None:
        venv.create(folder, with_pip=True)
        self.python = folder / "bin" / "python"
        self.bin = folder / "bin"
        # Only the installed package and, for the build tools, this environment are on the path.
        packages = next((folder / "lib").glob("python*")) / "site-packages"
        here = Path(mlx.__path__[0]).resolve().parent
        paths = [here, *site.getsitepackages(), sysconfig.get_path("purelib")]
        (packages / "under_test.pth").write_text("\n".join(dict.fromkeys(map(str, paths))) + "\n")

    def run(self, *command: object, cwd: Path, check: bool = True) -> str:
        """The joined output; fails the test if the command does."""
        variables = {
            key: value
            for key, value in os.environ.items()
            if key not in ("PYTHONPATH", "MAKEFLAGS", "MAKELEVEL")
        }
        # The projects only have to build and run: without optimisation, and with a compiler cache
        # if there is one, since several tests build the same sources.
        variables["CMAKE_ARGS"] = (
            "-DCMAKE_CXX_FLAGS_RELEASE=-O0 -DCMAKE_INTERPROCEDURAL_OPTIMIZATION=OFF"
        )
        if shutil.which("ccache"):
            variables |= {"CMAKE_CXX_COMPILER_LAUNCHER": "ccache", "CCACHE_NOHASHDIR": "1"}
            variables["CCACHE_BASEDIR"] = str(cwd.resolve())
        tools = Path(sys.executable).parent
        variables["PATH"] = os.pathsep.join([str(self.bin), str(tools), variables["PATH"]])
        done = subprocess.run(
            [str(part) for part in command],
            cwd=cwd,
            env=variables,
            text=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=900,
        )
        if check:
            assert done.returncode == 0, done.stdout[-6000:]
        return done.stdout
