"""Random programs with nested and unstructured control flow, against the same in Python."""

import itertools
import random

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_runner import run_one

VARIABLES = 4
ARRAY = 8
DATA = 64
WORD = 0xFFFFFFFF


class Program:
    """Writes one function of a thread's index in MSL and in Python."""

    def __init__(self, seed: int, endless: bool, depth: int = 4):
        self.random = random.Random(seed)
        self.endless = endless
        self.loops = 0
        self.metal: list[str] = []
        self.python: list[str] = []
        self.block(depth, 1, in_loop=False)

    def line(self, indent: int, metal: str, python: str | None = None) -> None:
        self.metal.append("  " * indent + metal)
        if python is not None:
            self.python.append("    " * indent + python)

    def expression(self, depth: int = 2) -> tuple[str, str]:
        kind = self.random.randrange(7 if depth else 3)
        if kind == 0:
            return (f"{(c := self.random.randrange(8))}u", str(c))
        if kind <= 2:
            name = self.random.choice(["i", *(f"v{k}" for k in range(VARIABLES))])
            return name, name
        a, b = self.expression(depth - 1), self.expression(depth - 1)
        if kind == 3:
            return f"data[{a[0]} & {DATA - 1}]", f"data[{a[1]} & {DATA - 1}]"
        if kind == 4:
            return f"a[{a[0]} & {ARRAY - 1}]", f"a[{a[1]} & {ARRAY - 1}]"
        operation = self.random.choice(["+", "-", "*", "^", "&", "|", ">>", "/", "%"])
        if operation == ">>":
            return f"({a[0]} >> ({b[0]} & 15u))", f"({a[1]} >> ({b[1]} & 15))"
        if operation in "/%":
            python = operation.replace("/", "//")
            return f"({a[0]} {operation} ({b[0]} | 1u))", f"({a[1]} {python} ({b[1]} | 1))"
        return f"({a[0]} {operation} {b[0]})", f"(({a[1]} {operation} {b[1]}) & {WORD})"

    def condition(self) -> tuple[str, str]:
        a, b = self.expression(1), self.expression(1)
        operation = self.random.choice(["<", ">", "==", "!="])
        text = tuple(f"({x} & 7) {operation} ({y} & 7)" for x, y in zip(a, b))
        if self.random.random() < 0.3:
            other = self.condition()
            joint = self.random.choice([("&&", "and"), ("||", "or")])
            return tuple(f"({x} {j} {y})" for x, j, y in zip(text, joint, other))
        return text

    def block(self, depth: int, indent: int, in_loop: bool) -> None:
        for _ in range(self.random.randint(1, 3)):
            self.statement(depth, indent, in_loop)

    def statement(self, depth: int, indent: int, in_loop: bool) -> None:
        kind = self.random.random()
        if depth == 0 or kind < 0.3:
            self.assignment(indent)
        elif kind < 0.5:
            self.branch(depth, indent, in_loop)
        elif kind < 0.7:
            self.loop(depth, indent)
        elif kind < 0.8:
            self.switch(depth, indent)
        elif kind < 0.9 and in_loop:
            metal, python = self.condition()
            leave = self.random.choice(["break", "continue"])
            self.line(indent, f"if ({metal}) {leave};", f"if {python}: {leave}")
        else:
            metal, python = self.condition()
            value = self.expression()
            self.line(indent, f"if ({metal}) return {value[0]};", f"if {python}: return {value[1]}")

    def assignment(self, indent: int) -> None:
        value = self.expression()
        if self.random.random() < 0.3:
            place = self.expression(1)
            self.line(
                indent,
                f"a[{place[0]} & {ARRAY - 1}] = {value[0]};",
                f"a[{place[1]} & {ARRAY - 1}] = {value[1]}",
            )
        else:
            name = f"v{self.random.randrange(VARIABLES)}"
            self.line(indent, f"{name} = {value[0]};", f"{name} = {value[1]}")

    def branch(self, depth: int, indent: int, in_loop: bool) -> None:
        metal, python = self.condition()
        self.line(indent, f"if ({metal}) {{", f"if {python}:")
        self.block(depth - 1, indent + 1, in_loop)
        if self.random.random() < 0.5:
            self.line(indent, "} else {", "else:")
            self.block(depth - 1, indent + 1, in_loop)
        self.line(indent, "}")

    def loop(self, depth: int, indent: int) -> None:
        k = f"k{self.loops}"
        self.loops += 1
        if self.endless and self.random.random() < 0.3:
            return self.endless_loop(k, depth, indent)
        times = self.expression(1)
        self.line(
            indent,
            f"for (uint {k} = 0; {k} < ({times[0]} & 3u); ++{k}) {{",
            f"for {k} in bounded(lambda: ({times[1]} & 3)):",
        )
        self.block(depth - 1, indent + 1, in_loop=True)
        self.line(indent, "}")

    def endless_loop(self, k: str, depth: int, indent: int) -> None:
        """The first iterations may skip the only way out."""
        (skip, py_skip), (leave, py_leave) = self.condition(), self.condition()
        self.line(indent, f"for (uint {k} = 0;; ++{k}) {{", f"for {k} in itertools.count():")
        self.line(
            indent + 1,
            f"if ({k} < 2u && {skip}) continue;",
            f"if {k} < 2 and {py_skip}: continue",
        )
        self.block(depth - 1, indent + 1, in_loop=False)
        self.line(
            indent + 1, f"if ({k} >= 2u || {leave}) break;", f"if {k} >= 2 or {py_leave}: break"
        )
        self.line(indent, "}")

    def switch(self, depth: int, indent: int) -> None:
        """Cases that all end in break, as Python has no other."""
        value = self.expression(1)
        self.line(indent, f"switch ({value[0]} & 3u) {{", f"match {value[1]} & 3:")
        for case in self.random.sample(range(4), 2):
            self.line(indent, f"case {case}: {{", f"    case {case}:")
            self.block(depth - 1, indent + 2, in_loop=False)
            self.line(indent, "break; }")
        self.line(indent, "default: {", "    case _:")
        self.block(depth - 1, indent + 2, in_loop=False)
        self.line(indent, "break; } }")

    def metal_source(self) -> str:
        start = "".join(f"uint v{k} = i * {k + 1}u + {k}u; " for k in range(VARIABLES))
        body = "\n".join(self.metal)
        return (
            f"uint program(uint i, const device uint* data) {{\n  {start}\n"
            f"  uint a[{ARRAY}]; for (uint k = 0; k < {ARRAY}; ++k) a[k] = k * i;\n{body}\n"
            "  return v0 ^ v1 ^ v2 ^ v3 ^ a[v0 & 7] ^ a[3];\n}\n"
        )

    def results(self, threads: int, data: list[int]) -> np.ndarray:
        start = "".join(f"    v{k} = i * {k + 1} + {k}\n" for k in range(VARIABLES))
        text = (
            f"def program(i, data):\n{start}    a = [k * i for k in range({ARRAY})]\n"
            + "\n".join(self.python)
            + "\n    return v0 ^ v1 ^ v2 ^ v3 ^ a[v0 & 7] ^ a[3]\n"
        )
        names = {"bounded": bounded, "itertools": itertools}
        exec(text, names)
        return np.array([names["program"](i, data) for i in range(threads)], np.uint32)


def bounded(limit):
    """A counter that is compared with its limit before every iteration."""
    k = 0
    while k < limit():
        yield k
        k += 1


def check(seed: int, threadgroup, threads: int, together: str = "", endless: bool = True) -> None:
    program = Program(seed, endless)
    data = random.Random(seed + 1).choices(range(1 << 32), k=DATA)
    got = run_one(
        f"uint i = thread_position_in_grid.x; {together} out[i] = program(i, data);",
        {"data": np.array(data, np.uint32)},
        {"out": ((threads,), mx.uint32)},
        threads,
        threadgroup,
        header=program.metal_source(),
    )
    np.testing.assert_array_equal(got, program.results(threads, data), program.metal_source())


# Regressions: constants from loops' first iterations left unreachable cases in switches; and the
# number of gangs was overwritten when a large frame was set up late.
@pytest.mark.parametrize("seed", [119611, 751])
@pytest.mark.parametrize("together", ["", "if (simd_sum(i) == 1u) return;"])
def test_programs_that_went_wrong(seed: int, together: str):
    check(seed, 64, 150, together, endless=False)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**31))
def test_programs_of_single_threads(seed: int):
    check(seed, 64, 150)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 2**31))
def test_programs_in_simd_groups(seed: int):
    check(seed, 64, 150, "if (simd_sum(i) == 1u) return;")


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 2**31))
def test_programs_between_barriers(seed: int):
    check(seed, 48, 150, "threadgroup_barrier(mem_flags::mem_none);")


@pytest.mark.parametrize("threadgroup", [(1, 64, 1), (8, 8, 1), (5, 3, 2), (16, 4, 1), (33, 1, 1)])
@pytest.mark.parametrize("together", ["", "threadgroup_barrier(mem_flags::mem_none);", "simd"])
def test_shapes_of_threadgroups(threadgroup, together: str):
    """Every position occurs once, in every layout."""
    grid = (37, 11, 3)
    tail = "uint extra = simd_sum(0u);" if together == "simd" else f"uint extra = 0; {together}"
    body = f"""
        uint3 p = thread_position_in_grid, t = thread_position_in_threadgroup;
        uint3 s = threads_per_threadgroup;
        {tail}
        uint at = p.x + threads_per_grid.x * (p.y + threads_per_grid.y * p.z);
        out[3 * at] = t.x + 100 * t.y + 10000 * t.z + extra;
        out[3 * at + 1] = thread_index_in_threadgroup;
        out[3 * at + 2] = t.x + s.x * (t.y + s.y * t.z);
    """
    got = run_one(body, {}, {"out": ((*grid[::-1], 3), mx.uint32)}, grid, threadgroup)
    x, y, z = np.meshgrid(*(np.arange(n) for n in grid), indexing="ij")
    want = x % threadgroup[0] + 100 * (y % threadgroup[1]) + 10000 * (z % threadgroup[2])
    np.testing.assert_array_equal(got[..., 0], want.T)
    np.testing.assert_array_equal(got[..., 1], got[..., 2])
