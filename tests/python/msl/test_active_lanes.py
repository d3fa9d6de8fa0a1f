"""Random programs in which lanes diverge, with sums over the active ones, against NumPy with masks.

A lane is active where control flow of the source brings it, together with all lanes that come there
in the same iterations: those that skipped the rest of an iteration run the next one with the others,
and those that left a loop or a function go on with the others behind it.
"""

import random

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_runner import run_one

LANES = 32
VARIABLES = 3
DATA = 64


class Lanes:
    """The variables of a SIMD-group's lanes while a program runs."""

    def __init__(self, data: np.ndarray):
        self.data = data
        lane = np.arange(LANES, dtype=np.uint32)
        self.values = {f"v{k}": lane * (k + 1) + k for k in range(VARIABLES)} | {"lane": lane}
        self.result = np.zeros(LANES, np.uint32)

    def assign(self, name: str, value: np.ndarray, active: np.ndarray) -> None:
        self.values[name] = np.where(active, value, self.values.get(name, 0)).astype(np.uint32)


class Exits:
    """The lanes that left a block, and how."""

    def __init__(self):
        self.lanes = {way: np.zeros(LANES, bool) for way in ("break", "continue", "return")}

    def take(self, way: str, lanes: np.ndarray) -> None:
        self.lanes[way] = self.lanes[way] | lanes

    def any(self) -> np.ndarray:
        return np.any([*self.lanes.values()], axis=0)


class Expression:
    """Its text, and its value for some lanes."""

    def __init__(self, text: str, value):
        self.text, self.value = text, value


class Program:
    """Makes statements: pairs of lines in MSL and a function of `Lanes`, a mask and `Exits`."""

    def __init__(self, seed: int, depth: int = 4):
        self.random = random.Random(seed)
        self.loops = 0
        self.lines, self.run = self.block(depth, ways=())

    def expression(self, depth: int = 2) -> Expression:
        kind = self.random.randrange(6 if depth else 3)
        if kind == 0:
            number = self.random.randrange(9)
            return Expression(f"{number}u", lambda s, m: np.full(LANES, number, np.uint32))
        if kind <= 2:
            name = self.random.choice(["lane", *(f"v{k}" for k in range(VARIABLES))])
            return Expression(name, lambda s, m: s.values[name])
        a = self.expression(depth - 1)
        if kind == 3:
            return Expression(
                f"data[{a.text} & {DATA - 1}u]", lambda s, m: s.data[a.value(s, m) & DATA - 1]
            )
        if kind == 4:
            return Expression(
                f"simd_sum({a.text})",
                lambda s, m: np.full(LANES, a.value(s, m)[m].sum(dtype=np.uint32)),
            )
        b, operation = self.expression(depth - 1), self.random.choice("+-^")
        function = {"+": np.add, "-": np.subtract, "^": np.bitwise_xor}[operation]
        return Expression(
            f"({a.text} {operation} {b.text})", lambda s, m: function(a.value(s, m), b.value(s, m))
        )

    def condition(self, depth: int = 2) -> Expression:
        """`&&` and `||` run their second half for the lanes that need it."""
        if depth and self.random.random() < 0.5:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            if self.random.random() < 0.5:
                return Expression(f"({a.text} && {b.text})", lambda s, m: join(a, b, s, m, True))
            return Expression(f"({a.text} || {b.text})", lambda s, m: join(a, b, s, m, False))
        a, limit = self.expression(), self.random.randrange(8)
        return Expression(f"({a.text} & 7u) < {limit}u", lambda s, m: (a.value(s, m) & 7) < limit)

    def block(self, depth: int, ways: tuple):
        parts = [self.statement(depth, ways) for _ in range(self.random.randint(1, 3))]

        def run(s: Lanes, active: np.ndarray, exits: Exits) -> None:
            for _, part in parts:
                part(s, active & ~exits.any(), exits)

        return [line for lines, _ in parts for line in lines], run

    def statement(self, depth: int, ways: tuple):
        kind = self.random.random()
        if depth == 0 or kind < 0.35:
            return self.assignment()
        if kind < 0.6:
            return self.branch(depth, ways)
        if kind < 0.8:
            return self.loop(depth)
        return self.exit(self.random.choice([*ways, *ways, "return"]))

    def assignment(self):
        name, value = f"v{self.random.randrange(VARIABLES)}", self.expression(3)

        def run(s: Lanes, active: np.ndarray, exits: Exits) -> None:
            s.assign(name, value.value(s, active), active)

        return [f"{name} = {value.text};"], run

    def branch(self, depth: int, ways: tuple):
        test = self.condition()
        (then, run_then), (other, run_other) = (self.block(depth - 1, ways) for _ in range(2))

        def run(s: Lanes, active: np.ndarray, exits: Exits) -> None:
            taken = active & test.value(s, active)
            run_then(s, taken, exits)
            run_other(s, active & ~taken, exits)

        return [f"if ({test.text}) {{", *then, "} else {", *other, "}"], run

    def loop(self, depth: int):
        self.loops += 1
        kind = self.random.choice([self.counted, self.endless, self.do])
        return kind(f"k{self.loops}", self.random.randint(1, 4), self.condition(1), depth)

    def counted(self, k: str, times: int, test: Expression, depth: int):
        lines, run_body = self.block(depth - 1, ways=("break", "continue"))

        def run(s: Lanes, active: np.ndarray, exits: Exits) -> None:
            for _ in range(times):
                active = active & test.value(s, active)
                inside = Exits()
                run_body(s, active, inside)
                exits.take("return", inside.lanes["return"])
                active = active & ~inside.lanes["break"] & ~inside.lanes["return"]

        head = f"for (uint {k} = 0; {k} < {times}u && {test.text}; ++{k}) {{"
        return [head, *lines, "}"], run

    def endless(self, k: str, times: int, test: Expression, depth: int):
        """Lanes may skip the rest of the first iterations, and with it the only exit."""
        skip = self.condition(1)
        (first, run_first), (rest, run_rest) = (self.block(depth - 1, ("break",)) for _ in range(2))

        def run(s: Lanes, active: np.ndarray, exits: Exits) -> None:
            number = 0
            while active.any():
                inside = Exits()
                run_first(s, active, inside)
                here = active & ~inside.any()
                if number < times:
                    here = here & ~skip.value(s, here)
                run_rest(s, here, inside)
                here = here & ~inside.any()
                leaving = here & ((number >= times) | test.value(s, here))
                exits.take("return", inside.lanes["return"])
                active = active & ~inside.any() & ~leaving
                number += 1

        head = f"for (uint {k} = 0;; ++{k}) {{"
        skips = f"if ({k} < {times}u && {skip.text}) continue;"
        leaves = f"if ({k} >= {times}u || {test.text}) break;"
        return [head, *first, skips, *rest, leaves, "}"], run

    def do(self, k: str, times: int, test: Expression, depth: int):
        lines, run_body = self.block(depth - 1, ways=("break", "continue"))

        def run(s: Lanes, active: np.ndarray, exits: Exits) -> None:
            for number in range(times):
                inside = Exits()
                run_body(s, active, inside)
                exits.take("return", inside.lanes["return"])
                active = active & ~inside.lanes["break"] & ~inside.lanes["return"]
                if number + 1 < times:
                    active = active & test.value(s, active)

        end = f"}} while (++{k} < {times}u && {test.text});"
        return [f"uint {k} = 0;", "do {", *lines, end], run

    def exit(self, way: str):
        test, value = self.condition(), self.expression()

        def run(s: Lanes, active: np.ndarray, exits: Exits) -> None:
            taken = active & test.value(s, active)
            if way == "return":
                s.result = np.where(taken, value.value(s, taken), s.result).astype(np.uint32)
            exits.take(way, taken)

        return [f"if ({test.text}) {way}{f' {value.text}' if way == 'return' else ''};"], run

    def source(self) -> str:
        start = "".join(f"  uint v{k} = lane * {k + 1}u + {k}u;\n" for k in range(VARIABLES))
        return (
            f"inline uint program(uint lane, const device uint* data) {{\n{start}"
            + "\n".join(self.lines)
            + "\n  return simd_sum(v0 ^ v1) ^ v2;\n}\n"
        )

    def results(self, data: np.ndarray) -> np.ndarray:
        lanes, exits = Lanes(data), Exits()
        self.run(lanes, np.ones(LANES, bool), exits)
        v0, v1, v2 = (lanes.values[f"v{k}"] for k in range(VARIABLES))
        left = exits.lanes["return"]
        end = (v0 ^ v1)[~left].sum(dtype=np.uint32) ^ v2
        result = np.where(left, lanes.result, end).astype(np.uint32)
        return result + result.sum(dtype=np.uint32)


def join(a: Expression, b: Expression, s: Lanes, active: np.ndarray, both: bool) -> np.ndarray:
    first = a.value(s, active)
    rest = active & (first == both)
    return np.where(rest, b.value(s, rest), first)


def check(seed: int) -> None:
    program = Program(seed)
    data = np.random.default_rng(seed).integers(0, 1 << 32, DATA, np.uint32)
    got = run_one(
        "uint i = thread_position_in_grid.x, r = program(i, data); out[i] = r + simd_sum(r);",
        {"data": data},
        {"out": ((LANES,), mx.uint32)},
        LANES,
        LANES,
        header=program.source(),
    )
    np.testing.assert_array_equal(got, program.results(data), program.source())


# In the last of these, LLVM made one loop of nested ones, and an endless one that no lane enters.
@pytest.mark.parametrize("seed", [*range(20), 512375, 554924])
def test_programs(seed: int):
    check(seed)


def test_loops_that_begin_with_a_loop():
    data = np.random.default_rng(0).integers(0, 1 << 32, DATA, np.uint32)
    got = run_one(
        """
        uint x = thread_position_in_grid.x, total = 0, rounds = 0;
        do {
            uint steps = 0;
            do {
                x = data[x % 64];
            } while (++steps < 9 && (x & 3) != 0);
            x += simd_sum(steps);
            total += simd_sum(x & 7);
        } while (++rounds < 20);
        out[thread_position_in_grid.x] = x + total;
        """,
        {"data": data},
        {"out": ((LANES,), mx.uint32)},
        LANES,
        LANES,
    )
    x, total = np.arange(LANES, dtype=np.uint32), 0
    for _ in range(20):
        steps, active = np.zeros(LANES, np.uint32), np.ones(LANES, bool)
        while active.any():
            x = np.where(active, data[x % DATA], x)
            steps += active
            active = active & (steps < 9) & ((x & 3) != 0)
        x = x + steps.sum(dtype=np.uint32)
        total += int((x & 7).sum())
    np.testing.assert_array_equal(got, x + np.uint32(total))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**31))
def test_any_programs(seed: int):
    check(seed)
