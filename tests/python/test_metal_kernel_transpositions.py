"""Kernels without tiles in which the lanes of a row access elements far apart, and the threads below
or behind them the neighbours of these. Columns of such threads run at once."""

import itertools

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_runner import FLOATS, INTEGERS, run_one, share

TYPES = {**INTEGERS, **FLOATS}
THREADGROUPS = [
    (16, 16, 1),
    (32, 8, 1),
    (256, 1, 1),
    (1, 1, 1),
    (8, 8, 8),
    (33, 4, 1),
    (40, 12, 2),
    (16, 1, 16),
    (64, 2, 4),
]
# How kernels write the index of an element and keep threads inside.
FORMS = {
    "uint": "uint a = p.x, b = p.y, c = p.z, A = N.x, B = N.y, C = N.z; {store}",
    "int": "int a = p.x, b = p.y, c = p.z, A = N.x, B = N.y, C = N.z; {store}",
    "size_t": "size_t a = p.x, b = p.y, c = p.z, A = N.x, B = N.y, C = N.z; {store}",
    "ushort": "ushort a = p.x, b = p.y, c = p.z; uint A = N.x, B = N.y, C = N.z; {store}",
    "returns": """
        uint a = p.x, b = p.y, c = p.z, A = n[0], B = n[1], C = n[2];
        if (a >= A) return;
        if (b >= B || c >= C) return;
        {store}""",
    "guard": """
        int a = p.x, b = p.y, c = p.z, A = n[0], B = n[1], C = n[2];
        if (a < A && b < B && c < C) {{ {store} }}""",
}
ORDERS = ["".join(order) for order in itertools.permutations("abc")]


def index(order: str) -> str:
    """Of an element of an array with these axes, the slowest first."""
    first, second, third = order
    return f"({first} * {second.upper()} + {second}) * {third.upper()} + {third}"


def random_values(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return rng.integers(0, 100, shape)


def check(
    form: str,
    source: str,
    target: str,
    type: str,
    sizes: tuple[int, int, int],
    threadgroup,
    extra=0,
) -> None:
    """Copies an array with the axes `source` to one with the axes `target`, adding one."""
    dtype = TYPES[type]
    size_of = dict(zip("abc", sizes))
    shape = tuple(size_of[axis] for axis in source)
    values = random_values(np.random.default_rng(0), shape)
    store = f"o[{index(target)}] = x[{index(source)}] + {type}(1);"
    got = run_one(
        "uint3 p = thread_position_in_grid, N = threads_per_grid;"
        + FORMS[form].format(store=store),
        {"x": mx.array(values).astype(dtype), "n": np.array(sizes, np.uint32)},
        {"o": (tuple(size_of[axis] for axis in target), dtype)},
        tuple(size + (extra if "n[0]" in FORMS[form] else 0) for size in sizes),
        threadgroup,
    )
    expected = np.einsum(f"{source}->{target}", values) + 1
    assert np.array_equal(got.astype(np.float64), expected)


@pytest.mark.parametrize("threadgroup", share(THREADGROUPS))
@pytest.mark.parametrize("form", FORMS)
def test_forms(form: str, threadgroup: tuple[int, int, int]) -> None:
    for sizes in ((48, 48, 16), (65, 33, 3)):
        check(form, "cba", "cab", "float", sizes, threadgroup, extra=1)
        check(form, "cab", "cba", "float", sizes, threadgroup, extra=0)


@pytest.mark.parametrize("type", share(list(TYPES)))
@pytest.mark.parametrize("target", ORDERS)
def test_types_and_orders(type: str, target: str) -> None:
    check("uint", "cba", target, type, (48, 32, 16), (16, 16, 1))
    check("guard", target, "cba", type, (50, 35, 17), (16, 4, 8), extra=3)


@settings(max_examples=25, deadline=None)
@given(
    form=st.sampled_from(list(FORMS)),
    source=st.sampled_from(ORDERS),
    target=st.sampled_from(ORDERS),
    type=st.sampled_from(["uchar", "half", "float", "long"]),
    sizes=st.tuples(st.integers(1, 70), st.integers(1, 40), st.integers(1, 20)),
    threadgroup=st.sampled_from(THREADGROUPS),
    extra=st.integers(0, 20),
)
def test_any(form, source, target, type, sizes, threadgroup, extra) -> None:
    check(form, source, target, type, sizes, threadgroup, extra)


BODIES = {
    "several arrays": (
        "o[p.x * 32 + p.y] = x[p.y * 64 + p.x] * y[p.x] + z[p.y * 64 + p.x];",
        lambda x, y, z: (x * y + z).T,
    ),
    "both read apart": (
        "o[p.y * 64 + p.x] = w[p.x * 32 + p.y] * 2 + v[(p.x * 32 + p.y) ^ 1];",
        lambda w, v: (w * 2 + v.reshape(64, 16, 2)[..., ::-1].reshape(64, 32)).T,
    ),
    "its own element": (
        "device float* at = o + p.x * 32 + p.y; *at = x[p.y * 64 + p.x]; *at = *at * 3 + 1;",
        lambda x: x.T * 3 + 1,
    ),
    "pairs": (
        """o[(p.x * 32 + p.y) * 2] = x[p.y * 64 + p.x];
           o[(p.x * 32 + p.y) * 2 + 1] = z[p.y * 64 + p.x];""",
        lambda x, z: np.stack([x.T, z.T], axis=-1),
    ),
    "float4": (
        """*(device float4*)(o + (p.x * 32 + p.y) * 4) =
               float4(x[p.y * 64 + p.x], z[p.y * 64 + p.x], y[p.x], 7);""",
        lambda x, y, z: np.stack(
            [x.T, z.T, np.repeat(y[:, None], 32, 1), np.full((64, 32), 7)], axis=-1
        ),
    ),
    "every second": (
        "o[(p.x * 32 + p.y) * 2] = x[p.y * 64 + p.x];",
        lambda x: np.stack([x.T, np.full((64, 32), -1)], axis=-1),
    ),
    "backwards": (
        "o[p.x * 32 + 31 - p.y] = x[p.y * 64 + p.x];",
        lambda x: x[::-1].T,
    ),
    "falling numbers": (
        "uint falls = 1000u - p.y; o[p.x * 32 + p.y] = x[p.y * 64 + p.x] + falls;",
        lambda x: (x + 1000 - np.arange(32)[:, None]).T,
    ),
    "rows by index": (
        "o[p.y * 64 + p.x] = w[r[p.x] * 32 + p.y];",
        lambda w, r: w[r].T,
    ),
    "some threads": (
        "if ((p.x + p.y) % 5 == 0) o[p.x * 32 + p.y] = x[p.y * 64 + p.x];",
        lambda x: np.where(np.add.outer(np.arange(64), np.arange(32)) % 5 == 0, x.T, -1),
    ),
    "clamped": (
        "o[p.x * 32 + p.y] = x[min(p.y + 1, 31u) * 64 + min(p.x + 1, 63u)];",
        lambda x: np.pad(x, ((0, 1), (0, 1)), mode="edge")[1:, 1:].T,
    ),
    "either": (
        """if (p.x < 40) o[p.x * 32 + p.y] = x[p.y * 64 + p.x];
           else o[p.x * 32 + p.y] = z[p.y * 64 + p.x] * 2;""",
        lambda x, z: np.where(np.arange(64)[:, None] < 40, x.T, z.T * 2),
    ),
}


@pytest.mark.parametrize("threadgroup", [(64, 16, 1), (8, 8, 1), (32, 1, 1), (24, 4, 1)])
@pytest.mark.parametrize("name", BODIES)
def test_bodies(name: str, threadgroup: tuple[int, int, int]) -> None:
    rng = np.random.default_rng(1)
    arrays = {n: random_values(rng, (32, 64)).astype(np.float32) for n in "xz"}
    arrays |= {n: random_values(rng, (64, 32)).astype(np.float32) for n in "wv"}
    arrays["y"] = random_values(rng, (64,)).astype(np.float32)
    arrays["r"] = rng.integers(0, 64, 64).astype(np.uint32)
    body, reference = BODIES[name]
    used = reference.__code__.co_varnames[: reference.__code__.co_argcount]
    expected = reference(*(arrays[n] for n in used))
    got = run_one(
        "uint2 p = thread_position_in_grid.xy;" + body,
        {n: arrays[n] for n in used},
        {"o": (expected.shape, mx.float32)},
        (64, 32, 1),
        threadgroup,
        init_value=-1,
    )
    assert np.array_equal(got, expected)
