"""Errors of the math functions in ulps, against double precision; prints the table."""

from collections.abc import Callable

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one

SAMPLES = 1 << 18
TABLE: list[str] = []


@pytest.fixture(scope="module", autouse=True)
def table(request: pytest.FixtureRequest):
    """Prints the measured errors once all of them are known."""
    yield
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled():
        print(f"\n{'function':<18}{'max ulp':>10}{'bound':>8}   at", *TABLE, sep="\n")


def evaluate(expression: str, *inputs: np.ndarray, dtype=mx.float32) -> np.ndarray:
    """The expression in a, b, c for each element of the inputs."""
    names = "abc"[: len(inputs)]
    loads = " ".join(f"auto {n} = in_{n}[i];" for n in names)
    return run_one(
        f"uint i = thread_position_in_grid.x; {loads} out[i] = {expression};",
        {f"in_{n}": mx.array(x).astype(dtype) for n, x in zip(names, inputs)},
        {"out": (inputs[0].shape, dtype)},
        inputs[0].size,
        name="math",
    )


def ulps(got: np.ndarray, reference: np.ndarray, digits=24, smallest=-149) -> np.ndarray:
    """Distance in ulps of the reference; an overflow counts as the next power of two."""
    largest = 2.0**128
    with np.errstate(all="ignore"):
        exponent = np.frexp(np.clip(np.abs(reference), 2.0**smallest, largest / 2))[1]
        unit = np.ldexp(1.0, np.maximum(exponent - digits, smallest))
        distance = np.abs(np.clip(got, -largest, largest) - np.clip(reference, -largest, largest))
        error = distance / unit
    nan = np.isnan(got) | np.isnan(reference)
    return np.where(nan, np.where(np.isnan(got) == np.isnan(reference), 0.0, np.inf), error)


def every_exponent(rng: np.random.Generator, count: int = SAMPLES) -> np.ndarray:
    """Random bit patterns: all exponents, denormals, NaNs and infinities."""
    bits = rng.integers(0, 1 << 32, count, dtype=np.uint64).astype(np.uint32)
    with np.errstate(invalid="ignore"):
        return bits.view(np.float32)


SPECIAL = np.array(
    [0.0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -0.5, 0.25, 0.75, 2, -2, 1.5, -1.5, 2.5, 3]
    + [2.0**-149, -(2.0**-149), 2.0**-126, 2.0**-126 * (1 - 2.0**-23), 3.4028234663852886e38]
    + [-3.4028234663852886e38, 1 + 2.0**-23, 1 - 2.0**-24, 2.0**23 - 0.5, 2.0**23 + 1, 2.0**24]
    + [np.pi, np.pi / 2, np.pi / 4, np.e, 88.72284, -87.33655, -103.97208, 128, -126, -149, 1e10],
    np.float32,
)


def unary_inputs(rng: np.random.Generator, near: tuple[float, float]) -> np.ndarray:
    return np.concatenate(
        [SPECIAL, every_exponent(rng), rng.uniform(*near, SAMPLES).astype(np.float32)]
    )


def turns(f: Callable, x: np.ndarray) -> np.ndarray:
    """sin, cos or tan of pi * x, for an eighth of a period, where rounding pi hardly matters."""
    x = np.fmod(x, 2.0)
    n = np.rint(2 * x)
    r, n = np.pi * (x - n / 2), n.astype(np.int64) % 4
    s, c = np.sin(r), np.cos(r)
    sine = np.choose(n, [s, c, -s, -c])
    cosine = np.choose(n, [c, -s, -c, s])
    tangent = np.where(cosine == 0, np.copysign(np.inf, sine), sine / cosine)
    return {"sin": sine, "cos": cosine, "tan": tangent}[f.__name__]


def in_turns(f: Callable) -> Callable:
    def reference(x: np.ndarray) -> np.ndarray:
        finite = np.isfinite(x)
        return np.where(finite, turns(f, np.where(finite, x, 0.0)), np.nan)

    return reference


def half_away(x: np.ndarray) -> np.ndarray:
    return np.copysign(np.trunc(np.abs(x) + np.where(np.abs(x) < 2.0**50, 0.5, 0)), x)


# Function: the specification's bound, the reference in double precision, the usual range of
# samples.
UNARY = {
    "exp": (4, np.exp, (-104, 89)),
    "exp2": (4, np.exp2, (-150, 129)),
    "exp10": (4, lambda x: np.power(10.0, x), (-46, 39)),
    "log": (4, np.log, (0, 4)),
    "log2": (4, np.log2, (0, 4)),
    "log10": (4, np.log10, (0, 4)),
    "sin": (4, np.sin, (-100, 100)),
    "cos": (4, np.cos, (-100, 100)),
    "tan": (6, np.tan, (-100, 100)),
    "sinpi": (4, in_turns(np.sin), (-8, 8)),
    "cospi": (4, in_turns(np.cos), (-8, 8)),
    "tanpi": (6, in_turns(np.tan), (-8, 8)),
    "asin": (4, np.arcsin, (-1, 1)),
    "acos": (4, np.arccos, (-1, 1)),
    "atan": (5, np.arctan, (-8, 8)),
    "sinh": (4, np.sinh, (-90, 90)),
    "cosh": (4, np.cosh, (-90, 90)),
    "tanh": (5, np.tanh, (-4, 4)),
    "asinh": (4, np.arcsinh, (-8, 8)),
    "acosh": (4, np.arccosh, (1, 8)),
    "atanh": (5, np.arctanh, (-1, 1)),
    "rsqrt": (2, lambda x: 1 / np.sqrt(x), (0, 8)),
    "sqrt": (0.5, np.sqrt, (0, 8)),
    "ceil": (0, np.ceil, (-100, 100)),
    "floor": (0, np.floor, (-100, 100)),
    "trunc": (0, np.trunc, (-100, 100)),
    "rint": (0, np.rint, (-100, 100)),
    "round": (0, half_away, (-100, 100)),
    "fabs": (0, np.abs, (-100, 100)),
}


def widened(x: np.ndarray) -> np.ndarray:
    """In double precision, without NumPy's warning about signalling NaNs."""
    with np.errstate(invalid="ignore"):
        return x.astype(np.float64)


def check(label: str, got: np.ndarray, reference: np.ndarray, bound: float, *inputs: np.ndarray):
    error = ulps(widened(got), reference)
    worst = int(np.argmax(error))
    at = ", ".join(f"{x[worst]:.9g}" for x in inputs)
    TABLE.append(f"{label:<18}{error[worst]:>10.3f}{bound:>8g}   {at}")
    assert error[worst] <= bound, f"{label}({at}) = {got[worst]}, exactly {reference[worst]}"


@pytest.mark.parametrize("name", UNARY)
def test_one_argument(name: str, rng):
    bound, reference, near = UNARY[name]
    x = unary_inputs(rng, near)
    with np.errstate(all="ignore"):
        expected = reference(x.astype(np.float64))
    check(name, evaluate(f"metal::precise::{name}(a)", x), expected, bound, x)


@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "floor"])
def test_plain_names_are_the_precise_functions(name: str, rng):
    x = unary_inputs(rng, UNARY[name][2])
    np.testing.assert_array_equal(
        evaluate(f"{name}(a)", x), evaluate(f"metal::precise::{name}(a)", x)
    )


def pairs(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    grid = np.meshgrid(SPECIAL, SPECIAL)
    x, y = every_exponent(rng), every_exponent(rng)
    with np.errstate(all="ignore"):
        close = (x * rng.uniform(0.01, 100, x.size)).astype(np.float32)
    a = np.concatenate([grid[0].ravel(), x, x])
    b = np.concatenate([grid[1].ravel(), y, close])
    return a, b


def powers(rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    a, b = pairs(rng)
    base = rng.uniform(0, 4, SAMPLES).astype(np.float32)
    # Exponents that keep the results in range, and small integer exponents of negative numbers.
    exponent = rng.uniform(-1, 1, SAMPLES) * 90 / np.maximum(np.abs(np.log(base)), 0.05)
    whole = rng.integers(-20, 21, SAMPLES)
    more = np.concatenate([exponent, whole]).astype(np.float32)
    return np.concatenate([a, base, -base]), np.concatenate([b, more])


BINARY = {
    "pow": (3, np.power, powers),
    "atan2": (6, np.arctan2, pairs),
    "fmod": (0, np.fmod, pairs),
    "divide": (0.5, np.divide, pairs),
    "copysign": (0, np.copysign, pairs),
    "fmax": (0, np.fmax, pairs),
    "fmin": (0, np.fmin, pairs),
}


@pytest.mark.parametrize("name", BINARY)
def test_two_arguments(name: str, rng):
    bound, reference, inputs = BINARY[name]
    a, b = inputs(rng)
    with np.errstate(all="ignore"):
        expected = reference(a.astype(np.float64), b.astype(np.float64))
    check(name, evaluate(f"metal::precise::{name}(a, b)", a, b), expected, bound, a, b)


def test_powr_takes_no_negative_base(rng):
    a, b = powers(rng)
    with np.errstate(all="ignore"):
        expected = np.where(a < 0, np.nan, np.power(a.astype(np.float64), b.astype(np.float64)))
    nan = np.isnan(a) | np.isnan(b)
    a, b, expected = a[~nan], b[~nan], expected[~nan]
    check("powr", evaluate("precise::powr(a, b)", a, b), expected, 3, a, b)


def test_fma_rounds_once(rng):
    a, b = rng.normal(size=(2, SAMPLES)).astype(np.float32)
    c = (-(a.astype(np.float64) * b) * (1 + rng.normal(size=SAMPLES) * 1e-7)).astype(np.float32)
    expected = a.astype(np.float64) * b + c
    check("fma", evaluate("fma(a, b, c)", a, b, c), expected, 0.500001, a, b, c)


def test_sincos_is_sin_and_cos(rng):
    x = unary_inputs(rng, (-100, 100))
    for name, result in [("sin", "s"), ("cos", "co")]:
        np.testing.assert_array_equal(
            evaluate(f"0; float co; float s = sincos(a, co); out[i] = {result}", x),
            evaluate(f"{name}(a)", x),
        )


def test_nextafter(rng):
    a, b = pairs(rng)
    got = evaluate("nextafter(a, b)", a, b)
    with np.errstate(all="ignore"):
        expected = np.nextafter(a, b)
    np.testing.assert_array_equal(got, expected)


# The signs of zeros, which errors in ulps do not show.
@pytest.mark.parametrize(
    "name",
    ["sin", "tan", "sinpi", "tanpi", "asin", "atan", "sinh", "tanh", "asinh", "atanh", "sqrt"]
    + ["ceil", "floor", "trunc", "rint", "round"],
)
def test_odd_functions_keep_the_sign_of_zero(name: str):
    got = evaluate(f"{name}(a)", np.array([0.0, -0.0], np.float32))
    assert list(got) == [0, 0] and list(np.signbit(got)) == [False, True]


@pytest.mark.parametrize("size", [1, 3, 31, 77, 129])
def test_rsqrt_of_a_number_is_the_same_in_every_thread(size: int, rng):
    """A row's last threads run as scalar code."""
    numbers = np.concatenate([SPECIAL, rng.uniform(0, 8, 64).astype(np.float32)])
    results = [evaluate("rsqrt(a)", np.full(size, number, np.float32)) for number in numbers]
    first = evaluate("rsqrt(a)", numbers)
    np.testing.assert_array_equal(np.stack(results), np.repeat(first[:, None], size, axis=1))


@pytest.mark.parametrize("expression", ["rsqrt(a)", "1 / sqrt(a)"])
def test_inverse_roots_at_the_ends(expression: str):
    x = np.array([0.0, -0.0, np.inf, -1, np.nan, 4, 2.0**-148] * 19, np.float32)
    expected = np.array([np.inf, -np.inf, 0, np.nan, np.nan, 0.5, 2.0**74] * 19, np.float32)
    np.testing.assert_array_equal(evaluate(expression, x), expected)


# fast:: functions: bounds in ulps where the specification gives them so.
FAST = {
    "exp": (lambda x: 3 + np.floor(np.abs(2 * x)), np.exp, (-80, 80)),
    "exp2": (lambda x: 3 + np.floor(np.abs(2 * x)), np.exp2, (-125, 127)),
    "exp10": (lambda x: 3 + np.floor(np.abs(2 * x) * 3.33), lambda x: np.power(10.0, x), (-36, 36)),
    "log": (lambda x: 4, np.log, (2, 1e30)),
    "log2": (lambda x: 4, np.log2, (2, 1e30)),
    "log10": (lambda x: 4, np.log10, (2, 1e30)),
}


@pytest.mark.parametrize("name", FAST)
def test_fast_functions(name: str, rng):
    bound, reference, (low, high) = FAST[name]
    x = rng.uniform(low, high, SAMPLES).astype(np.float32)
    got = evaluate(f"metal::fast::{name}(a)", x).astype(np.float64)
    error = ulps(got, reference(x.astype(np.float64)))
    TABLE.append(f"{'fast::' + name:<18}{error.max():>10.3f}{'':>8}   {x[error.argmax()]:.9g}")
    assert np.all(error <= bound(x.astype(np.float64)))


@pytest.mark.parametrize("name", ["sin", "cos"])
def test_fast_sines_are_close_in_absolute_terms(name: str, rng):
    x = rng.uniform(-np.pi, np.pi, SAMPLES).astype(np.float32)
    error = np.abs(evaluate(f"fast::{name}(a)", x) - getattr(np, name)(x.astype(np.float64)))
    assert error.max() < 2.0**-13


def test_fast_functions_at_the_ends():
    x = np.array([-np.inf, np.inf, np.nan, -1000, 1000], np.float32)
    np.testing.assert_array_equal(evaluate("fast::exp(a)", x), [0, np.inf, np.nan, 0, np.inf])
    x = np.array([0, np.inf, np.nan, -1], np.float32)
    np.testing.assert_array_equal(evaluate("fast::log(a)", x), [-np.inf, np.inf, np.nan, np.nan])


# 16-bit types: all numbers, with one rounding.
NARROW = [
    "exp",
    "exp2",
    "exp10",
    "log",
    "log2",
    "sin",
    "cos",
    "tan",
    "tanh",
    "sqrt",
    "rsqrt",
    "asin",
    "atan",
]


@pytest.mark.parametrize("name", NARROW)
@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16], ids=["half", "bfloat"])
def test_narrow_types_round_once(name: str, dtype):
    bits = np.arange(1 << 16, dtype=np.uint16)
    if dtype == mx.float16:
        x, digits, smallest, limit = bits.view(np.float16).astype(np.float64), 11, -24, 65520
    else:
        x = (bits.astype(np.uint32) << 16).view(np.float32)
        x, digits, smallest, limit = widened(x), 8, -133, 2.0**128 * (1 - 2.0**-9)
    with np.errstate(all="ignore"):
        reference = UNARY[name][1](x)
        narrow = x.astype(np.float16 if dtype == mx.float16 else np.float32)
    reference = np.where(np.abs(reference) >= limit, np.copysign(np.inf, reference), reference)
    got = widened(evaluate(f"{name}(a)", narrow, dtype=dtype))
    error = ulps(got, reference, digits, smallest)
    label = f"{name}({'half' if dtype == mx.float16 else 'bfloat'})"
    TABLE.append(f"{label:<18}{error.max():>10.3f}{0.51:>8}   {x[error.argmax()]:.9g}")
    assert error.max() <= 0.51
