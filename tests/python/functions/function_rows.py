"""A row for a public function: its reference in NumPy and the calls to test."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mlx.core as mx
import numpy as np

Shape = tuple[int, ...]

FLOATS = (mx.float32, mx.float16, mx.bfloat16, mx.float64)
SIGNED = (mx.int32, mx.int8, mx.int16, mx.int64)
UNSIGNED = (mx.uint8, mx.uint16, mx.uint32, mx.uint64)
INTEGERS = SIGNED + UNSIGNED
REALS = FLOATS + INTEGERS
NUMBERS = (*REALS, mx.complex64)
ALL = (*NUMBERS, mx.bool_)
BITS = (*INTEGERS, mx.bool_)

# The errors for an axis that is out of range.
BAD_AXIS = (ValueError, IndexError)

# The allowed relative error, against a reference in double precision.
TOLERANCES = {mx.float16: 4e-3, mx.bfloat16: 3e-2, mx.float32: 3e-5, mx.float64: 1e-11}


def same(*dtypes: mx.Dtype) -> mx.Dtype:
    """The result has the promoted type of the arguments."""
    with mx.stream(mx.cpu):
        return mx.result_type(*(mx.zeros((), dtype) for dtype in dtypes))


def inexact(*dtypes: mx.Dtype) -> mx.Dtype:
    """Integers and bool become float32."""
    common = same(*dtypes)
    return common if mx.issubdtype(common, mx.inexact) else mx.float32


def real(*dtypes: mx.Dtype) -> mx.Dtype:
    common = same(*dtypes)
    return mx.float32 if common == mx.complex64 else common


def boolean(*dtypes: mx.Dtype) -> mx.Dtype:
    return mx.bool_


def indices(*dtypes: mx.Dtype) -> mx.Dtype:
    return mx.uint32


def signed_indices(*dtypes: mx.Dtype) -> mx.Dtype:
    return mx.int32


def sums(*dtypes: mx.Dtype) -> mx.Dtype:
    """Small integers are added up in 32 bits."""
    common = same(*dtypes)
    return mx.int32 if common in (mx.bool_, mx.int8, mx.int16) else wide_unsigned(common)


def wide_unsigned(dtype: mx.Dtype) -> mx.Dtype:
    return mx.uint32 if dtype in (mx.uint8, mx.uint16) else dtype


@dataclass(frozen=True)
class Case:
    """One call: the shapes of the array arguments, and the arguments after them."""

    shapes: tuple[Shape, ...]
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    """A function, with everything that test_functions.py needs for its tests."""

    name: str  # in mlx.core, as in "fft.rfft"
    reference: Callable  # takes NumPy arrays in double precision, and the options
    cases: tuple[Case, ...]
    domain: str | tuple[str, ...] = "signed"  # of all arguments, or of each
    dtypes: tuple[mx.Dtype, ...] = FLOATS
    result: Callable[..., mx.Dtype] = same
    differentiable: bool = True
    mappable: bool = True
    tolerance: float = 1  # how many times the usual error
    invalid: tuple[tuple[Callable, type[Exception], str], ...] = ()
    call: Callable | None = None  # if the arguments are not in the order of the arrays
    mixed: bool = True  # all arguments change their type; else only the first

    @property
    def function(self) -> Callable:
        if self.call:
            return self.call
        function = mx
        for part in self.name.split("."):
            function = getattr(function, part)
        return function

    def domain_of(self, argument: int) -> str:
        return self.domain if isinstance(self.domain, str) else self.domain[argument]


def random_values(rng: np.random.Generator, domain: str, shape: Shape, dtype: mx.Dtype):
    """Numbers that the type represents exactly, in double precision."""
    if domain == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if domain.startswith("index"):  # "index 5": of an axis of five elements
        return rng.integers(0, int(domain.split()[1]), shape)
    if domain == "increasing":
        return np.sort(random_values(rng, "signed", shape, dtype), -1)
    if dtype == mx.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if mx.issubdtype(dtype, mx.integer):
        return random_integers(rng, domain, shape, dtype)
    low, high = {
        "signed": (-3, 3),
        "positive": (0.2, 3),
        "unit": (-0.9, 0.9),
        "above one": (1.2, 4),
        "small": (0.1, 0.9),
        "near one": (0.8, 1.25),
    }[domain]
    values = rng.uniform(low, high, shape)
    if dtype == mx.complex64:
        values = values + 1j * rng.uniform(low, high, shape)
    return rounded(values, dtype)


def random_integers(rng: np.random.Generator, domain: str, shape: Shape, dtype: mx.Dtype):
    lowest = {"positive": 1, "above one": 2, "unit": 0, "small": 0}.get(domain, -9)
    if dtype in UNSIGNED:
        lowest = max(lowest, 0)
    return rng.integers(lowest, 2 if domain in ("unit", "small") else 10, shape)


def rounded(values: np.ndarray, dtype: mx.Dtype) -> np.ndarray:
    """Rounds values to the type."""
    if dtype == mx.float64:
        return values
    if dtype == mx.complex64:
        return values.astype(np.complex64).astype(np.complex128)
    with mx.stream(mx.cpu):
        array = mx.array(np.asarray(values, np.float32)).astype(dtype).astype(mx.float32)
        return np.array(array).astype(np.float64)


def to_mlx(values: np.ndarray, dtype: mx.Dtype, domain: str) -> mx.array:
    if domain == "bool":
        dtype = mx.bool_
    elif domain.startswith("index"):
        dtype = mx.int32
    with mx.stream(mx.cpu):  # the CPU supports all types
        return mx.array(values, dtype)


def to_numpy(array: mx.array) -> np.ndarray:
    with mx.stream(mx.cpu):
        if array.dtype in (mx.bfloat16, mx.float16):
            array = array.astype(mx.float32)
        values = np.array(array)
    if values.dtype == np.complex64:
        return values.astype(np.complex128)
    return values.astype(np.float64) if values.dtype.kind == "f" else values


def outputs(result: Any) -> list[mx.array]:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def cases(*shapes: Any, **options: Any) -> tuple[Case, ...]:
    """A case for each shape, of one argument or a tuple of them, all with the same options."""
    grouped = (s if s and isinstance(s[0], tuple) else (s,) for s in shapes)
    return tuple(Case(tuple(s), options) for s in grouped)
