"""The check of races: what it reports, and what it must not."""

import numpy as np
import pytest
from check_runner import reports

HEAD = "uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;\nthreadgroup float t[64];\n"
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"
DEVICE = "threadgroup_barrier(mem_flags::mem_device);"
LANES = "simdgroup_barrier(mem_flags::mem_threadgroup);"

# name: (source, object, line, line of the other access)
WRONG = {
    "no barrier": ("t[l] = x[i];\no[i] = t[(l + 1) % 32];", "t", 4, 3),
    "overwritten in a loop": (
        f"for (uint k = 0; k < 2; ++k) {{\n  t[l] = k;\n  {BARRIER}\n  o[i] = t[(l + 1) % 32];\n}}",
        "t",
        None,
        None,
    ),
    "two writers": ("t[0] = l;\no[i] = 1;", "t", 3, 3),
    "one value, then another": ("t[0] = 1 + l / 20;\no[i] = 1;", "t", 3, 3),
    "one value, vectors that differ": ("((device float2*)o)[0] = float2(1, l);", "o", 3, 3),
    "product of matrices": (
        "simdgroup_float8x8 a(1), b(2), c;\nt[l] = l;\nsimdgroup_multiply(c, a, b);\n"
        "o[i] = t[31 - l] + c.thread_elements()[0];",
        "t",
        6,
        4,
    ),
    "device memory": ("o[l / 2] = i;", "o", 3, 3),
    "device memory, read": ("o[l] = i;\no[l + 32] = o[(l + 5) % 32];", "o", 4, 3),
    "two threadgroups": ("if (l == 0) o[0] = i;", "o", 3, 3),
    "two threadgroups, read": ("o[i] = i;\no[i] += o[(i + 32) % 64];", "o", 4, 3),
    "SIMD-group without order": ("if (l < 32) t[l] = l;\nif (l < 32) o[i] = t[31 - l];", "t", 4, 3),
    "SIMD-group barrier between two SIMD-groups": (
        f"t[l] = x[i];\n{LANES}\no[i] = t[63 - l];",
        "t",
        5,
        3,
    ),
    "atomic and plain": (
        "atomic_fetch_add_explicit((device atomic_float*)o, 1.0f, memory_order_relaxed);\no[0] = 1;",
        "o",
        None,
        None,
    ),
    "vector over elements": ("o[l] = 1;\n((device float4*)o)[7] = float4(l);", "o", None, None),
    "bytes": ("((device uchar*)o)[l / 2] = l;", "o", 3, 3),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    source, object_, line, other = WRONG[name]
    wide = "two SIMD-groups" in name
    found = reports(HEAD + source, "races", threadgroup=64 if wide else 32, threads=64)
    assert [report.kind for report in found] == ["races"] * len(found) and found
    report = found[0]
    assert report.object == object_
    if line is not None:  # which of the two comes first is chance
        assert {line, other} in [{report.line, report.note_line} for report in found]
    assert "nothing orders the two" in report.message


RIGHT = {
    "barrier": f"t[l] = x[i]; {BARRIER} o[i] = t[(l + 1) % 32];",
    "barrier of both": "t[l] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup | "
    "mem_flags::mem_device); o[i] = t[(l + 1) % 32];",
    "barrier of other memory": f"t[l] = x[i]; {DEVICE} o[i] = t[(l + 1) % 32];",
    "barrier of no memory": "t[l] = x[i]; threadgroup_barrier(mem_flags::mem_none);"
    "o[i] = t[(l + 1) % 32];",
    "SIMD-group barrier of no memory": "t[l] = x[i]; simdgroup_barrier(mem_flags::mem_none);"
    "o[i] = t[31 - l];",
    "all write one value": "t[0] = 5; o[i] = t[0]; t[0] = 5; o[i] += t[0];",
    "threadgroups write one value": "o[0] = 7; ((device uchar*)o)[300 + l / 2] = 1;",
    "all write one vector": "((threadgroup float4*)t)[0] = float4(1, 2, 3, 4); o[i] = 1;",
    "all copy": "struct Block { float a[32]; }; *(device Block*)o = *(device const Block*)x;",
    "all fill": "for (uint k = 0; k < 64; ++k) o[k] = 0;",
    "two barriers in a loop": f"for (uint k = 0; k < 3; ++k) {{ t[l] = k; {BARRIER}"
    f"o[i] = t[(l + 1) % 32]; {BARRIER} }}",
    "own element": "t[l] = x[i]; o[i] = t[l]; o[i] += 1;",
    "readers": "o[i] = x[0] + x[1];",
    "one writer": f"if (l == 0) t[0] = x[0]; {BARRIER} o[i] = t[0];",
    "tree": f"t[l] = x[i]; {BARRIER} for (uint s = 16; s > 0; s /= 2) {{"
    f"if (l < s) t[l] += t[l + s]; {BARRIER} }} if (l == 0) o[i / 32] = t[0];",
    "SIMD-group barrier": f"t[l] = x[i]; {LANES} o[i] = t[31 - l];",
    "atomics": "atomic_fetch_add_explicit((device atomic_float*)o, 1.0f, memory_order_relaxed);",
    "atomic histogram": "threadgroup atomic_uint h[4]; if (l < 4) atomic_store_explicit(h + l, 0u, "
    f"memory_order_relaxed); {BARRIER} atomic_fetch_add_explicit(h + l % 4, 1u, memory_order_relaxed);"
    f"{BARRIER} if (l < 4) o[i / 32 * 4 + l] = atomic_load_explicit(h + l, memory_order_relaxed);",
    "neighbouring bytes": "((device uchar*)o)[i] = 1;",
    "device barrier": f"o[i] = i; {DEVICE} o[i] += 1;",
    "last threadgroup": "threadgroup uint last; if (l == 0) { o[1 + i / 32] = i;"
    "atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);"
    "last = atomic_fetch_add_explicit((device atomic_uint*)o, 1u, memory_order_relaxed) == 1;"
    "if (last) o[8] = o[1] + o[2]; }",
    "matrices": "simdgroup_float8x8 m; simdgroup_load(m, x, 8);"
    f"simdgroup_store(m, t, 8); {BARRIER} o[i] = t[l];",
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    found = reports(HEAD + RIGHT[name], "races", threads=64, threadgroup=32)
    assert [str(report) for report in found] == []


def test_both_threads_are_named():
    (report,) = reports(
        HEAD + "t[l] = x[i];\no[i] = t[31 - l];", "races", threads=32, threadgroup=32
    )
    assert report.thread == (16, 0, 0)
    assert report.message == (
        'writes element 16 of the threadgroup variable "t", which thread (15, 0, 0) of '
        "threadgroup (0, 0, 0) reads, and nothing orders the two"
    )
    assert report.note == "it reads it here"


def test_device_barriers_order_threads_of_a_threadgroup_only():
    source = HEAD + f"o[i] = i; {DEVICE} o[(i + 1) % 64] = 1;"
    assert reports(source, "races", threads=64, threadgroup=64) == []
    assert reports(source, "races", threads=64, threadgroup=32)


def test_inputs_may_be_read_by_all():
    source = HEAD + "float s = 0; for (uint k = 0; k < 64; ++k) s += x[k]; o[i] = s;"
    assert reports(source, "races", x=np.ones(64, np.float32)) == []


def test_reads_outside_are_no_accesses_to_the_buffer_there():
    source = (
        HEAD
        + "float v = x[i + 64]; o[i] = i + 64 < 64 ? v : 0; o[i] += x[int(i) - 64] > 0 && i > 63;"
    )
    assert reports(source, "races", threads=64, threadgroup=32) == []


def test_barriers_that_the_compiler_adds_hide_no_race():
    """The second partial results may be written while others still read the first ones."""
    source = """
        uint l = thread_index_in_threadgroup;
        uint lane = thread_index_in_simdgroup, group = simdgroup_index_in_threadgroup;
        threadgroup float parts[32];
        float own = x[l];
        float top = simd_max(own);
        if (lane == 0) parts[group] = top;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        top = simd_max(lane < 2 ? parts[lane] : -INFINITY);
        float sum = simd_sum(exp(own - top));
        if (lane == 0) parts[group] = sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        o[l] = top + log(simd_sum(lane < 2 ? parts[lane] : 0.0f));
    """
    found = reports(source, "races")
    assert found and {report.object for report in found} == {"parts"}
    assert {9, 11} <= {line for report in found for line in (report.line, report.note_line)}
