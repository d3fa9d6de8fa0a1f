"""The check of numbers beside float64: which results of 16 bits it reports, and which it must not."""

import mlx.core as mx
import numpy as np
import pytest
from check_runner import reports

HEAD = "uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;\n"
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


def found_in(source: str, dtype: mx.Dtype = mx.float16, check: str = "numbers=float64") -> list:
    kind = mx.bfloat16 if dtype == mx.bfloat16 else mx.float16
    x = mx.array(np.arange(64) / 64 + 0.3, kind)
    return reports(
        HEAD + source,
        check,
        x=x,
        outputs=32,
        threads=32,
        threadgroup=32,
        dtype=dtype,
        header="#include <metal_simdgroup_matrix>\n",
    )


SUM = "half s = 0;\nfor (uint k = 0; k < 999; ++k) s += x[k % 64] * x[(k + i) % 64];\n"
# name: (source, line of the report)
WRONG = {
    "a sum": (f"{SUM}o[i] = s;", 4),
    "a sum that becomes a float": (f"{SUM}float f = s;\no[i] = half(f);", 5),
    "a product": ("half p = 1;\nfor (uint k = 0; k < 64; ++k) p *= x[k] + 0.2h;\no[i] = p;", 4),
    "a difference": ("half a = x[i] * x[i] + 8.0h;\no[i] = a - 8.0h;", 3),
    "a function": ("o[i] = exp(x[i] * x[i] * 17.0h) / 3.0h;", 2),
    "a function of half": ("half s = sin(x[i]);\no[i] = (s + 16.0h) * 3.0h - 48.0h;", 3),
    "threadgroup memory": (
        f"threadgroup half t[32];\nt[l] = x[i] * x[i] + 8.0h;\n{BARRIER}\no[i] = t[31 - l] - 8.0h;",
        5,
    ),
    "an array": (
        "half a[4];\nfor (uint k = 0; k < 4; ++k) a[k] = x[k * i % 64] * x[i] + 8.0h;\n"
        "o[i] = a[i % 4] - 8.0h;",
        4,
    ),
    "a vector": (
        "half4 v = half4(x[i], x[i + 1], 1, 2);\nhalf4 w = v * v + 8.0h;\n"
        "if (i < 8) ((device half4*)o)[i] = w - 8.0h;\nelse o[i] = 0;",
        4,
    ),
    "another lane": ("half a = x[i] * x[i] + 8.0h;\no[i] = simd_shuffle_xor(a, 1) - 8.0h;", 3),
    "a sum of lanes": (
        "half a = x[i] * x[i] + 64.0h;\nhalf s = 0;\n"
        "for (uint k = 0; k < 4; ++k) s += simd_sum(a);\no[i] = s - 8192.0h;",
        5,
    ),
    "a branch": ("half a = x[i];\nif (i > 3) a = a * a + 8.0h;\no[i] = a - 8.0h;", 4),
    "a choice": ("half a = x[i];\na = i > 3 ? a * a + 8.0h : 9.0h;\no[i] = a - 8.0h;", 4),
    "products of matrices": (
        "simdgroup_half8x8 a, c(0.0h);\nsimdgroup_load(a, x, 8);\n"
        "for (int k = 0; k < 99; ++k) simdgroup_multiply_accumulate(c, a, a, c);\n"
        "o[i] = c.thread_elements()[i % 2];",
        5,
    ),
    "matrices in memory": (
        "threadgroup half t[64];\nsimdgroup_half8x8 a, b, c;\nsimdgroup_load(a, x, 8);\n"
        "simdgroup_multiply(c, a, a);\nsimdgroup_store(c, t, 8);\n" + BARRIER + "\n"
        "simdgroup_load(b, t, 8, ulong2(0, 0), true);\n"
        "for (int k = 0; k < 2; ++k) b.thread_elements()[k] -= c.thread_elements()[k] - 1e-3h;\n"
        "o[i] = b.thread_elements()[1] * 0.1h;",
        10,
    ),
    "a structure": (
        "struct { half a; half b; } p = {x[i], x[i] * x[i] + 8.0h}, q = p;\no[i] = q.b - 8.0h;",
        3,
    ),
}
# Results of an inexact half `a`.
FUNCTIONS = (
    *("exp(a)", "exp2(a)", "precise::log(a)", "fast::sin(a)", "tanh(a)", "sqrt(a)", "pow(a, x[i])"),
    *(
        "fabs(a)",
        "fma(a, x[i], 1.0h)",
        "clamp(a, 0.0h, 3.0h)",
        "mix(a, x[i], 0.25h)",
        "max(a, 0.0h)",
    ),
    *("dot(half2(a), half2(x[i], 1))", "length(half3(a))", "select(a, 0.0h, i > 9)", "-a", "a / 3"),
    *(
        "half(fma(float(a), 0.5f, 0.1f))",
        "half(exp(float(a)))",
        "step(0.0h, a) * a",
        "fract(a) + a",
    ),
    *("simd_prefix_inclusive_sum(a)", "simd_max(a)", "simd_broadcast(a, 3)"),
)
RIGHT = {
    "a product of matrices": "simdgroup_half8x8 a; simdgroup_load(a, x, 8);"
    "simdgroup_multiply(a, a, a); o[i] = a.thread_elements()[i % 2];",
    "matrices of float": "simdgroup_half8x8 a; simdgroup_float8x8 c(0.0f); simdgroup_load(a, x, 8);"
    "for (int k = 0; k < 99; ++k) simdgroup_multiply_accumulate(c, a, a, c);"
    "o[i] = half(c.thread_elements()[i % 2]);",
    "a sum of floats": (
        "float s = 0;\nfor (uint k = 0; k < 999; ++k) s += float(x[k % 64]) * float(x[(k + i) % 64]);\n"
        "o[i] = half(s);"
    ),
    "few operations": "o[i] = (x[i] + 1.0h) * x[i + 1] / 3.0h;",
    "a copy": "o[i] = x[i];",
    "an exact sum": "half s = 0;\nfor (uint k = 0; k < 64; ++k) s += 0.5h;\no[i] = s + half(i);",
    "a difference of inputs": "o[i] = x[i] - x[i + 1];",
    "functions": "o[i] = exp(sin(x[i])) + log(x[i]) + sqrt(x[i]);",
    "steps": "half a = floor(x[i] * 10.0h);\no[i] = a * 0.5h + trunc(x[i] * 5.0h);",
    "a comparison": "half a = x[i] * x[i];\no[i] = a > 0.5h ? 1.0h : 0.0h;",
    "an integer": "int k = int(x[i] * 10.0h);\no[i] = half(k) * 1.5h;",
    "infinities, which are for the rest of the check": "o[i] = i > 40 ? x[i] * 65504.0h : x[i];",
    "a random number": "uint h = i * 2654435761u;\no[i] = half(float(h >> 8) * 0x1p-24f);",
    "nothing that is written": f"{SUM}o[i] = s > 100.0h ? 1.0h : 0.0h;",
    "memory that is written as integers": (
        "threadgroup ushort t[32];\nhalf a = x[i] * x[i] + 8.0h;\nt[l] = as_type<ushort>(a);\n"
        f"{BARRIER}\nt[l] = as_type<ushort>(8.0h);\n{BARRIER}\no[i] = as_type<half>(t[l]) - 7.0h;"
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name: str):
    source, line = WRONG[name]
    (report,) = found_in(source)
    assert (report.kind, report.object, report.line) == ("numbers", "o", line)
    assert "rounding in half makes element" in report.message
    assert found_in(source, check="numbers") == []


@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions(function: str):
    """They pass the error on, and add none that counts."""
    (report,) = found_in(f"half a = (x[i] * x[i] + 64.0h) - 63.0h;\no[i] = {function};")
    units = float(report.message.partition("an error of ")[2].partition(" units")[0])
    assert 4 < units < 1000
    assert found_in(f"half a = x[i] + 0.25h;\no[i] = {function};") == []


@pytest.mark.parametrize("name", RIGHT)
def test_right(name: str):
    assert found_in(RIGHT[name]) == []


def test_the_largest_error_is_reported():
    """Half has 11 bits: where 1 stands beside 4096, half of it is lost."""
    (report,) = found_in("half big = i * 128;\no[i] = (big + x[0] * 0.5h) - big;")
    x = float(np.float16(0.3))
    errors = []
    for i in range(32):
        got = np.float16(np.float16(i * 128 + np.float16(x * 0.5)) - np.float16(i * 128))
        errors.append(abs(float(got) - x * 0.5))
    assert report.index == int(np.argmax(errors))
    units = max(errors) / 2.0**-13
    assert f"an error of {units:.3g} units in the last place" in report.message
    assert report.thread == (report.index, 0, 0)


def test_bfloat():
    source = "bfloat s = 0;\nfor (uint k = 0; k < 999; ++k) s += x[k % 64];\no[i] = s;"
    (report,) = found_in(source, mx.bfloat16)
    assert "rounding in bfloat" in report.message and report.line == 4
    assert found_in("o[i] = bfloat(float(x[i]) * 3);", mx.bfloat16) == []


def test_floats_of_half_results():
    (report,) = found_in(f"{SUM}o[i] = s;", mx.float32)
    assert "rounding in half" in report.message
    assert found_in("float s = float(x[i]) * 3 + 1000;\no[i] = s - 1000;", mx.float32) == []


def test_where_float64_gives_zero():
    (report,) = found_in("half a = x[i] + 64.0h;\no[i] = (a - 64.0h) - x[i];")
    assert "where float64 gives 0: an error of" in report.message and "%" not in report.message


def test_it_finds_what_the_check_of_numbers_finds():
    (report,) = found_in("o[i] = x[i] / half(i);")
    assert "makes an infinity" in report.message
