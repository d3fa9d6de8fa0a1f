"""Writes the type stubs of mlx.core from the signatures that its docstrings begin with.

    generate_stubs.py FOLDER [MODULE]

MODULE is the file of the extension module; without it mlx.core is imported.
"""

import enum
import importlib
import importlib.util
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
PREAMBLE = """\
# Generated from the docstrings by tools/generate_stubs.py.
import enum
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Literal, ParamSpec, Protocol, TypeAlias, TypeVar, overload
"""
# Types in signatures that do not exist at run time.
ALIASES = """
P = ParamSpec("P")
R = TypeVar("R")

class DLPackCompatible(Protocol):
    def __dlpack__(self) -> Any: ...

scalar: TypeAlias = bool | int | float | complex
StreamOrDevice: TypeAlias = Stream | ThreadLocalStream | Device | DeviceType | None
"""
SUBMODULE_NAMES = """\
from mlx.core import (
    DLPackCompatible,
    Device,
    DeviceType,
    Dtype,
    Stream,
    StreamOrDevice,
    array,
    scalar,
)
"""
PRIVATE = ("_PrintOptionsContext", "_register_tree_class", "_tree_classes", "__version__")
# The types of elements, which the object's type does not tell.
VALUES = {"_tree_classes": "dict[type, Any]", "state": "list[array]", "newaxis": "None"}


def signatures(function: Any, name: str) -> list[str]:
    """The first lines of the docstring that are signatures."""
    result = []
    for line in (inspect.getdoc(function) or "").splitlines():
        if not re.match(re.escape(name) + r"\(.*\) -> .+$", line):
            break
        result.append(line)
    return result


def definitions(function: Any, name: str, indent: str = "") -> Iterator[str]:
    """The ``def`` lines of a function, several for overloads."""
    lines = signatures(function, name)
    if not lines:
        raise ValueError(f"The docstring of {name} does not begin with a signature.")
    for line in lines:
        if len(lines) > 1:
            yield f"{indent}@overload"
        # Comparisons of arrays return arrays, but object's comparisons return bool.
        ignored = name in ("__eq__", "__ne__") and line.endswith("-> array")
        comment = "  # type: ignore[override]" if ignored else ""
        yield f"{indent}def {line}: ...{comment}"


def property_type(name: str, member: property) -> str:
    match = re.match(r"([^\s:]+(?:\[.*?\])?): ", inspect.getdoc(member) or "")
    if not match:
        raise ValueError(f"The docstring of the property {name} does not begin with a type.")
    return match[1]


def enumeration(cls: type[enum.Enum]) -> Iterator[str]:
    for name, member in cls.__members__.items():
        yield f"    {name} = {member.value}"


def members(cls: type) -> Iterator[str]:
    for name, annotation in vars(cls).get("__annotations__", {}).items():
        yield f"    {name}: {annotation}"
    for name, member in sorted(vars(cls).items()):
        if name.startswith("_") and not name.startswith("__"):
            continue
        if isinstance(member, property):
            yield "    @property"
            yield f"    def {name}(self) -> {property_type(name, member)}: ..."
        elif callable(member) and not isinstance(member, type) and signatures(member, name):
            yield from definitions(member, name, "    ")
        elif member is None:
            yield f"    {name}: ClassVar[None]  # type: ignore[assignment]"


def class_stub(cls: type) -> Iterator[str]:
    is_enumeration = issubclass(cls, enum.Enum)
    base = f"({cls.__base__.__name__})" if issubclass(cls, BaseException) else ""
    base = "(enum.Enum)" if is_enumeration else base
    body = list(enumeration(cls) if is_enumeration else members(cls))
    yield ""
    yield f"class {cls.__name__}{base}:"
    yield from body or ["    ..."]


def value_type(name: str, value: Any) -> str:
    return VALUES.get(name, type(value).__name__)


def public(module: ModuleType) -> list[tuple[str, Any]]:
    return sorted(
        (name, value)
        for name, value in vars(module).items()
        if name in PRIVATE or not name.startswith("_")
    )


def module_stub(module: ModuleType) -> str:
    """The text of the stub of one module."""
    items = public(module)
    submodules = [name for name, value in items if isinstance(value, ModuleType)]
    lines = [PREAMBLE.rstrip()]
    lines += [f"from . import {name} as {name}" for name in submodules]
    is_package = bool(submodules)
    if not is_package:
        lines += [SUBMODULE_NAMES, 'P = ParamSpec("P")', 'R = TypeVar("R")']
    for _, value in items:
        if isinstance(value, type):
            lines += class_stub(value)
    if is_package:
        lines.append(ALIASES.rstrip())
    lines.append("")
    for name, value in items:
        if isinstance(value, (type, ModuleType)):
            continue
        if not callable(value):
            lines.append(f"{name}: {value_type(name, value)}")
        elif value.__name__ == name:
            lines += definitions(value, name)
    # Aliases come after the types that they name.
    lines += [
        f"{name} = {value.__name__}"
        for name, value in items
        if inspect.isbuiltin(value) and value.__name__ != name
    ]
    return "\n".join(lines) + "\n"


def stubs(core: ModuleType) -> dict[str, str]:
    """The stub files of mlx.core by their names."""
    result = {"__init__.pyi": module_stub(core)}
    for name, value in public(core):
        if isinstance(value, ModuleType):
            result[f"{name}.pyi"] = module_stub(value)
    return result


def load(path: Path) -> ModuleType:
    """The extension module in a build folder, as mlx.core."""
    sys.path.insert(0, str(ROOT / "python"))
    spec = importlib.util.spec_from_file_location("mlx.core", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["mlx.core"] = module
    spec.loader.exec_module(module)
    return module


def main() -> None:
    folder = Path(sys.argv[1])
    core = load(Path(sys.argv[2])) if len(sys.argv) > 2 else importlib.import_module("mlx.core")
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in stubs(core).items():
        (folder / name).write_text(text)


if __name__ == "__main__":
    main()
