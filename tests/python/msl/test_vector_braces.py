"""Vectors initialised with braces: short lists are filled with zeros, types mix, lists nest."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one

INPUT = np.array([3.5, 7.25, -2.0, 11.0], np.float32)


def values(expressions: str, count: int, header: str = "") -> np.ndarray:
    """The float4 that each expression gives; `o[i]` is where it goes, `x[i]` the input."""
    body = f"device float4* o = (device float4*)out; float a = x[0]; float b = x[1];{expressions}"
    return run_one(body, {"x": INPUT}, {"out": ((count, 4), mx.float32)}, 1, header=header)


@pytest.mark.parametrize(
    "declaration, expected",
    [
        ("float4 v = {0.5};", [0.5, 0, 0, 0]),
        ("float4 v{0.5};", [0.5, 0, 0, 0]),
        ("float4 v = {};", [0, 0, 0, 0]),
        ("float4 v(0.5);", [0.5, 0.5, 0.5, 0.5]),
        ("float4 v = 0.5;", [0.5, 0.5, 0.5, 0.5]),
        ("float4 v = float4(a);", [3.5, 3.5, 3.5, 3.5]),
        ("float4 v = {a, b, 1};", [3.5, 7.25, 1, 0]),
        ("float4 v = {1, 2u, a, 0.5h};", [1, 2, 3.5, 0.5]),
        ("float4 v = {bfloat(2), true, 3l, a};", [2, 1, 3, 3.5]),
        ("float2 q = {a, b}; float4 v = {q, 1};", [3.5, 7.25, 1, 0]),
        ("float2 q = {a, b}; float4 v = {1, q, 2};", [1, 3.5, 7.25, 2]),
        ("int2 q = {int(a), 9}; float4 v = {q, q.yx};", [3, 9, 9, 3]),
        ("float4 u = {a, b}; float4 v = {u};", [3.5, 7.25, 0, 0]),
        ("packed_float3 p = {a, 1}; float4 v = {p, b};", [3.5, 1, 0, 7.25]),
        ("float4 v; v = {a, b};", [3.5, 7.25, 0, 0]),
        ("half3 h = {a, 1}; float4 v = {h, 2};", [3.5, 1, 0, 2]),
        ("bfloat4 h = {a, 2.0h}; float4 v = float4(h);", [3.5, 2, 0, 0]),
        ("bool4 t = {true, a > b, true}; float4 v = float4(t);", [1, 0, 1, 0]),
        ("auto f = [&](float2 s, float4 t) -> float4 { return {s, t.y}; };"
         "float4 v = f({a}, {1, 2});", [3.5, 0, 2, 0]),
        ("threadgroup float4 t[2]; t[1] = {a, 1}; float4 v = t[1];", [3.5, 1, 0, 0]),
        ("float4 v = a > b ? float4{a} : float4{a, b};", [3.5, 7.25, 0, 0]),
    ],
)  # fmt: skip
def test_declarations(declaration: str, expected: list[float]):
    np.testing.assert_array_equal(values(f"{declaration} o[0] = v;", 1), [expected])


def test_short_lists_of_integers_end_in_zeros():
    body = "uint n = x[0]; uint4 k = {n, 2, n + 1}; long2 l = {-5}; out[0] = k.x; out[1] = k.y;"
    body += "out[2] = k.z; out[3] = k.w; out[4] = l.x; out[5] = l.y;"
    got = run_one(body, {"x": np.uint32([7] * 8)}, {"out": ((6,), mx.int64)}, 1)
    assert got.tolist() == [7, 2, 8, 0, -5, 0]


def test_arrays_and_structs():
    header = """
        struct Ray { float4 origin; int hits; float2 ends[2]; };
        constant float4 kTable[2] = {{1, 2, 3}, {4}};
        constexpr constant uint2 kPair = {3};
        float4 make(float a) { return {a, 1}; }
    """
    got = values(
        """
        float4 list[3] = {{a, b}, {1}, 2};
        o[0] = list[0]; o[1] = list[1]; o[2] = list[2];
        Ray ray = {{a, 1}, 3, {{b}, {1, b}}};
        o[3] = ray.origin; o[4] = {ray.hits, ray.ends[0], ray.ends[1].y};
        float2 table[2][2] = {{{1, 2}, {a}}, {{b, 5}}};
        o[5] = {table[0][1], table[1][0]}; o[6] = {table[1][1], kPair.x, kPair.y};
        o[7] = kTable[int(a) - 3]; o[8] = kTable[int(a) - 2]; o[9] = make(b);
        array<float4, 2> pair = {{{1, a}, {5}}}; o[10] = pair[0] + pair[1];
        """,
        11,
        header,
    )
    expected = [[3.5, 7.25, 0, 0], [1, 0, 0, 0], [2, 2, 2, 2], [3.5, 1, 0, 0], [3, 7.25, 0, 7.25]]
    expected += [[3.5, 0, 7.25, 5], [0, 0, 3, 0], [1, 2, 3, 0], [4, 0, 0, 0], [7.25, 1, 0, 0]]
    np.testing.assert_array_equal(got, [*expected, [6, 3.5, 0, 0]])


def test_matrices():
    got = values(
        "float2x2 m = {{1, a}, {b}}; o[0] = {m[0], m[1]};"
        "float3x3 n = {float3(1), {2}, {3, a, 4}}; o[1] = {n[0].x, n[1]}; o[2] = {n[2], 1};"
        "float2x2 k = {1, 2, a, 4}; o[3] = {k[0], k[1]};",
        4,
    )
    expected = [[1, 3.5, 7.25, 0], [1, 2, 0, 0], [3, 3.5, 4, 1], [1, 2, 3.5, 4]]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize(
    "statement",
    [
        "float4 v = {1, 2, 3, 4, 5};",
        "float4 v = {a, b, a, b, a};",
        "float4 v; v = {a, b, a, b, a};",
        "float4 v = {float2(a), float2(b), a};",
        "half2 v{0.5h, 1.0h, half(a)};",
        "packed_float3 v = {a, b, a, b};",
        "float2 v[1] = {{a, b, a}};",
        "struct { int2 v; } s = {{1, 2, 3}};",
        "auto f = [](float2 v) { return v.x; }; o[0] = f({a, b, a});",
        "o[0] = three_in_two<float>(a);",
    ],
)
def test_too_many_components(statement: str):
    header = "template <typename T> T three_in_two(T a) { vec<T, 2> v = {a, a, a}; return v.x; }"
    with pytest.raises(RuntimeError, match="excess elements in vector initializer"):
        values(statement, 1, header)
