"""Vector code looks first whether anything may be wrong: it must miss nothing, and leave no traces."""

import mlx.core as mx
import numpy as np
import pytest
from check_runner import reports

HEAD = "uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;\n"
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"

# Two threads race, which lie side by side in one gang, far apart in it, or in two gangs.
PAIRS = [(0, 1), (3, 30), (31, 32), (5, 95), (64, 127)]

# {a} and {b} are the threads; all others stay out of their way.
RACES = {
    "write and write": "if (l == {a} || l == {b}) t[7] = l;",
    "write and read": "if (l == {a}) t[7] = 1; if (l == {b}) o[i] = t[7];",
    "read and write": "if (l == {a}) o[i] = t[7]; if (l == {b}) t[7] = 1;",
    "at once": "uint at = l == {a} ? {b} : l; t[at] = l;",
    "at once, strided": "uint at = l == {a} ? {b} : l; t[at * 2] = l; o[i] = t[l * 2];",
    "all read, one writes": "o[i] = t[{a}]; if (l == {b}) t[{a}] = 1;",
    "the last reader writes": "o[i] = t[{a}]; t[l] = 1;",
    "two of many read": "if (l == {a} || l == {b}) o[i] = t[9]; if (l == {a}) t[9] = 1;",
    "after a barrier": f"t[l] = l; {BARRIER}" + " if (l == {a}) t[{b}] = 1; o[i] = t[l];",
    "in the second iteration": "for (uint k = 0; k < 2; ++k) {{ if (l == {a}) t[k] = k + 1;"
    + BARRIER
    + "if (l == {b}) o[i] = t[1 - k]; }}",
    "bytes": "threadgroup uchar* c = (threadgroup uchar*)t; if (l == {a} || l == {b}) c[5] = l;",
    "a vector and its element": "if (l == {a}) ((threadgroup float4*)t)[2] = 1;"
    "if (l == {b}) t[10] = 2;",
    "device memory": "if (l == {a} || l == {b}) o[3] = l;",
    "device memory, read": "if (l == {a}) o[3] = 1; if (l == {b}) o[64] = o[3];",
    "atomic and plain": "threadgroup atomic_uint* c = (threadgroup atomic_uint*)t;"
    "if (l == {a}) atomic_store_explicit(c, 1u, memory_order_relaxed); if (l == {b}) t[0] = 1;",
}


@pytest.mark.parametrize("threads", PAIRS, ids=str)
@pytest.mark.parametrize("name", RACES)
def test_races_of_any_two_threads_are_found(name, threads):
    a, b = threads
    source = HEAD + "threadgroup float t[300];\n" + RACES[name].format(a=a, b=b)
    found = reports(source, "races", threads=128, threadgroup=128, outputs=128)
    assert found and {report.kind for report in found} == {"races"}


@pytest.mark.parametrize("threadgroup", [16, 32, 33, 100])
def test_threadgroups_of_any_size(threadgroup):
    head = HEAD + "threadgroup float t[128];\nuint n = threads_per_threadgroup.x;\n"
    right = head + f"t[l] = x[l % 64]; {BARRIER} o[i] = t[n - 1 - l];"
    wrong = head + "t[l] = x[l % 64]; o[i] = t[n - 1 - l];"
    options = {"threads": 3 * threadgroup, "threadgroup": threadgroup, "outputs": 300}
    assert reports(right, "races", **options) == []
    assert reports(wrong, "races", **options)


def run(source: str, check: str | None, outputs: int = 64, threads: int = 64):
    kernel = mx.fast.metal_kernel(
        name="traces", input_names=["x"], output_names=["o"], source=source, check=check
    )
    (o,) = kernel(
        inputs=[mx.arange(64, dtype=mx.float32)],
        grid=(threads, 1, 1),
        threadgroup=(threads, 1, 1),
        output_shapes=[(outputs,)],
        output_dtypes=[mx.float32],
        init_value=0,
    )
    return np.array(o)


def test_what_is_suspected_runs_once_as_far_as_one_can_see():
    """All threads write one value: that looks like a race, and is none."""
    source = f"""
        threadgroup float t[1];
        atomic_fetch_add_explicit((device atomic_float*)o, 1.0f, memory_order_relaxed);
        {BARRIER}
        t[0] = 5;
        {BARRIER}
        o[1 + thread_position_in_grid.x] = t[0] + x[0];
    """
    plain, checked = run(source, None, 65), run(source, "all", 65)
    assert plain[0] == 64 and checked.tolist() == plain.tolist()


def test_reads_far_away_that_are_discarded_are_none():
    source = (
        "uint i = thread_position_in_grid.x; float v = x[i + (1u << 30)]; o[i] = i < 64 ? 1 : v;"
    )
    assert run(source, "bounds").tolist() == [1.0] * 64


@pytest.mark.parametrize(
    ("barrier", "times"),
    [("threadgroup_barrier", 70000), ("simdgroup_barrier", 2100)],
)
def test_many_barriers(barrier, times):
    """More than a stamp can count."""
    source = f"""
        threadgroup float t[32];
        uint l = thread_position_in_threadgroup.x;
        float sum = 0;
        for (uint k = 0; k < {times}; ++k) {{
            t[l] = k;
            {barrier}(mem_flags::mem_threadgroup);
            sum += t[31 - l];
            {barrier}(mem_flags::mem_threadgroup);
        }}
        o[l] = sum;
    """
    plain, checked = run(source, None, 32, 32), run(source, "races", 32, 32)
    assert checked.tolist() == plain.tolist()


def test_two_arrays_behind_one_pointer():
    source = f"""
        threadgroup float a[64], b[64];
        uint l = thread_position_in_threadgroup.x;
        threadgroup float* from = a;
        threadgroup float* to = b;
        a[l] = x[l];
        for (uint k = 0; k < 5; ++k) {{
            {BARRIER}
            to[l] = from[63 - l];
            threadgroup float* other = from;
            from = to;
            to = other;
        }}
        {BARRIER}
        o[l] = from[l];
    """
    assert run(source, "all").tolist() == run(source, None).tolist()
    late = source.replace(
        "threadgroup float* other", "to[(l + 1) % 64] = 0; threadgroup float* other"
    )
    assert reports(late, "races")


def test_kernels_with_very_many_accesses():
    """They get exact checks at once."""
    lines = "".join(f"t[l * 4 + {k % 4}] += {k};\n" for k in range(300))
    right = (
        HEAD + "threadgroup int t[256];\nfor (uint k = 0; k < 4; ++k) t[l * 4 + k] = 0;\n" + lines
    )
    right += "o[i] = t[l * 4];\n"
    assert reports(right, "all") == []
    (report,) = reports(right + "o[i + 1] = 0;", "bounds")
    assert (report.object, report.index, report.line) == ("o", 64, 305)
