"""The compiler computes operations on constants itself: with the values that threads would get."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one

# Shift amounts count modulo the width. A divisor of zero counts as one, and so does minus one where
# the quotient would not fit.
OPERATIONS = {
    "1u << 40": 256,
    "1u >> -32767": 0,
    "-64 >> 33": -32,
    "3 << -1": -(2**31),
    "1ul << 68": 16,
    "short(1) << 35": 8,
    "7u / 0u": 7,
    "-7 / 0": -7,
    "7 % 0": 0,
    "(-2147483647 - 1) / -1": -(2**31),
    "(-2147483647 - 1) % -1": 0,
    "int(uint4(4u, 5u, 6u, 7u).y << 33u)": 10,
    "int((int4(8) / int4(0, 1, 2, 4)).x)": 8,
    "uint(-1.0f)": 0,
    "int(3e9f)": 2**31 - 1,
    "uint(uchar(300.0h))": 255,
    "int(uint4(float4(-1.0f)).z)": 0,
    "int(short2(float2(1e9f, -1e9f)).y)": -(2**15),
    "int(NAN)": 0,
}

PLACES = {
    "statement": ("", "out[i] = long(OPERATION);"),
    "constant variable": ("", "const auto v = OPERATION; out[i] = long(v);"),
    "constant of the program": ("constant auto v = OPERATION;", "out[i] = long(v);"),
    "constant in an operation": (
        "",
        "const int a = int(OPERATION); const long v = long(a << 0) + 1; out[i] = v - 1;",
    ),
    "condition": ("", "if ((OPERATION) == VALUE) out[i] = VALUE; else out[i] = 77;"),
    "template": (
        "template <int N> long f() { return long(OPERATION); }",
        "out[i] = f<1>();",
    ),
    "lambda": ("", "auto f = [](int) { return long(OPERATION); }; out[i] = f(1);"),
    "constructor": (
        "struct S { long v; S() : v(OPERATION) {} };",
        "S s; out[i] = s.v;",
    ),
    "member": (
        "struct S { int one; long f() const { return long(OPERATION); } };",
        "S s{1}; out[i] = s.f();",
    ),
    "argument": ("long f(long v) { return v; }", "out[i] = f(OPERATION);"),
    "divergent": ("", "long v = i; if (i % 3u != 0u) v = long(OPERATION); out[i] = v;"),
}


@pytest.mark.parametrize("place", PLACES)
def test_operations_on_constants(place: str):
    """All in one kernel: each has its own part of the results."""
    header, bodies = "", []
    for number, (operation, value) in enumerate(OPERATIONS.items()):
        before, body = (
            text.replace("OPERATION", operation).replace("VALUE", f"{value}l")
            for text in PLACES[place]
        )
        header += f"namespace n{number} {{ {before} }}\n"
        bodies.append(f"{{ using namespace n{number}; uint i = tid + {number}u * 64u; {body} }}")
    got = run_one(
        "uint tid = thread_position_in_grid.x;" + "\n".join(bodies),
        {"x": np.zeros(1, np.float32)},
        {"out": ((len(OPERATIONS), 64), mx.int64)},
        64,
        64,
        header=header,
    )
    wanted = np.array([[value] * 64 for value in OPERATIONS.values()], np.int64)
    if place == "divergent":
        i = np.arange(wanted.size).reshape(wanted.shape)
        wanted = np.where(i % 3 != 0, wanted, i)
    for operation, row, values in zip(OPERATIONS, got, wanted):
        np.testing.assert_array_equal(row, values, err_msg=operation)
