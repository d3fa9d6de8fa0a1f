"""Every comparison of integers with constants at and beside powers of two, for many values.

The values differ between lanes in ways that a compiler may exploit: consecutive
numbers from an unknown base, parts of aligned blocks, quotients, remainders, values from memory.
"""

import operator
from collections.abc import Callable
from typing import NamedTuple

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import INTEGERS, TARGET, run_kernel, share

OPERATORS = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
POWERS = {
    8: range(8),
    16: [0, 1, 5, 6, 7, 8, 9, 15],
    32: [0, 1, 2, 5, 6, 8, 16, 30, 31],
    64: [0, 1, 5, 6, 31, 32, 33, 62, 63],
}
THREADS = 160


def numpy_type(name: str) -> type:
    return np.dtype(str(INTEGERS[name]).split(".")[-1]).type


def constants(kind: type) -> list[int]:
    """0, -1, the ends of the type, and 2^k - 1, 2^k, 2^k + 1."""
    limits = np.iinfo(kind)
    powers = [2**k + d for k in POWERS[limits.bits] for d in (-1, 0, 1)]
    all_of_them = {0, -1, -2, -64, limits.min, limits.min + 1, limits.max, limits.max - 1, *powers}
    return sorted(c for c in all_of_them if limits.min <= c <= limits.max)


def literal(value: int, name: str) -> str:
    """The number in MSL, of the type itself or of int."""
    suffix = {"uint": "u", "long": "l", "ulong": "ul"}.get(name, "")
    if value == -(2**31) or value == -(2**63):
        return f"({value + 1}{suffix} - 1)"
    return f"{value}{suffix}"


# The values that are compared with the constant, in MSL and in NumPy. i is the thread, b a number
# near the constant that all threads load, v another one for each thread.
NEAR = {
    "T(b + T(i))": lambda i, b, v: b + i,
    "T(b - T(i / 2))": lambda i, b, v: b - i // 2,
    "T(T(b & T(~63)) + T(i % 64))": lambda i, b, v: (b & ~63) + i % 64,
    "T(T(b & T(~31)) | T(i & 31))": lambda i, b, v: (b & ~31) | (i & 31),
    "T(T(b & T(~63)) + T(i / 32 * 32))": lambda i, b, v: (b & ~63) + i // 32 * 32,
    "v[(i + n) % 7]": lambda i, b, v: v,
}
SMALL = NEAR | {
    "T(i)": lambda i, b, v: i,
    "T(int(i) - 40)": lambda i, b, v: i - 40,
    "T(i - 40)": lambda i, b, v: (i - 40) % 2**32,
    "T(2 * i + 1)": lambda i, b, v: 2 * i + 1,
    "T(i / 3)": lambda i, b, v: i // 3,
    "T(i % 64)": lambda i, b, v: i % 64,
    "T(i / 16 * 16)": lambda i, b, v: i // 16 * 16,
    "T(i & 1)": lambda i, b, v: i & 1,
    "T(i / 32 * 32)": lambda i, b, v: i // 32 * 32,
    "T(i % 40)": lambda i, b, v: i % 40,
    "T(lane << 2)": lambda i, b, v: i % 32 * 4,
    "T(T(i) ^ T(21))": lambda i, b, v: i ^ 21,
}


# The uses of a comparison: each gives a number below 4.
FORMS = {
    "select": "r = {x} {op} {c} ? 2 : 1;",
    "branch": "r = 0; if ({x} {op} {c}) r = words[zero];",
    "loop": "r = 0; for (T t = {x}; t {op} {c}; t = T(t + {step})) if (++r == 3) break;",
}
AROUND = [-2, 2, 0, -1, 1, 0, 100]
IN_A_WORD = 16


class Case(NamedTuple):
    number: int  # the constant's value
    constant: int
    symbol: str
    form: str
    pattern: str
    model: Callable


def cases(name: str) -> list[Case]:
    """All comparisons of one type, each in one form, which differs between target processors."""
    made = []
    for number, constant in enumerate(constants(numpy_type(name))):
        operands = list((SMALL if abs(constant) < 300 else NEAR).items())
        for k, symbol in enumerate(OPERATORS):
            shift = number + k + TARGET + list(INTEGERS).index(name)
            operand = operands[(5 * number + shift) % len(operands)]
            made.append(Case(number, constant, symbol, list(FORMS)[shift % 3], *operand))
    return share(made)


def body(name: str) -> str:
    text = (
        "uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup, n, r, m = 0; T b;\n"
    )
    for k, case in enumerate(cases(name)):
        statement = FORMS[case.form].format(
            x=case.pattern.replace("v[", f"around[{len(AROUND) * case.number} + "),
            op=case.symbol,
            c=literal(case.constant, name),
            step=-1 if case.symbol in (">", ">=") else 1,
        )
        text += f"n = {case.number}; b = bases[n]; {statement} m |= r << {k % IN_A_WORD * 2};\n"
        if k % IN_A_WORD == IN_A_WORD - 1:
            text += f"out[{k // IN_A_WORD} * threads + i] = m; m = 0;\n"
    return text + f"out[{len(cases(name)) // IN_A_WORD} * threads + i] = m;"


def wrapped(value, kind: type):
    """Python's integers, alone or in an array, as a type holds them."""
    limits = np.iinfo(kind)
    return (value - int(limits.min)) % 2**limits.bits + int(limits.min)


def expected(case: Case, shift: int, kind: type) -> np.ndarray:
    i = np.arange(THREADS, dtype=object)
    around = np.array(AROUND, object)[(np.arange(THREADS) + case.number) % len(AROUND)]
    x = wrapped(case.model(i, wrapped(case.constant - shift, kind), case.constant + around), kind)
    compare = OPERATORS[case.symbol]
    holds = compare(x, case.constant).astype(bool)
    if case.form != "loop":
        return np.where(holds, 2, 1 if case.form == "select" else 0)
    count = np.zeros(THREADS, int)
    for _ in range(3):
        count += holds
        x = wrapped(x + (-1 if case.symbol in (">", ">=") else 1), kind)
        holds &= compare(x, case.constant).astype(bool)
    return count


@pytest.mark.parametrize("name", INTEGERS)
def test_comparisons(name: str):
    kind = numpy_type(name)
    numbers = constants(kind)
    text, all_cases = body(name), cases(name)
    for shift in (0, 40, 64):
        bases = np.array([wrapped(c - shift, kind) for c in numbers], kind)
        around = np.array([wrapped(c + d, kind) for c in numbers for d in AROUND], kind)
        (words,) = run_kernel(
            text,
            {"bases": bases, "around": around, "threads": THREADS, "zero": 0}
            | {"words": np.full(16, 2, np.uint32)},
            {"out": ((len(all_cases) // IN_A_WORD + 1, THREADS), mx.uint32)},
            THREADS,
            threadgroup=64,
            template=[("T", INTEGERS[name])],
        )
        for k, case in enumerate(all_cases):
            np.testing.assert_array_equal(
                words[k // IN_A_WORD] >> (k % IN_A_WORD * 2) & 3,
                expected(case, shift, kind),
                err_msg=f"{case.form}: {case.pattern} {case.symbol} {case.constant}, from {-shift}",
            )


LIMITS = {"T(32 * k)": lambda k: 32 * k, "T(k * 32 + 31)": lambda k: 32 * k + 31}
LIMITS |= {"T(k * 16)": lambda k: 16 * k, "T(k | 64)": lambda k: k | 64}


@pytest.mark.parametrize("name", ["uint", "long"])
def test_limits_from_memory(name: str):
    """Numbers of threads against limits of which some low bits are known."""
    patterns = ["T(i)", "T(i % 64)", "T(i / 16 * 16)", "T(2 * i + 1)", "T(lane << 2)"]
    made = share([(p, symbol, c) for p in patterns for symbol in OPERATORS for c in LIMITS])
    text = "uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup; T k = ks[0];"
    for n, (pattern, symbol, limit) in enumerate(made):
        text += f"out[{n} * threads + i] = {pattern} {symbol} {limit};"
    i = np.arange(THREADS, dtype=object)
    for k in (0, 1, 2, 3, 4, 9):
        (got,) = run_kernel(
            text,
            {"ks": np.array([k, 0], numpy_type(name)), "threads": THREADS},
            {"out": ((len(made), THREADS), mx.bool_)},
            THREADS,
            threadgroup=64,
            template=[("T", INTEGERS[name])],
        )
        for n, (pattern, symbol, limit) in enumerate(made):
            want = OPERATORS[symbol](SMALL[pattern](i, 0, 0), LIMITS[limit](k)).astype(bool)
            np.testing.assert_array_equal(got[n], want, err_msg=f"{made[n]} for {k}")
