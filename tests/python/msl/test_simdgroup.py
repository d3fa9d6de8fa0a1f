"""SIMD-group and quad-group functions against a model of the lanes, in whole and partial SIMD-groups."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one

WIDTH = 32
TYPES = {
    "char": (mx.int8, np.int8),
    "uchar": (mx.uint8, np.uint8),
    "short": (mx.int16, np.int16),
    "ushort": (mx.uint16, np.uint16),
    "int": (mx.int32, np.int32),
    "uint": (mx.uint32, np.uint32),
    "long": (mx.int64, np.int64),
    "ulong": (mx.uint64, np.uint64),
    "half": (mx.float16, np.float32),
    "bfloat": (mx.bfloat16, np.float32),
    "float": (mx.float32, np.float32),
}
INTEGERS = [name for name in TYPES if name not in ("half", "bfloat", "float")]
# Threads in a threadgroup: one lane, less than a SIMD-group, whole ones, and a partial one at the end.
SIZES = [1, 8, 24, 32, 45, 64, 80]


def groups(size: int) -> list[range]:
    """The lanes of each SIMD-group of a threadgroup, as indices of threads."""
    return [range(first, min(first + WIDTH, size)) for first in range(0, size, WIDTH)]


def per_thread(
    expression: str, name: str, values: np.ndarray, result: str | None = None, setup=""
) -> np.ndarray:
    """The expression in x (a value) and lane, evaluated by every thread of one threadgroup."""
    result = result or name
    body = f"""
        uint i = thread_position_in_threadgroup.x;
        uint lane = thread_index_in_simdgroup;
        {name} x = in_x[i]; {setup}
        out[i] = {expression};
    """
    inputs = {"in_x": mx.array(values).astype(TYPES[name][0])}
    outputs = {"out": ((values.size,), TYPES[result][0])}
    return run_one(body, inputs, outputs, values.size, threadgroup=1024)


def small(rng: np.random.Generator, name: str, size: int) -> np.ndarray:
    """Small integers: every sum of them is exact in every type."""
    low = 0 if name.startswith("u") else -3
    return rng.integers(low, 4, size).astype(TYPES[name][1])


def test_lanes_follow_the_linear_index():
    body = """
        uint i = thread_position_in_threadgroup.x + 24 * thread_position_in_threadgroup.y;
        out[2 * i] = thread_index_in_simdgroup;
        out[2 * i + 1] = simdgroup_index_in_threadgroup;
    """
    got = run_one(body, {}, {"out": ((24 * 3, 2), mx.uint32)}, (24, 3, 1), threadgroup=(24, 3, 1))
    linear = np.arange(72)
    np.testing.assert_array_equal(got, np.stack([linear % 32, linear // 32], axis=1))


# ---- reductions ----


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", TYPES)
def test_reductions(rng: np.random.Generator, name: str, size: int):
    x = small(rng, name, size)
    body = """
        uint i = thread_position_in_threadgroup.x;
        T x = in_x[i];
        out[4 * i] = simd_sum(x);
        out[4 * i + 1] = metal::simd_min(x);
        out[4 * i + 2] = simd_max(x);
        out[4 * i + 3] = simd_product(T(x == T(3) ? 2 : 1));
    """
    (got,) = run_kernel(
        body,
        {"in_x": mx.array(x).astype(TYPES[name][0])},
        {"out": ((size, 4), TYPES[name][0])},
        size,
        threadgroup=1024,
        template=[("T", TYPES[name][0])],
    )
    for group in groups(size):
        lanes = x[group]
        with np.errstate(over="ignore"):
            product = np.prod(np.where(lanes == 3, 2, 1).astype(np.uint64))
            want = [lanes.sum(dtype=x.dtype), lanes.min(), lanes.max(), product.astype(x.dtype)]
        np.testing.assert_array_equal(got[group], np.tile(np.array(want, x.dtype), (len(group), 1)))


@pytest.mark.parametrize("size", [8, 45])
@pytest.mark.parametrize("name", INTEGERS)
def test_bitwise_reductions(rng: np.random.Generator, name: str, size: int):
    kind = TYPES[name][1]
    limits = np.iinfo(kind)
    x = rng.integers(limits.min, limits.max, size, kind, endpoint=True)
    for function, ufunc in (
        ("and", np.bitwise_and),
        ("or", np.bitwise_or),
        ("xor", np.bitwise_xor),
    ):
        got = per_thread(f"simd_{function}(x)", name, x)
        for group in groups(size):
            assert (got[group] == ufunc.reduce(x[group])).all(), function


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["int", "ulong", "half", "bfloat", "float", "uchar"])
def test_prefix_operations(rng: np.random.Generator, name: str, size: int):
    x = small(rng, name, size)
    two = np.where(np.arange(size) % 8 == 3, 2, 1).astype(x.dtype)
    cases = {
        "simd_prefix_inclusive_sum(x)": (x, np.add, 0, True),
        "simd_prefix_exclusive_sum(x)": (x, np.add, 0, False),
        "simd_prefix_inclusive_product(x)": (two, np.multiply, 1, True),
        "simd_prefix_exclusive_product(x)": (two, np.multiply, 1, False),
    }
    for expression, (values, ufunc, start, inclusive) in cases.items():
        got = per_thread(expression, name, values)
        for group in groups(size):
            lanes = values[group]
            want = ufunc.accumulate(lanes, dtype=x.dtype)
            if not inclusive:
                want = np.concatenate([np.array([start], x.dtype), want[:-1]])
                assert not np.signbit(got[group][0].astype(np.float64)), f"{expression} is -0"
            np.testing.assert_array_equal(got[group], want, err_msg=expression)


def test_infinities_and_signs_in_float_reductions():
    x = np.array([1, -np.inf, 3, np.inf, -5, 0, 7, 8], np.float32)
    assert (per_thread("simd_max(x)", "float", x) == np.inf).all()
    assert (per_thread("simd_min(x)", "float", x) == -np.inf).all()
    assert np.isnan(per_thread("simd_sum(x)", "float", x)).all()
    assert (per_thread("simd_max(-metal::abs(x))", "float", x) == 0).all()


def test_float_sums_are_accurate(rng: np.random.Generator):
    x = rng.normal(size=32).astype(np.float32)
    got = per_thread("simd_sum(x)", "float", x)
    np.testing.assert_allclose(got, x.astype(np.float64).sum(), rtol=1e-5)
    assert (got == got[0]).all()


# ---- shuffles ----


def shuffle_model(x: np.ndarray, lanes: np.ndarray, sources: np.ndarray) -> np.ndarray:
    """Each lane gets the value of its source; its own if that lane does not exist."""
    return np.where(sources < len(lanes), x[lanes[np.minimum(sources, len(lanes) - 1)]], x[lanes])


@pytest.mark.parametrize("size", [8, 32, 45])
@pytest.mark.parametrize("name", [*TYPES, "bool"])
def test_shuffles(rng: np.random.Generator, name: str, size: int):
    kind = "uchar" if name == "bool" else name
    x = np.arange(size).astype(TYPES[kind][1])
    if name == "bool":
        x = (rng.random(size) < 0.5).astype(np.uint8)
    setup = "bool b = x;" if name == "bool" else ""
    v = "b" if name == "bool" else "x"
    cases = {
        f"simd_shuffle({v}, ushort((lane * 5 + 3) % 32))": lambda lane: (lane * 5 + 3) % 32,
        f"simd_shuffle({v}, 3)": lambda lane: 0 * lane + 3,
        f"simd_broadcast({v}, ushort(2))": lambda lane: 0 * lane + 2,
        f"simd_broadcast_first({v})": lambda lane: 0 * lane,
        f"simd_shuffle_xor({v}, 5)": lambda lane: lane ^ 5,
        f"simd_shuffle_down({v}, 3)": lambda lane: np.where(lane + 3 < 32, lane + 3, lane),
        f"simd_shuffle_up({v}, 3)": lambda lane: np.where(lane >= 3, lane - 3, lane),
        f"simd_shuffle_rotate_down({v}, 30)": lambda lane: (lane + 30) % 32,
        f"metal::simd_shuffle_rotate_up({v}, 30)": lambda lane: (lane - 30) % 32,
    }
    for expression, source in cases.items():
        got = per_thread(expression, kind, x, setup=setup)
        for group in groups(size):
            lanes = np.array(group)
            want = shuffle_model(x, lanes, source(lanes % 32))
            np.testing.assert_array_equal(got[group], want, err_msg=expression)


@pytest.mark.parametrize("modulo", [None, 4, 8, 16, 32])
@pytest.mark.parametrize("delta", [0, 1, 3])
def test_shuffles_that_fill(delta: int, modulo: int | None):
    x = np.arange(64).astype(np.float32)
    m = modulo or 32
    lane = np.arange(64)
    tail = f", {modulo})" if modulo else ")"
    got = per_thread(f"simd_shuffle_and_fill_down(x, 100 + x, {delta}{tail}", "float", x)
    inside = lane % m + delta < m
    source = lane // m * m + (lane + delta) % m
    np.testing.assert_array_equal(got, np.where(inside, source, 100 + source))
    got = per_thread(f"simd_shuffle_and_fill_up(x, 100 + x, {delta}{tail}", "float", x)
    inside = lane % m >= delta
    source = lane // m * m + (lane - delta) % m
    np.testing.assert_array_equal(got, np.where(inside, source, 100 + source))


def test_vectors_go_by_components():
    body = """
        uint i = thread_position_in_threadgroup.x;
        float4 v = float4(i, i + 1, i * 2, 1);
        half3 h = half3(i, 1, 2);
        device float4* o = (device float4*)out + 6 * i;
        o[0] = simd_sum(v);
        o[1] = simd_shuffle_xor(v, 1);
        o[2] = simd_max(v);
        o[3] = simd_shuffle_down(v, 2);
        o[4] = float4(float3(simd_broadcast_first(h) + simd_sum(h)), quad_sum(v).x);
        o[5] = float4(long4(simd_prefix_exclusive_sum(long4(v))));
    """
    got = run_one(body, {}, {"out": ((32, 6, 4), mx.float32)}, 32)
    i = np.arange(32)
    v = np.stack([i, i + 1, 2 * i, 0 * i + 1], axis=1)
    np.testing.assert_array_equal(got[:, 0], np.tile(v.sum(0), (32, 1)))
    np.testing.assert_array_equal(got[:, 1], v[i ^ 1])
    np.testing.assert_array_equal(got[:, 2], np.tile(v.max(0), (32, 1)))
    np.testing.assert_array_equal(got[:, 3], v[np.where(i < 30, i + 2, i)])
    np.testing.assert_array_equal(got[:, 4, :3], np.tile([496, 33, 66], (32, 1)))
    np.testing.assert_array_equal(got[:, 4, 3], v[:, 0].reshape(8, 4).sum(1).repeat(4))
    np.testing.assert_array_equal(got[:, 5], v.cumsum(0) - v)


# ---- votes ----


@pytest.mark.parametrize("size", SIZES)
def test_votes(rng: np.random.Generator, size: int):
    x = (rng.random(size) < 0.7).astype(np.int32)
    cases = {
        "ulong(simd_vote::vote_t(simd_ballot(x)))": lambda p: sum(
            1 << k for k, b in enumerate(p) if b
        ),
        "static_cast<simd_vote::vote_t>(simd_active_threads_mask())": lambda p: (1 << len(p)) - 1,
        "simd_all(x)": all,
        "simd_any(x)": any,
        "simd_any(!x)": lambda p: not all(p),
        "simd_all(true) && !simd_any(false)": lambda p: True,
        "simd_ballot(x).any()": any,
        "simd_ballot(x).none()": lambda p: not any(p),
        "simd_ballot(x).all()": lambda p: len(p) == 32 and all(p),
        "simd_sum(simd_is_first() ? 1 : 0)": lambda p: True,
    }
    for expression, model in cases.items():
        got = per_thread(expression, "int", x, "ulong")
        for group in groups(size):
            assert (got[group] == int(model(x[group].astype(bool).tolist()))).all(), expression


def test_lanes_in_a_branch_are_the_active_ones():
    setup = """
        ulong mask = 0; uint sum = 0, first = 0; float up = 0;
        if (lane % 3 == 1) {
            mask = (simd_vote::vote_t)simd_active_threads_mask();
            sum = simd_sum(lane);
            first = simd_broadcast_first(lane) + (simd_is_first() ? 100 : 0);
            up = simd_max(float(lane)) + simd_prefix_exclusive_sum(1.0f);
        }
    """
    x = np.zeros(32, np.int32)
    active = np.arange(32) % 3 == 1
    lanes = np.flatnonzero(active)
    bits = int((1 << lanes.astype(object)).sum())
    for expression, want in {
        "mask": [bits] * len(lanes),
        "sum": [lanes.sum()] * len(lanes),
        "first": [101] + [1] * (len(lanes) - 1),
        "ulong(up)": 31 + np.arange(len(lanes)),
    }.items():
        got = per_thread(expression, "int", x, "ulong", setup)
        np.testing.assert_array_equal(got[active], np.array(want, np.uint64), err_msg=expression)
        assert (got[~active] == 0).all()


# Each calls simd_sum(1u) on its way out of a loop. Threads count together if they leave it alike,
# which the function of the lane tells.
LEAVING = {
    "break": (
        "for (uint i = 0; i < 8; ++i) { if (i == lane % 4) { r = simd_sum(1u); break; } }",
        lambda lane: lane % 4,
    ),
    "variable": (
        "for (uint i = 0; i < 8; ++i) { uint c = in_x[0] + i;"
        " if (c == lane % 4) { r = simd_sum(1u); break; } }",
        lambda lane: lane % 4,
    ),
    "flag": (
        "bool done = false;"
        "for (uint i = 0; !done; ++i) { if (i == lane % 4) { r = simd_sum(1u); done = true; } }",
        lambda lane: lane % 4,
    ),
    "endless": (
        "uint i = 0; while (true) { if (i == lane % 5) { r = simd_sum(1u); break; } ++i; }",
        lambda lane: lane % 5,
    ),
    "do": (
        "uint i = 0; do { if (i == lane % 4) { r = simd_sum(1u); break; } } while (++i < 3);",
        lambda lane: np.where(lane % 4 < 3, lane % 4, -1),
    ),
    "return": (
        "for (uint k = 0; k < 2; ++k) for (uint j = 0; j < 3; ++j)"
        " if (k * 3 + j == lane % 6) { out[i] = simd_sum(1u); return; }",
        lambda lane: lane % 6,
    ),
    "function": ("r = leave(lane % 4);", lambda lane: lane % 4),
    "two ways": (
        "for (uint i = 0; i < 8; ++i) {"
        " if (i == lane % 4) { if (lane < 9) { r = simd_sum(1u); break; } r = simd_sum(1u); break; }"
        "}",
        lambda lane: 2 * (lane % 4) + (lane < 9),
    ),
    "nested loop": (
        "for (uint i = 0; i < 8; ++i) { if (i == lane % 4) {"
        " for (uint j = 0; j < 2; ++j) { r += j; } r = simd_sum(1u); break; } }",
        lambda lane: lane % 4,
    ),
    "switch": (
        "for (uint i = 0; i < 8; ++i) { switch (i ^ (lane % 4)) {"
        " case 0: r = simd_sum(1u); out[i * 0 + lane] = r; return; default: break; } }",
        lambda lane: lane % 4,
    ),
    "behind the loop": (
        "for (uint i = 0; i < 8; ++i) { if (i == lane % 4) break; } r = simd_sum(1u);",
        lambda lane: lane * 0,
    ),
    "behind an endless loop": (
        "uint i = 0; while (true) { if (i++ == lane % 4) { r = 2; break; } } r = simd_sum(1u);",
        lambda lane: lane * 0,
    ),
}


@pytest.mark.parametrize("way", LEAVING)
def test_lanes_that_leave_a_loop_are_active_in_their_iteration(way: str):
    loop, key = LEAVING[way]
    body = f"""
        uint i = thread_position_in_grid.x, lane = i, r = 0;
        {{ {loop} }}
        out[i] = r;
    """
    header = """
        inline uint leave(uint last) {
          for (uint i = 0; i < 8; ++i)
            if (i == last) return simd_sum(1u);
          return 0;
        }
    """
    keys = key(np.arange(WIDTH))
    want = np.where(keys < 0, 0, (keys[:, None] == keys).sum(1))
    x = mx.zeros(8, mx.uint32)
    got = run_one(body, {"in_x": x}, {"out": ((WIDTH,), mx.uint32)}, WIDTH, WIDTH, header=header)
    np.testing.assert_array_equal(got, want)


# ---- quad-groups ----


@pytest.mark.parametrize("size", [4, 6, 45])
@pytest.mark.parametrize("name", ["int", "half", "float", "ulong", "uchar"])
def test_quad_functions(rng: np.random.Generator, name: str, size: int):
    x = small(rng, name, size)
    quads = [range(first, min(first + 4, size)) for first in range(0, size, 4)]
    identity = {
        "sum": (np.add, 0),
        "product": (np.multiply, 1),
        "min": (np.minimum, None),
        "max": (np.maximum, None),
    }
    for function, (ufunc, _) in identity.items():
        got = per_thread(f"quad_{function}(x)", name, x)
        for quad in quads:
            assert (got[quad] == ufunc.reduce(x[quad]).astype(x.dtype)).all(), function
    got = per_thread("quad_prefix_inclusive_sum(x)", name, x)
    for quad in quads:
        np.testing.assert_array_equal(got[quad], np.cumsum(x[quad], dtype=x.dtype))
    got = per_thread("quad_prefix_exclusive_product(x)", name, x)
    for quad in quads:
        want = np.cumprod(np.concatenate([[1], x[quad][:-1]]).astype(x.dtype), dtype=x.dtype)
        np.testing.assert_array_equal(got[quad], want)
    sources = {
        "quad_shuffle(x, 1)": lambda q: 0 * q + 1,
        "quad_broadcast(x, ushort(0))": lambda q: 0 * q,
        "quad_broadcast_first(x)": lambda q: 0 * q,
        "quad_shuffle_xor(x, 1)": lambda q: q ^ 1,
        "quad_shuffle_down(x, 1)": lambda q: np.where(q < 3, q + 1, q),
        "quad_shuffle_up(x, 2)": lambda q: np.where(q >= 2, q - 2, q),
        "quad_shuffle_rotate_down(x, 3)": lambda q: (q + 3) % 4,
        "quad_shuffle_rotate_up(x, 3)": lambda q: (q - 3) % 4,
    }
    for expression, source in sources.items():
        got = per_thread(expression, name, x)
        for quad in quads:
            lanes = np.array(quad)
            want = shuffle_model(x, lanes, source(lanes % 4))
            np.testing.assert_array_equal(got[quad], want, err_msg=expression)


def test_quad_votes_and_bits():
    x = (np.arange(30) % 5 < 3).astype(np.int32)
    for expression, model in {
        "ulong(quad_vote::vote_t(quad_ballot(x)))": lambda p: sum(
            1 << k for k, b in enumerate(p) if b
        ),
        "quad_all(x)": all,
        "quad_any(x)": any,
        "quad_and(uint(x) | 6)": lambda p: 7 if all(p) else 6,
        "quad_or(uint(x) * 5)": lambda p: 5 if any(p) else 0,
        "quad_xor(uint(x))": lambda p: sum(p) % 2,
        "quad_sum(quad_is_first() ? 1 : 0)": lambda p: 1,
    }.items():
        got = per_thread(expression, "int", x, "ulong")
        for first in range(0, 30, 4):
            quad = slice(first, min(first + 4, 30))
            assert (got[quad] == int(model(x[quad].astype(bool).tolist()))).all(), expression


def test_quad_fill():
    x = np.arange(8).astype(np.float32)
    got = per_thread("quad_shuffle_and_fill_down(x, 10 + x, 1)", "float", x)
    np.testing.assert_array_equal(got, [1, 2, 3, 10, 5, 6, 7, 14])
    got = per_thread("quad_shuffle_and_fill_up(x, 10 + x, 1)", "float", x)
    np.testing.assert_array_equal(got, [13, 0, 1, 2, 17, 4, 5, 6])


# ---- barriers ----


def test_barriers_of_every_form():
    body = """
        threadgroup float buffer[256];
        uint i = thread_position_in_threadgroup.x;
        buffer[i] = i;
        threadgroup_barrier(mem_flags::mem_none);
        float v = buffer[255 - i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        buffer[i] = v;
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
        v = buffer[i ^ 64];
        metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup, thread_scope_threadgroup);
        buffer[i] = v;
        simdgroup_barrier(mem_flags::mem_threadgroup);
        out[i] = buffer[i ^ 1];
    """
    got = run_one(body, {}, {"out": ((256,), mx.float32)}, 256)
    i = np.arange(256)
    np.testing.assert_array_equal(got, 255 - (i ^ 1 ^ 64))


def test_vectors_of_eight_components():
    body = """
        uint lane = thread_index_in_simdgroup;
        vec<half, 8> v;
        for (int i = 0; i < 8; ++i) v[i] = (lane + i) % 8;
        vec<half, 8> results[5] = {simd_sum(v), simd_max(v), simd_shuffle_xor(v, 1),
                                   simd_broadcast_first(v), quad_sum(v)};
        for (int k = 0; k < 5; ++k)
            for (int i = 0; i < 8; ++i) out[(k * 32 + lane) * 8 + i] = results[k][i];
    """
    got = run_one(body, {}, {"out": ((5, 32, 8), mx.float32)}, 32)
    lane, i = np.indices((32, 8))
    v = (lane + i) % 8
    quads = np.repeat(v.reshape(8, 4, 8).sum(1), 4, axis=0)
    np.testing.assert_array_equal(got[0], np.broadcast_to(v.sum(0), (32, 8)))
    np.testing.assert_array_equal(got[1], np.full((32, 8), 7))
    np.testing.assert_array_equal(got[2], v[np.arange(32) ^ 1])
    np.testing.assert_array_equal(got[3], np.broadcast_to(v[0], (32, 8)))
    np.testing.assert_array_equal(got[4], quads)
