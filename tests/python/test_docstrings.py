"""Docstrings of mlx.core: a signature in front that is the binding's, arguments described, examples that run."""

import ast
import doctest
import inspect
import re
from types import ModuleType
from typing import Any

import mlx.core as mx
import pytest

MODULES = {
    "": mx,
    "cuda.": mx.cuda,
    "distributed.": mx.distributed,
    "fast.": mx.fast,
    "fft.": mx.fft,
    "linalg.": mx.linalg,
    "metal.": mx.metal,
    "random.": mx.random,
}
NO_SUCH_ARGUMENT = "no_such_argument_"


def is_public(name: str) -> bool:
    return not name.startswith("_")


def functions_of(cls: type) -> dict[str, Any]:
    """The methods that bindings define, the constructor among them."""
    return {
        name: member
        for name, member in vars(cls).items()
        if type(member).__name__ == "instancemethod"
        and (is_public(name) or name in ("__init__", "__getitem__"))
    }


def classes() -> dict[str, type]:
    return {
        prefix + name: value
        for prefix, module in MODULES.items()
        for name, value in vars(module).items()
        if isinstance(value, type) and is_public(name)
    }


def callables() -> dict[str, Any]:
    result = {
        prefix + name: value
        for prefix, module in MODULES.items()
        for name, value in vars(module).items()
        if callable(value) and not isinstance(value, (type, ModuleType)) and is_public(name)
    }
    for class_name, cls in classes().items():
        if hasattr(cls, "__members__"):
            continue  # pybind11 makes the docstrings of enumerations
        for name, member in functions_of(cls).items():
            result[f"{class_name}.{name}"] = member
    return result


CALLABLES = callables()
each_callable = pytest.mark.parametrize("name", CALLABLES)


def signature_lines(function: Any) -> list[str]:
    """The signatures that the docstring begins with."""
    lines = inspect.getdoc(function).splitlines()
    pattern = re.escape(lines[0].partition("(")[0]) + r"\(.*\) -> .+"
    count = next((i for i, line in enumerate(lines) if not re.fullmatch(pattern, line)), len(lines))
    return lines[:count]


def own_name(name: str, function: Any) -> str:
    return name.rpartition(".")[2] if name.endswith("__") else function.__name__


def parse(line: str) -> ast.FunctionDef:
    return ast.parse(f"def {line}: ...").body[0]


def value_of(default: ast.expr | None) -> Any:
    """The value of a default; lists as tuples, which can be in sets."""
    value = default and ast.literal_eval(default)
    return tuple(value) if isinstance(value, list) else value


def plain_parameters(line: str) -> list[tuple[str, Any, Any]]:
    """Name, kind and default of each parameter, but for the names of *args and **kwargs."""
    arguments = parse(line).args
    result = []
    positional = arguments.posonlyargs + arguments.args
    defaults = [None] * (len(positional) - len(arguments.defaults)) + arguments.defaults
    for i, (argument, default) in enumerate(zip(positional, defaults)):
        kind = "/" if i < len(arguments.posonlyargs) else ""
        result.append((argument.arg, kind, value_of(default)))
    if arguments.vararg:
        result.append(("*", "*", None))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults):
        result.append((argument.arg, "keyword", value_of(default)))
    if arguments.kwarg:
        result.append(("**", "**", None))
    return result


def bound_signatures(function: Any) -> list[str] | None:
    """The signatures that the binding itself names when it is called with a wrong argument."""
    try:
        function(**{NO_SUCH_ARGUMENT: None})
    except TypeError as error:
        return re.findall(r"^ {4}\d+\. (.*)$", str(error), re.MULTILINE) or None
    return None


@each_callable
def test_first_line_is_the_signature(name: str):
    function = CALLABLES[name]
    lines = signature_lines(function)
    assert lines, inspect.getdoc(function)
    assert parse(lines[0]).name == own_name(name, function)
    assert "object at 0x" not in lines[0] and "mlx.core." not in lines[0]


@each_callable
def test_inspect_signature_works(name: str):
    function = CALLABLES[name]
    lines = signature_lines(function)
    found = list(inspect.signature(function).parameters)
    written = [a.arg for a in ast.walk(parse(lines[0]).args) if isinstance(a, ast.arg)]
    assert sorted(found) == sorted(written)
    if "." in name and name.rpartition(".")[0] in classes():
        assert found[0] == "self"


@each_callable
def test_signature_is_that_of_the_binding(name: str):
    function = CALLABLES[name]
    bound = bound_signatures(function)
    if bound is None:
        pytest.skip("takes any arguments, or is no binding of its own")
    written = {tuple(plain_parameters(line)) for line in signature_lines(function)}
    # Types are not always valid Python expressions, so only names, kinds and defaults are compared.
    for line in bound:
        text = re.sub(r"^[\w.]*\(", "f(", line)
        assert tuple(plain_parameters(text)) in written, (line, written)


@each_callable
def test_arguments_and_results_are_described(name: str):
    function = CALLABLES[name]
    text = inspect.getdoc(function)
    lines = signature_lines(function)
    if name == "fast.MetalKernel.__init__":
        assert "those of `metal_kernel`" in text
        return
    assert name.endswith("__init__") or len(text.splitlines()) > len(lines), "no description"
    for line in lines:
        for argument in ast.walk(parse(line).args):
            if isinstance(argument, ast.arg) and argument.arg != "self":
                assert re.search(rf"^    \*{{0,2}}{argument.arg}( \(.*\))?: .", text, re.MULTILINE)
    if not lines[0].endswith("-> None"):
        # One sentence describes the arguments of elementwise functions.
        assert "\nReturns:\n" in text or found_in_elementwise_family(function), text


def found_in_elementwise_family(function: Any) -> bool:
    first = next(iter(inspect.signature(function).parameters))
    result = signature_lines(function)[0].rpartition(" -> ")[2]
    return first in ("a", "self") and result in ("array", "tuple[array, ...]")


@pytest.mark.parametrize("name", classes())
def test_classes_and_properties_are_described(name: str):
    cls = classes()[name]
    assert inspect.getdoc(cls)
    for member_name, member in vars(cls).items():
        is_enumeration = hasattr(cls, "__members__")
        if isinstance(member, property) and not is_enumeration and is_public(member_name):
            assert re.match(r"[\w\[\], .]+: \S", member.__doc__), member_name


def test_examples_run():
    runner = doctest.DocTestRunner()
    parser = doctest.DocTestParser()
    for name, function in CALLABLES.items():
        test = parser.get_doctest(function.__doc__, {"mx": mx}, name, None, None)
        runner.run(test)
    assert runner.tries > 60 and runner.failures == 0


def test_overloads_have_one_signature_that_fits_all_calls():
    signature = inspect.signature(mx.arange)
    for args, kwargs in (((5,), {}), ((1, 5), {}), ((), {"stop": 5}), ((1, 5, 2, mx.int32), {})):
        signature.bind(*args, **kwargs)
        mx.arange(*args, **kwargs)


def test_help_shows_the_signature():
    import pydoc

    text = pydoc.plain(pydoc.render_doc(mx.sum))
    assert "sum(a, /, axis=None, keepdims=False, *, stream=None)" in text
    assert "sum(a: scalar | array, /, axis: int | Sequence[int] | None = None" in text


def test_convolutions_name_their_axes():
    for n in (1, 2, 3):
        axes = f"{n} spatial {'axis' if n == 1 else 'axes'}:"
        assert axes in getattr(mx, f"conv{n}d").__doc__
