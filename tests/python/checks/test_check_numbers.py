"""The check of numbers: what it reports, and what it must not."""

import math

import mlx.core as mx
import numpy as np
import pytest
from check_runner import launch, reports

HEAD = "uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;\n"
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


def found_in(source: str, **options) -> list:
    return reports(HEAD + source, "numbers", threadgroup=32, **options)


# name: (source, part of the message, line of the report, line of the note)
WRONG = {
    "a division by zero": ("o[i] = 1 / x[i];", "makes an infinity: 1 / 0 = inf", 2, 0),
    "zero by zero": ("o[i] = x[i] / x[i];", "makes a NaN: 0 / 0 = nan", 2, 0),
    "a square root": ("o[i] = sqrt(x[i] - 3);", "makes a NaN: sqrt(-3) = nan", 2, 0),
    "an exponential": ("o[i] = exp(x[i] * 2);", "makes an infinity: exp(90) = inf", 2, 0),
    "a logarithm": ("o[i] = log(x[i]);", "makes an infinity: log(0) = -inf", 2, 0),
    "a power": ("o[i] = pow(x[i] - 4, 0.5f);", "makes a NaN: pow(-4, 0.5) = nan", 2, 0),
    "a product": ("o[i] = x[i] * 1e38f;", "makes an infinity: 4 * 1e+38 = inf", 2, 0),
    "a sum of infinities": (
        "float m = i == 3 ? -INFINITY : x[i];\nfloat v = m - m;\no[i] = v;",
        "makes a NaN: -inf - (-inf) = nan", 3, 4,
    ),
    "a value that is kept": (
        "float v = 1 / x[i];\nfloat w = v * 2;\no[i] = w;",
        "makes an infinity: 1 / 0 = inf", 2, 4,
    ),
    "a half": ("half h = half(x[i] * 5000);\no[i] = h;", "makes an infinity: half(70000) = inf", 2, 3),
    "halves": ("half h = half(x[i]) * 3000.0h;\no[i] = h;", "makes an infinity: 22 * 3000 = inf", 2, 3),
    "a vector": (
        "float4 v = float4(x[i], 1, 2, 3);\nfloat4 w = 1 / v;\n"
        "if (i < 16) ((device float4*)o)[i] = w;",
        "makes an infinity: 1 / 0 = inf", 3, 4,
    ),
    "a function": (
        "auto f = [](float v) { return v / (v - 2); };\no[i] = f(x[i]);",
        "makes an infinity: 2 / 0 = inf", 2, 3,
    ),
    "a normal": (
        "float3 v = float3(x[i], 0, 0);\no[i] = normalize(v).x;",
        "makes a", 3, 0,
    ),
    "a loop": (
        "float s = 1;\nfor (uint k = 0; k < 40; ++k)\n  s *= 1 + x[i];\no[i] = s;",
        "makes an infinity", 4, 5,
    ),
    "threadgroup memory": (
        f"threadgroup float t[32];\nt[l] = 1 / x[i];\n{BARRIER}\no[i] = t[31 - l];",
        "makes an infinity: 1 / 0 = inf", 3, 5,
    ),
    "an array": (
        "float a[4];\nfor (uint k = 0; k < 4; ++k) a[k] = 1 / x[k * i];\no[i] = a[i % 4];",
        "makes an infinity: 1 / 0 = inf", 3, 4,
    ),
    "a structure": (
        "struct Pair { float a; float b; };\nPair p;\np.a = x[i];\np.b = 1 / x[i];\n"
        "if (i < 32) ((device Pair*)o)[i] = p;",
        "makes an infinity: 1 / 0 = inf", 5, 6,
    ),
    "lanes": ("float v = 1 / x[i];\no[i] = simd_sum(v);", "makes an infinity: 1 / 0 = inf", 2, 3),
    "a sum of lanes": ("o[i] = simd_sum(x[i] * 1e37f);", "makes an infinity in simd_sum", 2, 0),
    "a shuffle": (
        "float v = 1 / x[i];\no[i] = simd_shuffle_xor(v, 1);",
        "makes an infinity: 1 / 0 = inf", 2, 3,
    ),
    "an integer": (
        "float v = 1 / x[i];\no[i] = int(v);",
        "makes an infinity: 1 / 0 = inf, which becomes an integer", 2, 3,
    ),
    "an atomic sum": (
        "float v = 1 / x[i];\n"
        "atomic_fetch_add_explicit((device atomic_float*)o, v, memory_order_relaxed);",
        "makes an infinity: 1 / 0 = inf", 2, 3,
    ),
    "a product of integers": (
        "int n = int(x[60]) * 1000;\nint k = n * (n + int(i));\no[i] = x[k & 0 | 1];\n"
        "o[k] = 1;",
        "an index wraps around in 32 bits: 60000 * 60000 = 3600000000 becomes -694967296", 3, 5,
    ),
    "a row": (
        "uint w = uint(x[63]) * 2000;\nuint k = (i + 40000) * w + 7;\n"
        "o[i] = 1;\nif (i < 2) o[k] = 2;",
        "an index wraps around in 32 bits: 40000 * 126000 = 5040000000 becomes 745032704", 3, 5,
    ),
    "a negative index": (
        "uint k = uint(x[i]) - 1u;\no[i] = x[k];",
        "an index wraps around in 32 bits: 0 - 1 = -1 becomes 4294967295", 2, 3,
    ),
    "a shifted index": (
        "uint k = uint(x[i]) + 70000;\no[k << 16] = 1;",
        "an index wraps around in 32 bits: 70000 << 16 = 4587520000 becomes 292552704", 3, 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    source, message, line, note_line = WRONG[name]
    found = found_in(source)
    print([str(report) for report in found])
    assert {report.kind for report in found} == {"numbers"}
    report = found[0]
    assert message in report.message
    assert (report.line, report.note_line) == (line, note_line)


INFINITE = np.array([math.inf, -math.inf, math.nan, 1] * 16, dtype=np.float32)

RIGHT = {
    "finite numbers": "o[i] = 1 / (x[i] + 1);",
    "a maximum": "float m = -INFINITY; for (uint k = 0; k < 64; ++k) m = max(m, x[k]); o[i] = m;",
    "an infinity on purpose": "o[i] = x[i] > 3 ? x[i] : -INFINITY;",
    "a NaN on purpose": "o[i] = x[i] > 3 ? x[i] : NAN;",
    "a masked exponential": "float v = i % 2 ? -INFINITY : x[i]; o[i] = exp(v - 63);",
    "a choice": "o[i] = x[i] == 0 ? 0 : 1 / x[i];",
    "a branch": "float v = 0; if (x[i] != 0) v = 1 / x[i]; o[i] = v;",
    "select": "o[i] = select(1 / x[i], 0.0f, x[i] == 0);",
    "a test": "float v = 1 / x[i]; if (isinf(v)) v = 0; o[i] = v;",
    "a bound": "o[i] = min(1 / x[i], 100.0f);",
    "an infinity that vanishes": "float v = 1 / x[i]; o[i] = 1 / v;",
    "a softmax": "float m = -INFINITY; for (uint k = 0; k < 64; ++k) m = max(m, x[k]);"
    "float s = 0; for (uint k = 0; k < 64; ++k) s += exp(x[k] - m); o[i] = exp(x[i] - m) / s;",
    "an online softmax": "float m = -INFINITY, s = 0; for (uint k = 0; k < 64; ++k) {"
    "float n = max(m, x[k]); s = s * exp(m - n) + exp(x[k] - n); m = n; } o[i] = s;",
    "an unused value": f"threadgroup float t[32]; t[l] = 1 / x[i]; {BARRIER} o[i] = t[1];",
    "a guarded conversion": "int k = 0; if (x[i] > 0) k = int(10 / x[i]); o[i] = k;",
    "halves in range": "half h = half(x[i]) * 1000.0h; o[i] = h;",
    "functions of large numbers": "o[i] = sin(x[i] * 1e6f) + tanh(x[i] * 1e6f) + atan(x[i] * 1e30f);",
    "functions at their limits": "o[i] = exp(-1e30f * x[i]) + rsqrt(x[i] + 1e-38f) + log(x[i] + 1e-30f);",
    "bits": "o[i] = as_type<float>(0x7f800000u);",
    "a hash": "uint h = i * 2654435761u; h ^= h >> 15; h *= 2246822519u; o[i] = x[h % 64];",
    "a masked hash": "o[i] = x[(i * 2654435761u) & 63];",
    "a shifted hash": "o[i] = x[(i * 2654435761u) >> 26];",
    "a neighbour that is guarded": "uint k = i - 1u; o[i] = i > 0 ? x[k] : 0;",
    "a neighbour behind a branch": "if (i - 1u < 62u) o[i] = x[i - 1u] + x[i + 1u];",
    "a ring": "o[i] = x[(i + 64 - 1u) % 64];",
    "a negative distance": "int d = -int(i); o[i] = x[i + d];",
    "an unsigned sum with a negative distance": "int d = int(x[0]) - 1; uint k = i + 1 + d; o[i] = x[k];",
    "a pointer that goes backwards": "const device float* p = x + 63; o[i] = p[-int(i)];",
    "a clamped index": "int k = clamp(int(i) - 5, 0, 63); o[i] = x[k];",
    "large products in 64 bits": "ulong k = ulong(i) * 4000000000ul; o[i] = x[k >> 40];",
}  # fmt: skip


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    assert [str(report) for report in found_in(RIGHT[name])] == []


@pytest.mark.parametrize(
    "source",
    [
        "o[i] = x[i] * 2 + 1;",
        "o[i] = exp(x[i]) / (1 + exp(x[i]));",
        "o[i] = simd_sum(x[i]);",
        f"threadgroup float t[32]; t[l] = x[i]; {BARRIER} o[i] = t[31 - l] - t[l];",
        "float a[2] = {x[i], x[63 - i]}; o[i] = a[i % 2] * 3;",
    ],
)
def test_what_a_kernel_gets_is_not_its_mistake(source):
    """But for NaNs that it makes of infinities."""
    for report in found_in(source, x=INFINITE):
        assert "makes a NaN" in report.message and "inf" in report.message


def test_the_text_and_its_parts():
    (report,) = found_in("float v = 1 / x[i];\no[i] = v;")
    assert report.message == (
        'makes an infinity: 1 / 0 = inf, which gets into element 0 of the buffer "o"'
    )
    assert (report.object, report.index, report.note) == ("o", 0, "it is written here")
    assert (report.thread, report.threadgroup, report.column) == ((0, 0, 0), (0, 0, 0), 13)


def test_bfloats():
    kernel = mx.fast.metal_kernel(
        name="scaled",
        input_names=["x"],
        output_names=["o"],
        source="uint i = thread_position_in_grid.x;\no[i] = x[i] * bfloat(1e38f);",
        check="numbers",
    )
    y = launch(kernel, mx.arange(8).astype(mx.bfloat16), threads=8, outputs=8, dtype=mx.bfloat16)
    with pytest.raises(mx.metal.KernelCheckError, match="makes an infinity: "):
        mx.eval(y)


def test_array_operations_may_make_infinities():
    with mx.metal.check("numbers"):
        x = mx.zeros(8)
        assert mx.log(x).tolist() == [-math.inf] * 8
        assert (1 / x).tolist() == [math.inf] * 8


def test_it_is_part_of_all():
    found = reports(HEAD + "o[i] = 1 / x[i];", "all", threadgroup=32)
    assert [report.kind for report in found] == ["numbers"]


def test_constants_of_the_math_library():
    """They are computed before the kernel runs, where no check looks."""
    header = """
        float power(float x, int n) { float p = 1; for (int i = 0; i < n; ++i) p *= sqrt(x); return p; }
        constant float rest = fmod(17.0f, 5.0f);
        constant float eight = power(4.0f, 3);
    """
    source = "uint i = thread_position_in_grid.x; o[i] = rest + eight + x[i];"
    assert reports(source, "numbers", header=header) == []
    (report,) = reports(source + " o[3] = rest / (eight - 8);", "numbers", header=header)
    assert "infinity" in report.message
