"""The functors of MLX's headers unary_ops.h, binary_ops.h and ternary_ops.h in kernels of users."""

import mlx.core as mx
import numpy as np
import pytest
import scipy.special
from kernel_runner import run_one

UNARY = {
    "Abs": np.abs,
    "ArcCos": lambda x: np.arccos(np.clip(x, -1, 1)),
    "ArcSinh": np.arcsinh,
    "ArcTan": np.arctan,
    "Ceil": np.ceil,
    "Conjugate": np.conj,
    "Cos": np.cos,
    "Cosh": np.cosh,
    "Erf": scipy.special.erf,
    "Exp": np.exp,
    "Expm1": np.expm1,
    "Floor": np.floor,
    "Log1p": np.log1p,
    "LogicalNot": np.logical_not,
    "Negative": np.negative,
    "Round": np.rint,
    "Sigmoid": scipy.special.expit,
    "Sign": np.sign,
    "Sin": np.sin,
    "Sinh": np.sinh,
    "Square": np.square,
    "Tan": np.tan,
    "Tanh": np.tanh,
}
BINARY = {
    "Add": np.add,
    "ArcTan2": np.arctan2,
    "Divide": np.divide,
    "FloorDivide": np.floor_divide,
    "Greater": np.greater,
    "LessEqual": np.less_equal,
    "LogAddExp": np.logaddexp,
    "LogicalAnd": np.logical_and,
    "Maximum": np.maximum,
    "Minimum": np.minimum,
    "Multiply": np.multiply,
    "NotEqual": np.not_equal,
    "Remainder": np.remainder,
    "Subtract": np.subtract,
}
COMPLEX = {"Exp": np.exp, "Log": np.log, "Sqrt": np.sqrt, "Sin": np.sin, "Square": np.square}
INTEGER = {
    "BitwiseAnd": np.bitwise_and,
    "BitwiseXor": np.bitwise_xor,
    "LeftShift": np.left_shift,
    "Power": np.power,
    "RightShift": np.right_shift,
}


def header(kind: str) -> str:
    return f'#include "mlx/backend/metal/kernels/{kind}_ops.h"\n'


def call(names, operands: str, index: str) -> str:
    """Statements that write the results of all functors, one row for each."""
    return "uint i = thread_position_in_grid.x;" + "".join(
        f"out[{row} * {index} + i] = {name}()({operands});" for row, name in enumerate(names)
    )


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-5), ("float16", 2e-3)])
def test_unary(rng: np.random.Generator, dtype: str, tolerance: float):
    x = rng.uniform(-0.9, 0.9, 32).astype(dtype)
    body = call(UNARY, "x[i]", "32")
    got = run_one(
        body,
        {"x": x},
        {"out": ((len(UNARY), 32), getattr(mx, dtype))},
        32,
        header=header("unary"),
    )
    wanted = np.stack([f(x.astype(np.float64)) for f in UNARY.values()])
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype, tolerance", [("float32", 1e-5), ("float16", 2e-3)])
def test_binary(rng: np.random.Generator, dtype: str, tolerance: float):
    x, y = (rng.uniform(-3, 3, 32).astype(dtype) for _ in "xy")
    got = run_one(
        call(BINARY, "x[i], y[i]", "32"),
        {"x": x, "y": y},
        {"out": ((len(BINARY), 32), getattr(mx, dtype))},
        32,
        header=header("binary"),
    )
    wanted = np.stack([f(x.astype(np.float64), y.astype(np.float64)) for f in BINARY.values()])
    np.testing.assert_allclose(got, wanted, rtol=tolerance, atol=4 * tolerance)


def test_integers():
    x, y = np.arange(1, 33, dtype=np.int32), np.arange(32, dtype=np.int32) % 6
    got = run_one(
        call(INTEGER, "x[i], y[i]", "32"),
        {"x": x, "y": y},
        {"out": ((len(INTEGER), 32), mx.int32)},
        32,
        header=header("binary"),
    )
    np.testing.assert_array_equal(got, np.stack([f(x, y) for f in INTEGER.values()]))


def test_complex_numbers(rng: np.random.Generator):
    x = (rng.normal(size=32) + 1j * rng.normal(size=32)).astype(np.complex64)
    got = run_one(
        call(COMPLEX, "x[i]", "32"),
        {"x": x},
        {"out": ((len(COMPLEX), 32), mx.complex64)},
        32,
        header=header("unary"),
    )
    np.testing.assert_allclose(got, np.stack([f(x) for f in COMPLEX.values()]), rtol=1e-5)


def test_several_results_and_operands():
    x, y = np.arange(32, dtype=np.float32), np.full(32, 5, np.float32)
    body = """
        uint i = thread_position_in_grid.x;
        auto both = DivMod()(x[i], y[i]);
        out[i] = Select()(i % 2 == 0, both[0], both[1]);
    """
    wanted = np.where(np.arange(32) % 2 == 0, x // y, x % y)
    got = run_one(
        body,
        {"x": x, "y": y},
        {"out": ((32,), mx.float32)},
        32,
        header=header("ternary"),
    )
    np.testing.assert_array_equal(got, wanted)


def test_functors_are_template_arguments(rng: np.random.Generator):
    x = rng.uniform(-3, 3, 32).astype(np.float32)
    apply = """
        template <typename Op, typename T>
        void apply(const device T* x, device T* out, uint i) { out[i] = Op()(x[i]); }
    """
    got = run_one(
        "apply<Sigmoid>(x, out, thread_position_in_grid.x);",
        {"x": x},
        {"out": ((32,), mx.float32)},
        32,
        header=header("unary") + apply,
    )
    np.testing.assert_allclose(got, scipy.special.expit(x), rtol=1e-5)
