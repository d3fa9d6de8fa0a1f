"""Overloads, and the results of integer, relational, common and geometric functions."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one

DECLARATIONS = """
  float x = 1.5f * in[0]; half h = half(2.5f * in[0]); bfloat b = bfloat(3.0f * in[0]);
  int n = 7 * int(in[0]); uint u = 9 * uint(in[0]); short s = -4 * short(in[0]);
  long l = long(in[0]) << 40; bool t = in[0] > 0; uchar uc = 200 * uchar(in[0]);
  ushort us = 3 * ushort(in[0]); float4 v = float4(1, -2, 3, -4) * in[0];
  half4 hv = half4(1, 2, 3, 4) * h / 2.5h; packed_float3 pf = packed_float3(1, 2, 3);
  constexpr float nan = NAN, inf = INFINITY;
"""


def true_in_kernel(conditions: list[str]) -> None:
    """Evaluates all conditions in one kernel and names those that do not hold."""
    stores = "\n".join(f"out[{i}] = bool({c});" for i, c in enumerate(conditions))
    got = run_one(
        DECLARATIONS + stores,
        {"in": mx.ones(16)},
        {"out": ((len(conditions),), mx.bool_)},
        1,
        name="conditions",
    )
    assert not [c for c, holds in zip(conditions, got) if not holds]


TYPES = {
    "float": ["max(x, 0)", "max(0, x)", "max(x, 0.0)", "max(h, 0.0f)", "max(h, b)", "pow(x, 2)"]
    + ["pow(h, 2.0)", "exp(3)", "sqrt(u)", "clamp(x, 0, 1)", "clamp(h, 0.0, 1.0)", "abs(x)"]
    + ["fma(h, x, 1)", "select(x, 0, t)", "dot(v, v)", "mix(0, 1, 0.5)", "atan2(1, 2)"],
    "half": ["max(h, h)", "max(h, 0)", "pow(h, h)", "pow(h, 2)", "exp(h)", "abs(h)", "fma(h, h, h)"]
    + ["clamp(h, half(0), half(1))", "dot(hv, hv)", "sign(h)", "fmod(h, h)", "rint(h)"],
    "bfloat": ["max(b, b)", "min(b, 1)", "exp(b)", "abs(b)", "tanh(b)", "pow(b, b)", "floor(b)"],
    "int": ["max(0, n - 1)", "max(s, 0)", "max(t, t)", "abs(n)", "clamp(n, 0, 5)", "ilogb(x)"],
    "uint": ["min(u, n)", "max(u, 0u)", "abs(u)", "clz(u)", "popcount(u)", "clamp(u, 0u, 5u)"],
    "short": ["max(s, s)", "abs(s)", "clz(s)"],
    "uchar": ["min(uc, uc)", "rotate(uc, uc)"],
    "long": ["max(l, 0)", "abs(l)", "min(l, n)"],
    "ulong": ["min(ulong(3), l)"],
    "float4": ["max(v, 0)", "max(0.0f, v)", "clamp(v, 0, 1)", "mix(v, v, 0.5)", "pow(v, 2.0f)"]
    + ["exp(v)", "fma(v, v, 1.0f)", "select(v, 0, v > 0)", "select(v, v, t)", "abs(v)"],
    "half4": ["exp(hv)", "max(hv, 0.0f)", "fma(hv, hv, hv)", "normalize(hv)"],
    "float3": ["max(pf, 0)", "exp(pf)", "cross(pf, pf)", "normalize(pf)"],
    "bool4": ["isnan(v)", "isfinite(hv)", "signbit(v)"],
    "bool": ["isnan(x)", "isinf(h)", "isnan(b)", "any(v > 0)", "all(v > 0)", "isnan(3)"],
    "int4": ["select(1, 2, v > 0)", "ilogb(v)"],
}


@pytest.mark.parametrize("type_name", TYPES)
def test_result_types(type_name: str):
    true_in_kernel([f"(metal::is_same_v<{type_name}, decltype({e})>)" for e in TYPES[type_name]])


INTEGERS = {
    "counts": ["clz(0) == 32", "clz(0u) == 32", "clz(1) == 31", "clz(uchar(1)) == 7"]
    + ["clz(short(0)) == 16", "clz(0l) == 64", "clz(-1) == 0", "ctz(0) == 32", "ctz(8u) == 3"]
    + ["ctz(ushort(0)) == 16", "popcount(-1) == 32", "popcount(char(-1)) == 8"]
    + ["popcount(0xffl) == 8", "clz(n) == 29", "ctz(u) == 0"],
    "abs": [
        "abs(s) == 4",
        "abs(-2147483647 - 1) == -2147483647 - 1",
        "abs(short(-32768)) == -32768",
    ]
    + ["absdiff(3, 5) == 2", "absdiff(3u, 5u) == 2", "absdiff(-3, n) == 10"],
    "reverse": ["reverse_bits(1u) == 0x80000000u", "reverse_bits(uchar(1)) == 128"]
    + ["reverse_bits(1ul) == 1ul << 63", "reverse_bits(ushort(3)) == 0xc000"],
    "saturating": ["addsat(0x7fffffff, 1) == 0x7fffffff", "addsat(-0x7fffffff, -2) == ~0x7fffffff"]
    + ["addsat(0xffffffffu, u) == 0xffffffffu", "addsat(char(100), char(100)) == 127"]
    + ["addsat(uchar(200), uc) == 255", "addsat(n, 6) == 13", "subsat(0u, u) == 0"]
    + ["subsat(~0x7fffffff, n) == ~0x7fffffff", "subsat(0x7fffffff, -n) == 0x7fffffff"]
    + ["subsat(char(-100), char(100)) == -128"],
    "averages": ["hadd(0x7fffffff, 0x7fffffff) == 0x7fffffff", "hadd(-3, -2) == -3"]
    + ["rhadd(-3, -2) == -2", "rhadd(1u, 2u) == 2", "hadd(1u, 2u) == 1", "hadd(uc, uc) == 200"],
    "rotate": ["rotate(1u, 0u) == 1", "rotate(1u, 31u) == 0x80000000u", "rotate(1u, 32u) == 1"]
    + ["rotate(0x80000001u, 1u) == 3", "rotate(uchar(0x81), uchar(1)) == 3"]
    + ["rotate(1, n + 26) == 2", "rotate(ushort(1), ushort(15)) == 0x8000"],
    "products": ["mulhi(0xffffffffu, 0xffffffffu) == 0xfffffffeu", "mulhi(-1, 1) == -1"]
    + ["mulhi(ushort(0xffff), ushort(0xffff)) == 0xfffe", "mulhi(~0ul, ~0ul) == ~1ul"]
    + ["mulhi(-1l, 1l) == -1", "madhi(0x10000, 0x10000, 5) == 6", "mul24(1000, -1000) == -1000000"]
    + ["mad24(1000u, 1000u, 1u) == 1000001", "madsat(0x10000, 0x10000, -5) == 0x7fffffff"]
    + ["madsat(2, 3, 4) == 10", "madsat(char(100), char(2), char(-100)) == 100"]
    + ["madsat(uc, uchar(1), uchar(100)) == 255", "madsat(l, l, -1l) == 0x7fffffffffffffffl"],
    "bit fields": ["extract_bits(0xabcd1234u, 8, 8) == 0x12", "extract_bits(0xffu, 0, 0) == 0"]
    + ["extract_bits(0xffffffffu, 0, 32) == 0xffffffffu", "extract_bits(-1, 4, 4) == -1"]
    + ["extract_bits(0x70, 4, 4) == 7", "extract_bits(uchar(0xf0), 4, 4) == 15"]
    + ["insert_bits(0u, 0xffu, 8, 8) == 0xff00", "insert_bits(~0u, 0u, 0, 32) == 0"]
    + ["insert_bits(5u, 0xffu, 3, 0) == 5", "insert_bits(uchar(0), uchar(3), 6, 2) == 0xc0"]
    + ["insert_bits(uint2(0, 1), uint2(1, 1), 1, 1).y == 3"],
    "limits": ["max3(1, n, 3) == 7", "min3(1.0f, 2, x) == 1", "median3(3, 1, n) == 3"]
    + ["median3(3.0f, 1.0f, x) == 1.5f", "clamp(n, 0, 5) == 5", "min(u, n) == 7"],
    "vectors": [
        "all(clz(uint2(0, 1)) == uint2(32, 31))",
        "all(max(int3(1, 5, 3), 4) == int3(4, 5, 4))",
    ]
    + ["all(rotate(uint2(1, 2), 1) == uint2(2, 4))", "all(abs(int2(-1, 2)) == int2(1, 2))"],
}


@pytest.mark.parametrize("group", INTEGERS)
def test_integers(group: str):
    true_in_kernel(INTEGERS[group])


FLOATS = {
    "classes": ["isnan(nan * in[0])", "!isnan(inf)", "isinf(-inf)", "!isfinite(nan)", "isfinite(x)"]
    + ["!isnormal(1e-40f)", "isnormal(1e-37f)", "isnan(half(nan))", "isinf(half(inf))"]
    + [
        "isfinite(half(65504))",
        "!isnormal(half(1e-6f))",
        "isnan(bfloat(nan))",
        "isinf(bfloat(inf))",
    ]
    + ["signbit(-0.0f)", "!signbit(0.0f)", "signbit(half(-0.0f))", "isunordered(nan, x)"]
    + ["isordered(x, 2)", "!any(isnan(v))", "all(isfinite(v))"],
    "NaN gives way": [
        "fmin(nan, x) == x",
        "fmax(x, nan) == x",
        "max(nan, x) == x",
        "min(x, nan) == x",
    ]
    + ["clamp(nan, 1.0f, 2.0f) == 1", "saturate(nan) == 0", "sign(nan) == 0"],
    "common": ["sign(-x) == -1", "signbit(sign(-0.0f))", "saturate(x) == 1", "saturate(-1) == 0"]
    + ["step(1.0f, 0.5f) == 0", "step(1, x) == 1", "smoothstep(0, 1, 0.5f) == 0.5f"]
    + [
        "mix(0, 1, 0.25f) == 0.25f",
        "all(mix(v, 0, 1) == 0)",
        "all(clamp(v, 0, 1) == float4(1, 0, 1, 0))",
    ]
    + ["fdim(3, 1) == 2", "fdim(1, 3) == 0", "fmax3(1, x, 0) == x", "fmedian3(3, 1, x) == x"],
    "select": ["select(1, 2, t) == 2", "select(x, 0, !t) == x"]
    + ["all(select(v, 0, v < 0) == float4(1, 0, 3, 0))", "all(select(v, -v, t) == -v)"],
    "below one": ["fract(-1e-9f) == 0x1.fffffep-1f", "fract(half(-1e-7f)) == half(0x1.ffcp-1f)"]
    + ["fract(bfloat(-1e-7f)) == bfloat(0x1.fep-1f)", "fract(1.25f) == 0.25f", "isnan(fract(nan))"],
    "parts": ["ldexp(x, 3) == 12", "ldexp(half(1), -24) == half(0x1p-24f)", "ilogb(8.0f) == 3"]
    + ["ilogb(0.0f) == FP_ILOGB0", "ilogb(nan) == FP_ILOGBNAN", "ldexp(1.0f, -149) == 0x1p-149f"]
    + ["ldexp(x, 1000) == inf", "all(ldexp(v, int4(0, 1, 2, 3)) == float4(1, -4, 12, -32))"],
    "rounding": ["round(2.5f) == 3", "round(-2.5f) == -3", "rint(2.5f) == 2", "rint(3.5h) == 4.0h"]
    + ["round(0x1.fffffep-2f) == 0", "trunc(-x) == -1", "signbit(ceil(-0.5f))", "floor(h) == 2"],
    "geometry": ["dot(v, v) == 30", "dot(pf, pf) == 14", "length(float2(3, 4)) == 5"]
    + ["length_squared(v) == 30", "cross(float3(1, 0, 0), float3(0, 1, 0)).z == 1"]
    + ["distance(float2(0, 0), float2(3, 4)) == 5", "abs(normalize(float2(3, 4)).x - 0.6f) < 1e-6f"]
    + ["reflect(float2(1, -1), float2(0, 1)).y == 1", "distance_squared(v, v) == 0"]
    + ["all(refract(float2(0, -1), float2(0, 1), 1.0f) == float2(0, -1))"]
    + ["faceforward(float2(0, 1), float2(0, -1), float2(0, 1)).y == 1"],
    "namespaces": [
        "fast::max(x, 1.0f) == x",
        "precise::rsqrt(4.0f) == 0.5f",
        "fast::clamp(x, 0, 1) == 1",
    ]
    + [
        "metal::fast::exp(float4(0)).x == 1",
        "metal::precise::exp(0) == 1",
        "fast::divide(x, 2) == 0.75f",
    ],
    "constants": [
        "M_PI_F == 3.14159265f",
        "half(M_E_H) == half(2.718281828f)",
        "MAXHALF == half(65504)",
        "as_type<ushort>(MAXBFLOAT) == 0x7f7f",
        "as_type<ushort>(HUGE_VALBF) == 0x7f80",
    ]
    + ["HUGE_VALF == inf", "M_LN2_BF == bfloat(0.6931471806f)", "M_SQRT1_2_F == 0.707106781f"],
}


@pytest.mark.parametrize("group", FLOATS)
def test_floats(group: str):
    true_in_kernel(FLOATS[group])


def test_functions_with_two_results():
    source = """
      int e; out[0] = frexp(-12.0f, e); out[1] = e;
      float whole; out[2] = modf(-1.25f, whole); out[3] = whole;
      half part; out[4] = modf(2.75h, part); out[5] = part;
      float c; out[6] = sincos(0.0f, c); out[7] = c;
      int4 es; out[8] = frexp(float4(1, 2, 4, 8), es).w; out[9] = es.w;
      float2 cs; out[10] = sincos(float2(0, 1), cs).x; out[11] = cs.x;
      out[12] = frexp(0.0f, e); out[13] = e;
    """
    got = run_one(source, {"unused": mx.ones(8)}, {"out": ((14,), mx.float32)}, 1)
    expected = [-0.75, 4, -0.25, -1, 0.75, 2, 0, 1, 0.5, 4, 0, 1, 0, 0]
    np.testing.assert_array_equal(got, expected)


def test_limits_in_constant_expressions():
    source = """
      constexpr int size = max(3, 4) + min(2, 1) + clamp(9, 0, 5) + abs(-3);
      constexpr float scale = max(1.0f, 2) * abs(-2.0f);
      int values[size] = {}; values[size - 1] = int(scale);
      out[0] = size; out[1] = values[thread_position_in_grid.x + size - 1];
    """
    got = run_one(source, {"unused": mx.ones(8)}, {"out": ((2,), mx.int32)}, 1)
    assert list(got) == [13, 4]


def rounded_to_odd_sum(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a + b with an odd last bit where inexact: rounding it again rounds the exact sum."""
    s = a + b
    t = s - a
    error = (a - (s - t)) + (b - t)
    even = s.view(np.int64) % 2 == 0
    return np.where((error != 0) & even, np.nextafter(s, np.copysign(np.inf, error)), s)


def test_half_fma_rounds_once(rng):
    a, b, c = rng.integers(0, 0x7C00, (3, 100000)).astype(np.uint16).view(np.float16)
    with np.errstate(over="ignore"):
        c = np.where(np.arange(c.size) % 2 == 0, c, -(a * b))
    finite = np.isfinite(c)
    a, b, c = a[finite], b[finite], c[finite]
    source = "uint i = thread_position_in_grid.x; out[i] = fma(a[i], b[i], c[i]);"
    got = run_one(source, {"a": a, "b": b, "c": c}, {"out": (a.shape, mx.float16)}, a.size)
    product = a.astype(np.float64) * b.astype(np.float64)
    with np.errstate(over="ignore"):
        expected = rounded_to_odd_sum(product, c.astype(np.float64)).astype(np.float16)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("mode", ["safe", "relaxed", "fast"])
def test_tests_on_bits_hold_in_every_math_mode(mode: str):
    x = np.array([0, 1, -np.inf, np.inf, np.nan, 1e-40, -np.nan, 3e38], np.float32)
    source = """
      uint i = thread_position_in_grid.x;
      out[i] = isnan(x[i]) | isinf(x[i]) << 1 | isfinite(x[i]) << 2 | isnormal(x[i]) << 3;
    """
    options = {"compile_options": {"math_mode": mode}}
    got = run_one(source, {"x": x}, {"out": ((8,), mx.int32)}, 8, **options)
    assert list(got) == [4, 12, 2, 2, 1, 4, 1, 12]


def test_precise_functions_stay_precise_in_fast_mode(rng):
    x = rng.uniform(-80, 80, 4096).astype(np.float32)
    for call in ("exp(x[i])", "sin(x[i])", "log(x[i] * x[i])", "pow(2, x[i])"):
        source = f"uint i = thread_position_in_grid.x; out[i] = precise::{call};"
        results = [
            run_one(
                source,
                {"x": x},
                {"out": ((4096,), mx.float32)},
                4096,
                compile_options={"math_mode": mode},
            )
            for mode in ("safe", "fast")
        ]
        np.testing.assert_array_equal(*results)


def test_plain_names_follow_the_math_mode(rng):
    x = rng.uniform(-20, 20, 4096).astype(np.float32)
    source = """
      uint i = thread_position_in_grid.x;
      plain[i] = exp(x[i]);
      precise[i] = metal::precise::exp(x[i]);
      fast[i] = metal::fast::exp(x[i]);
    """
    outputs = {name: ((4096,), mx.float32) for name in ("plain", "precise", "fast")}
    for mode, same, other in [("safe", 1, 2), ("relaxed", 1, 2), ("fast", 2, 1)]:
        options = {"compile_options": {"math_mode": mode}}
        got = run_kernel(source, {"x": x}, outputs, x.size, **options)
        np.testing.assert_array_equal(got[0], got[same])
        assert np.any(got[0] != got[other])


@pytest.mark.parametrize("function", ["-p", "abs(p)", "copysign(p, bfloat(-1))"])
def test_signs_of_bfloat_denormals(function: str):
    """Processors have instructions for bfloat that take denormals for zero."""
    bits = np.concatenate([np.arange(1, 256), 0x8000 + np.arange(1, 256)]).astype(np.uint16)
    source = f"""
      uint i = thread_position_in_grid.x;
      bfloat p = x[i];
      bfloat2 squares = bfloat2(p, p) * bfloat2(p, p);
      out[i] = {function};
      sums[i] = squares.x + squares.y;
    """
    outputs = {name: ((bits.size,), mx.bfloat16) for name in ("out", "sums")}
    x = mx.array(bits).view(mx.bfloat16)
    got = run_kernel(source, {"x": x}, outputs, bits.size)[0]
    want = {"-p": bits ^ 0x8000, "abs(p)": bits & 0x7FFF}.get(function, bits | 0x8000)
    np.testing.assert_array_equal(np.array(mx.array(got).astype(mx.bfloat16).view(mx.uint16)), want)


FUNCTIONS = {
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: np.power(10.0, x),
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": lambda x: np.arcsin(x / 4),
    "acos": lambda x: np.arccos(x / 4),
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "log": lambda x: np.log(np.abs(x)),
    "log2": lambda x: np.log2(np.abs(x)),
    "log10": lambda x: np.log10(np.abs(x)),
    "sqrt": lambda x: np.sqrt(np.abs(x)),
    "rsqrt": lambda x: 1 / np.sqrt(np.abs(x)),
    "rint": np.rint,
    "round": lambda x: np.trunc(x + np.copysign(0.5, x)),
    "floor": np.floor,
    "trunc": np.trunc,
    "fract": lambda x: x - np.floor(x),
    "sinpi": lambda x: np.sin(np.pi * x),
    "cospi": lambda x: np.cos(np.pi * x),
}
ARGUMENTS = {"asin": "x[i] / 4", "acos": "x[i] / 4"} | dict.fromkeys(
    ["log", "log2", "log10", "sqrt", "rsqrt"], "abs(x[i])"
)
POWERS = {"pow(abs(x[i]), 1.5f)": 1.5, "powr(abs(x[i]), -0.75f)": -0.75, "pow(abs(x[i]), 2.0f)": 2}


@pytest.mark.parametrize("mode", ["safe", "relaxed", "fast"])
@pytest.mark.parametrize("name", ["float", "half", "bfloat"])
def test_functions_in_every_math_mode(rng, mode: str, name: str):
    """Constants in the library's code, such as the logarithm of a base 2, must not be folded away."""
    x = np.concatenate([rng.uniform(-4, 4, 500), [0.5, 1.25, -0.75, 2.5]]).astype(np.float32)
    dtype = {"float": mx.float32, "half": mx.float16, "bfloat": mx.bfloat16}[name]
    values = np.array(mx.array(x).astype(dtype).astype(mx.float32), np.float64)
    calls = {f"{f}({ARGUMENTS.get(f, 'x[i]')})": g(values) for f, g in FUNCTIONS.items()}
    calls |= {call: np.power(np.abs(values), power) for call, power in POWERS.items()}
    if name != "float":
        calls = {call.replace("f)", f"{name[0]})" if name == "half" else "bf)"): want
                 for call, want in calls.items() if "/ 4" not in call}  # fmt: skip
    tolerance = {"float": 2e-5, "half": 4e-3, "bfloat": 3e-2}[name]
    for space in ("", "fast::", "precise::") if name == "float" else ("",):
        body = "\n".join(f"out[i * {len(calls)} + {k}] = {space}{c};" for k, c in enumerate(calls))
        got = run_one(
            f"uint i = thread_position_in_grid.x;\n{body}",
            {"x": mx.array(x).astype(dtype)},
            {"out": ((x.size, len(calls)), dtype)},
            x.size,
            compile_options={"math_mode": mode},
        )
        for column, (call, want) in zip(np.array(got, np.float64).T, calls.items()):
            np.testing.assert_allclose(
                column, want, rtol=tolerance, atol=tolerance, err_msg=f"{space}{call}"
            )
