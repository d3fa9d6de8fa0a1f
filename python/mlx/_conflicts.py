"""Finds other distributions that install files into the package ``mlx``."""

import os
import re
import sys
from typing import NamedTuple

# Distributions that write into `mlx/` and so overwrite ours. Packages that merely use MLX
# (mlx-lm, mlx-vlm, ...) have folders of their own and are no conflict.
_RIVALS = {"mlx", "mlx-metal", "mlx-cpu", "mlx-cuda", "mlx-cuda-12", "mlx-cuda-13"}
_METADATA = re.compile(r"^(?P<name>[A-Za-z0-9._-]+?)(?:-(?P<version>[^-]+).*)?\.(?:dist|egg)-info$")
_FOREIGN_FILES = ("_reprlib_fix.py", "lib/libmlx.dylib", "lib/libjaccl.dylib")


class Conflict(NamedTuple):
    """A distribution, or a file, that does not belong beside ours."""

    what: str
    where: str


def installed_rivals(paths: list[str] | None = None) -> list[Conflict]:
    """Distributions on the search path that install files into ``mlx``."""
    found = []
    for path in dict.fromkeys(os.path.realpath(p or ".") for p in (paths or sys.path)):
        try:
            entries = os.listdir(path)
        except OSError:
            continue
        for entry in entries:
            match = entry.startswith("mlx") and _METADATA.match(entry)
            if not match:
                continue
            name = re.sub(r"[-_.]+", "-", match["name"]).lower()
            if name in _RIVALS:
                found.append(Conflict(f"{name} {match['version'] or ''}".strip(), path))
    return found


def foreign_files(package: str | None = None) -> list[Conflict]:
    """Files inside our package folder that only another distribution ships."""
    package = package or os.path.dirname(os.path.abspath(__file__))
    return [
        Conflict(name, package)
        for name in _FOREIGN_FILES
        if os.path.exists(os.path.join(package, name))
    ]


def mending_command(rivals: list[Conflict]) -> str:
    """The shell command that leaves only our files in the environment."""
    pip = f"{sys.executable or 'python'} -m pip"
    reinstall = f"{pip} install --force-reinstall --no-deps mlx-anywhere"
    names = dict.fromkeys(rival.what.split()[0] for rival in rivals)
    return f"{pip} uninstall -y {' '.join(names)} && {reinstall}" if names else reinstall


def describe(rivals: list[Conflict], files: list[Conflict]) -> str:
    """What is in the way and the command that mends it."""
    seen = "".join(f"\n  {c.what} in {c.where}" for c in (*rivals, *files))
    return (
        "Another distribution's `mlx` files are in this environment, and both would write to the"
        f" same package:{seen}\nMend it with:\n  {mending_command(rivals)}"
    )


def refuse_conflicts() -> None:
    """Raises ImportError if another ``mlx`` shares the environment."""
    if _is_diagnosis():
        return
    rivals, files = installed_rivals(), foreign_files()
    if rivals or files:
        raise ImportError(describe(rivals, files), name="mlx")


def _is_diagnosis() -> bool:
    # `python -m mlx` must still run: it is what explains the conflict.
    arguments = sys.orig_argv
    return any(a == "-m" and b == "mlx" for a, b in zip(arguments, arguments[1:], strict=False))
