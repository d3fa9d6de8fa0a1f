"""Finds other distributions that install files into the package ``mlx``."""

# Every program that imports mlx runs this first, so it imports only modules that Python has loaded
# by then.
import os
import sys
from importlib.machinery import EXTENSION_SUFFIXES

# Distributions that write into `mlx/` and so overwrite ours. Packages that merely use MLX
# (mlx-lm, mlx-vlm, ...) have folders of their own and are no conflict.
_RIVALS = {"mlx", "mlx-metal", "mlx-cpu", "mlx-cuda", "mlx-cuda-12", "mlx-cuda-13"}
# Our distribution `mlx`, for packages that require one of that name, has no files.
_OURS = "+anywhere"
_FOREIGN_FILES = ("_reprlib_fix.py", "lib/libmlx.dylib", "lib/libjaccl.dylib")
# Files that another distribution may have overwritten, and then have removed.
_NATIVE_FILES = (
    "core" + EXTENSION_SUFFIXES[0],
    "lib/libmlx.so",
    "lib/libmlx_metal.so",
    "lib/libmlx_metal_compiler.so",
)


class Conflict:
    """A distribution or a file that conflicts with ours, or a file of ours that is missing."""

    def __init__(self, what: str, where: str):
        self.what = what
        self.where = where


def installed_rivals(paths: list[str] | None = None) -> list[Conflict]:
    """Distributions on the search path that install files into ``mlx``."""
    found = []
    for path in dict.fromkeys(os.path.realpath(p or ".") for p in (paths or sys.path)):
        try:
            entries = os.listdir(path)
        except OSError:
            continue
        for entry in entries:
            stem, kind = os.path.splitext(entry)
            if not stem.startswith("mlx") or kind not in (".dist-info", ".egg-info"):
                continue
            name, version = (*stem.split("-"), "")[:2]
            name = name.replace("_", "-").replace(".", "-").lower()
            if name in _RIVALS and not (name == "mlx" and version.endswith(_OURS)):
                found.append(Conflict(f"{name} {version}".strip(), path))
    return found


def foreign_files(package: str | None = None) -> list[Conflict]:
    """Files inside our package folder that only another distribution ships."""
    return [c for c in _files(_FOREIGN_FILES, package) if _exists(c)]


def missing_files(package: str | None = None) -> list[Conflict]:
    """Files of ours that are missing, since another distribution wrote them too and was removed."""
    return [c for c in _files(_NATIVE_FILES, package) if not _exists(c)]


def mending_command(rivals: list[Conflict]) -> str:
    """The shell command that removes everything but our files from the environment."""
    pip = f"{sys.executable or 'python'} -m pip"
    reinstall = f"{pip} install --force-reinstall --no-deps mlx-anywhere"
    names = dict.fromkeys(rival.what.split()[0] for rival in rivals)
    return f"{pip} uninstall -y {' '.join(names)} && {reinstall}" if names else reinstall


def describe(
    rivals: list[Conflict], foreign: list[Conflict], missing: list[Conflict] | None = None
) -> str:
    """Describes the conflict and the command that mends it."""
    text = ""
    if rivals or foreign:
        text += (
            "Another distribution's `mlx` files are in this environment, and both would write to"
            f" the same package:{_list(rivals + foreign)}\n"
        )
    if missing:
        text += (
            "Files of mlx-anywhere are missing, as when another `mlx` was installed over it and"
            f" then removed:{_list(missing)}\n"
        )
    text += f"Mend it with:\n  {mending_command(rivals)}"
    if any(rival.what.split()[0] == "mlx" for rival in rivals):
        text += (
            "\nIf a package requires `mlx`, ours satisfies it; FOLDER holds the wheels of"
            " mlx-anywhere:\n"
            f"  {sys.executable or 'python'} -m pip install --find-links FOLDER 'mlx-anywhere[mlx]'"
        )
    return text


def refuse_conflicts() -> None:
    """Raises ImportError if another ``mlx`` shares the environment, or has left it damaged."""
    if _is_diagnosis():
        return
    rivals, foreign, missing = installed_rivals(), foreign_files(), missing_files()
    if rivals or foreign or missing:
        raise ImportError(describe(rivals, foreign, missing), name="mlx")


def _files(names: tuple[str, ...], package: str | None) -> list[Conflict]:
    package = package or os.path.dirname(os.path.abspath(__file__))
    return [Conflict(name, package) for name in names]


def _exists(file: Conflict) -> bool:
    return os.path.exists(os.path.join(file.where, file.what))


def _list(conflicts: list[Conflict]) -> str:
    return "".join(f"\n  {c.what} in {c.where}" for c in conflicts)


def _is_diagnosis() -> bool:
    # `python -m mlx` must still run, since it explains the conflict.
    arguments = sys.orig_argv
    return any(a == "-m" and b == "mlx" for a, b in zip(arguments, arguments[1:], strict=False))
