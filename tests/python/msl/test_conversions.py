"""Conversions between floats and integers, and functions of small floats, against exact numbers."""

import math

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import FLOATS, INTEGERS, run_one, to_numpy

SPECIAL = [0.0, -0.0, 1e-40, -1e-40, math.inf, -math.inf, math.nan, 3e38, -3e38]


def around_limits() -> list[float]:
    """Numbers just inside, at and just outside of the limits of all integer types."""
    limits = [sign * 2.0**bits for bits in (7, 8, 15, 16, 31, 32, 63, 64) for sign in (1, -1)]
    steps = (0.0, -0.5, 0.5, -1.0, 1.0)
    nearest = [
        float(np.nextafter(np.float32(x), np.float32(y))) for x in limits for y in (0, 2 * x)
    ]
    return [x + step for x in limits for step in steps] + nearest


def numbers(rng: np.random.Generator, dtype: mx.Dtype) -> mx.array:
    scales = 10.0 ** rng.integers(-2, 21, 1000)
    drawn = rng.standard_normal(1000) * scales
    return mx.array(np.array([*SPECIAL, *around_limits(), *drawn], np.float32)).astype(dtype)


def saturated(x: float, dtype: np.dtype) -> int:
    """Rounds towards zero and clamps to the type; NaN gives 0."""
    if math.isnan(x):
        return 0
    limits = np.iinfo(dtype)
    if math.isinf(x):
        return limits.max if x > 0 else limits.min
    return max(limits.min, min(limits.max, int(x)))


@pytest.mark.parametrize("to", INTEGERS)
@pytest.mark.parametrize("source", FLOATS)
def test_floats_saturate(source: str, to: str, rng: np.random.Generator):
    x = numbers(rng, FLOATS[source])
    got = run_one(
        f"uint i = thread_position_in_grid.x; out[i] = {to}(x[i]);",
        {"x": x},
        {"out": (x.shape, INTEGERS[to])},
        x.size,
    )
    expected = [saturated(float(value), got.dtype) for value in to_numpy(x)]
    assert got.tolist() == expected


# Each operation is exact in half precision, or rounded once.
HALF = {
    "floor(x)": np.floor,
    "ceil(x)": np.ceil,
    "trunc(x)": np.trunc,
    "rint(x)": np.rint,
    "abs(x)": np.abs,
    "sqrt(abs(x))": lambda x: np.sqrt(np.abs(x)),
    "x + x * x": lambda x: x + (x * x).astype(np.float16),
    "x / half(3)": lambda x: x / np.float16(3),
    "-x": np.negative,
    "half(int(x))": np.trunc,
    "x < half(2) ? x : half(2)": lambda x: np.where(x < 2, x, np.float16(2)),
    "max(min(x, half(3)), half(-1))": lambda x: np.clip(x, np.float16(-1), np.float16(3)),
    "sign(x)": np.sign,
    "copysign(x, half(-1))": lambda x: -np.abs(x),
}


@pytest.mark.parametrize("expression", HALF)
@pytest.mark.parametrize("type_name", ["half", "bfloat"])
def test_functions_of_small_floats(type_name: str, expression: str, rng: np.random.Generator):
    """Small integers divided by 8, for which both types give the same results."""
    x = (rng.integers(-120, 120, 1000) / 8).astype(np.float16)
    if type_name == "bfloat" and expression in ("sqrt(abs(x))", "x / half(3)", "x + x * x"):
        x = np.round(x).clip(-2, 2)  # so that the results need few bits
        if "/" in expression:
            x = x * np.float16(3)
        if "sqrt" in expression:
            x = x * x
    got = run_one(
        f"uint i = thread_position_in_grid.x; {type_name} x = in[i]; "
        f"out[i] = {expression.replace('half', type_name)};",
        {"in": mx.array(x).astype(FLOATS[type_name])},
        {"out": (x.shape, FLOATS[type_name])},
        x.size,
        compile_options={"math_mode": "safe"},
    )
    np.testing.assert_array_equal(got, HALF[expression](x.astype(np.float16)).astype(got.dtype))
