"""The check of what Apple's compiler and hardware refuse: what it reports, and what it must not."""

import subprocess
from pathlib import Path

import mlx.core as mx
import pytest
from check_runner import reports

HEAD = "uint i = thread_position_in_grid.x;\n"

# name: (body, column in its first line, what the message says)
WRONG = {
    "goto": ("again: o[i] += 1; if (o[i] < 4) goto again;", 33, "Metal has no goto"),
    "max of float and int": ("o[i] = max(x[i], 0);", 8, "'max' with (float, int) is ambiguous"),
    "min of int and uint": ("o[i] = min(int(i), 3u);", 8, "overloads of int and uint are equally"),
    "clamp between ints": ("o[i] = clamp(x[i], 0, 1);", 8, "'clamp' with (float, int, int)"),
    "max of half and float": ("half h = x[i]; o[i] = metal::max(h, 0.5f);", 23, "(half, float)"),
    "pow of half and float": ("o[i] = pow(half(x[i]), 2.0);", 8, "half and float are equally good"),
    "fma of half and float": ("half h = x[i]; o[i] = fma(h, h, 1.0f);", 23, "(half, half, float)"),
    "sqrt of an int": ("o[i] = sqrt(int(i));", 8, "overloads of half and float are equally good"),
    "select of float and int": ("o[i] = select(x[i], 0, i > 3);", 8, "'select' with (float, int)"),
    "max of float and bool": ("o[i] = max(x[i], i > 3);", 8, "(float, bool)"),
    "max of short and int": ("short s = i; o[i] = max(s, 0);", 21, "overloads of short and int"),
    "bfloat and float": ("o[i] = max(bfloat(x[i]), 0.0f);", 8, "(bfloat, float) is ambiguous"),
    "rotate by an int": ("o[i] = rotate(i, 5);", 8, "(uint, int)"),
    "in a lambda": (
        "auto f = [&](float v) { return max(v, 1); }; o[i] = f(x[i]);",
        32,
        "(float, int)",
    ),
    "pointer": (
        "float v = x[i]; float* p = &v; o[i] = *p;",
        22,
        "a pointer needs an address space",
    ),
    "reference": ("float v = x[i]; const float& r = v; o[i] = r;", 28, "a reference needs an"),
    "pointer to pointer": (
        "device float* p = o; device float** q = &p; (*q)[i] = 1;",
        35,
        "a pointer needs an address space",
    ),
    "cast to a pointer": ("float v = x[i]; o[i] = *(float*)&v;", 31, "a pointer needs an address"),
    "cast of threadgroup memory": (
        "threadgroup float t[64]; t[i] = x[i]; o[i] = ((device float*)t)[i];",
        47,
        "a pointer to threadgroup memory cannot be cast to one to device memory",
    ),
    "cast of thread memory": (
        "float v = x[i]; o[i] = *(device float*)&v;",
        25,
        "a pointer to thread memory cannot be cast",
    ),
    "float atomics in a threadgroup": (
        "threadgroup atomic_float t; atomic_store_explicit(&t, 1.0f, memory_order_relaxed);",
        29,
        "atomic<float> must be in device memory",
    ),
    "maximum of atomic floats": (
        "atomic_fetch_max_explicit((device atomic_float*)o, x[i], memory_order_relaxed);",
        1,
        "no atomic_fetch_max_explicit of atomic<float>",
    ),
    "sum of atomic ulongs": (
        "atomic_fetch_add_explicit((device atomic_ulong*)o, 1ul, memory_order_relaxed);",
        1,
        "only atomic_min_explicit and atomic_max_explicit",
    ),
    "atomic half": (
        "atomic_fetch_add_explicit((device atomic<half>*)o, 1.0h, memory_order_relaxed);",
        1,
        "no atomic<half>",
    ),
    "strong memory order": (
        "atomic_fetch_add_explicit((device atomic_uint*)o, 1u, memory_order_seq_cst);",
        55,
        "memory_order_relaxed only",
    ),
    "long long": ("long long v = i; o[i] = v;", 1, "no type 'long long'"),
    "too much threadgroup memory": (
        "threadgroup float s[8000], t[300]; s[i] = t[i] = x[i]; o[i] = s[i] + t[i];",
        28,
        "take 33200 bytes, and there are 32768",
    ),
    "requires": ("if (requires { float(x[i]); }) o[i] = 1;", 5, "C++20"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong(name):
    source, column, message = WRONG[name]
    (report,) = found(source)
    assert (report.kind, report.kernel, report.file) == ("apple", "under_check", "under_check")
    assert (report.line, report.column, report.count) == (2, column, 1)
    assert message in report.message


def found(source, **options):
    return reports(HEAD + source, "apple", **options)


# name: (header, call of it, line in the header, what the message says)
WRONG_HEADERS = {
    "recursion": (
        "int depth(int n) {\n  return n < 2 ? 1 : 1 + depth(n / 2);\n}",
        "depth(i)",
        2,
        "'depth' calls itself",
    ),
    "mutual recursion": (
        "bool odd(uint n);\nbool even(uint n) { return n == 0 || odd(n - 1); }\n"
        "bool odd(uint n) { return n != 0 && even(n - 1); }",
        "even(i)",
        3,
        "recursion: through this call, 'even' calls itself",
    ),
    "threadgroup variable": (
        "float first(float v, uint i) {\n  threadgroup float t[64];\n  t[i] = v;\n  return t[i];\n}",
        "first(x[i], i)",
        2,
        "'t' is declared in 'first', which is no kernel",
    ),
    "threadgroup variable of a template": (
        "template <int N>\nfloat first(float v, uint i) {\n  threadgroup float t[N];\n"
        "  t[i] = v;\n  return t[i];\n}",
        "first<64>(x[i], i)",
        3,
        "'t' is declared in 'first'",
    ),
    "parameter": (
        "float sum(const float* v) { return v[0] + v[1]; }",
        "(float[2]){1, 2}[0]",
        1,
        "a pointer needs an address space",
    ),
    "returned reference": (
        "struct S {\n  float v;\n  float& get() { return v; }\n};",
        "S{1}.v",
        3,
        "a reference needs an address space",
    ),
    "constant without constant": (
        "const float kTwo = 2;",
        "kTwo",
        1,
        "'kTwo' outside of functions must be in the constant address space",
    ),
    "template with an int": (
        "template <typename T>\nT relu(T v) {\n  return max(v, 0);\n}",
        "relu(x[i])",
        3,
        "'max' with (float, int) is ambiguous",
    ),
    "kernel as a function": (
        "kernel void one(device float* o [[buffer(0)]]) { o[0] = 1; }\n"
        "inline float call(device float* o) { one(o); return 1; }",
        "call(o)",
        2,
        "'one' is a kernel",
    ),
    "concept": (
        "template <typename T>\nconcept Small = sizeof(T) < 8;",
        "Small<float>",
        2,
        "concepts are of C++20",
    ),
    "auto parameter": ("float twice(auto v) { return 2 * v; }", "twice(x[i])", 1, "C++20"),
}


@pytest.mark.parametrize("name", WRONG_HEADERS)
def test_wrong_header(name):
    header, call, line, message = WRONG_HEADERS[name]
    (report,) = found(f"o[i] = {call};", header=header)
    assert (report.kind, report.file, report.line) == ("apple", "under_check.header", line)
    assert message in report.message


# Bodies that Apple's compiler accepts, however much they look like the others.
RIGHT = {
    "max of floats": "o[i] = max(x[i], 0.0f);",
    "unsuffixed literal": "o[i] = max(x[i], 0.5);",
    "max of halves": "half h = x[i]; o[i] = max(h, 0.5h) + min(h, half(1));",
    "pow with an int": "o[i] = pow(x[i], 2) + fma(x[i], 2, 1) + pow(half(x[i]), 2);",
    "mix with ints": "o[i] = mix(x[i], 0, 1) + step(0, x[i]) + smoothstep(0, 1, x[i]);",
    "clamp of floats": "o[i] = clamp(x[i], 0.0, 1.0f);",
    "max of int and bool": "o[i] = max(int(i), i > 3);",
    "functions of integers": "o[i] = max(i, 3u) + abs(-int(i)) + clamp(i, 1u, 9u) + popcount(i);",
    "vector and scalar": "float4 v(x[i]); v = max(v, 0); v = clamp(v, 0, 1); o[i] = v.x;",
    "components": "float4 v(x[i]); o[i] = max(v.x, v.y) + max(v.xy, v.zw).x + min(v[0], v[1]);",
    "select of floats": "o[i] = select(x[i], 0.0f, i > 3) + select(1, 2, i > 3);",
    "fast and precise": "o[i] = precise::sqrt(i) + fast::clamp(x[i], 0, 1) + metal::fast::max(x[i], 0);"
    "using metal::fast::min; namespace mp = metal::precise; o[i] += min(x[i], 0) + mp::max(1, x[i]);",
    "ldexp": "o[i] = ldexp(x[i], 2);",
    "thread pointers": "float v = x[i]; thread float* p = &v; float thread* q = p;"
    "thread float& r = *q; const thread float& s = r; o[i] = s;",
    "pointer to a pointer": "device float* p = o; device float* thread* q = &p; (*q)[i] = 1;",
    "deduced pointers": "float v = x[i]; auto p = &v; auto& r = *p; const auto& s = r; o[i] = s;",
    "reference to an array": "float v[2] = {x[i], 1}; thread float (&r)[2] = v; o[i] = r[1];",
    "casts within memory": "o[i] = ((const device uint*)x)[i] + as_type<float>(i);",
    "threadgroup array": "threadgroup float t[64]; threadgroup float* p = t; p[i] = x[i];"
    "if (i > 3) { threadgroup int n[2]; n[0] = 1; } o[i] = p[i];",
    "32 KB": "threadgroup float t[8192]; t[i] = x[i]; o[i] = t[i];",
    "atomics": "atomic_fetch_add_explicit((device atomic_float*)&o[i], 1.0f, memory_order_relaxed);"
    "threadgroup atomic_uint n; atomic_store_explicit(&n, 0u, memory_order_relaxed);"
    "atomic_fetch_max_explicit(&n, 3u, memory_order_relaxed);",
    "atomic maximum of ulongs": "atomic_max_explicit((device atomic_ulong*)o, 1ul, memory_order_relaxed);",
    "fence": "atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);",
    "lambda": "auto f = [&](float v) { return v + i; }; o[i] = f(x[i]);",
    "switch": "switch (i) { case 0: o[i] = 1; break; default: o[i] = 2; }",
    "tables": "constexpr int k = 2; const float t[2] = {1, 2}; o[i] = t[i % k];",
}


@pytest.mark.parametrize("name", RIGHT)
def test_right(name):
    assert [str(report) for report in found(RIGHT[name])] == []


RIGHT_HEADERS = {
    "constants": ("constant float kTwo = 2; constant constexpr int kTable[] = {1, 2};", "kTwo"),
    "constexpr recursion": (
        "constexpr int log2i(int n) { return n < 2 ? 0 : 1 + log2i(n / 2); }\n"
        "struct S { static constexpr int n = log2i(64); };",
        "S::n",
    ),
    "recursion of templates": (
        "template <int N> float sum(const device float* x) {\n"
        "  if constexpr (N == 0) return 0; else return x[N - 1] + sum<N - 1>(x);\n}",
        "sum<4>(x)",
    ),
    "recursion that no kernel reaches": ("int f(int n) { return f(n - 1); }", "1"),
    "memory of the caller": (
        "template <typename T> void fill(threadgroup T* t, T v) { t[0] = v; }\n"
        "template <typename P> float at(P p) { return *p; }\n"
        "template <typename T> float of(thread const T& v) { return v; }",
        "at(x) + of(x[i])",
    ),
    "class": (
        "struct S {\n  float v;\n  thread float& get() { return v; }\n"
        "  S thread& operator+=(float w) { v += w; return *this; }\n};",
        "(S{1} += 2).get()",
    ),
    "own overloads": (
        "inline float larger(float a, int b) { return a > b ? a : b; }\n"
        "namespace mine { inline float max(float a, int b) { return larger(a, b); } }",
        "mine::max(x[i], 0)",
    ),
    "template that fits": (
        "template <typename T> T relu(T v) { return max(v, T(0)); }",
        "relu(x[i]) + relu(int(i))",
    ),
}


@pytest.mark.parametrize("name", RIGHT_HEADERS)
def test_right_header(name):
    header, call = RIGHT_HEADERS[name]
    assert [str(report) for report in found(f"o[i] = {call};", header=header)] == []


# What this compiler refuses itself, whether it checks or not.
@pytest.mark.parametrize(
    "body, message",
    {
        "double": ("double v = 1;", "'double' is not supported"),
        "exceptions": ("throw 1;", "cannot use 'throw'"),
        "new": ("auto p = new int;", "'default new' is not supported"),
        "variable length": (
            "float v[i + 1]; v[0] = 1;",
            "variable length arrays are not supported",
        ),
        "static": ("static int n = 0; o[i] = n++;", "must be in the constant address space"),
        "thread_local": ("thread_local int n = 1; o[i] = n;", "thread-local storage"),
        "virtual": ("struct S { virtual float f() { return 1; } };", "virtual functions are not"),
    }.values(),
)
def test_errors_of_the_compiler(body, message):
    with pytest.raises(RuntimeError, match="does not compile") as caught:
        found(body)
    assert message in str(caught.value)


def test_the_error_is_a_diagnostic():
    with pytest.raises(mx.metal.KernelCheckError) as caught:
        mx.eval(call(make(HEAD + "  o[i] = max(x[i], 0);", check="apple")))
    assert str(caught.value) == (
        "[k] The kernel failed its checks (1 report):\n"
        "k:2:10: apple: the call of 'max' with (float, int) is ambiguous: its overloads of float and "
        "int are equally good\n"
        "    o[i] = max(x[i], 0);\n"
        "           ^"
    )


def make(source, name="k", **options):
    return mx.fast.metal_kernel(
        name=name, input_names=["x"], output_names=["o"], source=source, **options
    )


def call(kernel, size=64, grid=64, threadgroup=32, **options):
    return kernel(
        inputs=[mx.ones(64)],
        grid=(grid, 1, 1),
        threadgroup=(threadgroup, 1, 1),
        output_shapes=[(size,)],
        output_dtypes=[mx.float32],
        **options,
    )[0]


def test_the_compiler_warns_without_the_check(capsys):
    """Where its other warnings are shown."""
    mx.eval(call(make(HEAD + "o[i] = max(x[i], 0);"), verbose=True))
    printed = capsys.readouterr().out
    assert "k:2:8: warning: Apple's compiler refuses this: the call of 'max'" in printed


def test_contexts_and_reports_of_all_checks():
    kernel = make(HEAD + "o[i] = max(x[i], 0);")
    mx.eval(call(kernel))
    for checks in [("apple",), (), ("bounds", "apple")]:
        with mx.metal.check(*checks), pytest.raises(mx.metal.KernelCheckError):
            mx.eval(call(kernel))
    with mx.metal.check("bounds"):
        mx.eval(call(kernel))


def test_kernels_of_operations_are_not_refused():
    with mx.metal.check("apple"):
        x = mx.random.normal((16, 16))
        mx.eval(mx.softmax(x @ x, axis=-1), mx.sort(x), x.sum(0), mx.fast.rms_norm(x, None, 1e-5))


def test_complete_kernels():
    kernel = mx.fast.metal_kernel(
        "whole",
        "[[kernel]] void whole(device float* out [[buffer(0)]],\n"
        "                      uint i [[thread_position_in_grid]]) {\n"
        "  out[i] = sqrt(i);\n"
        "}\n",
        grid=(4, 1, 1),
        threadgroup=(4, 1, 1),
        check="apple",
    )
    with pytest.raises(mx.metal.KernelCheckError) as caught:
        mx.eval(kernel(mx.zeros(4)))
    (report,) = caught.value.reports
    assert (report.file, report.line, report.column) == ("whole", 3, 12)


@pytest.mark.parametrize("name", ["my kernel", "kernel-1", "a.b"])
def test_names_become_parts_of_identifiers(name):
    kernel = make(HEAD + "o[i] = x[i];", name=name, check="apple")
    with pytest.raises(mx.metal.KernelCheckError) as caught:
        mx.eval(call(kernel))
    (report,) = caught.value.reports
    assert (report.object, report.line) == (name, 0)
    assert f'{name}: apple: the kernel\'s name "{name}" becomes a part' in str(report)


@pytest.mark.parametrize("name", ["k1", "1k", "_", "for", "Größe"])
def test_names_that_are_parts_of_identifiers(name):
    mx.eval(call(make(HEAD + "o[i] = x[i];", name=name, check="apple")))


class TestGrid:
    """A grid that counts threadgroups."""

    def test_wrong(self):
        kernel = make(HEAD + "if (i < 1000) {\n  o[i] = x[i % 64];\n}", check="apple")
        with pytest.raises(mx.metal.KernelCheckError) as caught:
            mx.eval(call(kernel, size=1000, grid=8, threadgroup=128))
        (report,) = caught.value.reports
        assert (report.object, report.size, report.line, report.column) == ("o", 1000, 3, 3)
        assert report.message == (
            'the grid (8, 1, 1) has 8 threads, each writes one element of "o", and that has 1000: '
            "a grid counts threads, not threadgroups"
        )

    @pytest.mark.parametrize(
        "body, size, options",
        [
            ("o[i] = x[i];", 64, {}),
            ("o[i] = x[i];", 60, {}),  # some threads are too many
            ("o[2 * i] = 1; o[2 * i + 1] = 2;", 128, {}),  # two elements a thread
            ("for (uint k = 0; k < 2; ++k) { o[2 * i + k] = 1; }", 128, {}),
            ("*(device float2*)(o + 2 * i) = 1;", 128, {}),
            ("device float* p = o + 2 * i; p[0] = p[1] = 1;", 128, {}),
            ("o[i] = x[i];", 128, {"init_value": 0}),  # the others have a value
            ("o[i] = x[i];", 64 * 32 + 1, {}),  # more than the threads of so many threadgroups
        ],
    )
    def test_right(self, body, size, options):
        mx.eval(call(make(HEAD + body, check="apple"), size=size, **options))

    def test_headers_may_repeat_a_statement(self):
        header = "#define TWICE(k) for (uint k = 0; k < 2; ++k)\n#define BEGIN {\n"
        kernel = make(HEAD + "TWICE(k) { o[2 * i + k] = 1; }", header=header, check="apple")
        mx.eval(call(kernel, size=128))


METALC = Path(mx.__file__).resolve().parent / "bin" / "metalc"
METAL = """#include <metal_stdlib>
using namespace metal;
kernel void k(device float* o [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  %s
}
"""


def metalc(folder, body, *options):
    (folder / "k.metal").write_text(METAL % body)
    return subprocess.run(
        [METALC, "--emit", "llvm", *options, "-o", "k.ll", "k.metal"],
        cwd=folder,
        capture_output=True,
        text=True,
    )


@pytest.mark.parametrize(
    "body, since",
    [
        ("bfloat b = o[i]; o[i] = b;", "3.1"),
        ("bfloat4 b(o[i]); o[i] = b.x;", "3.1"),
        ("atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst);", "3.2"),
    ],
)
def test_language_versions(tmp_path, body, since):
    versions = ["3.0", "3.1", "3.2", "4.0"]
    for version in versions:
        result = metalc(tmp_path, body, f"-std=metal{version}")
        assert result.returncode == 0
        expected = version < since
        text = f"comes with Metal {since}, and this is compiled as Metal {version}"
        assert (text in result.stderr) == expected == bool(result.stderr)


def test_metalc_warns_or_fails(tmp_path):
    body = "o[i] = max(o[i], 0);"
    warning = "k.metal:4:10: warning: Apple's compiler refuses this: the call of 'max'"
    result = metalc(tmp_path, body)
    assert result.returncode == 0 and warning in result.stderr
    assert metalc(tmp_path, body, "-Wno-apple").stderr == ""
    result = metalc(tmp_path, body, "-Werror=apple")
    assert result.returncode == 1 and warning in result.stderr
    assert metalc(tmp_path, "o[i] = max(o[i], 0.0f);", "-Werror=apple").returncode == 0
