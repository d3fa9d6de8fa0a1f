"""Random kernels over simdgroup_matrix, beside NumPy: the compiler's transformations of whole
matrices (their layout, the memory of sums, products computed at once) must not change any element.

A program is a list of statements that are both printed as MSL and run by NumPy. All numbers are integers
and small, so that every order of additions gives the same result.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import TARGET, run_one

HEADER = "#include <metal_simdgroup_matrix>\n"
PROGRAMS = 40 if TARGET else 80
MATRICES = 6
TILE = 24  # rows and columns of the input
LARGEST = 2**22  # up to this integer all sums are exact

Matrices = list[np.ndarray]
Effect = Callable[["State"], None]


@dataclass
class State:
    x: np.ndarray
    matrices: Matrices = field(default_factory=lambda: [np.zeros((8, 8)) for _ in range(MATRICES)])
    stored: Matrices = field(default_factory=list)
    largest: float = 0.0

    def set(self, number: int, value: np.ndarray) -> None:
        self.matrices[number] = value
        self.largest = max(self.largest, np.abs(value).max())


@dataclass
class Statement:
    text: str
    effect: Effect


def load(rng: random.Random) -> Statement:
    m, row, column = rng.randrange(MATRICES), rng.randrange(TILE - 8), rng.randrange(TILE - 8)
    space, transposed = rng.choice(["x", "tile"]), rng.random() < 0.3
    pitch = rng.choice([str(TILE), "pitch"])
    text = f"simdgroup_load(m[{m}], {space} + {row * TILE + column}, {pitch}, ulong2(0, 0), {str(transposed).lower()});"

    def effect(s: State) -> None:
        block = s.x[row : row + 8, column : column + 8]
        s.set(m, block.T if transposed else block)

    return Statement(text, effect)


def load_by_lanes(rng: random.Random) -> Statement:
    """Loads elements without simdgroup_load."""
    m, row, column = rng.randrange(MATRICES), rng.randrange(TILE - 8), rng.randrange(TILE - 8)
    space, transposed = rng.choice(["x", "tile"]), rng.random() < 0.3
    at = f"{row * TILE + column} + "
    first, second = f"{space}[{at}row * {TILE} + column]", f"{space}[{at}row * {TILE} + column + 1]"
    if transposed:
        first = f"{space}[{at}column * {TILE} + row]"
        second = f"{space}[{at}(column + 1) * {TILE} + row]"
    lines = [f"m[{m}].thread_elements()[0] = {first};", f"m[{m}].thread_elements()[1] = {second};"]
    rng.shuffle(lines)

    def effect(s: State) -> None:
        block = s.x[row : row + 8, column : column + 8]
        s.set(m, block.T if transposed else block)

    return Statement(" ".join(lines), effect)


def multiply(rng: random.Random) -> Statement:
    d, a, b = (rng.randrange(MATRICES) for _ in range(3))
    c = d if rng.random() < 0.7 else rng.randrange(MATRICES)
    text = f"simdgroup_multiply_accumulate(m[{d}], m[{a}], m[{b}], m[{c}]);"
    return Statement(text, lambda s: s.set(d, s.matrices[a] @ s.matrices[b] + s.matrices[c]))


def reduce(rng: random.Random) -> Statement:
    m = rng.randrange(MATRICES)
    text = f"for (int e = 0; e < 2; ++e) m[{m}].thread_elements()[e] = fmod(m[{m}].thread_elements()[e], 5.0f);"
    return Statement(text, lambda s: s.set(m, np.fmod(s.matrices[m], 5)))


def scale_rows(rng: random.Random) -> Statement:
    m, by = rng.randrange(MATRICES), rng.randrange(1, 3)
    text = f"m[{m}].thread_elements() *= float(row % {by + 1}) - {by - 1}.0f;"
    return Statement(
        text, lambda s: s.set(m, s.matrices[m] * (np.arange(8) % (by + 1) - (by - 1))[:, None])
    )


def add_to_one_element(rng: random.Random) -> Statement:
    m, e = rng.randrange(MATRICES), rng.randrange(2)
    text = f"m[{m}].thread_elements()[{e}] += float(lane % 3);"
    lane = np.arange(32)
    row, column = (lane // 4 & 4) + lane // 2 % 4, (lane // 4 & 2) * 2 + lane % 2 * 2 + e

    def effect(s: State) -> None:
        value = s.matrices[m].copy()
        value[row, column] += lane % 3
        s.set(m, value)

    return Statement(text, effect)


def copy(rng: random.Random) -> Statement:
    a, b = rng.randrange(MATRICES), rng.randrange(MATRICES)
    return Statement(f"m[{a}] = m[{b}];", lambda s: s.set(a, s.matrices[b]))


def fill(rng: random.Random) -> Statement:
    m, value = rng.randrange(MATRICES), rng.randrange(3)
    if rng.random() < 0.5:
        return Statement(
            f"m[{m}] = simdgroup_float8x8({value});", lambda s: s.set(m, value * np.eye(8))
        )
    return Statement(
        f"m[{m}] = make_filled_simdgroup_matrix<float, 8, 8>({value});",
        lambda s: s.set(m, np.full((8, 8), float(value))),
    )


def through_half(rng: random.Random) -> Statement:
    m, n = rng.randrange(MATRICES), rng.randrange(MATRICES)
    text = f"h.thread_elements() = half2(fmod(m[{m}].thread_elements(), 16.0f)); simdgroup_multiply(m[{n}], h, h);"

    def effect(s: State) -> None:
        h = np.fmod(s.matrices[m], 16)
        s.set(n, h @ h)

    return Statement(text, effect)


def store(rng: random.Random) -> Statement:
    m, transposed = rng.randrange(MATRICES), rng.random() < 0.3
    text = f"simdgroup_store(m[{m}], out + 64 * count++, 8, 0, {str(transposed).lower()});"
    return Statement(
        text, lambda s: s.stored.append(s.matrices[m].T if transposed else s.matrices[m])
    )


SIMPLE = [load, load_by_lanes, multiply, multiply, multiply, reduce, scale_rows, add_to_one_element]
SIMPLE += [copy, fill, through_half, store]


def loop(rng: random.Random, depth: int) -> Statement:
    body, count = block(rng, depth + 1), rng.randrange(4)
    bound = rng.choice([str(count), f"limits[{count}]"])

    def effect(s: State) -> None:
        for _ in range(count):
            body.effect(s)

    return Statement(f"for (int i{depth} = 0; i{depth} < {bound}; ++i{depth}) {body.text}", effect)


def branch(rng: random.Random, depth: int) -> Statement:
    taken, first, second = rng.randrange(2), block(rng, depth + 1), block(rng, depth + 1)
    chosen = first if taken else second
    return Statement(f"if (limits[{taken}] != 0) {first.text} else {second.text}", chosen.effect)


def block(rng: random.Random, depth: int = 0) -> Statement:
    statements = []
    for _ in range(rng.randrange(2, 7)):
        nested = depth < 2 and rng.random() < 0.3
        statements.append(
            rng.choice([loop, branch])(rng, depth) if nested else rng.choice(SIMPLE)(rng)
        )

    def effect(s: State) -> None:
        for statement in statements:
            if s.largest < LARGEST:
                statement.effect(s)

    return Statement("{\n" + "\n".join(s.text for s in statements) + "\n}", effect)


def make_program(rng: random.Random, x: np.ndarray) -> tuple[str, Matrices]:
    """The first random program whose numbers stay small."""
    while True:
        program, state = block(rng), State(x)
        program.effect(state)
        if state.largest < LARGEST and 0 < len(state.stored) < 200:
            return program.text, state.stored + state.matrices


@pytest.mark.parametrize("seed", range(PROGRAMS))
@pytest.mark.parametrize("threads", [32, 64])
def test_random_programs(seed: int, threads: int):
    rng = random.Random(f"{seed} {threads}")
    x = np.random.default_rng(seed).integers(-3, 4, (TILE, TILE)).astype(np.float32)
    text, want = make_program(rng, x)
    source = f"""
        threadgroup float tile[{TILE * TILE}];
        for (uint i = thread_index_in_threadgroup; i < {TILE * TILE}; i += {threads}) tile[i] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const short lane = thread_index_in_simdgroup, quad = lane / 4;
        const short row = (quad & 4) + lane / 2 % 4, column = (quad & 2) * 2 + lane % 2 * 2;
        const ulong pitch = x_shape[1];
        device float* out = out_ + simdgroup_index_in_threadgroup * {64 * len(want)};
        int count = 0;
        simdgroup_half8x8 h;
        simdgroup_float8x8 m[{MATRICES}];
        for (int i = 0; i < {MATRICES}; ++i) m[i] = simdgroup_float8x8(0);
        {text}
        for (int i = 0; i < {MATRICES}; ++i) simdgroup_store(m[i], out + 64 * count++);
    """
    got = run_one(
        source,
        {"x": x, "limits": np.arange(8, dtype=np.int32)},
        {"out_": ((threads // 32, len(want), 8, 8), mx.float32)},
        threads,
        threads,
        header=HEADER,
        ensure_row_contiguous=True,
    )
    for of_simdgroup in got:
        np.testing.assert_array_equal(of_simdgroup, np.array(want))
