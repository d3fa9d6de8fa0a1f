"""Where `a * b + c` is rounded once: scalars by Clang's rule, and vectors by the same."""

import ml_dtypes
import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import TARGET, TARGETS, run_one

COUNT = 256
HAS_FMA = TARGETS[TARGET] != "x86-64-v2"
TYPES = {"float": np.float32, "half": np.float16, "bfloat": ml_dtypes.bfloat16}


def rounded_once(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """a * b + c of float32: the product is exact in float64, and the sum is rounded there to an
    odd last bit unless it is exact, so that rounding it again to float32 is right."""
    p, c = a.astype(np.float64) * b, c.astype(np.float64)
    s = p + c
    rest = s - p
    error = (p - (s - rest)) + (c - rest)
    is_even = s.view(np.int64) % 2 == 0
    other = np.nextafter(s, np.where(error > 0, np.inf, -np.inf))
    return np.where((error != 0) & is_even, other, s).astype(np.float32)


def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """What a contracted expression gives. Arithmetic of 16-bit floats rounds after each operation."""
    a, b, c = np.broadcast_arrays(a, b, c)
    return rounded_once(a, b, c) if a.dtype == np.float32 and HAS_FMA else a * b + c


# Bodies of functions of three vectors and a scalar, with what they return.
CONTRACTED = {
    "return a * b + c;": lambda a, b, c, s: fma(a, b, c),
    "return c + a * b;": lambda a, b, c, s: fma(a, b, c),
    "return a * b - c;": lambda a, b, c, s: fma(a, b, -c),
    "return c - a * b;": lambda a, b, c, s: fma(-a, b, c),
    "return ((a * b)) + (c);": lambda a, b, c, s: fma(a, b, c),
    "return V(a * b) - c;": lambda a, b, c, s: fma(a, b, -c),
    "return +(a * b) + c;": lambda a, b, c, s: fma(a, b, c),
    "return -(a * b) + c;": lambda a, b, c, s: fma(-a, b, c),
    "return c + -(a * b);": lambda a, b, c, s: fma(-a, b, c),
    "return c - (-(a * b));": lambda a, b, c, s: fma(a, b, c),
    "return a * s + c;": lambda a, b, c, s: fma(a, s, c),
    "return c - s * b;": lambda a, b, c, s: fma(-b, s, c),
    "return a * b + s;": lambda a, b, c, s: fma(a, b, s),
    "return s - a * b;": lambda a, b, c, s: fma(-a, b, s),
    "return a * b + b * c;": lambda a, b, c, s: fma(a, b, b * c),
    "return a * b - b * c;": lambda a, b, c, s: fma(a, b, -(b * c)),
    "return a + b * c + c * s;": lambda a, b, c, s: fma(c, s, fma(b, c, a)),
    "return (a * b + c) * s - a;": lambda a, b, c, s: fma(fma(a, b, c), s, -a),
    "c += a * b; return c;": lambda a, b, c, s: fma(a, b, c),
    "c -= s * b; return c;": lambda a, b, c, s: fma(-b, s, c),
    "return (c += a * b) += b * s;": lambda a, b, c, s: fma(b, s, fma(a, b, c)),
    "{\n#pragma METAL fp contract(off)\n}\nreturn a * b + c;": lambda a, b, c, s: fma(a, b, c),
    "auto f = [=](V d) { return a * b + d; };\nreturn f(c);": lambda a, b, c, s: fma(a, b, c),
    "auto f = [&](auto d) { return a * b + d; };\nreturn f(c);": lambda a, b, c, s: fma(a, b, c),
    "\n#pragma METAL fp contract(on)\nreturn a * b + c;": lambda a, b, c, s: fma(a, b, c),
}
ROUNDED_TWICE = {
    "V p = a * b; return p + c;": lambda a, b, c, s: a * b + c,
    "const V p = a * b; return c - p;": lambda a, b, c, s: c - a * b,
    "const thread V& p = a * b; return p + c;": lambda a, b, c, s: a * b + c,
    "V p; return (p = a * b) + c;": lambda a, b, c, s: a * b + c,
    "return (a *= b) + c;": lambda a, b, c, s: a * b + c,
    "return -(-(a * b)) + c;": lambda a, b, c, s: a * b + c,
    "return (s > 0 ? a * b : b * a) + c;": lambda a, b, c, s: a * b + c,
    "return same(a * b) + c;": lambda a, b, c, s: a * b + c,
    "auto f = [=] { return a * b; };\nreturn f() + c;": lambda a, b, c, s: a * b + c,
    "\n#pragma METAL fp contract(off)\nreturn a * b + c;": lambda a, b, c, s: a * b + c,
    "\n#pragma METAL fp contract(off)\nc += a * b; return c;": lambda a, b, c, s: a * b + c,
    "\n#pragma STDC FP_CONTRACT OFF\nreturn c - a * b;": lambda a, b, c, s: c - a * b,
}
FORMS = CONTRACTED | ROUNDED_TWICE


def vectors(type: str, n: int) -> list[np.ndarray]:
    rng = np.random.default_rng(n)
    values = [rng.normal(size=(COUNT, n)).astype(np.float32) for _ in "abc"]
    return [value.astype(TYPES[type]) for value in values]


def run(type: str, inputs: list[np.ndarray], bodies: list[str], header: str) -> np.ndarray:
    """The results of each body, as an array of (body, thread, component)."""
    n = inputs[0].shape[1]
    elements = {"float": mx.float32, "half": mx.float16, "bfloat": mx.bfloat16}
    outputs = {"y": ((len(bodies), COUNT, n), elements[type])}
    arrays = dict(
        zip("abc", [mx.array(v.astype(np.float32)).astype(elements[type]) for v in inputs])
    )
    source = f"""
        using V = {type}{n};
        using S = {type};
        uint i = thread_position_in_grid.x;
        uint t = thread_position_in_threadgroup.x;
        const S s = S(1.7);
    """
    source += "".join(
        f"{{ {b.replace('OUT', f'(y + {i * COUNT * n})')} }}\n" for i, b in enumerate(bodies)
    )
    return run_one(source, arrays, outputs, COUNT, 32, header=header)


def check(results: np.ndarray, inputs: list[np.ndarray], type: str, bodies: dict) -> None:
    s = TYPES[type](1.7)
    for body, model, result in zip(bodies, bodies.values(), results, strict=True):
        expected = model(*inputs, s).astype(np.float32)
        np.testing.assert_array_equal(result, expected, err_msg=body)


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("templates", [False, True], ids=["functions", "templates"])
def test_vectors_are_contracted_as_scalars_are(type: str, n: int, templates: bool) -> None:
    inputs = vectors(type, n)
    names = [f"f{i}" for i in range(len(FORMS))]
    header = "template <typename V> V same(V v) { return v; }\n"
    for name, body in zip(names, FORMS, strict=True):
        if templates:
            head = "template <typename V, typename S> V"
            header += f"{head} {name}(V a, V b, V c, S s) {{ {body} }}\n"
            continue
        for v in (f"{type}{n}", type):
            text = body.replace("V", v)
            header += f"{v} {name}({v} a, {v} b, {v} c, {type} s) {{ {text} }}\n"
    loads = [f"((const device V*){x})[i]" for x in "abc"]
    whole = [f"((device V*)OUT)[i] = {name}({', '.join(loads)}, s);" for name in names]
    parts = [
        f"for (uint k = i * {n}; k < i * {n} + {n}; ++k) OUT[k] = {name}(a[k], b[k], c[k], s);"
        for name in names
    ]
    if n == 3:
        unpacked = [f"V(((const device packed_{type}3*){x})[i])" for x in "abc"]
        whole = [
            f"((device packed_{type}3*)OUT)[i] = packed_{type}3({name}({', '.join(unpacked)}, s));"
            for name in names
        ]
    check(run(type, inputs, parts, header), inputs, type, FORMS)
    check(run(type, inputs, whole, header), inputs, type, FORMS)


def test_the_inputs_tell_the_two_ways_of_rounding_apart() -> None:
    a, b, c = vectors("float", 4)
    assert (rounded_once(a, b, c) != a * b + c).any()


# Statements that change c[i] or t[0], of all kinds of operands and places.
PLACES = {
    "out[i] = pa[i] * pb[i] + pc[i];": lambda a, b, c, s: fma(a, b, c),
    "out[i] = pa[i] * s - pc[i];": lambda a, b, c, s: fma(a, s, -c),
    "out[i] = pc[i] - s * V(pb[i]);": lambda a, b, c, s: fma(-b, s, c),
    "out[i] = -(pa[i] * V(pb[i])) + s;": lambda a, b, c, s: fma(-a, b, s),
    "out[i] = V(pc[i]) + V(pa[i]) * pb[i];": lambda a, b, c, s: fma(a, b, c),
    "out[i] = pc[i]; out[i] += pa[i] * pb[i];": lambda a, b, c, s: fma(a, b, c),
    "out[i] = pc[i]; out[i] -= V(pa[i]) * s;": lambda a, b, c, s: fma(-a, s, c),
    "P x = pc[i]; x += s * pa[i]; out[i] = x;": lambda a, b, c, s: fma(a, s, c),
    "tv[t] = pc[i]; tv[t] += pa[i] * pb[i]; out[i] = tv[t];": lambda a, b, c, s: fma(a, b, c),
    "tp[t] = pc[i]; tp[t] -= pa[i] * pb[i]; out[i] = tp[t];": lambda a, b, c, s: fma(-a, b, c),
    "W w = {pc[i], {pc[i], pc[i]}}; w.array[i % 2] += w.v * pa[i]; out[i] = w.array[i % 2];": (
        lambda a, b, c, s: fma(c, a, c)
    ),
    "W w = {pc[i]}; w.add(pa[i], pb[i]); out[i] = w.v;": lambda a, b, c, s: fma(a, b, c),
    "Sum<V> w = {pc[i]}; w.add(pa[i], pb[i]); out[i] = w.v;": lambda a, b, c, s: fma(a, b, c),
}


@pytest.mark.parametrize("type", TYPES)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_packed_vectors_members_and_threadgroup_memory(type: str, n: int) -> None:
    inputs = vectors(type, n)
    header = f"""
        struct W {{
          {type}{n} v, array[2];
          void add({type}{n} a, {type}{n} b) {{ v += a * b; }}
        }};
        template <typename V>
        struct Sum {{
          V v;
          void add(V a, V b) {{ v = v + a * b; }}
        }};
    """
    names = f"""
        using P = packed_{type}{n};
        const device P *pa = (const device P*)a, *pb = (const device P*)b, *pc = (const device P*)c;
        device P* out = (device P*)OUT;
        threadgroup V tv[32];
        threadgroup P tp[32];
    """
    results = run(type, inputs, [names + statement for statement in PLACES], header)
    check(results, inputs, type, PLACES)


@pytest.mark.parametrize("mode", ["off", "on", "fast"])
def test_a_pragma_sets_the_contraction_of_a_file(mode: str) -> None:
    inputs = vectors("float", 4)
    forms = {
        "return a * b + c;": lambda a, b, c, s: a * b + c if mode == "off" else fma(a, b, c),
        "c -= s * b; return c;": lambda a, b, c, s: c - s * b if mode == "off" else fma(-b, s, c),
        "\n#pragma METAL fp contract(off)\nreturn a * b + c;": lambda a, b, c, s: a * b + c,
        "\n#pragma METAL fp contract(on)\nreturn a * b + c;": lambda a, b, c, s: fma(a, b, c),
        "\n#pragma METAL fp contract(fast)\nreturn a * b + c;": lambda a, b, c, s: fma(a, b, c),
    }
    header = f"#pragma METAL fp contract({mode})\n"
    calls = []
    for i, body in enumerate(forms):
        header += f"float4 f{i}(float4 a, float4 b, float4 c, float s) {{ {body} }}\n"
        loads = ", ".join(f"((const device float4*){x})[i]" for x in "abc")
        calls.append(f"((device float4*)OUT)[i] = f{i}({loads}, s);")
    check(run("float", inputs, calls, header), inputs, "float", forms)


def test_the_library_rounds_as_it_says_itself() -> None:
    a, b, c = vectors("float", 4)
    loads = "".join(f"const float4 v{x} = ((const device float4*){x})[i];" for x in "abc")
    bodies = [
        "OUT[i * 4] = 2 * dot(va, vb);",
        "((device float4*)OUT)[i] = reflect(vb, va);",
        "((device float4*)OUT)[i] = float4x4(va, vb, vc, va) * vb + vc;",
    ]
    dots, reflected, columns = run("float", [a, b, c], [loads + body for body in bodies], "")
    np.testing.assert_array_equal(reflected, b - dots[:, :1] * a)
    product = a * b[:, :1] + b * b[:, 1:2] + c * b[:, 2:3] + a * b[:, 3:]
    np.testing.assert_array_equal(columns, product + c)


def test_users_own_operators_are_called() -> None:
    header = """
        struct Pair { float2 v; };
        Pair operator*(Pair a, Pair b) { return {a.v * b.v + 1}; }
        Pair operator+(Pair a, Pair b) { return {a.v + b.v}; }
        float2 operator*(float2 a, Pair b) { return 7; }
        float3 operator*(float3 a, float3 b) { return 5; }
        namespace metal { half3 operator*(half3 a, half3 b) { return 6; } }
    """
    source = """
        Pair p = Pair{float2(2)} * Pair{float2(3)} + Pair{float2(4)};
        float2 q = float2(5) * p + float2(1);
        out[0] = p.v.x; out[1] = q.y;
        out[2] = (float3(1) * float3(1) + float3(1)).x;
        out[3] = (half3(1) * half3(1) + half3(1)).x;
    """
    out = run_one(source, {}, {"out": ((4,), mx.float32)}, 1, 1, header=header)
    assert out.tolist() == [11, 8, 6, 7]
