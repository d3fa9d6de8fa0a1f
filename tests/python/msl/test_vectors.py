"""Vector types of MSL: layout, constructors, operators, conversions, in every address space."""

from itertools import product

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import FLOATS, INTEGERS, run_kernel, run_one

NUMBERS = INTEGERS | FLOATS
NUMPY = {
    "char": np.dtype(np.int8),
    "uchar": np.dtype(np.uint8),
    "short": np.dtype(np.int16),
    "ushort": np.dtype(np.uint16),
    "int": np.dtype(np.int32),
    "uint": np.dtype(np.uint32),
    "long": np.dtype(np.int64),
    "ulong": np.dtype(np.uint64),
} | {name: np.dtype(np.float32) for name in FLOATS}


def load(values: np.ndarray, name: str):
    """Values as an array of the type that MSL calls `name`."""
    return mx.array(values).astype(NUMBERS[name])


def rounded(values: np.ndarray, name: str) -> np.ndarray:
    """Rounds float32 or float64 values to a narrower floating-point type."""
    if name == "half":
        with np.errstate(over="ignore"):
            return values.astype(np.float16).astype(np.float32)
    if name == "bfloat":
        bits = values.astype(np.float32).view(np.uint32)
        rounding = np.uint32(0x7FFF) + ((bits >> 16) & 1)
        return ((bits + rounding) & np.uint32(0xFFFF0000)).view(np.float32)
    return values.astype(np.float32)


# ---- layout ----


def test_sizes_and_alignments():
    sizes = {"char": 1, "uchar": 1, "bool": 1, "short": 2, "ushort": 2, "half": 2, "bfloat": 2}
    sizes |= {"int": 4, "uint": 4, "float": 4, "long": 8, "ulong": 8}
    names = [f"{t}{n}" for t in sizes for n in (2, 3, 4)]
    names += [f"packed_{name}" for name in names]
    body = "".join(
        f"out[{4 * i}] = sizeof({n}); out[{4 * i + 1}] = alignof({n});"
        f"out[{4 * i + 2}] = sizeof(metal::{n}); out[{4 * i + 3}] = sizeof({n}[2]);"
        for i, n in enumerate(names)
    )
    got = run_one(body, {}, {"out": ((4 * len(names),), mx.int32)}, 1).reshape(-1, 4)
    for name, (size, alignment, qualified, pair) in zip(names, got):
        element, count = sizes[name.removeprefix("packed_")[:-1]], int(name[-1])
        packed = name.startswith("packed_")
        whole = element * (count if packed or count != 3 else 4)
        assert (size, qualified, pair) == (whole, whole, 2 * whole), name
        assert alignment == (element if packed else whole), name


# ---- constructors ----

CONSTRUCTORS = {
    "float4(7)": [7, 7, 7, 7],
    "float4(1, 2u, half(3), true)": [1, 2, 3, 1],
    "float4(a.xy, 8, 9)": [1, 2, 8, 9],
    "float4(8, a.xy, 9)": [8, 1, 2, 9],
    "float4(8, 9, a.xy)": [8, 9, 1, 2],
    "float4(a.xy, a.zw)": [1, 2, 3, 4],
    "float4(a.xyz, 9)": [1, 2, 3, 9],
    "float4(9, a.xyz)": [9, 1, 2, 3],
    "float4(a)": [1, 2, 3, 4],
    "float4(float3(a.xy, 5), 6)": [1, 2, 5, 6],
    "float4(float3(5, a.yz), 6)": [5, 2, 3, 6],
    "float4(p, 1)": [5, 6, 7, 1],
    "float4(p.zyx, 1)": [7, 6, 5, 1],
    "float4(int4(1, -2, 3, -4))": [1, -2, 3, -4],
    "float4(half4(a))": [1, 2, 3, 4],
    "float4(bfloat4(a))": [1, 2, 3, 4],
    "float4(half4(bfloat4(a)))": [1, 2, 3, 4],
    "float4(half4(2.5bf))": [2.5, 2.5, 2.5, 2.5],
    "float4(float3(bfloat3(half(a.w))), half2(bfloat(1.5h)).y)": [4, 4, 4, 1.5],
    "float4(bool4(0, 2, 0, -1))": [0, 1, 0, 1],
    "float4(uchar4(a) + uchar4(255))": [0, 1, 2, 3],
    "float4(int4(float4(1.9, -1.9, 2.5, -0.5)))": [1, -1, 2, 0],
    "vec<float, 4>(a)": [1, 2, 3, 4],
    "metal::float4(packed_float4(a))": [1, 2, 3, 4],
    "float4(packed_half4(4, 3, 2, 1))": [4, 3, 2, 1],
    "float4{1, 2, a.z, 4}": [1, 2, 3, 4],
    "float4()": [0, 0, 0, 0],
}


def test_constructors():
    body = "float4 a = {1.0, 2, 3u, 4}; packed_float3 p = {5, 6, 7};"
    body += "device float4* o = (device float4*)out;"
    body += "".join(f"o[{i}] = {e};\n" for i, e in enumerate(CONSTRUCTORS))
    got = run_one(body, {}, {"out": ((len(CONSTRUCTORS), 4), mx.float32)}, 1)
    for (expression, want), row in zip(CONSTRUCTORS.items(), got):
        np.testing.assert_array_equal(row, want, err_msg=expression)


def test_lists_and_implicit_conversions_from_scalars():
    body = """
        int i = 3; float f = 0.5; half h = 2.5h;
        float2 a = {i, f}; short3 b = {i, i, i}; half4 c = {f, h, 1, 0.25}; uint2 d = i;
        float4 e = 0; e = 1; e = h; bfloat2 g = f;
        out[0] = a.x; out[1] = a.y; out[2] = b.z; out[3] = c.y; out[4] = c.w; out[5] = d.y;
        out[6] = e.w; out[7] = g.x;
    """
    got = run_one(body, {}, {"out": ((8,), mx.float32)}, 1)
    np.testing.assert_array_equal(got, [3, 0.5, 3, 2.5, 0.25, 3, 2.5, 0.5])


@pytest.mark.parametrize(
    "source",
    ["float4 v = float3(1);", "int4 v = float4(1);", "float3 v(1, 2);", "float2 v(1, 2, 3);"],
)
def test_wrong_constructions_do_not_compile(source: str):
    with pytest.raises(RuntimeError):
        run_one(source + " out[0] = v.x;", {}, {"out": ((1,), mx.float32)}, 1)


@pytest.mark.parametrize("count", [8, 16])
@pytest.mark.parametrize("name", ["half", "bfloat", "float", "int", "uchar", "ulong"])
def test_vectors_of_more_than_four_components(name: str, count: int):
    header = f"using V = vec<{name}, {count}>; constant V ones = V({name}(1));"
    body = f"""
        uint i = thread_position_in_grid.x;
        V v = ((const device V*)x)[i], w(v), halves(vec<{name}, {count // 2}>(2), {", ".join(["3"] * (count // 2))});
        threadgroup V t[2];
        t[i] = v;
        t[i][1] = {name}(5);
        v += w * {name}(2);
        v = max(v - ones, halves);
        device V* o = (device V*)out + 4 * i;
        o[0] = v;
        o[1] = t[i];
        o[2] = select(v, w, w > {name}(4));
        o[3] = V({name}(all(w == w) + any(w > {name}(100)) + int(sizeof(V))));
        o[3][2] = {name}(vec<float, {count}>(w)[{count - 1}]) + as_type<V>(w)[3];
    """.replace(f"vec<{name}, {count // 2}>(2)", f"vec<{name}, {count // 2}>({name}(2))")
    x = np.arange(2 * count).reshape(2, count) % 11 + 1
    dtype = NUMBERS[name]
    got = run_one(
        body, {"x": mx.array(x).astype(dtype)}, {"out": ((2, 4, count), dtype)}, 2, header=header
    )
    size = count * mx.array(0, dtype=dtype).itemsize
    halves = np.repeat([2, 3], count // 2)
    v = np.maximum(3 * x - 1, halves)
    t = x.copy()
    t[:, 1] = 5
    last = np.full((2, count), 1 + size)
    last[:, 2] = x[:, -1] + x[:, 3]
    want = np.stack([v, t, np.where(x > 4, x, v), last], 1)
    np.testing.assert_array_equal(np.array(got).astype(np.float64), want)


# ---- operators ----

WIDE = 64


def apply(expression: str, name: str, a: np.ndarray, b: np.ndarray, count: int = 4, result=None):
    """The expression in vectors a, b and scalar s, over arrays; s is each vector's first component of b."""
    body = f"""
        uint i = thread_position_in_grid.x;
        {name}{count} a = ((const device packed_{name}{count}*)in_a)[i];
        {name}{count} b = ((const device packed_{name}{count}*)in_b)[i];
        {name} s = b.x;
        auto r = {expression};
        for (int k = 0; k < {count}; ++k) out[i * {count} + k] = r[k];
    """
    inputs = {"in_a": load(a, name), "in_b": load(b, name)}
    shape, dtype = a.shape, result or NUMBERS[name]
    return run_one(body, inputs, {"out": (shape, dtype)}, a.size // count)


def integers(rng: np.random.Generator, name: str, shape) -> np.ndarray:
    """Of the whole range of the type, with its ends."""
    limits = np.iinfo(NUMPY[name])
    values = rng.integers(limits.min, limits.max, shape, NUMPY[name], endpoint=True)
    values.flat[:4] = [limits.min, limits.max, 0, 1]
    return values


@pytest.mark.parametrize("name", INTEGERS)
@pytest.mark.parametrize("count", [2, 3, 4])
def test_integer_arithmetic_wraps(rng: np.random.Generator, name: str, count: int):
    a, b = (integers(rng, name, (WIDE, count)) for _ in "ab")
    s = b[:, :1]
    with np.errstate(over="ignore"):
        cases = {"a + b": a + b, "a - b": a - b, "a * b": a * b, "a & b": a & b, "a | b": a | b}
        cases |= {
            "a ^ b": a ^ b,
            "~a": ~a,
            "-a": -a,
            "a + s": a + s,
            "s - a": s - a,
            "a * 3": a * 3,
        }
        cases |= {"a + 1": a + 1, "1 + a": a + 1, "+a": a}
    for expression, want in cases.items():
        got = apply(expression, name, a, b, count)
        np.testing.assert_array_equal(got, want.astype(a.dtype), err_msg=expression)


@pytest.mark.parametrize("name", INTEGERS)
def test_integer_division_truncates_and_shifts(rng: np.random.Generator, name: str):
    a = integers(rng, name, (WIDE, 4))
    b = integers(rng, name, (WIDE, 4)) % 7 + 1
    bits = a.dtype.itemsize * 8
    shift = (np.arange(a.size).reshape(a.shape) % bits).astype(a.dtype)
    magnitude = np.abs(a.astype(object)) // b.astype(object)
    quotient = np.where(a < 0, -magnitude, magnitude)
    remainder = a.astype(object) - quotient * b.astype(object)
    np.testing.assert_array_equal(apply("a / b", name, a, b), quotient.astype(a.dtype))
    np.testing.assert_array_equal(apply("a % b", name, a, b), remainder.astype(a.dtype))
    np.testing.assert_array_equal(apply("a >> b", name, a, shift), a >> shift)
    np.testing.assert_array_equal(apply("a << b", name, a, shift), a << shift)
    np.testing.assert_array_equal(apply("a << 1", name, a, shift), a << np.array(1, a.dtype))


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("count", [2, 3, 4])
def test_float_arithmetic_rounds_in_its_own_type(rng: np.random.Generator, name: str, count: int):
    a = rounded(rng.normal(size=(WIDE, count)) * 100, name)
    b = rounded(rng.normal(size=(WIDE, count)) + 3, name)
    s = b[:, :1]
    cases = {"a + b": a + b, "a - b": a - b, "a * b": a * b, "-a": -a, "a * 2": a * 2}
    cases |= {"s + a": s + a, "a * s": a * s, "0.5 * a": a / 2, "a - 1": a - 1, "1 - a": 1 - a}
    for expression, want in cases.items():
        got = apply(expression, name, a, b, count).astype(np.float32)
        np.testing.assert_array_equal(got, rounded(want, name), err_msg=expression)
    for expression, want in {"a / b": a / b, "a / s": a / s, "1 / b": 1 / b}.items():
        got = apply(expression, name, a, b, count).astype(np.float32)
        np.testing.assert_allclose(got, want, rtol={"half": 1e-3, "bfloat": 8e-3}.get(name, 1e-6))
    # two roundings, not one
    want = rounded(rounded(a * b, name) + a, name)
    if name != "float":
        body = "({ auto t = a * b; t + a; })"
        np.testing.assert_array_equal(apply(body, name, a, b, count).astype(np.float32), want)


@pytest.mark.parametrize("name", NUMBERS)
def test_comparisons(rng: np.random.Generator, name: str):
    a, b = (rng.integers(0, 4, (WIDE, 4)).astype(NUMPY[name]) for _ in "ab")
    s = b[:, :1]
    cases = {"a == b": a == b, "a != b": a != b, "a < b": a < b, "a > b": a > b}
    cases |= {"a <= b": a <= b, "a >= b": a >= b, "a < s": a < s, "2 < a": 2 < a}
    cases |= {"a > 1 && b < 3": (a > 1) & (b < 3), "a > 1 || b < 3": (a > 1) | (b < 3)}
    cases |= {"!(a > b)": a <= b, "!a": a == 0, "(a > b) == (b > a)": (a > b) == (b > a)}
    cases |= {"(a > 1) ^ (b > 1)": (a > 1) ^ (b > 1), "a && b": (a != 0) & (b != 0)}
    for expression, want in cases.items():
        got = apply(expression, name, a, b, result=mx.uint8)
        np.testing.assert_array_equal(got, want.astype(np.uint8), err_msg=expression)


def test_comparisons_with_nan():
    a = np.array([[np.nan, 1, np.inf, -0.0]] * 2, np.float32)
    b = np.array([[np.nan, np.nan, np.inf, 0.0]] * 2, np.float32)
    for expression, want in {
        "a == b": [0, 0, 1, 1],
        "a != b": [1, 1, 0, 0],
        "a <= b": [0, 0, 1, 1],
    }.items():
        got = apply(expression, "float", a, b, result=mx.uint8)
        np.testing.assert_array_equal(got[0], want, err_msg=expression)


def test_increments_and_compound_assignment_in_all_address_spaces():
    body = """
        threadgroup int4 t[2];
        device int4* o = (device int4*)out;
        int4 v = int4(1, 2, 3, 4);
        int4 old = v++; o[0] = old; o[1] = v; o[2] = ++v; o[3] = v--; o[4] = --v;
        t[1] = v; t[1] += 5; t[1] *= v; t[1].x -= 1; t[1]++; o[5] = t[1];
        o[6] = v; o[6] <<= 2; o[6] ^= int4(1); o[6] -= o[0]; ++o[6];
        o[7] = (v += 1) * 2;
    """
    got = run_one(body, {}, {"out": ((8, 4), mx.int32)}, 1)
    v = np.array([1, 2, 3, 4])
    t = (v + 5) * v
    t[0] -= 1
    want = [v, v + 1, v + 2, v + 2, v, t + 1, (v << 2 ^ 1) - v + 1, (v + 1) * 2]
    np.testing.assert_array_equal(got, want)


# ---- conversions ----


@pytest.mark.parametrize("source", NUMBERS)
def test_conversions_between_all_types(source: str):
    values = np.array([0, 1, 2, 3, 7, 100, 126, 127], np.float32)
    names = [n for n in NUMBERS if n != source] + ["bool"]
    body = f"{source}4 v = ((const device {source}4*)x)[i];"
    body = "uint i = thread_position_in_grid.x;" + body
    body += "".join(
        f"((device float4*)out)[{2 * k} + i] = float4({n}4(v));" for k, n in enumerate(names)
    )
    got = run_one(body, {"x": load(values, source)}, {"out": ((len(names), 8), mx.float32)}, 2)
    for name, row in zip(names, got):
        want = values != 0 if name == "bool" else values
        np.testing.assert_array_equal(row, want, err_msg=f"{source} to {name}")


def test_as_type():
    body = """
        out[0] = as_type<uint>(1.0f);
        out[1] = as_type<uint>(half2(1, 2));
        out[2] = as_type<uint>(uchar4(1, 2, 3, 4));
        out[3] = as_type<uint2>(0x0000000500000006ul).y;
        out[4] = uint(as_type<float4>(uint4(0x40000000)).w);
        out[5] = as_type<ushort>(bfloat(1));
        out[6] = metal::as_type<uint>(as_type<uchar4>(0x01020304).wzyx);
        out[7] = as_type<uint3>(float3(1)).z;
    """
    got = run_one(body, {}, {"out": ((8,), mx.uint32)}, 1)
    want = [0x3F800000, 0x40003C00, 0x04030201, 5, 2, 0x3F80, 0x04030201, 0x3F800000]
    np.testing.assert_array_equal(got, want)


# ---- elements, references, address spaces ----


def test_elements_by_run_time_index():
    body = """
        uint i = thread_position_in_grid.x;
        threadgroup float4 t[8];
        threadgroup packed_float3 tp[8];
        const float4 c = ((const device float4*)x)[i];
        float4 v = c;
        v[i & 3] = 100;
        t[i] = v; t[i][(i + 1) & 3] += 50;
        tp[i] = packed_float3(1, 2, 3); tp[i][i % 3] = i;
        device float4* o = (device float4*)out + i * 4;
        o[0] = v;
        o[1] = t[i];
        o[2] = float4(tp[i], c[3 - (i & 3)]);
        o[3] = 0; o[3][i & 3] = k4[i & 3] + kv[i & 1][i & 3];
    """
    header = """
        constant float4 k4 = float4(1, 2, 3, 4);
        constant constexpr float4 kv[2] = {float4(10, 20, 30, 40), {50, 60, 70, 80}};
    """
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    got = run_one(body, {"x": x}, {"out": ((8, 4, 4), mx.float32)}, 8, header=header)
    for i in range(8):
        v = x[i].copy()
        v[i & 3] = 100
        t = v.copy()
        t[(i + 1) & 3] += 50
        p = np.array([1, 2, 3, x[i, 3 - (i & 3)]], np.float32)
        p[i % 3] = i
        k = np.zeros(4)
        k[i & 3] = (i & 3) + 1 + [10, 50][i & 1] + 10 * (i & 3)
        np.testing.assert_array_equal(got[i], [v, t, p, k])


def test_components_are_lvalues():
    body = """
        float4 v = float4(1, 2, 3, 4);
        thread float& y = v.y; y = 20;
        thread float* z = &v.z; z[1] = 40;
        device float4* o = (device float4*)out;
        *o = v;
        device float& x = o->x; x += 1;
        device float* w = &o[0][3]; *w -= 1;
        *(&o->x + 2) = 30;
    """
    got = run_one(body, {}, {"out": ((4,), mx.float32)}, 1)
    np.testing.assert_array_equal(got, [2, 20, 30, 39])


def test_conditional_operator_takes_vectors_of_any_address_space():
    body = """
        uint i = thread_position_in_grid.x;
        threadgroup float4 t[4];
        t[i] = float4(i);
        const device float4* p = (const device float4*)x;
        device float4* o = (device float4*)out + 4 * i;
        float4 v = float4(-1);
        o[0] = i < 2 ? p[i] : float4(0);
        o[1] = i < 2 ? v : p[i];
        o[2] = i & 1 ? t[i] : p[i] * 2;
        o[3] = i == 0 ? v : i == 1 ? p[i] : t[i];
    """
    x = np.arange(16, dtype=np.float32).reshape(4, 4) + 1
    got = run_one(body, {"x": x}, {"out": ((4, 4, 4), mx.float32)}, 4)
    for i in range(4):
        row = np.full(4, i)
        none = np.full(4, -1)
        want = [x[i] if i < 2 else 0 * x[i], none if i < 2 else x[i], row if i & 1 else x[i] * 2]
        want.append([none, x[i], row, row][i])
        np.testing.assert_array_equal(got[i], want)


def test_conditional_operator_takes_vectors_and_packed_vectors():
    header = "constant packed_float3 table[] = {packed_float3(7, 8, 9)};"
    body = """
        uint i = thread_position_in_grid.x;
        const device packed_float3* p = (const device packed_float3*)x;
        threadgroup packed_float3 t;
        t = packed_float3(10, 11, 12);
        float3 v = float3(-1, -2, -3);
        device packed_float3* o = (device packed_float3*)out + 5 * i;
        o[0] = i == 0 ? p[1] : v;
        o[1] = i == 0 ? v + 1 : p[1];
        o[2] = i == 0 ? t : p[0] * 2;
        o[3] = i == 0 ? table[0] : i == 1 ? v : t;
        auto packed = i == 0 ? p[0] : t;  // no conversion is needed
        o[4] = packed;
        out[30 + i] = sizeof(packed) + sizeof(i == 0 ? v : p[0]);
    """
    x = np.arange(6, dtype=np.float32)
    got = run_one(body, {"x": x}, {"out": ((32,), mx.float32)}, 2, header=header)
    first = [[3, 4, 5], [0, -1, -2], [10, 11, 12], [7, 8, 9], [0, 1, 2]]
    second = [[-1, -2, -3], [3, 4, 5], [0, 2, 4], [-1, -2, -3], [10, 11, 12]]
    np.testing.assert_array_equal(got[:30].reshape(2, 5, 3), [first, second])
    np.testing.assert_array_equal(got[30:], [28, 28])


def test_packed_vectors_and_structs():
    header = """
        struct Particle { packed_float3 position; float mass; float3 velocity; half2 tag; uchar4 colour; };
        template <typename T> T trace(const device vec<T, 4>* p) { vec<T, 4> v = *p; return v.x + v.y + v.z + v.w; }
        template <typename T, int N> T last(vec<T, N> v) { return v[N - 1]; }
    """
    body = """
        threadgroup Particle shared[2];
        Particle p;
        p.position = packed_float3(1, 2, 3); p.mass = 4; p.velocity = p.position * 2 + float3(0, 0, 1);
        p.tag = half2(0.5, 1); p.colour = uchar4(250, 251, 252, 253) + 4;
        shared[1] = p;
        shared[0] = shared[1];
        shared[0].position.xy += shared[1].velocity.zy;
        shared[0].position += p.position;
        Particle q = shared[0];
        float3 d = q.position - p.position;
        device float* o = out;
        o[0] = sizeof(Particle); o[1] = q.position.x; o[2] = q.position.y; o[3] = q.position.z;
        o[4] = q.velocity.z; o[5] = q.tag.y; o[6] = q.colour.w; o[7] = q.colour.x; o[8] = d.y;
        o[9] = trace((const device float4*)x); o[10] = last(d); o[11] = last(uint2(1, 7));
        o[12] = (2 * p.position).z; o[13] = (-p.position).x; o[14] = (p.position == p.position).x;
    """
    x = np.arange(8, dtype=np.float32)
    got = run_one(body, {"x": x}, {"out": ((15,), mx.float32)}, 1, header=header)
    np.testing.assert_array_equal(got, [48, 9, 8, 6, 7, 1, 1, 254, 6, 6, 3, 7, 6, -1, 1])


def test_names_with_and_without_namespace():
    header = "float3 plain(float3 v) { return v; }\nmetal::float3 named(metal::vec<float, 3> v) { return plain(v); }"
    body = "metal::uint2 u(1, 2); uint2 w = u; out[0] = named(float3(1, 2, 3)).y + w.x;"
    assert run_one(body, {}, {"out": ((1,), mx.float32)}, 1, header=header)[0] == 3


def test_constant_expressions():
    header = """
        constexpr constant uint3 kTile(8, 4, 2);
        constant constexpr float4 kScale = float4(1, 2, 3, 4) / 2.0;
        constant float4 kFlipped = kScale.wzyx;
        static_assert(kTile.x * kTile.y == 32, "constant components");
        static_assert(kScale[1] == 1.0f && (kScale.x < 1), "constant arithmetic");
    """
    body = "threadgroup float t[kTile.x * kTile.z]; t[0] = kFlipped.x; out[0] = t[0] + sizeof(t);"
    assert run_one(body, {}, {"out": ((1,), mx.float32)}, 1, header=header)[0] == 66


def test_vectors_as_template_arguments(rng: np.random.Generator):
    body = """
        using T4 = metal::vec<T, 4>;
        using U4 = metal::vec<U, 4>;
        uint i = thread_position_in_grid.x;
        T4 v = *((const device T4*)(x) + i);
        *((device U4*)out + i) = U4(float4(v) * 2.0f);
    """
    x = rounded(rng.normal(size=64), "half")
    for source, target in product(FLOATS, FLOATS):
        (got,) = run_kernel(
            body,
            {"x": load(x, source)},
            {"out": ((64,), NUMBERS[target])},
            16,
            template=[("T", NUMBERS[source]), ("U", NUMBERS[target])],
        )
        want = rounded(rounded(x, source) * 2, target)
        np.testing.assert_array_equal(got.astype(np.float32), want, err_msg=f"{source} {target}")


def test_dot_with_a_scalar():
    """The scalar is converted to a vector."""
    body = """
        float4 a(x[0], x[1], x[2], x[3]);
        out[0] = dot(a, 2.0f);
        out[1] = dot(2, a);
        out[2] = dot(half3(a.xyz), 0.5f);
        out[3] = dot(int2(3, 4), 5);
    """
    got = run_one(body, {"x": np.array([1, 2, 4, 8], np.float32)}, {"out": ((4,), mx.float32)}, 1)
    np.testing.assert_array_equal(got, [30, 30, 3.5, 35])
