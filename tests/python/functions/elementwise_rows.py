"""Elementwise functions of one to three arrays."""

import mlx.core as mx
import numpy as np
import scipy.special
from function_rows import (
    ALL,
    BITS,
    FLOATS,
    INTEGERS,
    NUMBERS,
    REALS,
    Row,
    boolean,
    cases,
    inexact,
    real,
)

ONE = cases((), (5,), (2, 3, 4), (0, 3), (1, 33))
TWO = cases(
    ((), ()),
    ((5,), (5,)),
    ((2, 1, 4), (3, 1)),
    ((), (2, 3)),
    ((0, 3), (3,)),
    ((33,), (1,)),
)
THREE = cases(((4,), (4,), (4,)), ((2, 1), (3,), ()), ((0,), (1,), ()))
BOUNDED = THREE + cases(((3, 5), (), ()), ((2, 3), (1,), (1, 1)), ((), (), ()), ((), (1,), ()))


def not_an_array(name: str):
    function = getattr(mx, name)
    return (
        (lambda: function("x"), TypeError, f"str cannot be an operand|{name}"),
        (lambda: function(None), TypeError, name),
        (lambda: function(), TypeError, name),
    )


def not_broadcastable(name: str, dtype: mx.Dtype):
    arrays = mx.zeros((2, 3), dtype), mx.zeros((4,), dtype)
    return ((lambda: getattr(mx, name)(*arrays), ValueError, "broadcast"),)


def unary(name, reference, domain="signed", **more) -> Row:
    return Row(name, reference, ONE, domain, invalid=not_an_array(name), **more)


def binary(name, reference, domain="signed", **more) -> Row:
    dtype = more.get("dtypes", FLOATS)[0]
    return Row(name, reference, TWO, domain, invalid=not_broadcastable(name, dtype), **more)


def flat(name, reference, domain="signed", **more) -> Row:
    """A function whose derivative is zero or none."""
    return unary(name, reference, domain, differentiable=False, **more)


def comparison(name, reference, dtypes=ALL) -> Row:
    return binary(name, reference, dtypes=dtypes, result=boolean, differentiable=False)


def bitwise(name, reference, domain="positive", dtypes=INTEGERS) -> Row:
    return binary(name, reference, domain, dtypes=dtypes, differentiable=False)


# Functions of real or complex numbers; integers become float32.
MATH_DTYPES = (*NUMBERS, mx.bool_)


def math(name, reference, domain, dtypes=MATH_DTYPES) -> Row:
    return unary(name, reference, domain, dtypes=dtypes, result=inexact)


ROWS = [
    unary("abs", np.abs, "positive", dtypes=ALL, result=real),
    unary("negative", np.negative, dtypes=NUMBERS),
    unary("square", np.square, dtypes=NUMBERS),
    unary("positive", lambda x: x, dtypes=ALL),
    math("exp", np.exp, "signed"),
    math("sin", np.sin, "signed"),
    math("cos", np.cos, "signed"),
    math("tan", np.tan, "unit"),
    math("arcsin", np.arcsin, "unit"),
    math("arccos", np.arccos, "small"),
    math("arctan", np.arctan, "unit"),
    math("sinh", np.sinh, "signed"),
    math("cosh", np.cosh, "signed"),
    math("tanh", np.tanh, "signed"),
    math("arcsinh", np.arcsinh, "positive"),
    math("arccosh", np.arccosh, "above one", NUMBERS),
    math("arctanh", np.arctanh, "unit", FLOATS),
    math("expm1", np.expm1, "unit", REALS),
    math("erf", scipy.special.erf, "signed", REALS),
    math("erfinv", scipy.special.erfinv, "unit", FLOATS),
    math("degrees", np.degrees, "signed", REALS),
    math("radians", np.radians, "signed", REALS),
    math("log", np.log, "positive", NUMBERS),
    math("log2", np.log2, "positive", NUMBERS),
    math("log10", np.log10, "positive", NUMBERS),
    math("log1p", np.log1p, "positive", REALS),
    math("sigmoid", scipy.special.expit, "signed", REALS),
    math("sqrt", np.sqrt, "positive", NUMBERS),
    math("rsqrt", lambda x: 1 / np.sqrt(x), "positive", NUMBERS),
    math("reciprocal", lambda x: 1 / x, "positive", REALS),
    flat("sign", np.sign, dtypes=REALS),
    flat("floor", np.floor, dtypes=REALS),
    flat("ceil", np.ceil, dtypes=REALS),
    flat("trunc", np.trunc, dtypes=REALS),
    flat("round", np.round, dtypes=REALS),
    flat("isnan", np.isnan, dtypes=ALL, result=boolean),
    flat("isinf", np.isinf, dtypes=ALL, result=boolean),
    flat("isfinite", np.isfinite, dtypes=ALL, result=boolean),
    flat("isneginf", np.isneginf, dtypes=REALS, result=boolean),
    flat("isposinf", np.isposinf, dtypes=REALS, result=boolean),
    flat("logical_not", np.logical_not, dtypes=ALL, result=boolean),
    flat("bitwise_invert", np.invert, dtypes=BITS),
    flat("stop_gradient", lambda x: x, dtypes=ALL),
    unary("real", np.real, dtypes=NUMBERS, result=real),
    flat("imag", np.imag, dtypes=NUMBERS, result=real),
    unary("conjugate", np.conj, dtypes=NUMBERS),
    unary("conj", np.conj, dtypes=NUMBERS),
    unary(
        "astype",
        lambda x: x.astype(np.float32),
        dtypes=(*REALS, mx.bool_),
        result=lambda *_: mx.float32,
        differentiable=False,
        call=lambda x: mx.astype(x, mx.float32),
    ),
    unary("nan_to_num", np.nan_to_num, dtypes=REALS),
    unary("contiguous", lambda x: x, dtypes=ALL),
    binary("add", np.add, dtypes=ALL),
    binary("subtract", np.subtract, dtypes=NUMBERS),
    binary("multiply", np.multiply, dtypes=ALL),
    binary("divide", np.divide, "positive", dtypes=ALL[:-1], result=inexact),
    binary("maximum", np.maximum, dtypes=(*REALS, mx.bool_)),
    binary("minimum", np.minimum, dtypes=(*REALS, mx.bool_)),
    binary("power", np.power, "positive", dtypes=(*FLOATS, mx.int32, mx.int64)),
    binary("remainder", np.mod, ("signed", "positive"), dtypes=REALS, differentiable=False),
    binary(
        "floor_divide", np.floor_divide, ("signed", "positive"), dtypes=REALS, differentiable=False
    ),
    binary("divmod", np.divmod, ("signed", "positive"), dtypes=REALS, differentiable=False),
    binary("logaddexp", np.logaddexp, dtypes=FLOATS),
    binary("arctan2", np.arctan2, "positive", dtypes=FLOATS),
    comparison("equal", np.equal),
    comparison("not_equal", np.not_equal),
    comparison("less", np.less, (*REALS, mx.bool_)),
    comparison("less_equal", np.less_equal, (*REALS, mx.bool_)),
    comparison("greater", np.greater, (*REALS, mx.bool_)),
    comparison("greater_equal", np.greater_equal, (*REALS, mx.bool_)),
    comparison("logical_and", np.logical_and),
    comparison("logical_or", np.logical_or),
    comparison("logical_xor", np.logical_xor),
    comparison("isclose", np.isclose),
    Row(
        "allclose",
        lambda a, b: np.asarray(np.allclose(a, b)),
        TWO,
        dtypes=ALL,
        result=boolean,
        differentiable=False,
    ),
    Row(
        "array_equal",
        lambda a, b: np.asarray(np.array_equal(a, b)),
        cases(((), ()), ((5,), (5,)), ((2, 3), (3,)), ((0, 3), (0, 3))),
        dtypes=ALL,
        result=boolean,
        differentiable=False,
        mappable=False,
    ),
    bitwise("bitwise_and", np.bitwise_and, dtypes=BITS),
    bitwise("bitwise_or", np.bitwise_or, dtypes=BITS),
    bitwise("bitwise_xor", np.bitwise_xor, dtypes=BITS),
    bitwise("left_shift", np.left_shift, "unit"),
    bitwise("right_shift", np.right_shift, "unit"),
    Row("where", np.where, THREE, ("bool", "signed", "signed"), ALL),
    Row("clip", np.clip, BOUNDED, ("signed", "unit", "above one"), REALS),
]
