"""Kernels that wait at barriers, in all kinds of control flow, beside threads of Python that are
resumed from barrier to barrier."""

from collections.abc import Callable, Iterator

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one, share

BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
THREADGROUPS = [
    (8, 1, 1),
    (32, 1, 1),
    (40, 1, 1),
    (256, 1, 1),
    (1000, 1, 1),
    (16, 16, 1),
    (8, 4, 3),
    (20, 3, 2),
    (5, 7, 1),
    (64, 2, 2),
]

# A thread of Python: its number, the threads of its threadgroup, their shared numbers, and its input.
# It yields at a barrier, and returns its result.
Thread = Callable[[int, int, list[int], int], Iterator[None]]
CASES: dict[str, tuple[str, Thread]] = {}


def case(source: str):
    def add(thread: Thread) -> Thread:
        CASES[thread.__name__] = (source, thread)
        return thread

    return add


@case("""
    int sum = value;
    for (int t = 0; t < 3 + n; ++t) {
        s[lid] = sum + t;
        BARRIER
        sum += s[(lid + 1) % count];
        BARRIER
    }
    result = sum;
""")
def sums_over_iterations(lid, count, s, value):
    total = value
    for t in range(5):
        s[lid] = total + t
        yield
        total += s[(lid + 1) % count]
        yield
    return total


@case("""
    int a = value, b = lid;
    for (int t = 0; t < 4; ++t) {
        s[lid] = a;
        BARRIER
        int c = s[count - 1 - lid];
        BARRIER
        a = b;
        b = c + t;
    }
    result = a * 1000 + b;
""")
def swaps_values(lid, count, s, value):
    a, b = value, lid
    for t in range(4):
        s[lid] = a
        yield
        c = s[count - 1 - lid]
        yield
        a, b = b, c + t
    return a * 1000 + b


@case("""
    int kept[6];
    for (int i = 0; i < 6; ++i) kept[i] = value + i;
    for (int t = 0; t < 4; ++t) {
        s[lid] = kept[(lid + t) % 6];
        BARRIER
        int local[3];
        for (int i = 0; i < 3; ++i) local[i] = s[(lid + i * t) % count];
        kept[(lid + 2 * t) % 6] += local[(lid + t) % 3];
        BARRIER
    }
    for (int i = 0; i < 6; ++i) result = result * 3 + kept[i];
""")
def arrays_of_threads(lid, count, s, value):
    kept = [value + i for i in range(6)]
    for t in range(4):
        s[lid] = kept[(lid + t) % 6]
        yield
        local = [s[(lid + i * t) % count] for i in range(3)]
        kept[(lid + 2 * t) % 6] += local[(lid + t) % 3]
        yield
    result = 0
    for k in kept:
        result = result * 3 + k
    return result


@case("""
    s[lid] = value;
    BARRIER
    if (n == 2) {
        result = s[(lid + 3) % count];
        BARRIER
        s[lid] = result + 1;
        BARRIER
        result += s[(lid * 2) % count];
    } else {
        BARRIER
        result = 7;
    }
    switch (n + 1) {
        case 1: result = 0; break;
        case 3: BARRIER s[lid] = result; BARRIER result -= s[count - 1 - lid]; break;
        default: result = 1; BARRIER
    }
""")
def branches_of_all(lid, count, s, value):
    s[lid] = value
    yield
    result = s[(lid + 3) % count]
    yield
    s[lid] = result + 1
    yield
    result += s[(lid * 2) % count]
    yield
    s[lid] = result
    yield
    return result - s[count - 1 - lid]


@case("""
    s[lid] = value;
    int rounds = 0;
    while (true) {
        BARRIER
        int seen = s[count / 2];
        BARRIER
        if (seen > 60 || rounds >= 20) break;
        s[lid] += 7 + lid % 3;
        ++rounds;
    }
    result = rounds * 100 + s[lid];
""")
def leaves_by_a_shared_value(lid, count, s, value):
    s[lid] = value
    rounds = 0
    while True:
        yield
        seen = s[count // 2]
        yield
        if seen > 60 or rounds >= 20:
            break
        s[lid] += 7 + lid % 3
        rounds += 1
    return rounds * 100 + s[lid]


@case("""
    s[lid] = value;
    int sum = 0, last = 0;
    for (int t = 0; t < n; ++t) {
        for (int u = 0; u <= t; ++u) {
            BARRIER
            for (int i = 0; i < 5; ++i) {
                last = s[(lid + i + u) % count];
                sum += last;
            }
            BARRIER
            s[lid] = sum % 17;
        }
        sum += last + t;
    }
    BARRIER
    result = sum + s[(lid + 1) % count];
""")
def loops_in_loops(lid, count, s, value):
    s[lid] = value
    total = last = 0
    for t in range(2):
        for u in range(t + 1):
            yield
            for i in range(5):
                last = s[(lid + i + u) % count]
                total += last
            yield
            s[lid] = total % 17
        total += last + t
    yield
    return total + s[(lid + 1) % count]


@case("""
    int steps = 0;
    if (lid % 3 == 1) {
        for (int i = 0; i < int(lid % 11); ++i) steps += i * value;
    } else if (lid > 20) {
        steps = -value;
    }
    s[lid] = steps;
    BARRIER
    for (int i = lid; i < int(count); i += 9) result += s[i];
    BARRIER
    if (lid < count / 2) s[lid] = result;
    BARRIER
    result -= s[lid / 2];
""")
def threads_part_between_barriers(lid, count, s, value):
    steps = 0
    if lid % 3 == 1:
        for i in range(lid % 11):
            steps += i * value
    elif lid > 20:
        steps = -value
    s[lid] = steps
    yield
    result = sum(s[i] for i in range(lid, count, 9))
    yield
    if lid < count // 2:
        s[lid] = result
    yield
    return result - s[lid // 2]


@case("""
    s[lid] = value;
    BARRIER
    for (uint others = 512; others > 0; others /= 2) {
        if (lid < others && lid + others < count) s[lid] += s[lid + others];
        BARRIER
    }
    result = s[0];
""")
def tree_of_sums(lid, count, s, value):
    s[lid] = value
    yield
    half = 512
    while half > 0:
        if lid < half and lid + half < count:
            s[lid] += s[lid + half]
        yield
        half //= 2
    return s[0]


@case("""
    s[lid] = value;
    for (uint others = 8; others > 0; others >>= 1) {
        BARRIER
        if (lid < others && lid + others < count) s[lid] += s[lid + others];
    }
    if (lid == 0) s[1] = s[0] * 2;
    BARRIER
    result = s[0] + s[1 % count];
""")
def tree_without_a_last_barrier(lid, count, s, value):
    s[lid] = value
    half = 8
    while half > 0:
        yield
        if lid < half and lid + half < count:
            s[lid] += s[lid + half]
        half //= 2
    if lid == 0:
        s[1] = s[0] * 2
    yield
    return s[0] + s[1 % count]


@case("""
    s[lid] = value;
    BARRIER
    for (uint distance = 1; distance < count; distance *= 2) {
        int before = lid >= distance ? s[lid - distance] : 0;
        BARRIER
        s[lid] += before;
        BARRIER
    }
    result = s[lid];
""")
def steps_of_a_prefix_sum(lid, count, s, value):
    s[lid] = value
    yield
    distance = 1
    while distance < count:
        before = s[lid - distance] if lid >= distance else 0
        yield
        s[lid] += before
        yield
        distance *= 2
    return s[lid]


@case("""
    ushort small = value;
    bool odd = value % 2;
    char2 pair = char2(value, lid % 50);
    long wide = long(value) << 33;
    half h = value;
    s[lid] = value;
    BARRIER
    int other = s[count - 1 - lid];
    BARRIER
    if (odd != bool(other % 2)) small += other;
    pair += char2(1, odd);
    wide += other;
    result = small + pair.x * 3 + pair.y + int(wide >> 30) + int(wide & 1023) + int(h) + odd;
""")
def values_of_all_types(lid, count, s, value):
    s[lid] = value
    yield
    other = s[count - 1 - lid]
    yield
    small = value + (other if value % 2 != other % 2 else 0)
    x, y = value + 1, lid % 50 + value % 2
    wide = (value << 33) + other
    return small + x * 3 + y + (wide >> 30) + (wide & 1023) + value + value % 2


@case("""
    s[lid] = value;
    if (lid % 64 >= 48 && n == 2) { result = value; OUT return; }
    BARRIER
    result = s[lid / 2];
    BARRIER
    result += value;
""")
def some_end_before(lid, count, s, value):
    s[lid] = value
    if lid % 64 >= 48:
        return value
    yield
    result = s[lid // 2]
    yield
    return result + value


@case("""
    int kept[4] = {};
    if (lid % 50 < 5) kept[lid % 3] = value;
    s[lid] = 0;
    BARRIER
    s[lid] = kept[n] * 100 + kept[0];
    kept[value & 3] += 1;
    BARRIER
    result = s[lid] * 100 + kept[3] * 10 + kept[n];
""")
def keeps_an_array(lid, count, s, value):
    kept = [0] * 4
    if lid % 50 < 5:
        kept[lid % 3] = value
    yield
    before = kept[2] * 100 + kept[0]
    kept[value & 3] += 1
    yield
    return before * 100 + kept[3] * 10 + kept[2]


@case("""
    s[lid] = value;
    BARRIER
    for (uint d = 1; d < count; d *= 2) {
        int other = lid + d < count ? s[lid + d] : 0;
        BARRIER
        s[lid] += other;
        BARRIER
    }
    result = s[lid];
""")
def suffix_sums_in_place(lid, count, s, value):
    s[lid] = value
    yield
    d = 1
    while d < count:
        other = s[lid + d] if lid + d < count else 0
        yield
        s[lid] += other
        yield
        d *= 2
    return s[lid]


@case("""
    for (uint t = 0; t < 6; ++t) {
        s[lid] = value;
        BARRIER
        if (lid >= 1) value += s[lid - 1];
        BARRIER
        if (lid >= 3) value ^= s[lid - 3] + t;
        BARRIER
        s[lid] = value;
        BARRIER
        value += s[0];
        BARRIER
    }
    result = value;
""")
def elements_before(lid, count, s, value):
    for t in range(6):
        s[lid] = value
        yield
        if lid >= 1:
            value += s[lid - 1]
        yield
        if lid >= 3:
            value ^= s[lid - 3] + t
        yield
        s[lid] = value
        yield
        value += s[0]
        yield
    return value


def simulate(thread: Thread, values: np.ndarray) -> list[int]:
    count = len(values)
    shared = [0] * count
    results: list[int] = [0] * count
    running = {i: thread(i, count, shared, int(values[i])) for i in range(count)}
    while running:
        for i, one in list(running.items()):
            try:
                next(one)
            except StopIteration as end:
                results[i] = end.value
                del running[i]
    return results


@pytest.mark.parametrize("threadgroup", share(THREADGROUPS), ids=str)
@pytest.mark.parametrize("name", CASES)
def test_threads_wait_for_each_other(name, threadgroup):
    source, thread = CASES[name]
    count = int(np.prod(threadgroup))
    out = "out[threadgroup_position_in_grid.x * count + lid] = result;"
    body = source.replace("BARRIER", BARRIER).replace("OUT", out)
    values = np.random.default_rng(count).integers(0, 40, (3, count)).astype(np.int32)
    found = run_one(
        f"""
        threadgroup int s[1024];
        uint lid = thread_index_in_threadgroup, count = {count};
        int n = sizes[0], result = 0;
        int value = x[threadgroup_position_in_grid.x * count + lid];
        {body}
        {out}
        """,
        {"x": values, "sizes": np.array([2, 0], np.int32)},
        {"out": ((3, count), mx.int32)},
        (3 * threadgroup[0], threadgroup[1], threadgroup[2]),
        threadgroup,
    )
    for of_group, group in zip(found, values, strict=True):
        assert of_group.tolist() == simulate(thread, group)
