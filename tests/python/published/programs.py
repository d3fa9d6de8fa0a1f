"""Short programs whose results are compared with those of the published MLX.

Each is a line or a few, and its result is the value of its last expression, or the type of the exception
that it raises. ``python programs.py results.json`` runs them in this Python and writes what they give.
"""

import ast
import json
import re
import sys
from collections.abc import Iterator
from itertools import product
from typing import Any

import mlx.core as mx
import numpy as np

CUBE = "mx.arange(24).reshape(2, 3, 4)"
FRACTIONS = f"({CUBE} * 0.37 % 1.9 - 0.8)"
MATRIX = "mx.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])"
OF_TYPE = {
    "bool": "mx.array([True, False, True])",
    "uint8": "mx.array([1, 200, 3], dtype=mx.uint8)",
    "int8": "mx.array([1, -128, 3], dtype=mx.int8)",
    "int32": "mx.array([1, -2, 3])",
    "uint32": "mx.array([1, 4294967295, 3], dtype=mx.uint32)",
    "int64": "mx.array([1, -2, 3], dtype=mx.int64)",
    "float16": "mx.array([1.5, -2.25, 3.0], dtype=mx.float16)",
    "bfloat16": "mx.array([1.5, -2.25, 3.0], dtype=mx.bfloat16)",
    "float32": "mx.array([1.5, -2.25, 3.0])",
    "complex64": "mx.array([1.5 + 1j, -2.25, 3j])",
    "Python's int": "2",
    "Python's float": "0.5",
}


def forms(pattern: str, **choices: list[str]) -> Iterator[str]:
    """The template with every combination of its choices."""
    for values in product(*choices.values()):
        yield pattern.format(**dict(zip(choices, values)))


def types() -> Iterator[str]:
    arrays = list(OF_TYPE.values())[:-2]
    real = [a for a in OF_TYPE.values() if "j" not in a]
    yield from forms(
        "({a}) {op} ({b})", a=arrays, op=["+", "-", "*", "/", "=="], b=real + arrays[-1:]
    )
    yield from forms("({a}) {op} ({b})", a=real[:-2], op=["//", "**", "<"], b=real)
    yield from forms("({a}) % ({b})", a=real[1:-2], b=real[1:])
    functions = "abs sign square sqrt exp sin floor isnan round sum prod max any".split()
    yield from forms("mx.{f}({a})", f=functions, a=arrays)
    yield from forms(
        "mx.{f}({a})", f=["sigmoid", "mean", "erf"], a=["mx.array([1, 2])", *real[5:-2]]
    )
    yield from forms("({a}).astype({b}.dtype)", a=arrays[:6], b=arrays)
    yield from forms("mx.result_type({a}, {b})", a=arrays, b=arrays)
    yield from forms("mx.array({x})", x=["'a'", "{1, 2}", "object()", "range(3)", "[1, [2]]", "[]"])
    yield from forms("mx.array({x})", x=["2**31", "[True, 2]", "[1, 2.0]", "1j", "(1, 2)"])
    yield from ["mx.isdtype(mx.int32, mx.floating)", "mx.isdtype(mx.int32, 1)"]
    yield from ["mx.issubdtype(1, mx.float32)", "mx.issubdtype(mx.float32, float)"]
    yield from ["mx.result_type(1, 2)", "mx.result_type()", "mx.result_type(mx.int32, mx.float16)"]


def axes() -> Iterator[str]:
    reductions = "sum prod min max mean var logsumexp all any argmax".split()
    places = ["0", "-1", "(0, 1)", "[0, 2]", "()", "3", "(0, 0)", "None", "'a'"]
    yield from forms(f"mx.{{f}}({FRACTIONS}, axis={{axis}})", f=reductions, axis=places)
    yield from forms(f"mx.{{f}}({FRACTIONS}, 1, True)", f=reductions)
    others = (
        "softmax sort argsort cumsum cumprod cummax logcumsumexp flip squeeze expand_dims".split()
    )
    yield from forms(f"mx.{{f}}({FRACTIONS}, axis={{axis}})", f=others, axis=places)
    empty = ["mx.zeros((0,))", "mx.zeros((2, 0, 3))", "mx.array(2.0)"]
    yield from forms("mx.{f}({a})", f=reductions + others[:-1], a=empty)
    orders = ["None", "1", "2", "-1", "0", "mx.inf", "'fro'", "'nuc'", "'abc'"]
    yield from forms(f"mx.linalg.norm({MATRIX}, {{o}}, axis={{axis}})", o=orders, axis=["None", "0", "(0, 1)"])  # noqa: E501  # fmt: skip


def shapes() -> Iterator[str]:
    yield from forms(f"mx.reshape({CUBE}, {{s}})", s=["(4, 6)", "(-1,)", "(2, -1)", "(5, 5)", "(-1, -1)", "()"])  # noqa: E501  # fmt: skip
    yield from forms(f"mx.flatten({CUBE}, {{s}})", s=["1", "0, 1", "0, 5", "-4", "2, 1", "-2, -1"])
    yield from forms(f"mx.unflatten({CUBE}, -1, {{s}})", s=["(2, 2)", "(-1, 2)", "(3, -1)", "()", "(-1, -1)"])  # noqa: E501  # fmt: skip
    yield from forms(f"mx.flip({CUBE}, {{s}})", s=["(0, 0)", "(0, -3)", "[1, 2]", "7"])
    yield from forms(f"mx.unstack({CUBE}, axis={{s}})", s=["0", "1", "-1", "3"])
    yield from forms(f"mx.split({CUBE}, {{s}})", s=["2, 2", "[1, 2], 1", "5", "[0]", "[-1]"])
    yield from forms(f"mx.pad({CUBE}[0], {{s}})", s=["1", "(1, 2)", "((1, 1), (2, 0))", "np.array([[1, 2], [0, 1]])", "-1"])  # noqa: E501  # fmt: skip
    yield from forms("mx.eye(3, {s})", s=["4", "4, 1", "None, -1", "3, 0, mx.int32"])
    yield from forms("mx.arange({s})", s=["5", "1, 5, 2", "0, 1, 0.25", "5, 0", "2.5", "5, dtype=mx.float16"])  # noqa: E501  # fmt: skip
    yield from forms(
        "mx.linspace({s})", s=["0, 1, 5", "0, 1, 5, False", "0, 10, 3, dtype=mx.int32"]
    )
    yield from ["mx.trace(mx.ones((3, 3), dtype=mx.int8))", "mx.diag(mx.array([1, 2]), -1)"]


def indexing() -> Iterator[str]:
    keys = ["0", "-1", "1:", "::-1", "None", "...", "..., 0", "0, None, ...", "mx.array([0, 2])"]
    keys += [
        ":, mx.array([0, 2])",
        "mx.array([0, 2]), :, mx.array([1, 3])",
        "[0, 2]",
        "True",
        "1.0",
    ]
    keys += ["mx.array([[0, 1], [2, 0]])", "mx.array([], dtype=mx.int32)", "0, 1, 2, 3", "'a'"]
    start = "x = mx.arange(60).reshape(3, 4, 5)\n"
    yield from forms(start + "x[{k}]", k=keys)
    yield from forms(start + "x[{k}] = {v}\nx", k=keys, v=["7", "mx.array([1, 2, 3, 4, 5])"])
    keys.remove("True")
    yield from forms(start + "x.at[{k}].{f}(2)", k=keys, f=["add", "multiply", "maximum"])
    yield "mx.zeros((0, 3))[mx.array([], dtype=mx.int32)]"
    pairs = "mx.array([[0, 1], [1, 0]])"
    yield from forms(f"mx.take_along_axis({CUBE}[0], {{s}})", s=["mx.array([[0], [1], [3]])", "mx.array([0, 1])"])  # noqa: E501  # fmt: skip
    yield from forms(f"mx.take_along_axis(mx.arange(4).reshape(2, 2), {pairs}, {{s}})", s=["0", "1", "None"])  # noqa: E501  # fmt: skip


def transforms() -> Iterator[str]:
    two = "(mx.array([1.0, 2.0]), mx.array([3.0, 4.0]))"
    for argnums in ["0", "1", "(0, 1)", "[1, 0]", "(1,)", "2", "-1", "(0, 0)", "()"]:
        yield f"mx.value_and_grad(lambda x, y: (x * y * y).sum(), argnums={argnums}){two}"
    yield "mx.grad(lambda x, y: (x * y).sum(), argnames='y')(mx.ones(2), y=mx.ones(2))"
    yield "mx.grad(lambda p: (p['a'] * p['b'][0]).sum())({'a': mx.ones(2), 'b': (mx.array(3.0), 2)})"
    numbers = "mx.array([0.1, 0.3, 0.2])"
    of_indices = ["x[mx.argmax(x)]", "x[mx.argsort(x)].sum()", "x[mx.argmax(mx.stop_gradient(x))]"]
    of_indices += ["mx.take_along_axis(x, mx.argsort(x), 0).sum()", "mx.sort(x)[0]", "mx.median(x)"]
    yield from forms(f"mx.jvp(lambda x: {{f}}, [{numbers}], [{numbers}])", f=of_indices)
    of_indices += ["x.at[mx.argmax(x)].add(2.0).sum()", "mx.cummax(x).sum()", "mx.topk(x, 2).sum()"]
    yield from forms(f"mx.grad(lambda x: {{f}})({numbers})", f=of_indices)
    yield f"mx.grad(lambda x: mx.grad(lambda y: (mx.sort(y) ** 3).sum())(x).sum())({numbers})"
    yield "mx.grad(lambda i: mx.slice(mx.arange(3.0), i, (0,), (1,)).sum())(mx.array([1]))"
    tree = "{'a': mx.arange(3), 'b': mx.arange(2)}"
    yield f"mx.vmap(lambda p: p['a'] + p['b'], in_axes={{'a': 0, 'b': None}})({tree})"
    yield "mx.vmap(lambda p: p[0] + p[1], in_axes=[0, None])([mx.arange(3), mx.array(1)])"
    yield "mx.vmap(lambda x, y: x + y, in_axes=(0, None))(mx.arange(3), mx.arange(2))"
    yield "mx.vmap(lambda x: x, in_axes=2)(mx.arange(3))"
    shapeless = "f = mx.compile(lambda x: {e}, shapeless=True)\n[f(mx.arange(8.0).reshape(2, 4)), f(mx.arange(12.0).reshape(2, 6))]"  # noqa: E501
    bodies = ["x.reshape(-1)", "x.reshape(2, -1) * 2", "mx.unflatten(x.T, 1, (2, -1)).sum()"]
    bodies += ["x.reshape(-1, 2)", "mx.cumsum(x)", "mx.argmax(x)", "x.flatten()"]
    bodies += ["mx.fast.layer_norm(x, None, None, 1e-5)", "mx.fast.rms_norm(x, None, 1e-5)"]
    yield from forms(shapeless, e=bodies)


def randomness() -> Iterator[str]:
    calls = [
        "uniform(shape=(5,)",
        "normal((5,)",
        "normal((3,), mx.float16",
        "gumbel((4,)",
        "laplace((4,)",
    ]
    calls += [
        "randint(0, 10, (5,)",
        "randint(10, 0, (5,)",
        "randint(0.5, 3.5, (5,)",
        "permutation(7",
    ]
    calls += [
        "randint(0, 2**31, (5,), mx.int64",
        "randint(0, 2, (5,), mx.bool_",
        "bernoulli(0.3, (5,)",
    ]
    calls += ["randint(mx.array(0.9), mx.array(30.2), (5,)", "truncated_normal(-1, 1, (5,)"]
    calls += ["categorical(mx.zeros((2, 3))", "categorical(mx.zeros((2, 3)), num_samples=5"]
    calls += [
        "categorical(mx.zeros((7,)), num_samples=5",
        "categorical(mx.zeros((7,)), shape=(2, 2)",
    ]
    calls += ["categorical(mx.zeros((7,))", "categorical(mx.arange(5.0), num_samples=6"]
    calls += ["categorical(mx.zeros((1, 7)), num_samples=2", "categorical(mx.zeros((7, 1)), 0, num_samples=2"]  # noqa: E501  # fmt: skip
    covariance = "mx.array([[2.0, 0.5], [0.5, 1.0]])"
    calls += [f"multivariate_normal(mx.array([1.0, 2.0]), {covariance}, (4,)"]
    yield from forms("mx.random.{c}, key=mx.random.key(3))", c=calls)
    yield from forms("mx.random.seed(5)\nmx.random.{c})", c=calls)


def numerics() -> Iterator[str]:
    weights = ["None", "mx.arange(4.0)", "mx.ones(4, dtype=mx.float16)", "mx.ones(3)"]
    rows = [FRACTIONS, f"{FRACTIONS}.astype(mx.float16)", "mx.arange(4)", "mx.array(1.0)"]
    yield from forms("mx.fast.rms_norm({x}, {w}, 1e-5)", x=rows, w=weights)
    yield from forms("mx.fast.layer_norm({x}, {w}, {b}, 1e-5)", x=rows, w=weights, b=["None", "mx.arange(4.0)"])  # noqa: E501  # fmt: skip
    yield from forms("mx.linalg.{f}(" + MATRIX + ", stream=mx.cpu)", f="inv pinv det slogdet cholesky".split())  # noqa: E501  # fmt: skip
    yield from forms(
        "mx.fft.{f}(mx.arange(6.0), {n})", f=["fft", "rfft", "irfft"], n=["4", "8", "-1"]
    )
    yield from forms("mx.linalg.cross(mx.array([1, 2]), {b})", b=["mx.array([3, 4])", "mx.ones(3)"])
    lower = "mx.array([[4.0, 0.0], [1.0, 2.0]]), mx.array([1, 2]), stream=mx.cpu"
    yield from forms(f"mx.linalg.{{f}}({lower})", f=["solve", "solve_triangular"])
    yield from ["mx.softmax(mx.array([1 + 1j, 2, 0.5j]))", f"mx.count_nonzero({CUBE}, 0)"]
    quantities = "mx.arange(256).reshape(2, 128) * 0.37 % 2.3 - 1.1"
    for mode in ["affine", "mxfp4", "mxfp8", "nvfp4", "other"]:
        yield f"mx.quantize({quantities}, mode='{mode}')"
        yield f"mx.dequantize(*mx.quantize({quantities}, mode='{mode}'), mode='{mode}')"


def objects() -> Iterator[str]:
    scalars = [f"{values}[0]" for values in list(OF_TYPE.values())[:-2]]
    yield from forms("format({a})", a=scalars)
    yield from forms("format({a}, '{f}')", a=["mx.array(1.5)", "mx.array(3)"], f=["", ".2f"])
    yield from forms("repr({a})", a=list(OF_TYPE.values()))
    yield from ["repr(mx.cpu)", "str(mx.cpu)", "repr(mx.floating)", "repr(mx.float32)"]
    yield from ["mx.array([1, 2]) == 'a'", "mx.array([1, 2]) != 'a'", "mx.array([1, 2]) == [1, 2]"]
    yield from ["mx.array([1, 2]).__div__(2)", "mx.array([1, 2]).__rdiv__(2)"]
    yield "mx.array([1, 2], dtype=mx.int16).__bytes__()"
    yield "mx.save(3, mx.array(1.0))"
    yield "mx.load(3)"


def edges() -> Iterator[str]:
    """Types and operands that few programs use."""
    complexes = OF_TYPE["complex64"]
    pair = f"mx.stack([{complexes}, mx.array([1, 2j, 3])])"
    yield from forms("mx.fft.{f}({a})", f=["rfft", "rfft2", "rfftn"], a=[pair])
    transforms = ["fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn"]
    yield from forms("mx.fft.{f}({a}, axes=())", f=transforms, a=[pair, MATRIX, CUBE])
    yield from forms("mx.fft.{f}({a}, s=[], axes=[])", f=transforms, a=[MATRIX])
    divisors = ["2", "1j", "mx.array([1 - 1j, 2j, 3])"]
    yield from forms(f"{complexes} // {{b}}", b=divisors)
    yield from ["2 // mx.array([1 + 1j, 2j])", "x = mx.array([1.0, 2.0j])\nx //= 1 + 1j\nx"]
    yield from forms("mx.arange({x}, dtype=mx.complex64)", x=["5", "1, 2.5, 0.5", "0", "3, 0, -1"])
    yield "mx.arange(3, dtype=mx.bool_)"
    special = "mx.array([complex(np.nan, 1), complex(np.inf, 2), complex(-np.inf, 0), 1 + 2j])"
    yield from forms(
        "mx.nan_to_num({a}{others})",
        a=[special],
        others=["", ", posinf=1", ", neginf=1", ", nan=3, posinf=7, neginf=-7"],
    )
    kinds = ["float16", "bfloat16", "int32", "uint8", "int64", "bool_", "float32"]
    rows = ["[[2, 1], [1, 1]]", "[[1, 2], [3, 4]]", "[[1, 1], [1, 1]]", "[[[2]], [[3]]]", "[1]"]
    yield from forms(
        "mx.linalg.{f}(mx.array({rows}, dtype=mx.{t}), stream=mx.cpu)",
        f=["det", "slogdet"], rows=rows, t=kinds,
    )  # fmt: skip
    arithmetic = "+ - * / // % ** < <= > >= == != & | ^ << >>".split()
    others = ["'a'", "[1]", "(1,)", "None", "{}", "set()", "object"]
    yield from forms("mx.array([1, 2]) {op} {b}", op=arithmetic, b=others)
    reflected = [op for op in arithmetic if op != "%"]  # str % x formats
    yield from forms("{b} {op} mx.array([1, 2])", op=reflected, b=others)
    yield from forms("{b} % mx.array([1, 2])", b=others[1:])
    yield from forms("x = mx.array([1, 2])\nx {op}= {b}\nx", op=arithmetic[:7], b=others)
    yield from forms("x = mx.array([1, 2])\nx {op}= {b}\nx", op=arithmetic[-5:], b=others)
    yield from forms("mx.array.__new__(mx.array) {op} 1", op=["+", "<"])


def programs() -> list[str]:
    groups = [types, axes, shapes, indexing, transforms, randomness, numerics, objects, edges]
    return [program for group in groups for program in group()]


def plain(value: Any) -> Any:
    """The value as JSON has it: arrays as type, shape and numbers."""
    if isinstance(value, mx.array):
        numbers = [plain(number) for number in value.reshape(-1).tolist()]
        return ["array", str(value.dtype), list(value.shape), numbers]
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(plain, value)]
    if isinstance(value, dict):
        return ["dict", *([key, plain(item)] for key, item in value.items())]
    if isinstance(value, complex):
        return [plain(value.real), plain(value.imag)]
    if isinstance(value, float) and not np.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return re.sub("0x[0-9a-f]+", "", repr(value))


def result(program: str) -> Any:
    lines = ast.parse(program).body
    names = {"mx": mx, "np": np}
    try:
        exec(compile(ast.Module(lines[:-1], []), "program", "exec"), names)
        return plain(eval(compile(ast.Expression(lines[-1].value), "program", "eval"), names))
    except Exception as error:
        return {"raises": [kind.__name__ for kind in type(error).__mro__]}


if __name__ == "__main__":
    mx.set_default_device(mx.cpu)
    with open(sys.argv[1], "w") as file:
        rows = [f"{json.dumps(program)}: {json.dumps(result(program))}" for program in programs()]
        file.write("{\n" + ",\n".join(dict.fromkeys(rows)) + "\n}\n")
