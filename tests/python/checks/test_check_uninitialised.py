"""The check of what nobody has written: what it reports, and what it must not."""

import mlx.core as mx
import numpy as np
import pytest
from check_runner import reports

HEAD = "uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;\n"
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


def found_in(source: str, **options) -> list:
    return reports(HEAD + source, "uninitialised", threadgroup=32, init_value=None, **options)


# name: (source, object, index, line of the report, line of the note)
WRONG = {
    "a sum without a start": (
        "float s;\nfor (uint k = 0; k < 4; ++k) s += x[k];\no[i] = s;",
        "o", 0, 4, 2,
    ),
    "a variable that one branch sets": ("float v;\nif (x[i] > 5) v = 1;\no[i] = v;", "o", 0, 4, 2),
    "a flag": (
        "bool done;\nif (i > 70) done = true;\no[i] = 0;\n"
        "if (done) { o[i] = 1; o[i] += x[3]; }",
        "done", 0, 5, 2,
    ),
    "an index": ("uint k;\nif (i > 70) k = 0;\no[i] = x[k];", "k", 0, 4, 2),
    "a loop's end": (
        "uint n;\nfloat s = 0;\nfor (uint k = 0; k < n && k < 9; ++k) s += x[k];\n"
        "o[i] = s;",
        "n", 0, 4, 2,
    ),
    "a switch": (
        "uint n;\nif (i > 70) n = 1;\nfloat s = 0;\n"
        "switch (n) { case 7: s = x[1]; break; case 9: s = x[2]; break; case 11: s = x[3]; }\n"
        "o[i] = s;",
        "n", 0, 5, 2,
    ),
    "an element of an array": (
        "float a[8];\nfor (uint k = 0; k < 7; ++k) a[k] = x[k];\no[i] = 1;\n"
        "if (a[i % 8] > 3) o[i] = 2;",
        "a", 7, 5, None,
    ),
    "a large array": (
        "float a[300];\nfor (uint k = 0; k < 299; ++k) a[(k * i) % 299] = x[k % 64];\n"
        "a[1] = 0;\no[i] = 1;\nif (a[299 - i / 64] > 3) o[i] = 2;",
        "a", 299, 6, None,
    ),
    "a member": (
        "struct Pair { float a; float b; };\nPair p;\np.a = x[i];\n"
        "o[i] = p.a > p.b ? 1 : 2;",
        "o", 0, 5, 3,
    ),
    "a component": ("float3 v;\nv.x = x[i];\nv.z = 1;\no[i] = v.x + v.y;", "o", 0, 5, 2),
    "threadgroup memory": (
        f"threadgroup float t[32];\nif (l < 31) t[l] = x[i];\n{BARRIER}\no[i] = 1;\n"
        "if (t[31 - l] > 0) o[i] = 2;",
        "t", 31, 6, None,
    ),
    "threadgroup memory in a result": (
        f"threadgroup float t[32];\nif (l != 4) t[l] = x[i];\n{BARRIER}\no[i] = t[l];",
        "o", 4, 5, 5,
    ),
    "threadgroup counters": (
        "threadgroup atomic_uint n;\n"
        "atomic_fetch_add_explicit(&n, 1u, memory_order_relaxed);\no[i] = 1;",
        "n", 0, 3, None,
    ),
    "a result that is read": ("o[i] += x[i];", "o", 0, 2, 2),
    "results that are counted": (
        "atomic_fetch_add_explicit((device atomic_float*)o + i / 2, x[i], memory_order_relaxed);\n"
        "if (i >= 32) o[i] = 0;",
        "o", 0, 2, None,
    ),
    "half of the results": ("if (i % 2 == 0) o[i] = x[i];", "o", 1, 0, None),
    "the last results": ("if (i < 60) o[i] = x[i];", "o", 60, 0, None),
    "no results": ("if (x[i] < 0) o[i] = 1;", "o", 0, 0, None),
    "a shuffled value": (
        "float v;\nif (l > 3) v = x[i];\nfloat w = simd_shuffle(v, ushort(l ^ 1));\n"
        "o[i] = w;",
        "o", 0, 5, 2,
    ),
    "a sum of lanes": ("float v;\nif (l > 3) v = x[i];\no[i] = simd_sum(v);", "o", 0, 4, 2),
    "a vote": (
        "bool b;\nif (l > 3) b = x[i] > 99;\no[i] = 0;\nif (simd_any(b)) o[i] = 1;",
        "b", 0, 5, 2,
    ),
    "a matrix": (
        "simdgroup_float8x8 a(1), c;\nsimdgroup_multiply_accumulate(c, a, a, c);\n"
        "simdgroup_store(c, o, 8);",
        "o", 0, 4, 2,
    ),
    "a bit": ("uint b;\nb = (b & ~1u) | 1u;\no[i] = b & 2;", "o", 0, 4, 2),
    "a function's result": (
        "auto f = [](float v) { float r; if (v > 5) r = v; return r; };\no[i] = f(x[i]);",
        "o", 0, 3, 2,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    source, object_, index, line, note_line = WRONG[name]
    found = found_in(source)
    print([str(report) for report in found])
    assert [report.kind for report in found] == ["uninitialised"] * len(found) and found
    report = found[0]
    assert (report.object, report.index, report.line) == (object_, index, line)
    if note_line is not None:
        assert report.note_line == note_line or report.note_line == 0 and note_line == line


RIGHT = {
    "all is written": "o[i] = x[i];",
    "a sum": "float s = 0; for (uint k = 0; k < 4; ++k) s += x[k]; o[i] = s;",
    "both branches": "float v; if (x[i] > 5) v = 1; else v = 2; o[i] = v;",
    "a value that is not chosen": "float v; if (x[i] > 5) v = 1; o[i] = x[i] > 5 ? v : 2;",
    "a value that is not stored": "float v; if (x[i] > 5) v = x[i]; if (x[i] > 5) o[i] = v; else o[i] = 0;",
    "a condition that is decided": "bool b; if (i < 9) b = x[i] > 3; o[i] = i < 9 && b;",
    "a copy of what has no value": "float a, b[4]; float c = a; b[1] = c; b[i % 4] = 1; o[i] = b[i % 4];",
    "a structure's padding": "struct Mixed { uchar a; float b; }; Mixed m; m.a = 1; m.b = x[i];"
    "threadgroup Mixed t[32]; t[l] = m; o[i] = t[l].b + t[l].a;",
    "three components": f"threadgroup float3 t[32]; float3 v; v.x = 1; v.y = x[i]; v.z = 2; t[l] = v; {BARRIER}"
    "float3 w = t[31 - l]; o[i] = w.x + w.y + w.z;",
    "whole vectors of which parts are used": f"threadgroup float t[33]; t[l] = x[i]; {BARRIER}"
    "if (l == 8) o[i] = ((threadgroup float4*)t)[7].w + 1; else o[i] = ((threadgroup float2*)t)[l / 2].x;",
    "a whole vector half of which is there": "threadgroup float4 t[32]; t[l].x = x[i]; float4 v = t[l]; o[i] = v.x;",
    "a structure half of which is there": "struct Pair { float a, b; }; Pair p; p.a = x[i]; Pair q = p; o[i] = q.a;",
    "an array that is filled": "float a[8]; for (uint k = 0; k < 8; ++k) a[k] = x[k]; o[i] = a[i % 8];",
    "a large array that is filled": "float a[300]; for (uint k = 0; k < 300; ++k) a[k] = k; o[i] = a[i];",
    "a lookup in a short list": "uint n = 0; float a[64]; for (uint k = 0; k < 64; ++k) if (x[k] < 30) a[n++] = x[k];"
    "float s = 0; for (uint k = 0; k < n; ++k) s += a[k]; o[i] = s;",
    "threadgroup memory": f"threadgroup float t[32]; t[l] = x[i]; {BARRIER} o[i] = t[31 - l];",
    "threadgroup zeros": f"threadgroup float t[32] = {{0}}; {BARRIER} o[i] = t[31 - l];",
    "threadgroup counters": "threadgroup atomic_uint n;"
    f"if (l == 0) atomic_store_explicit(&n, 0u, memory_order_relaxed); {BARRIER}"
    f"atomic_fetch_add_explicit(&n, 1u, memory_order_relaxed); {BARRIER}"
    "o[i] = atomic_load_explicit(&n, memory_order_relaxed);",
    "one threadgroup's memory": f"threadgroup float t[64]; t[l] = x[i]; t[l + 32] = 1; {BARRIER} o[i] = t[63 - l];",
    "results are read back": "o[i] = x[i]; o[i] += 1;",
    "results by several writers": "o[i] = 0; o[i / 2] = 7;",
    "bytes": "for (uint k = 0; k < 4; ++k) ((device uchar*)o)[4 * i + k] = k;",
    "vectors": "if (i < 16) ((device float4*)o)[i] = float4(x[i]);",
    "copies": "struct Block { float a[16]; }; if (i < 4) ((device Block*)o)[i] = ((device const Block*)x)[i];",
    "results through two pointers": "device float* p = i % 2 ? o : o + 1; p[i % 2 ? int(i) : int(i) - 1] = 1;",
    "swapped pointers": "threadgroup float a[32], b[32]; threadgroup float *p = a, *q = b; a[l] = x[i]; b[l] = 2;"
    f"for (uint k = 0; k < 3; ++k) {{ {BARRIER} float v = p[31 - l]; {BARRIER} q[l] = v; auto r = p; p = q; q = r; }}"
    f"{BARRIER} o[i] = p[l];",
    "pointers in an array": "device float* p[2] = {o, o + 1}; p[i % 2][i - i % 2] = 1;",
    "a shuffle of lanes that hold something": "float v; if (l < 4) v = x[i]; o[i] = simd_shuffle(v, ushort(l % 4));",
    "a broadcast": "float v; if (l == 0) v = x[i]; o[i] = simd_broadcast(v, 0);",
    "sums in a branch": "float v; if (l < 9) v = x[i]; float s = 0; if (l < 9) s = simd_sum(v); o[i] = s;",
    "a ballot": "bool b; if (l < 4) b = x[i] > 2; uint m = uint(ulong(simd_ballot(b))); o[i] = m & 0xf;",
    "fields of bits": "struct Bits { uint a : 4; uint b : 4; }; Bits s; s.a = i; s.b = 2; o[i] = s.a + s.b;",
    "bytes of a word": "uint w; w = (w & 0xffff0000) | i; o[i] = w & 0xff;",
    "matrices": "simdgroup_float8x8 a, b, c(0); simdgroup_load(a, x, 8); simdgroup_load(b, x, 8);"
    "simdgroup_multiply_accumulate(c, a, b, c); if (i < 32) simdgroup_store(c, o, 8);",
    "a function's results": "auto f = [](float v, thread float& r) { r = v; }; float r; f(x[i], r); o[i] = r;",
    "a loop that ends": "float last; uint k = 0; do { last = x[k]; } while (++k < 5); o[i] = last;",
    "a tile with its border": "threadgroup float t[34]; t[l + 1] = x[i]; if (l == 0) t[0] = i ? x[i - 1] : 0;"
    f"if (l == 31) t[33] = i < 63 ? x[i + 1] : 0; {BARRIER} o[i] = t[l] + t[l + 1] + t[l + 2];",
    "packed vectors": f"threadgroup packed_float3 t[32]; t[l] = packed_float3(x[i], 1, 2); {BARRIER}"
    "float3 q = t[31 - l]; o[i] = q.x * q.y + q.z;",
    "the largest four": "float best[4]; int n = 0; for (uint k = 0; k < 64; ++k) { float v = x[k]; int p = n;"
    "while (p > 0 && best[p - 1] < v) { if (p < 4) best[p] = best[p - 1]; --p; }"
    "if (p < 4) { best[p] = v; if (n < 4) ++n; } } o[i] = best[i % 4];",
    "a structure that is returned": "struct R { float a; int n; float b[3]; }; auto f = [](float v) { R r; r.a = v;"
    "r.n = 1; for (int k = 0; k < r.n; ++k) r.b[k] = v; return r; }; R r = f(x[i]); float s = r.a;"
    "for (int k = 0; k < r.n; ++k) s += r.b[k]; o[i] = s;",
    "compare and exchange": "threadgroup atomic_uint m[2];"
    f"if (l < 2) atomic_store_explicit(m + l, 0u, memory_order_relaxed); {BARRIER} uint e = 0;"
    "while (!atomic_compare_exchange_weak_explicit(m + l % 2, &e, e + 1, memory_order_relaxed, "
    f"memory_order_relaxed)) {{}} {BARRIER} o[i] = atomic_load_explicit(m + l % 2, memory_order_relaxed);",
    "inputs and results behind one pointer": "const device float* p = i % 2 ? x : (const device float*)o;"
    "o[i] = 1; o[i] = p[i] + 1;",
    "a lane's sums of a row": "float acc[4] = {0}; for (uint k = 0; k < 64; ++k) acc[k % 4] += x[k];"
    "o[i] = acc[0] + acc[3];",
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    assert [str(report) for report in found_in(RIGHT[name])] == []


def test_results_with_a_start_need_not_be_written():
    source = HEAD + "if (i > 60) o[i] = x[i]; o[3] += 1;"
    assert reports(source, "uninitialised") == []


def test_what_was_never_written_is_counted():
    (report,) = found_in("if (i % 8 > 2) o[i] = 1;")
    assert report.message == (
        'never writes elements 0 to 2 of the buffer "o", which has 64 elements, nor 21 others'
    )
    assert "in thread" not in str(report)


def test_the_text_says_where_a_value_comes_from():
    (report,) = found_in("float v;\nif (x[i] > 5) v = 1;\no[i] = v;")
    assert report.message == (
        'writes element 0 of the buffer "o" with a value that comes from the variable "v", '
        "which has no value"
    )
    assert (report.note, report.count) == ("it is declared here", 6)
    (report,) = found_in("float v;\nif (x[i] > 5) v = 1;\no[i] = 0;\nif (v == 1) o[i] = 1;")
    assert report.message == 'uses the variable "v", which has no value'


def test_kernels_whose_results_depend_on_it_are_found_with_all_checks():
    source = HEAD + f"threadgroup float t[64];\nif (l) t[l] = x[i];\n{BARRIER}\no[i] = t[63 - l];"
    found = reports(source, "all")
    assert {report.kind for report in found} == {"uninitialised"}


def test_functions_that_call_themselves_are_not_looked_at():
    header = "void fill(device float* o, uint n) { if (n) { o[n - 1] = 1; fill(o, n - 1); } }"
    source = HEAD + "float v; if (i > 70) v = 2; if (i == 0) fill(o, 64);"
    assert reports(source, "uninitialised", init_value=None, header=header) == []


def test_kernels_with_very_many_accesses():
    """They get exact checks at once."""
    lines = "".join(f"t[l * 4 + {k % 4}] += {k};\n" for k in range(500))
    right = "threadgroup int t[128];\nfor (uint k = 0; k < 4; ++k) t[l * 4 + k] = 0;\n" + lines
    assert found_in(right + "o[i] = t[l * 4];") == []
    (report,) = found_in(right.replace("k < 4", "k < 3") + "o[i] = t[l * 4 + 3];")
    assert (report.object, report.line, report.note_line) == ("o", 504, 7)


def test_array_operations_write_all():
    with mx.metal.check("uninitialised"):
        a = mx.arange(1000, dtype=mx.float32).reshape(10, 100)
        b = mx.softmax(a, axis=1) + mx.cumsum(a, axis=0)
        c = mx.concatenate([b, a[:, ::-1]], axis=1)
        mx.eval(mx.sort(c, axis=0), mx.argmax(c, axis=1), c.at[3].add(1.0))
        mx.eval(mx.random.normal((7, 9)))
    assert np.isfinite(np.array(c)).all()
