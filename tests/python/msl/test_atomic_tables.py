"""Every atomic operation on either memory, for all lanes, some of them or one, with addresses
of all kinds, its result used or not. The checks hold for any order of the threads.
"""

import functools
import operator
from collections import Counter
from typing import NamedTuple

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import FLOATS, INTEGERS, run_kernel, share

START = 64
OPERATIONS = ["add", "sub", "min", "max", "and", "or", "xor", "exchange", "store", "compare"]
GUARDS = {"all": "true", "half": "lane & 1", "one": "lane == 5", "some": "flag"}
# The layouts of cells: one for all threads, one for each, and loaded indices, in a row or shared by
# several threads.
PLACES = {"one": "0", "own": "i", "loaded": "slot"}


class Case(NamedTuple):
    operation: str
    guard: str
    place: str
    used: bool


def cases(name: str, space: str) -> list[Case]:
    """All of them for int in threadgroup memory; for others a part that differs between types."""
    shift = [*INTEGERS, *FLOATS].index(name) + len(space)
    part = 3 if name in ("int", "uint", "long", "ulong", "float") else 7
    part = 1 if (name, space) == ("int", "threadgroup") else part
    operations = [o for o in OPERATIONS if name in INTEGERS or o not in ("and", "or", "xor")]
    made = []
    for o, operation in enumerate(operations):
        for g, guard in enumerate(GUARDS):
            for p, place in enumerate(PLACES):
                for used in (False, True):
                    if operation == "store" and used:
                        continue
                    if (o + 5 * g + 3 * p + used + shift) % part == 0:
                        made.append(Case(operation, guard, place, used))
    return share(made)


def operand(operation: str, name: str) -> str:
    """The operands in MSL, for thread i; the sums are exact in half and bfloat."""
    bits = 8 * {"char": 1, "uchar": 1, "short": 2, "ushort": 2, "long": 8, "ulong": 8}.get(name, 4)
    bit = f"T(T(1) << T(i % {bits}))"
    return {"add": "T(1)", "sub": "T(1)", "and": f"T(~{bit})", "or": bit, "xor": bit}.get(
        operation, "T(i * 37 % 128)"
    )


def operands(operation: str, kind: type, threads: int) -> np.ndarray:
    i = np.arange(threads)
    if operation in ("add", "sub", "compare"):
        return np.ones(threads, int)
    if operation in ("and", "or", "xor"):
        bits = kind(1) << (i % np.iinfo(kind).bits).astype(kind)
        return ~bits if operation == "and" else bits
    return i * 37 % 128


def statement(k: int, case: Case, name: str, first: int) -> str:
    cell = f"&cells[{first} + {PLACES[case.place]}]"
    value = operand(case.operation, name)
    order = "memory_order_relaxed"
    if case.operation == "compare":
        call = f"""T seen = T({START});
            while (!atomic_compare_exchange_weak_explicit({cell}, &seen, T(seen + T(1)), {order}, {order})) {{}}"""
        result = "seen"
    elif case.operation == "store":
        return f"if ({GUARDS[case.guard]}) atomic_store_explicit({cell}, {value}, {order});\n"
    else:
        function = "exchange" if case.operation == "exchange" else f"fetch_{case.operation}"
        result = f"atomic_{function}_explicit({cell}, {value}, {order})"
        call = "" if case.used else result + ";"
    keep = f"b = {result};" if case.used else ""
    store = f"before[{k} * THREADS + i] = b;" if case.used else ""
    return f"if ({GUARDS[case.guard]}) {{ {call} {keep} }} {store}\n"


def kernel(name: str, space: str, threads: int, chosen: list[Case]) -> str:
    """All cases in one body: cells start with the same number, and are stored at the end."""
    first, work = 0, ""
    for k, case in enumerate(chosen):
        work += statement(k, case, name, first)
        first += 1 if case.place == "one" else threads
    memory = f"threadgroup metal::atomic<T> cells[{first}];"
    if space == "device":
        memory = "device metal::atomic<T>* cells = (device metal::atomic<T>*)out;"
    return f"""
        constexpr uint THREADS = {threads};
        const uint i = thread_position_in_grid.x, lane = thread_index_in_simdgroup, slot = slots[i];
        const bool flag = flags[i];
        T b = 0;
        {memory}
        for (uint k = i; k < {first}; k += THREADS)
            atomic_store_explicit(&cells[k], T({START}), memory_order_relaxed);
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
        {work}
        threadgroup_barrier(mem_flags::mem_device | mem_flags::mem_threadgroup);
        for (uint k = i; k < {first}; k += THREADS)
            out[k] = atomic_load_explicit(&cells[k], memory_order_relaxed);
    """


FOLDS = {
    "add": operator.add,
    "sub": operator.sub,
    "min": min,
    "max": max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "compare": operator.add,
}


def check_cell(case: Case, values: list, after, before: list | None) -> None:
    """Checks one cell: its threads' operands, its final value, and the returned values."""
    start = type(after)(START)
    if case.operation in ("exchange", "store"):
        assert after in values or (not values and after == start)
        if before is not None:
            assert Counter([*before, after]) == Counter([start, *values])
        return
    fold = FOLDS[case.operation]
    assert after == functools.reduce(fold, values, start)
    if before is None or not values:
        return
    if case.operation in ("min", "max"):
        changed = [(b, v) for b, v in zip(before, values) if fold(b, v) != b]
        assert Counter([start, *(v for _, v in changed)]) == Counter(
            [*(b for b, _ in changed), after]
        )
        assert all(fold(b, after) == after and fold(b, start) == b for b in before)
    else:
        # The thread that read a value is the one whose operation replaced it.
        left = Counter(fold(b, v) for b, v in zip(before, values))
        assert Counter([start]) + left == Counter(before) + Counter([after])


@np.errstate(over="ignore")
@pytest.mark.parametrize("space", ["device", "threadgroup"])
@pytest.mark.parametrize("name", [*INTEGERS, *FLOATS])
def test_atomics(name: str, space: str, rng: np.random.Generator):
    threads = 45 if name not in ("long", "ulong") else 40
    chosen = cases(name, space)
    kind = np.dtype(str(INTEGERS[name]).split(".")[-1]).type if name in INTEGERS else np.float32
    cells = sum(1 if case.place == "one" else threads for case in chosen)
    dtype = (INTEGERS | FLOATS)[name]
    flags = rng.random(threads) < 0.5
    for slots in (np.arange(threads), rng.integers(0, 7, threads)):
        out, before = run_kernel(
            kernel(name, space, threads, chosen),
            {"flags": flags, "slots": slots.astype(np.int32)},
            {"out": ((cells,), dtype), "before": ((len(chosen), threads), dtype)},
            threads,
            threadgroup=threads,
            template=[("T", dtype)],
        )
        lane = np.arange(threads) % 32
        runs = {"all": lane >= 0, "half": lane % 2 == 1, "one": lane == 5, "some": flags}
        places = {"one": 0 * lane, "own": np.arange(threads), "loaded": slots}
        first = 0
        for k, case in enumerate(chosen):
            place, values = places[case.place], operands(case.operation, kind, threads).astype(kind)
            for cell in range(1 if case.place == "one" else threads):
                mine = runs[case.guard] & (place == cell)
                try:
                    check_cell(
                        case,
                        list(values[mine]),
                        out[first + cell],
                        list(before[k][mine]) if case.used else None,
                    )
                except AssertionError as error:
                    raise AssertionError(f"{case}, cell {cell}") from error
            first += 1 if case.place == "one" else threads


# A floating-point number changed through its bits, as in kernels without atomic<float>.
BITS = """
    uint seen = as_type<uint>(x);
    while (!atomic_compare_exchange_weak_explicit((device atomic_uint*)&out[CELL], &seen,
                as_type<uint>(as_type<float>(seen) + VALUE), memory_order_relaxed, memory_order_relaxed)) {}
"""
WHOLE = """
    float seen = atomic_load_explicit(&out[CELL], memory_order_relaxed);
    while (!atomic_compare_exchange_weak_explicit(&out[CELL], &seen, seen + VALUE, memory_order_relaxed,
                                                  memory_order_relaxed)) {}
"""


@pytest.mark.parametrize("form", [BITS, WHOLE], ids=["bits", "whole"])
@pytest.mark.parametrize("cell", ["0", "i % 64", "slots[i]"])
def test_compare_exchange_beside_additions(form: str, cell: str, rng: np.random.Generator):
    """Additions to a buffer are deferred or take locks: none may be lost beside compare-exchange
    operations of other threads."""
    threads, iterations = 20_000, 3
    exchange = form.replace("CELL", cell)
    body = f"""
        uint i = thread_position_in_grid.x;
        float x = 0;
        for (int iteration = 0; iteration < {iterations}; ++iteration) {{
            atomic_fetch_add_explicit(&out[{cell}], 1.0f, memory_order_relaxed);
            if ((i >> 5 ^ iteration) & 1) {{ {exchange.replace("VALUE", "2.0f")} }}
            if (i % 3 == 0) {{ {exchange.replace("VALUE", "-1.0f")} }}
        }}
    """
    slots = rng.integers(0, 100, threads).astype(np.int32)
    (got,) = run_kernel(
        body,
        {"slots": slots},
        {"out": ((100,), mx.float32)},
        threads,
        init_value=0,
        atomic_outputs=True,
    )
    i = np.arange(threads)
    each = sum(1 + 2 * ((i >> 5 ^ iteration) & 1) - (i % 3 == 0) for iteration in range(iterations))
    cells = {"0": 0 * i, "i % 64": i % 64, "slots[i]": slots}[cell]
    np.testing.assert_array_equal(got, np.bincount(cells, each, 100))
