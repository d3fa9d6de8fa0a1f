"""Functions of float32 over their whole range, special values included, against double precision."""

import mlx.core as mx
import numpy as np
import pytest
import scipy.special

TINY = np.float32(1e-30)
SPECIAL = np.array([0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan, TINY, -TINY], np.float32)

# name: reference, lowest, highest, error allowed in units of the last place
FUNCTIONS = {
    "exp": (np.exp, -87, 88.5, 3),
    "expm1": (np.expm1, -30, 88.5, 3),
    "log": (np.log, 1e-30, 1e30, 3),
    "log2": (np.log2, 1e-30, 1e30, 3),
    "log10": (np.log10, 1e-30, 1e30, 3),
    "log1p": (np.log1p, -0.999, 1e6, 4),
    "sin": (np.sin, -1000, 1000, 4),
    "cos": (np.cos, -1000, 1000, 4),
    "tan": (np.tan, -1.5, 1.5, 5),
    "sinh": (np.sinh, -88, 88, 4),
    "cosh": (np.cosh, -88, 88, 4),
    "tanh": (np.tanh, -9, 9, 5),
    "arcsin": (np.arcsin, -1, 1, 5),
    "arccos": (np.arccos, -1, 1, 5),
    "arctan": (np.arctan, -100, 100, 5),
    "arcsinh": (np.arcsinh, -1e4, 1e4, 5),
    "arccosh": (np.arccosh, 1, 1e4, 5),
    "arctanh": (np.arctanh, -0.999, 0.999, 5),
    "erf": (scipy.special.erf, -4.5, 4.5, 3),
    "erfinv": (scipy.special.erfinv, -0.9999, 0.9999, 8),
    "sigmoid": (scipy.special.expit, -80, 80, 4),
    "sqrt": (np.sqrt, 0, 1e30, 1),
    "rsqrt": (lambda x: 1 / np.sqrt(x), 1e-30, 1e30, 3),
}


def samples(low: float, high: float) -> np.ndarray:
    """Evenly spaced points, and points that crowd around zero."""
    rng = np.random.default_rng(1)
    even = rng.uniform(low, high, 20000)
    magnitudes = 10.0 ** rng.uniform(-25, np.log10(max(abs(low), abs(high))), 20000)
    near = magnitudes * rng.choice([-1.0, 1.0], 20000)
    points = np.concatenate([even, near]).astype(np.float32)
    return points[(points >= low) & (points <= high)]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_within_a_few_units_in_the_last_place(name):
    reference, low, high, allowed = FUNCTIONS[name]
    x = samples(low, high)
    expected = reference(x.astype(np.float64))
    got = np.array(getattr(mx, name)(mx.array(x))).astype(np.float64)
    normal = np.abs(expected) >= np.finfo(np.float32).tiny
    unit = np.spacing(np.abs(expected).astype(np.float32)).astype(np.float64)
    error = np.where(normal, np.abs(got - expected) / unit, 0)
    worst = int(np.nanargmax(error))
    assert error[worst] <= allowed, (
        f"{name}({x[worst]!r}) = {got[worst]!r}, not {expected[worst]!r}"
    )


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_special_values(name):
    expected = FUNCTIONS[name][0](SPECIAL.astype(np.float64)).astype(np.float32)
    got = np.array(getattr(mx, name)(mx.array(SPECIAL)))
    np.testing.assert_allclose(got, expected, rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["exp", "log", "sin", "tanh", "sqrt", "erf", "log1p"])
def test_sixteen_bit_floats_round_once(name, dtype):
    reference, low, high, _ = FUNCTIONS[name]
    x = mx.array(samples(max(low, -10), min(high, 10))).astype(getattr(mx, dtype))
    exact = reference(np.array(x.astype(mx.float32)).astype(np.float64))
    expected = mx.array(exact.astype(np.float32)).astype(x.dtype).astype(mx.float32)
    got = np.array(getattr(mx, name)(x).astype(mx.float32))
    # The two roundings, through float32 and directly, rarely differ by one place.
    digits = {"float16": 2.0**-10, "bfloat16": 2.0**-7}[dtype]
    np.testing.assert_allclose(got, np.array(expected), rtol=digits, atol=6e-8)
    assert np.mean(got == np.array(expected)) > 0.999


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize(
    "name", ["power", "arctan2", "logaddexp", "remainder", "maximum", "minimum"]
)
def test_binary_special_values(name):
    a, b = (m.ravel() for m in np.meshgrid(SPECIAL, SPECIAL))
    reference = getattr(np, name)
    expected = reference(a.astype(np.float64), b.astype(np.float64)).astype(np.float32)
    got = np.array(getattr(mx, name)(mx.array(a), mx.array(b)))
    if name == "remainder":
        # A finite value divided by an infinite one of the other sign: NumPy returns the divisor,
        # from its correction of fmod.
        keep = np.isfinite(b) & (b != 0) & np.isfinite(a)
        got, expected = got[keep], expected[keep]
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-35)


COMPLEX = {
    "exp": np.exp,
    "log": np.log,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "arcsin": np.arcsin,
    "arccos": np.arccos,
    "arctan": np.arctan,
    "arcsinh": np.arcsinh,
    "arccosh": np.arccosh,
    "arctanh": np.arctanh,
    "sqrt": np.sqrt,
    "square": np.square,
    "abs": np.abs,
    "conj": np.conj,
    "negative": np.negative,
}


@pytest.mark.parametrize("name", COMPLEX)
def test_complex_functions(name):
    rng = np.random.default_rng(2)
    z = (rng.normal(size=4000) + 1j * rng.normal(size=4000)) * 10.0 ** rng.uniform(-2, 0.5, 4000)
    z = z.astype(np.complex64)
    expected = COMPLEX[name](z.astype(np.complex128))
    got = np.array(getattr(mx, name)(mx.array(z)))
    error = np.abs(got - expected) / np.maximum(np.abs(expected), 1e-6)
    assert error.max() < 2e-5, f"{name}({z[error.argmax()]})"


def test_complex_arithmetic():
    rng = np.random.default_rng(3)
    a, b = (
        (rng.normal(size=500) + 1j * rng.normal(size=500)).astype(np.complex64) for _ in range(2)
    )
    for name in ("add", "subtract", "multiply", "divide", "power"):
        got = np.array(getattr(mx, name)(mx.array(a), mx.array(b)))
        expected = getattr(np, name)(a.astype(np.complex128), b.astype(np.complex128))
        np.testing.assert_allclose(got, expected, rtol=1e-4, err_msg=name)
    huge = mx.array(np.array([1e30 + 1e30j], np.complex64))
    np.testing.assert_allclose(np.array(mx.divide(huge, huge)), [1 + 0j], rtol=1e-6)
    assert mx.abs(huge).item() == pytest.approx(np.sqrt(2) * 1e30, rel=1e-6)
