"""Every name of MLX's modules is there, with MLX's parameters, and documented."""

import ast
import importlib
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import mlx.core as mx
import mlx.nn as nn
import pytest

GOLDEN = json.loads((Path(__file__).parent / "golden" / "names.json").read_text())
SIGNATURES = [(module, line) for module, lines in GOLDEN["parameters"].items() for line in lines]


@pytest.mark.parametrize("module", GOLDEN["names"])
def test_names(module: str):
    owner = importlib.import_module(module)
    assert [name for name in GOLDEN["names"][module] if not hasattr(owner, name)] == []


def test_files_of_layers_are_found_in_nn():
    folder = Path(nn.layers.__file__).parent
    files = {path.stem for path in folder.glob("*.py")} - {"__init__"}
    found = {name for name, value in vars(nn).items() if inspect.ismodule(value)}
    assert found >= files and "linear" in files
    assert all(getattr(nn, name) is getattr(nn.layers, name) for name in files)


def written(line: str) -> tuple[str, ast.arguments, list[str]]:
    """A recorded line: the name, the parameters, and the methods of a class."""
    head, _, methods = line.partition("  methods: ")
    head = head.removeprefix("class ").removeprefix("def ").split(" -> ")[0]
    function = ast.parse(f"def {head}: ...").body[0]
    return function.name, function.args, methods.split(", ") if methods else []


def parameters_of(arguments: ast.arguments) -> list[tuple[str, str]]:
    """The name and default of each parameter."""
    plain = arguments.posonlyargs + arguments.args
    defaults = ["none given"] * (len(plain) - len(arguments.defaults))
    defaults += [ast.unparse(default) for default in arguments.defaults]
    found = [(a.arg, default) for a, default in zip(plain, defaults)]
    for a, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        found.append((a.arg, ast.unparse(default) if default else "none given"))
    return found


def value(text: str) -> Any:
    """The value of a default's text; lists count as tuples."""
    result = eval(text, {"mx": mx, "relu": None, "tanh": None})  # noqa: S307
    return tuple(result) if isinstance(result, list) else result


@pytest.mark.parametrize("module, line", SIGNATURES, ids=lambda text: text.split("(")[0])
def test_parameters(module: str, line: str):
    name, arguments, methods = written(line)
    thing = getattr(importlib.import_module(module), name)
    found = inspect.signature(thing).parameters
    for parameter, default in parameters_of(arguments):
        assert parameter in found, (parameter, list(found))
        ours = found[parameter].default
        if default == "none given":
            assert ours is inspect.Parameter.empty, parameter
        elif default not in ("relu", "[]"):
            assert (tuple(ours) if isinstance(ours, list) else ours) == value(default), parameter
    plain = [p for p in found.values() if p.kind is p.POSITIONAL_OR_KEYWORD]
    assert [p.name for p in plain] == [a.arg for a in arguments.posonlyargs + arguments.args]
    assert [method for method in methods if not hasattr(thing, method)] == []


@pytest.mark.parametrize("module, line", SIGNATURES, ids=lambda text: text.split("(")[0])
def test_what_takes_arguments_describes_them(module: str, line: str):
    name, arguments, _ = written(line)
    text = inspect.getdoc(getattr(importlib.import_module(module), name))
    assert text
    if module == "mlx.nn.layers.activations" and line.startswith("def "):
        return  # the first line is the formula
    if "The arguments and errors are those of" in text:
        return
    for parameter in [*arguments.args, *arguments.kwonlyargs]:
        if parameter.arg not in ("group", "sharding") or "Args:" in text:
            assert f"{parameter.arg}: " in text, parameter.arg


def test_import_brings_in_nothing_heavy():
    code = "import sys, mlx.nn, mlx.optimizers; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert not loaded & {"numpy", "scipy", "torch", "setuptools", "matplotlib"}
