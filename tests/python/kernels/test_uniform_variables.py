"""Arrays of a thread that all threads may fill alike: random programs, beside the same programs in
Python. A program is right if lanes keep their own elements wherever they part before a store."""

import random

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_runner import run_one

THREADS = 150
ELEMENTS = 12
DATA = 16
ARRAYS = ("s", "t")


class Program:
    """Its lines in MSL and in Python, where `w` gives the lower 32 bits of a number."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.loops = []
        self.made = 0
        self.msl, self.python = [], []
        for name in ARRAYS:
            self.add(1, f"uint {name}[{ELEMENTS}];", f"{name} = [0] * {ELEMENTS}")
            self.add(1, f"for (uint k = 0; k < {ELEMENTS}u; ++k) {name}[k] = data[k] + k;")
            self.python.append(f"    for k in range({ELEMENTS}): {name}[k] = data[k] + k")
        self.add(1, "uint sum = i;", "sum = i")
        self.block(1, self.random.randint(3, 6))
        self.add(1, "o[i] = sum;", "return sum")

    def add(self, depth: int, msl: str, python: str = "") -> None:
        self.msl.append("    " * depth + msl)
        if python:
            self.python.append("    " * depth + python)

    def number(self, depth: int = 2, alike: float = 0.8) -> str:
        """An expression, which is likely to have one value in all threads."""
        kind = self.random.random()
        if depth == 0 or kind < 0.3:
            if self.random.random() > alike:
                return self.random.choice(["i", "sum"])
            return self.random.choice([*self.loops, str(self.random.randrange(9)), "n"])
        if kind < 0.5:
            return f"data[({self.number(depth - 1, alike)}) % {DATA}]"
        if kind < 0.7:
            return self.element(depth - 1, alike)
        operation = self.random.choice("+*^")
        return f"w({self.number(depth - 1, alike)} {operation} {self.number(depth - 1, alike)})"

    def element(self, depth: int, alike: float) -> str:
        return f"{self.random.choice(ARRAYS)}[({self.number(depth, alike)}) % {ELEMENTS}]"

    def condition(self) -> str:
        return f"({self.number(2, 0.5)}) % 5 < {self.random.randint(1, 4)}"

    def block(self, depth: int, most: int) -> None:
        for _ in range(self.random.randint(1, most)):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        kind = self.random.random()
        if kind < 0.35 or depth > 4:
            to, value = self.element(1, 0.95), self.number(2, 0.95)
            self.add(depth, f"{to} = {value};", f"{to} = {value}")
        elif kind < 0.6:
            value = self.element(2, 0.3)
            self.add(depth, f"sum = w(sum * 3 + {value});", f"sum = w(sum * 3 + {value})")
        elif kind < 0.75:
            test = self.condition()
            self.add(depth, f"if ({test}) {{", f"if {test}:")
            self.block(depth + 1, 3)
            self.add(depth, "} else {", "else:")
            self.block(depth + 1, 2)
            self.add(depth, "}")
        elif kind < 0.9:
            self.loop(depth)
        elif kind < 0.95 and self.loops:
            way, test = self.random.choice(["break", "continue"]), self.condition()
            self.add(depth, f"if ({test}) {way};", f"if {test}: {way}")
        else:
            test = f"({self.number(1, 0.2)}) % 7 == 3"
            self.add(depth, f"if ({test}) {{ o[i] = sum; return; }}", f"if {test}: return sum")

    def loop(self, depth: int) -> None:
        self.made += 1
        name, count = f"k{self.made}", f"({self.number(1, 0.7)}) % 6"
        self.add(
            depth, f"for (uint {name} = 0, end{name} = {count}; {name} < end{name}; ++{name}) {{"
        )
        self.add(depth, "", f"for {name} in range({count}):")
        self.loops.append(name)
        self.block(depth + 1, 3)
        self.loops.pop()
        self.add(depth, "}")

    def results(self, data: list[int], n: int) -> list[int]:
        names: dict = {"w": lambda number: number & 0xFFFFFFFF}
        exec("\n".join(["def run(i, data, n):", *self.python]), names)
        return [names["run"](i, data, n) for i in range(THREADS)]


def check(seed: int) -> None:
    program = Program(seed)
    data = np.random.default_rng(seed).integers(0, 100, DATA).astype(np.uint32)
    source = "\n".join(["uint i = thread_position_in_grid.x, n = size[0];", *program.msl])
    got = run_one(
        source,
        {"data": data, "size": np.array([seed % 7], np.uint32)},
        {"o": ((THREADS,), mx.uint32)},
        THREADS,
        32 if seed % 2 else 50,
        header="inline uint w(uint number) { return number; }",
    )
    np.testing.assert_array_equal(got, program.results(data.tolist(), seed % 7), source)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32))
def test_random_programs(seed: int):
    check(seed)


GUARDED = {
    "threads beyond the end return first": ("if (i >= 77) return;", "", 77),
    "the store is in the branch": ("if (i < 77) {", "}", 77),
}


@pytest.mark.parametrize("form", GUARDED)
def test_guards(form: str, rng):
    """A table that the threads fill behind a guard."""
    before, after, threads = GUARDED[form]
    table, codes = rng.random(20).astype(np.float32), rng.integers(0, 20, 100).astype(np.uint8)
    source = f"""
        uint i = thread_position_in_grid.x;
        {before}
        float local[20];
        for (uint k = 0; k < 20; ++k) local[k] = table[k] * 2;
        o[i] = local[q[i]];
        {after}
    """
    got = run_one(
        source,
        {"table": table, "q": codes},
        {"o": ((100,), mx.float32)},
        100,
        50,
        init_value=0,
    )
    expected = np.where(np.arange(100) < threads, table[codes] * 2, 0)
    np.testing.assert_array_equal(got, expected)


def test_elements_that_depend_on_earlier_ones(rng):
    """All threads compute one recurrence, each until its own end."""
    ends = rng.integers(1, 20, 100).astype(np.int32)
    source = """
        uint i = thread_position_in_grid.x;
        uint t[20];
        t[0] = x[0];
        for (int k = 1; k < 20; ++k) t[k] = t[k - 1] * 3 + x[k % 4];
        uint sum = 0;
        for (int k = 0; k < ends[i]; ++k) { sum += t[(k * 7 + i) % 20]; t[k] += 1; }
        o[i] = sum + t[i % 20];
    """
    x = rng.integers(0, 100, 4).astype(np.uint32)
    got = run_one(source, {"x": x, "ends": ends}, {"o": ((100,), mx.uint32)}, 100, 50)
    expected = []
    for i, end in enumerate(ends):
        t = [int(x[0])]
        for k in range(1, 20):
            t.append(t[k - 1] * 3 + int(x[k % 4]))
        sum = 0
        for k in range(end):
            sum += t[(k * 7 + i) % 20]
            t[k] += 1
        expected.append((sum + t[i % 20]) % 2**32)
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("threads", [32, 96, 250])
def test_arrays_that_cross_barriers(threads: int, rng):
    """Each SIMD-group fills its array with numbers of its own, and changes it between barriers."""
    groups, rounds, count = 3, 4, 20
    source = f"""
        threadgroup uint shared[{threads}];
        uint i = thread_index_in_threadgroup, group = threadgroup_position_in_grid.x;
        uint own = group + simdgroup_index_in_threadgroup * 5;
        uint t[{count}];
        for (uint k = 0; k < {count}; ++k) t[k] = x[(own + k) % 40];
        uint sum = 0;
        for (uint turn = 0; turn < {rounds}; ++turn) {{
            shared[i] = t[(i + turn) % {count}];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            sum = sum * 3 + shared[(i + 7) % {threads}] + t[(i * 3 + turn) % {count}];
            t[(own + turn) % {count}] += turn + shared[turn];
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }}
        o[thread_position_in_grid.x] = sum;
    """
    x = rng.integers(0, 1000, 40).astype(np.uint32)
    got = run_one(
        source, {"x": x}, {"o": ((groups * threads,), mx.uint32)}, groups * threads, threads
    )
    i, expected = np.arange(threads), []
    for group in range(groups):
        own = group + i // 32 * 5
        t = x[(own[:, None] + np.arange(count)) % 40]
        total = np.zeros(threads, np.uint32)
        for turn in range(rounds):
            shared = t[i, (i + turn) % count]
            total = total * 3 + shared[(i + 7) % threads] + t[i, (i * 3 + turn) % count]
            t[i, (own + turn) % count] += turn + shared[turn]
        expected.append(total)
    np.testing.assert_array_equal(got, np.concatenate(expected))
