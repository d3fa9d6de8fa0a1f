"""Every function of integers on the 8 types, and division, for all combinations of edge values,
beside Python's integers; on vectors, on constants, and on strided numbers.
"""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import INTEGERS, run_kernel, share


def wrapped(value, bits: int, signed: bool):
    """An integer, alone or in an array, as a type holds it."""
    low = -(2**bits) // 2 if signed else 0
    return (value - low) % 2**bits + low


class Type:
    """One integer type: its name, its limits, and what functions of Python's integers need of it."""

    def __init__(self, name: str):
        self.name = name
        self.numpy = np.dtype(str(INTEGERS[name]).split(".")[-1]).type
        limits = np.iinfo(self.numpy)
        self.bits, self.low, self.high = limits.bits, int(limits.min), int(limits.max)

    def wrap(self, value):
        return wrapped(value, self.bits, self.low < 0)

    def clamp(self, value: int) -> int:
        return min(max(value, self.low), self.high)

    def unsigned(self, value: int) -> int:
        return value % 2**self.bits

    def edges(self) -> list[int]:
        third, half = (2**self.bits - 1) // 3, 2 ** (self.bits // 2)
        values = [0, 1, 2, 3, -1, -2, self.low, self.low + 1, self.high, self.high - 1]
        return [self.wrap(v) for v in [*values, third, half - 1]]


def rotated(t: Type, a: int, b: int) -> int:
    n, u = b % t.bits, t.unsigned(a)
    return u << n | u >> (t.bits - n)


def in_24_bits(t: Type, a: int) -> int:
    return wrapped(a, 24, t.low < 0)


def quotient(t: Type, a: int, b: int) -> int:
    """Rounded towards zero. A divisor of zero counts as one."""
    n = abs(a) // abs(b or 1)
    return n if (a < 0) == (b < 0) else -n


def rest(t: Type, a: int, b: int) -> int:
    return a - quotient(t, a, b) * (b or 1)


# Functions of one, two and three arguments: the call, and the exact result, which is then wrapped.
FUNCTIONS = {
    "abs({a})": lambda t, a: abs(a),
    "clz({a})": lambda t, a: t.bits - t.unsigned(a).bit_length(),
    "ctz({a})": lambda t, a: (t.unsigned(a) & -a).bit_length() - 1 if a else t.bits,
    "popcount({a})": lambda t, a: t.unsigned(a).bit_count(),
    "reverse_bits({a})": lambda t, a: int(f"{t.unsigned(a):0{t.bits}b}"[::-1], 2),
    "signed_absdiff({a}, {b})": lambda t, a, b: abs(a - b),
    "addsat({a}, {b})": lambda t, a, b: t.clamp(a + b),
    "subsat({a}, {b})": lambda t, a, b: t.clamp(a - b),
    "hadd({a}, {b})": lambda t, a, b: (a + b) >> 1,
    "rhadd({a}, {b})": lambda t, a, b: (a + b + 1) >> 1,
    "max({a}, {b})": lambda t, a, b: max(a, b),
    "min({a}, {b})": lambda t, a, b: min(a, b),
    "mulhi({a}, {b})": lambda t, a, b: a * b >> t.bits,
    "rotate({a}, {b})": rotated,
    "clamp({a}, min({b}, {c}), max({b}, {c}))": lambda t, a, b, c: sorted((a, b, c))[1],
    "madhi({a}, {b}, {c})": lambda t, a, b, c: (a * b >> t.bits) + c,
    "madsat({a}, {b}, {c})": lambda t, a, b, c: t.clamp(a * b + c),
    "max3({a}, {b}, {c})": lambda t, a, b, c: max(a, b, c),
    "min3({a}, {b}, {c})": lambda t, a, b, c: min(a, b, c),
    "median3({a}, {b}, {c})": lambda t, a, b, c: sorted((a, b, c))[1],
    "select({a}, {b}, {c} > 1)": lambda t, a, b, c: b if c > 1 else a,
    "extract_bits({a}, 3, 4)": lambda t, a: wrapped(a >> 3, 4, t.low < 0),
    "insert_bits({a}, {b}, 2, 5)": lambda t, a, b: a & ~(31 << 2) | (b & 31) << 2,
    "({a} / {b})": quotient,
    "({a} % {b})": rest,
    "({a} % T(-1))": lambda t, a: rest(t, a, t.wrap(-1)),
}
# Functions of 32 bits only; bits above 24 must be 0, or copies of the sign.
OF_24_BITS = {
    "mul24(low24({a}), low24({b}))": lambda t, a, b: in_24_bits(t, a) * in_24_bits(t, b),
    "mad24(low24({a}), low24({b}), {c})": lambda t, a, b, c: (
        in_24_bits(t, a) * in_24_bits(t, b) + c
    ),
}
LIBRARY = """
template <typename T> T signed_absdiff(T x, T y) { return T(absdiff(x, y)); }
template <typename T> T low24(T x) { return T(x << 8) >> 8; }
template <typename T, int N> vec<T, N> low24(vec<T, N> x) {
  for (int k = 0; k < N; ++k) x[k] = low24(T(x[k]));
  return x;
}
"""


def literal(value: int) -> str:
    return f"T({value + 1}l - 1)" if value < 0 else f"T({value}ul)"


class Table:
    """The functions of a type and their results."""

    def __init__(self, name: str):
        self.t = Type(name)
        self.functions = FUNCTIONS | (OF_24_BITS if name in ("int", "uint") else {})
        self.functions = dict(share(list(self.functions.items())))
        self.edges = self.t.edges()
        self.count = len(self.edges)

    def expected(self, call: str, arguments: np.ndarray) -> list[int]:
        """The results for rows of three arguments; a function takes the first ones."""
        taken = 1 + ("{b}" in call) + ("{c}" in call)
        model, known = self.functions[call], {}
        for row in set(map(tuple, arguments[:, :taken].tolist())):
            known[row] = self.t.wrap(model(self.t, *row))
        return [known[tuple(row)] for row in arguments[:, :taken].tolist()]

    def combinations(self) -> np.ndarray:
        i = np.arange(self.count**3)
        edges = np.array(self.edges, object)
        return np.stack([edges[i // self.count**k % self.count] for k in range(3)], axis=1)


def of_vectors(call: str, lanes: int) -> str:
    """Whether the call on vectors equals the calls on their components."""
    each = [call.format(a=f"va[{k}]", b=f"vb[{k}]", c=f"vc[{k}]") for k in range(lanes)]
    return f"all({call.format(a='va', b='vb', c='vc')} == vec<T, {lanes}>({', '.join(each)}))"


def run(name: str, text: str, edges: list[int], rows: int, threads: int, **outputs) -> list:
    """Runs a kernel that writes a row for each of some functions."""
    return run_kernel(
        f"constexpr uint n = {threads}; const uint i = thread_position_in_grid.x;\n" + text,
        {"edges": np.array(edges, Type(name).numpy), "picks": np.array([3, 8], np.int32)},
        {output: ((rows, threads), dtype) for output, dtype in outputs.items()},
        threads,
        template=[("T", INTEGERS[name])],
        header=LIBRARY,
    )


@pytest.mark.parametrize("name", INTEGERS)
def test_functions(name: str):
    table = Table(name)
    count, lanes = table.count, 2 + list(INTEGERS).index(name) % 3
    text = f"""
        const T a = edges[i % {count}], b = edges[i / {count} % {count}], c = edges[i / {count**2}];
        const vec<T, 4> va4(a, b, c, edges[i % 7]), vb4(b, c, a, b), vc4(c, a, b, edges[i % 5]);
        const vec<T, {lanes}> va = va4.{"xyzw"[:lanes]}, vb = vb4.{"xyzw"[:lanes]}, vc = vc4.{"xyzw"[:lanes]};
    """
    for k, call in enumerate(table.functions):
        text += f"out[{k} * n + i] = {call.format(a='a', b='b', c='c')};\n"
        text += f"vectors[{k} * n + i] = {of_vectors(call, lanes)};\n"
    kinds = {"out": INTEGERS[name], "vectors": mx.bool_}
    out, vectors = run(name, text, table.edges, len(table.functions), count**3, **kinds)
    arguments = table.combinations()
    for k, call in enumerate(table.functions):
        want = np.array(table.expected(call, arguments), table.t.numpy)
        np.testing.assert_array_equal(out[k], want, err_msg=call)
        assert vectors[k].all(), f"{call} on vectors of {lanes}"


@pytest.mark.parametrize("name", INTEGERS)
def test_functions_of_steps_and_constants(name: str):
    """Arguments with facts that a compiler knows."""
    table, threads = Table(name), 96
    text = "const T step = T(i + 3), b = edges[picks[0]], c = edges[picks[1]];\n"
    constants = []
    for k, call in enumerate(table.functions):
        arguments = [table.edges[(5 * k + 7 * m) % table.count] for m in range(3)]
        constants.append(arguments)
        folded = call.format(**dict(zip("abc", map(literal, arguments))))
        text += f"steps[{k} * n + i] = {call.format(a='step', b='b', c='c')};\n"
        text += f"second[{k} * n + i] = {call.format(a='b', b='step', c='c')};\n"
        text += f"folded[{k} * n + i] = {folded};\n"
    kinds = dict.fromkeys(["steps", "second", "folded"], INTEGERS[name])
    got = run(name, text, table.edges, len(table.functions), threads, **kinds)
    i = np.arange(threads, dtype=object)
    step, b, c = table.t.wrap(i + 3), 0 * i + table.edges[3], 0 * i + table.edges[8]
    for k, call in enumerate(table.functions):
        rows = [np.stack([step, b, c], 1), np.stack([b, step, c], 1)]
        rows.append(np.array([constants[k]] * threads, object))
        for values, arguments in zip(got, rows):
            want = np.array(table.expected(call, arguments), table.t.numpy)
            np.testing.assert_array_equal(values[k], want, err_msg=call)


@pytest.mark.parametrize("name", INTEGERS)
def test_bit_fields(name: str):
    """All offsets and widths, as threads' indices and as loop variables."""
    t = Type(name)
    fields = [(o, w) for o in range(t.bits) for w in range(t.bits - o + 1)]
    fields = fields[:: 1 + len(fields) // 500]
    text = """
        const uint offset = fields[2 * i], bits = fields[2 * i + 1];
        for (uint k = 0; k < 3; ++k) {
            taken[k * n + i] = extract_bits(values[k], offset, bits);
            put[k * n + i] = insert_bits(values[k], values[k + 1], offset, bits);
        }
    """
    values = [t.wrap(0x9669_3C5A_A5C3_0FF1), t.wrap(-2), t.wrap(0x5A5A_1234_DEAD_BEE7), t.high]
    taken, put = run_kernel(
        f"constexpr uint n = {len(fields)}; const uint i = thread_position_in_grid.x;" + text,
        {"fields": np.array(fields, np.uint32), "values": np.array(values, t.numpy)},
        {output: ((3, len(fields)), INTEGERS[name]) for output in ("taken", "put")},
        len(fields),
    )
    for k in range(3):
        for (o, w), got_taken, got_put in zip(fields, taken[k].tolist(), put[k].tolist()):
            mask = (1 << w) - 1
            assert got_taken == wrapped(values[k] >> o, w, t.low < 0) if w else got_taken == 0
            inserted = values[k] & ~(mask << o) | (values[k + 1] & mask) << o
            assert got_put == t.wrap(inserted), (o, w)


@pytest.mark.parametrize("name", share(list(INTEGERS)))
def test_distances_are_unsigned(name: str):
    """So they hold that of the smallest and the largest integer."""
    t = Type(name)
    body = """
        out[0] = float(absdiff(x[0], x[1])) == float(x[1]) - float(x[0]);
        out[1] = absdiff(x[0], x[1]) > 0 && absdiff(x[1], x[0]) == make_unsigned_t<T>(-1);
        out[2] = all(absdiff(vec<T, 3>(x[0], 1, x[1]), T(3)) == vec<make_unsigned_t<T>, 3>(
            absdiff(x[0], T(3)), 2, absdiff(x[1], T(3))));
        out[3] = is_same_v<decltype(absdiff(packed_short2(1), short2(2))), ushort2>;
    """
    inputs = {"x": np.array([t.low, t.high], t.numpy)}
    got = run_kernel(body, inputs, {"out": ((4,), mx.bool_)}, 1, template=[("T", INTEGERS[name])])
    assert got[0].tolist() == [True] * 4
