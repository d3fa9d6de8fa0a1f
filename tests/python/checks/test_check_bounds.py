"""The check of bounds: what it reports, and what it must not."""

import mlx.core as mx
import numpy as np
import pytest
from check_runner import reports

HEAD = "uint i = thread_position_in_grid.x;\n"

# name: (source, object, index, size, line)
WRONG = {
    "write behind": ("o[i + 64] = 1;", "o", 64, 64, 2),
    "write before": ("o[int(i) - 1] = 1;", "o", -1, 64, 2),
    "read behind": ("o[i] = x[i + 1];", "x", 64, 64, 2),
    "read before": ("o[i] = x[int(i) - 3];", "x", -3, 64, 2),
    "far away": ("o[i + 20000000] = 1;", "o", 20000000, 64, 2),
    "vector partly outside": (
        "*((device float4*)(o + 61)) = *((const device float4*)(x + 4));",
        "o",
        61,
        64,
        2,
    ),
    "vector read partly outside": (
        "o[i] = ((const device packed_float3*)x)[i / 3].z;",
        "x",
        None,
        64,
        2,
    ),
    "threadgroup array": (
        "threadgroup float t[32];\nt[i] = x[i]; o[i] = t[i % 32];",
        "t",
        32,
        32,
        3,
    ),
    "threadgroup array of arrays": (
        "threadgroup float t[4][8];\nt[i / 8][i % 8] = 1; o[i] = t[0][i % 8];",
        "t",
        32,
        32,
        3,
    ),
    "private array": (
        "float v[8];\nfor (uint k = 0; k < 9; ++k) v[(k + i) % 9] = x[k];\no[i] = v[i % 8];",
        "v",
        8,
        8,
        3,
    ),
    "private array read": (
        "float v[8];\nfor (uint k = 0; k < 8; ++k) v[(k + i) % 8] = x[k];\no[i] = v[i];",
        "v",
        8,
        8,
        4,
    ),
    "pointer moved": ("device float* p = o;\np += 60;\np[i % 8] = 1;", "o", 64, 64, 4),
    "pointer in a loop": (
        "const device float* p = x;\nfloat s = 0;\nfor (uint k = 0; k <= 64; ++k) s += *p++;\no[i] = s;",
        "x",
        64,
        64,
        4,
    ),
    "one of two": ("const device float* p = i > 7 ? x : o;\no[i] = p[i + 60];", "o", 64, 64, 3),
    "atomic": (
        "atomic_fetch_add_explicit((device atomic_float*)(o + i + 1), 1.0f, memory_order_relaxed);",
        "o",
        64,
        64,
        2,
    ),
    "struct": (
        "struct Pair { float a, b; };\n((device Pair*)o)[i].b = 1;",
        "o",
        None,
        64,
        3,
    ),
    "bytes": ("((device uchar*)o)[i * 5] = 1;", "o", None, 64, 2),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    source, object_, index, size, line = WRONG[name]
    found = reports(HEAD + source, "bounds")
    assert [report.kind for report in found] == ["bounds"] * len(found) and found
    report = found[0]
    assert (report.kernel, report.object, report.size) == ("under_check", object_, size)
    assert report.line == line and report.column > 0
    if index is not None:
        assert report.index == index


# Sources that do nothing wrong, however much it may look like it.
RIGHT = {
    "in order": "o[i] = x[i];",
    "guarded": "if (i + 1 < 64) o[i] = x[i + 1];",
    "short circuit": "bool there = i + 1 < 64 && x[i + 1] > 0; o[i] = there;",
    "discarded by a choice": "float v = x[i + 60]; o[i] = i + 60 < 64 ? v : 0;",
    "discarded by a branch": "float v = x[int(i) - 5]; float s = 0; if (i >= 5) s += v; o[i] = s;",
    "discarded arithmetic": "float v = sqrt(x[i + 60]) * 2; o[i] = select(0.0f, v, i + 60 < 64);",
    "read and forgotten": "float v = x[i + 64]; o[i] = 1;",
    "last vector": "*((device float4*)(o + 60)) = *((const device float4*)(x + 60));",
    "whole threadgroup array": "threadgroup float t[64]; t[i] = x[i]; o[i] = t[i];",
    "array of arrays as one": "threadgroup float t[8][8]; t[0][i] = x[i]; o[i] = t[0][i];",
    "private array": "float v[8]; for (uint k = 0; k < 8; ++k) v[(k + i) % 8] = x[k]; o[i] = v[i % 8];",
    "several private arrays": "float v[64], w[64]; v[i] = x[i]; w[63 - i] = v[i]; o[i] = w[63 - i];",
    "pointer behind the end": "const device float* e = x + 64; float s = 0;"
    "for (const device float* p = x; p != e; ++p) s += *p; o[i] = s;",
    "pointer moved out and back": "device float* p = o - 1000; p += 1000; p[i] = 1;",
    "one of two": "const device float* p = i > 7 ? x : o; o[i] = p[i];",
    "struct": "struct Pair { float a, b; }; ((device Pair*)o)[i / 2].b = 1;",
    "table": "const float t[4] = {1, 2, 3, 4}; o[i] = t[i % 4];",
    "atomic": "atomic_fetch_add_explicit((device atomic_float*)(o + i), 1.0f, memory_order_relaxed);",
    "simd matrix": "simdgroup_float8x8 m; simdgroup_load(m, x, 8); simdgroup_store(m, o, 8);",
    "copy": "struct S { float v[16]; }; S s = *((const device S*)x); o[i] = s.v[i % 16];",
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    assert [str(report) for report in reports(HEAD + RIGHT[name], "bounds")] == []


def test_strict_reports_reads_that_are_discarded():
    source = HEAD + RIGHT["discarded by a choice"]
    (report,) = reports(source, "bounds=strict")
    assert (report.object, report.index, report.line) == ("x", 64, 2)


def test_matrices_are_accesses_of_all_lanes():
    source = "simdgroup_float8x8 m(1); simdgroup_store(m, o + 8, 8);"
    (report,) = reports(source, "bounds", threads=32, threadgroup=32)
    assert (report.object, report.size) == ("o", 64)


def test_views_are_objects_of_their_own():
    """An array may be a part of a buffer: its neighbours there are outside of it."""
    kernel = mx.fast.metal_kernel(
        name="view",
        input_names=["x"],
        output_names=["o"],
        source="uint i = thread_position_in_grid.x; o[i] = x[int(i) + OFFSET];",
        ensure_row_contiguous=False,
        check="bounds",
    )

    def run(x, offset):
        (o,) = kernel(
            inputs=[x],
            grid=(16, 1, 1),
            threadgroup=(16, 1, 1),
            output_shapes=[(16,)],
            output_dtypes=[mx.float32],
            template=[("OFFSET", offset)],
        )
        mx.eval(o)
        return np.array(o)

    x = mx.arange(64, dtype=mx.float32)
    mx.eval(x)
    part = x[16:32]
    mx.eval(part)
    assert run(part, 0).tolist() == list(range(16, 32))
    with pytest.raises(mx.metal.KernelCheckError, match='of the buffer "x", which has 16 elements'):
        run(part, 1)
    with pytest.raises(mx.metal.KernelCheckError, match='element -1 of the buffer "x"'):
        run(part, -1)


def test_results_are_those_of_unchecked_kernels():
    source = (
        HEAD
        + "threadgroup float t[64]; t[i] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup);"
    )
    source += "o[i] = t[63 - i] + simd_sum(x[i]);"
    results = []
    for check in (None, "all"):
        kernel = mx.fast.metal_kernel(
            name="same", input_names=["x"], output_names=["o"], source=source, check=check
        )
        (o,) = kernel(
            inputs=[mx.arange(64, dtype=mx.float32)],
            grid=(64, 1, 1),
            threadgroup=(64, 1, 1),
            output_shapes=[(64,)],
            output_dtypes=[mx.float32],
        )
        results.append(np.array(o).tolist())
    assert results[0] == results[1]


def test_what_is_outside_stays_as_it_was():
    """A write outside is not made."""
    memory = mx.arange(64, dtype=mx.float32)
    mx.eval(memory)
    assert reports(HEAD + "o[i + 64] = -1; o[int(i) - 64] = -1;", "bounds")
    assert np.array(memory).tolist() == list(range(64))


@pytest.mark.parametrize("checks", ["bounds,numbers", "all", "bounds,numbers=float64"])
def test_tests_of_other_checks_use_no_discarded_read(checks: str):
    """The infinity makes the exact checks run."""
    source = (
        "uint i = thread_position_in_grid.x;\nfloat v = x[i + 1];\no[i] = i < 63 ? v : 0;\n"
        "if (i == 5) o[i] = 1 / x[0];"
    )
    (report,) = reports(source, checks)
    assert (report.kind, report.line) == ("numbers", 4)
