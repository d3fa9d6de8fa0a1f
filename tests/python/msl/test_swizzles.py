"""Swizzles of vectors: read, written, assigned, and as operands in templates."""

from itertools import permutations, product

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import FLOATS, run_one


@pytest.mark.parametrize("letters", ["xyzw", "rgba"])
@pytest.mark.parametrize("count", [2, 3, 4])
def test_every_swizzle_reads(letters: str, count: int):
    swizzles = [s for n in (2, 3, 4) for s in product(range(count), repeat=n)]
    body = f"device float{count}* v = (device float{count}*)x;"
    for i, s in enumerate(swizzles):
        name = "".join(letters[k] for k in s)
        body += f"{{ float{len(s)} t = v[i].{name};"
        body += "".join(f"out[{4 * i + k}] = t[{k}];" for k in range(len(s))) + "}\n"
    body = "uint i = thread_position_in_grid.x;" + body.replace(
        "device float", "const device float", 2
    )
    x = np.arange(1, 17, dtype=np.float32)
    got = run_one(body, {"x": x}, {"out": ((4 * len(swizzles),), mx.float32)}, 1, init_value=0)
    want = np.zeros((len(swizzles), 4), np.float32)
    for i, s in enumerate(swizzles):
        want[i, : len(s)] = x[list(s)]
    np.testing.assert_array_equal(got.reshape(-1, 4), want)


@pytest.mark.parametrize("letters", ["xyzw", "rgba"])
@pytest.mark.parametrize("kind", ["", "packed_"])
def test_every_swizzle_writes(letters: str, kind: str):
    writes = [s for n in (2, 3, 4) for s in permutations(range(4), n)]
    body = f"device {kind}float4* v = (device {kind}float4*)out;\n"
    for i, s in enumerate(writes):
        name, n = "".join(letters[k] for k in s), len(s)
        values = ", ".join(f"{k + 10}.0f" for k in range(n))
        body += f"v[{i}].{name} = float{n}({values}); v[{i}].{name} += float{n}(1);\n"
    got = run_one(body, {}, {"out": ((4 * len(writes),), mx.float32)}, 1, init_value=0)
    want = np.zeros((len(writes), 4), np.float32)
    for i, s in enumerate(writes):
        want[i, list(s)] = np.arange(len(s)) + 11
    np.testing.assert_array_equal(got.reshape(-1, 4), want)


def test_swizzles_of_swizzles_and_compound_assignment():
    body = """
        float4 v = float4(1, 2, 3, 4);
        v.xy += 0.5;
        v.zyx *= 2;
        v.wx -= float2(1, 2);
        v.yz /= float2(2);
        v.xw = v.wx;
        thread float4* p = &v;
        p->zw = p->zw + p->xy;
        ((device float4*)out)[0] = v;
        device float4* q = (device float4*)out + 1;
        *q = v.xyzw.wzyx;
        q->xy = q->zw.yx;
        q->b++;
        uint4 u = uint4(1, 2, 3, 4);
        u.yx <<= 1;
        u.zw |= 8;
        u.xyz %= 3;
        ((device float4*)out)[2] = float4(u);
    """
    got = run_one(body, {}, {"out": ((3, 4), mx.float32)}, 1)
    v = np.array([1, 2, 3, 4], np.float32)
    v[:2] += 0.5
    v[[2, 1, 0]] *= 2
    v[[3, 0]] -= [1, 2]
    v[1:3] /= 2
    v[[0, 3]] = v[[3, 0]]
    v[2:] += v[:2]
    w = v[::-1].copy()
    w[:2] = w[[3, 2]]
    w[2] += 1
    np.testing.assert_array_equal(got, [v, w, [2 % 3, 4 % 3, 11 % 3, 12]])


def test_writing_a_repeated_component_does_not_compile():
    with pytest.raises(RuntimeError, match="xx"):
        run_one("float4 v; v.xx = float2(1); out[0] = v.x;", {}, {"out": ((1,), mx.float32)}, 1)


# ---- constructors ----


def test_assigned_swizzles_are_values():
    body = """
        float4 v(0);
        v.xyz = v.zyx = float3(1, 2, 3);
        float2 sum = (v.xy += 1.0f) + (v.zw = float2(7, 9));
        out[0] = v.x; out[1] = v.y; out[2] = v.z; out[3] = v.w; out[4] = sum.x; out[5] = sum.y;
    """
    assert run_one(body, {}, {"out": ((6,), mx.float32)}, 1).tolist() == [2, 3, 7, 9, 9, 12]


@pytest.mark.parametrize("name", FLOATS)
def test_swizzles_as_operands_in_templates(rng: np.random.Generator, name: str):
    """The type of the vector is not known where Clang first sees the operator."""
    header = """
        template <typename T> struct Holder { metal::vec<T, 4> v; };
        template <typename T> metal::vec<T, 4> same(metal::vec<T, 4> v) { return v; }
        #define SUM(a, b) a.xy + b
    """
    body = """
        metal::vec<T, 4> v = *(const device metal::vec<T, 4>*)x, w[2] = {v, v};
        Holder<T> h{v};
        metal::packed_vec<T, 3> p = v.xyz;
        const T s = T(2);
        metal::vec<T, 2> r[] = {
            v.xy + v.zw, v.xy * s,     s * v.xy,    -v.xy,       (v.xy) - (v.wz), 2 * (v.zw),
            -(v.xy),     h.v.xy * s,   -(&h)->v.zw, w[1].xy / s, s - w[0].zw,     same<T>(v).xy * s,
            p.xy * s,    s * same<T>(v).zw,         SUM(v, s),   v.rg * v.ba - v.ab * s + v.gr,
        };
        for (uint i = 0; i < 16; ++i) out[2 * i] = r[i].x, out[2 * i + 1] = r[i].y;
    """
    x = rng.integers(-8, 8, 4).astype(np.float32)
    got = run_one(
        body,
        {"x": mx.array(x).astype(FLOATS[name])},
        {"out": ((16, 2), FLOATS[name])},
        1,
        header=header,
        template=[("T", FLOATS[name])],
    )
    xy, zw, wz, yx = x[:2], x[2:], x[:1:-1], x[1::-1]
    want = [xy + zw, xy * 2, xy * 2, -xy, xy - wz, zw * 2, -xy, xy * 2, -zw, xy / 2, 2 - zw, xy * 2]
    want += [xy * 2, zw * 2, xy + 2, xy * zw - wz * 2 + yx]
    np.testing.assert_array_equal(got.astype(np.float32), want)


def test_swizzles_of_integers_as_operands_in_templates():
    body = """
        metal::vec<T, 4> v(x[0], x[1], x[2], x[3]);
        metal::vec<T, 2> r[] = {v.xy & v.zw, v.xy << 1, ~v.xy, v.xy % 3, 100 - v.zw, v.xy | 16,
                                metal::vec<T, 2>(v.xy < v.zw), metal::vec<T, 2>(!v.xy)};
        for (uint i = 0; i < 8; ++i) out[2 * i] = r[i].x, out[2 * i + 1] = r[i].y;
    """
    x = np.array([0, 7, 3, 2], np.int32)
    got = run_one(body, {"x": x}, {"out": ((8, 2), mx.int32)}, 1, template=[("T", mx.int32)])
    xy, zw = x[:2], x[2:]
    want = [xy & zw, xy << 1, ~xy, xy % 3, 100 - zw, xy | 16, xy < zw, xy == 0]
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("expression", ["v.xy * u", "v.xy + other", "-other", "v.xyz * v.xy"])
def test_wrong_operands_in_templates_do_not_compile(expression: str):
    body = f"""
        metal::vec<T, 4> v(x[0]);
        struct {{ int a; }} other;
        uint2 u(1);
        auto r = {expression};
        out[0] = r.x;
    """
    x = np.ones(4, np.float32)
    with pytest.raises(RuntimeError, match="invalid operands|invalid argument type"):
        run_one(body, {"x": x}, {"out": ((1,), mx.float32)}, 1, template=[("T", mx.float32)])
