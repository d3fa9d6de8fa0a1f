"""Constant folding gives the values that threads would compute."""

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


# A narrow variable is shifted as an int, by any amount, and then truncated.
ASSIGNMENTS = {
    "uchar v = 200; v >>= 8;": 0,
    "uchar v = 200; v <<= 9;": 0,
    "uchar v = 200; v <<= 33;": 144,
    "ushort v = 65535; v >>= 16;": 0,
    "short v = -5; v >>= 20;": -1,
    "char v = -5; v >>= 7;": -1,
    "uint v = 200u; v >>= 33;": 100,
    "uchar v = 200; v /= 0;": 200,
}


def test_assignments():
    """Each shift with a constant amount, and with an amount that is known at run time only."""
    bodies = []
    for number, assignment in enumerate(ASSIGNMENTS):
        amount = assignment.split()[-1].rstrip(";")
        at_run_time = assignment.replace(f" {amount};", f" int({amount} + zero[0]);")
        bodies.append(f"{{ {assignment} out[{2 * number}] = v; }}")
        bodies.append(f"{{ {at_run_time} out[{2 * number + 1}] = v; }}")
    got = run_one(
        "\n".join(bodies),
        {"zero": np.zeros(1, np.int32)},
        {"out": ((2 * len(ASSIGNMENTS),), mx.int64)},
        1,
        1,
    )
    for (assignment, wanted), values in zip(ASSIGNMENTS.items(), got.reshape(-1, 2)):
        assert values.tolist() == [wanted, wanted], assignment


def test_constants_that_take_a_loop():
    """A function of the library, one of the program, and one without arguments."""
    header = """
        int product(int n) { int p = 1; for (int i = 2; i <= n; ++i) p *= i; return p; }
        constant float rest = fmod(17.0f, 5.0f);
        constant int factorial = product(6);
        constant float root = sqrt(16.0f);
    """
    got = run_one(
        "out[0] = rest; out[1] = factorial; out[2] = root;",
        {"x": np.zeros(1, np.float32)},
        {"out": ((3,), mx.float32)},
        1,
        1,
        header=header,
    )
    assert got.tolist() == [2, 720, 4]


def test_constants_that_cannot_be_computed():
    """A constant that takes too long to evaluate is an error; it must not silently become 0."""
    header = """
        uint steps(uint n) {
          uint count = 0;
          for (; n != 1; ++count) n = n % 2 ? 3 * n + 1 : n / 2;
          return count;
        }
        constant uint many = steps(837799);
    """
    with pytest.raises(RuntimeError, match="the value of 'many' cannot be computed"):
        run_one(
            "out[0] = many;",
            {"x": np.zeros(1, np.float32)},
            {"out": ((1,), mx.uint32)},
            1,
            1,
            header=header,
        )
