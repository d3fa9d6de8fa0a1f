"""Spellings of numbers and characters: the type and value of each."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one

TYPES = ["half", "bfloat", "float", "int", "uint", "long", "ulong", "char", "bool"]
HALVES = {
    **{"1.5h": 1.5, "1.h": 1, ".5h": 0.5, "1h": 1, "0h": 0, "1.5H": 1.5, "12.25H": 12.25},
    **{"1e3h": 1000, "1E3H": 1000, "1e+3h": 1000, "25e-2h": 0.25, "2.5e-1H": 0.25, ".5e1h": 5},
    **{"1.e2h": 100, "1'023.5h": 1023.5, "0x1p3h": 8, "0X1.8P-2H": 0.375, "0x.8p1h": 1},
    **{"65504.0h": 65504, "1e5h": np.inf, "6e-8h": 2.0**-24, "0.1h": float(np.float16(0.1))},
    # Slightly above the middle of two numbers; rounded to float, it would be exactly the middle.
    **{"1.00048828126h": 1 + 2.0**-10, "1.00048828125h": 1, "1.00146484376h": 1 + 2.0**-9},
}
BFLOATS = {
    **{"1.5bf": 1.5, "1.bf": 1, ".5bf": 0.5, "1bf": 1, "0bf": 0, "1.5BF": 1.5, "1.5Bf": 1.5},
    **{"1e3bf": 1000, "1E+3BF": 1000, "25e-2bf": 0.25, "0x1p3bf": 8, "0X1.8P-2BF": 0.375},
    **{
        "1e39bf": np.inf,
        "1e38bf": 150 * 2.0**119,
        "256.0bf": 256,
        "257.0bf": 256,
        "0.1bf": 0.10009765625,
    },
    **{"1.00390625001bf": 1 + 2.0**-7, "1.00390625bf": 1},
}
FLOATS = {
    **{
        "1.5": 1.5,
        "1.": 1,
        ".5": 0.5,
        "1e3": 1000,
        "1E-2": 0.01,
        "1.5f": 1.5,
        "1.F": 1,
        ".5F": 0.5,
    },
    **{"1e3f": 1000, "1e+3F": 1000, "0x1p3": 8, "0x1p3f": 8, "0X1.8P1F": 3, "1'000.5": 1000.5},
    **{"0.1": 0.1, "1e-45f": 1e-45, "3.4028235e38": 3.4028235e38, "1e40": np.inf, "0.f": 0},
    **{"016.5": 16.5, "0e0": 0, "16777217.0f": 2.0**24},
}
INTEGERS = {
    "int": {
        "10": 10,
        "0": 0,
        "0b101": 5,
        "0B11": 3,
        "017": 15,
        "0x1F": 31,
        "0XbF": 191,
        "0xBF": 191,
    }
    | {"0b1'01": 5, "1'000": 1000, "2147483647": 2**31 - 1, "0xbf": 191, "0x1e3": 0x1E3, "00": 0},
    "uint": {"10u": 10, "10U": 10, "0b101u": 5, "0x1FU": 31, "017u": 15, "4294967295u": 2**32 - 1}
    | {"0xFFFFFFFF": 2**32 - 1, "0x80000000": 2**31},
    "long": {"10l": 10, "10L": 10, "2147483648": 2**31, "0x100000000": 2**32, "0b1L": 1}
    | {"9223372036854775807": 2**63 - 1},
    "ulong": {"10ul": 10, "10UL": 10, "10lu": 10, "10LU": 10, "10Ul": 10, "10uL": 10, "10Lu": 10}
    | {
        "10lU": 10,
        "0xFFFFFFFFFFFFFFFFul": 2**64 - 1,
        "0b1ul": 1,
        "18446744073709551615u": 2**64 - 1,
    },
    "char": {
        "'a'": 97,
        "'\\n'": 10,
        "'\\x41'": 65,
        "'\\101'": 65,
        "'\\''": 39,
        "'\"'": 34,
        "'\\0'": 0,
    },
    "bool": {"true": 1, "false": 0},
}
KINDS = {"half": HALVES, "bfloat": BFLOATS, "float": FLOATS, **INTEGERS}


@pytest.mark.parametrize("name", KINDS)
def test_literals(name: str):
    literals = KINDS[name]
    header = "".join(f"constexpr int code({t}) {{ return {k}; }}" for k, t in enumerate(TYPES))
    body = ""
    for k, literal in enumerate(literals):
        body += f"types[{k}] = code({literal}); values[{k}] = {literal};"
    kind = {"char": mx.int8, "half": mx.float32, "bfloat": mx.float32, "float": mx.float32}
    kind |= {"int": mx.int32, "uint": mx.uint32, "long": mx.int64, "ulong": mx.uint64}
    dtype = kind.get(name, mx.int32)
    outputs = {"types": ((len(literals),), mx.int32), "values": ((len(literals),), dtype)}
    types, values = run_kernel(body, {}, outputs, 1, header=header)
    assert [x for x, t in zip(literals, types) if TYPES[t] != name] == []
    want = np.array(list(literals.values()), values.dtype)
    assert [(x, v, w) for x, v, w in zip(literals, values, want) if v != w] == []


def test_literals_in_macros_and_expressions():
    header = """
        #define HALF(x) x##h
        #define BIG 1e3h
        constant half kHalf = 0x1p-2h;
        template <typename T> struct Scale { static constexpr constant T value = T(1.5bf); };
    """
    body = """
        half h = HALF(1.5) * 2.h + BIG - kHalf;
        out[0] = h; out[1] = -1.5h; out[2] = 1.0h/3.0h; out[3] = Scale<float>::value + .5bf;
        out[4] = 3h == 3 ? 1 : 0; out[5] = half2(1.h, 2e0h).y; out[6] = 0xbf + 0xfu; out[7] = 1.5h<2.h;
    """
    got = run_one(body, {}, {"out": ((8,), mx.float32)}, 1, header=header)
    third = float(np.float16(1 / 3))
    np.testing.assert_array_equal(got, [1003, -1.5, third, 2, 1, 2, 206, 1])


@pytest.mark.parametrize(
    "literal", ["1.5hh", "1.5bg", "0x1.8h", "1..5h", "1e+h", "0xfh", "1_bf", "1eh"]
)
def test_misspelled_literals_are_errors(literal: str):
    with pytest.raises(RuntimeError, match=r"kernel_under_test:1:1\d: error"):
        run_one(f"out[0] = {literal};", {}, {"out": ((1,), mx.float32)}, 1)
