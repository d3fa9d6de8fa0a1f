"""The check of barriers: what it reports, and what it must not."""

import pytest
from check_runner import reports

HEAD = "uint i = thread_position_in_threadgroup.x;\nthreadgroup float t[64];\n"
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"

# name: (source, barrier, its line, line of the branch)
WRONG = {
    "half skip it": (f"if (i < 32)\n  {BARRIER}\no[i] = 1;", "threadgroup_barrier", 4, 3),
    "one skips it": (
        f"t[i] = 1;\nif (i != 63) {{\n  {BARRIER}\n}}\no[i] = t[i];",
        "threadgroup_barrier",
        5,
        4,
    ),
    "two places": (
        f"if (i % 2) {{\n  t[i] = 1;\n  {BARRIER}\n}} else {{\n  t[i] = 2;\n  {BARRIER}\n  o[0] = 1;\n}}\no[i] = t[i];",
        "threadgroup_barrier",
        None,
        3,
    ),
    "in a loop of a thread": (
        f"for (uint k = 0; k < i; ++k)\n  {BARRIER}\no[i] = 1;",
        "threadgroup_barrier",
        4,
        3,
    ),
    "nested": (
        f"if (x[0] == 0) {{\n  if (x[i] < 9) {{\n    {BARRIER}\n  }}\n}}\no[i] = 1;",
        "threadgroup_barrier",
        5,
        4,
    ),
    "break out of a loop": (
        f"for (uint k = 0; k < 8; ++k) {{\n  if (k == i) break;\n  {BARRIER}\n}}\no[i] = 1;",
        "threadgroup_barrier",
        5,
        3,  # one with the end of the loop
    ),
    "data decides": (f"if (x[i] > 20)\n  {BARRIER}\no[i] = 1;", "threadgroup_barrier", 4, 3),
    "switch": (
        f"switch (i % 3) {{\n  case 0: o[i] = 1; break;\n  default: {BARRIER}\n    o[i] = 2;\n}}\no[i] += 1;",
        "threadgroup_barrier",
        5,
        None,
    ),
    "part of a SIMD-group": (
        "if (i % 32 < 16)\n  simdgroup_barrier(mem_flags::mem_threadgroup);\no[i] = 1;",
        "simdgroup_barrier",
        4,
        3,
    ),
    "matrix product of some lanes": (
        "simdgroup_float8x8 a(1), b(2), c;\nif (i % 4)\n  simdgroup_multiply(c, a, b);\no[i] = c.thread_elements()[0];",
        "simdgroup_multiply_accumulate",
        5,
        4,
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    source, barrier, line, branch = WRONG[name]
    found = reports(HEAD + source, "barriers")
    assert [report.kind for report in found] == ["barriers"] * len(found) and found
    report = found[0]
    assert report.object == barrier
    if line is not None:
        assert report.line == line
    if branch is not None:
        assert report.note_line == branch and report.note == "they part at this branch"
    assert "but thread" in report.message


RIGHT = {
    "all come": f"t[i] = 1; {BARRIER} o[i] = t[63 - i];",
    "uniform branch": f"if (x[1] > 0) {{ t[i] = 1; {BARRIER} o[i] = t[63 - i]; }}",
    "uniform loop": f"for (uint k = 0; k < 9; ++k) {{ t[i] = k; {BARRIER} o[i] = t[63 - i]; {BARRIER} }}",
    "uniform break": f"for (uint k = 0; ; ++k) {{ {BARRIER} if (x[k] > 4) break; }} o[i] = 1;",
    "return after it": f"{BARRIER} if (i > 40) return; o[i] = 1;",
    "all return": f"if (x[0] == 0) return; {BARRIER} o[i] = 1;",
    "guards inside": f"if (i < 40) t[i] = 1; {BARRIER} if (i < 40) o[i] = t[i];",
    "whole SIMD-groups": "if (i < 32) simdgroup_barrier(mem_flags::mem_threadgroup); o[i] = 1;",
    "SIMD-groups by number": "for (uint k = 0; k < i / 32; ++k) simdgroup_barrier(mem_flags::mem_none);"
    "o[i] = 1;",
    "active threads": "float s = 0; if (i % 3 == 0) s = simd_sum(x[i]); o[i] = s;",
    "matrix product": "simdgroup_float8x8 a(1), b(2), c; simdgroup_multiply(c, a, b);"
    "o[i] = c.thread_elements()[0];",
    "early return": f"if (i > 40) return; o[i] = 1; {BARRIER} o[i] = 2;",
    "early return that writes": f"if (i > 40) {{ o[i] = 0; return; }} {BARRIER} o[i] = 2;",
    "early return of SIMD-groups": f"if (i >= 32) return; t[i] = 1; {BARRIER} o[i] = t[31 - i];"
    f"{BARRIER} t[i] = 2;",
    "return out of a loop": f"for (uint k = 0; k < 64; ++k) {{ if (k == i) return; {BARRIER} o[i] = k; }}",
    "return of lanes": "if (i % 2) return; simdgroup_barrier(mem_flags::mem_none); o[i] = 1;",
    "all in a condition": f"if (i < 40) {{ t[i] = 1; {BARRIER} o[i] = t[39 - i]; }}",
    "without a barrier": "if (i < 5) o[i] = 1;",
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    assert [str(report) for report in reports(HEAD + RIGHT[name], "barriers")] == []


def test_partial_threadgroups_have_fewer_threads():
    source = HEAD + f"t[i] = 1; {BARRIER} if (i == 0) o[threadgroup_position_in_grid.x] = t[0];"
    assert reports(source, "barriers", threads=70, threadgroup=32) == []


def test_every_threadgroup_is_on_its_own():
    source = HEAD + f"if (threadgroup_position_in_grid.x % 2) {BARRIER} o[i] = 1;"
    assert reports(source, "barriers", threads=64, threadgroup=16) == []
    (report,) = reports(HEAD + f"if (x[thread_position_in_grid.x] < 50) {BARRIER} o[i] = 1;", "barriers",
                        threads=64, threadgroup=16)  # fmt: skip
    assert report.threadgroup == (3, 0, 0) and report.thread == (0, 0, 0)
    assert "thread (2, 0, 0) of threadgroup (3, 0, 0) ends without it" in report.message
