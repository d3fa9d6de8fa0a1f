"""What the compiler says about wrong kernels, to the letter, and that it says nothing about right ones.

If messages change on purpose, look at the difference that this makes:

    .venv/bin/python tests/python/test_compiler_messages.py > tests/python/golden/compiler_messages.txt
"""

import re
import subprocess
from pathlib import Path

import mlx.core as mx

GOLDEN = Path(__file__).parent / "golden" / "compiler_messages.txt"
METALC = Path(mx.__file__).resolve().parent / "bin" / "metalc"
HEAD = "#include <metal_stdlib>\nusing namespace metal;\n"

WRONG = [
    "kernel void f(device int* y) { y[0] = missing; }",
    "kernel void f(device int* y) { y[0] = 1 }",
    "kernel void f(device int* y) { y[0] = ; }",
    "kernel void f(device int* y) { y.x = 1; }",
    "kernel void f(device int* y) { double d = 1; asm(\"nop\"); }",
    "kernel int f(device int* y) { return 1; }",
    "kernel void f(int y) {}",
    "kernel void f(int* y) {}",
    "kernel void f(thread int* y) {}",
    "kernel void f(device int* y [[buffer(0)]], device int* x [[buffer(0)]]) {}",
    "kernel void f(threadgroup int* y [[threadgroup(1)]], threadgroup int* x [[threadgroup(1)]]) {}",
    "constant bool c [[function_constant(0)]];"
    "kernel void f(device int* y [[buffer(0)]], device int* x [[buffer(0), function_constant(c)]]) {}",
    "kernel void f(device int* y [[buffer(0)]], threadgroup int* x [[threadgroup(0)]]) {}",
    "kernel void f(device int* y [[buffer(31)]]) {}",
    "kernel void f(device int* y [[buffer(-1)]]) {}",
    "kernel void f(threadgroup int* y [[threadgroup(40)]]) {}",
    "kernel void f(device int* y, uint4 p [[thread_position_in_grid]]) {}",
    "kernel void f(device int* y, uint2 p [[thread_index_in_simdgroup]]) {}",
    "kernel void f(device int* y, float p [[thread_position_in_grid]]) {}",
    "kernel void f(device int* y, uint p [[thread_positon_in_grid]]) {}",
    "kernel void f(device int* y, uint p [[thread_position_in_grid, unheard_of(3)]]) {}",
    "kernel void f(const device int* y) { y[0] = 1; }",
    "kernel void f(constant int* y) { y[0] = 1; }",
    "kernel void f(device int* y) { constant int* p = y; }",
    "kernel void f(device int* y) { threadgroup float x[4] = {1, 2, 3, 4}; }",
    "kernel void f(device int* y) { threadgroup float x = 1; }",
    "kernel void f(device int* y) { static int n = 0; y[0] = ++n; }",
    "int n = 0; kernel void f(device int* y) { y[0] = ++n; }",
    "namespace a { extern \"C\" { int n = 0; } }",
    "constant int n;",
    "constant int n = 1; kernel void f(device int* y) { n = 2; }",
    "constant packed_float4 n [[function_constant(0)]];",
    "kernel void f(array<device int*, 4> y [[buffer(28)]]) {}",
    "kernel void f(array<device int*, 4> y [[buffer(0)]], device int* x [[buffer(3)]]) {}",
    "kernel void f(array<int, 4> y [[buffer(0)]]) {}",
    "constant int n [[function_constant(0)]]; constant int m [[function_constant(0)]];",
    "constant float n = 1 / 0;",
    "kernel void f(device float2* y) { y[0] = float2{1, 2, 3}; }",
    "kernel void f(device float4* y) { y[0] = float4{float3(1), 2, 3}; }",
    "kernel void f(device float2* y) { y[0] = float2(1, 2, 3); }",
    "kernel void f(device float4* y) { y[0].xx = float2(1); y[0] = y[0].xyq; }",
    "kernel void f(device float4* y) { y[0] = y[0].xyr; }",
    "kernel void f(device half* y) { bfloat b = y[0]; half h = b; }",
    "kernel void f(device int* y) { goto end; end: y[0] = 1; }",
    "kernel void f(device int* y) { try { y[0] = 1; } catch (...) {} }",
    "kernel void f(device int* y) { throw 1; }",
    "kernel void f(device int* y) { y[0] = *new int(1); }",
    "struct A { virtual int f() { return 1; } };",
    "kernel void f(device int* y) { y[0] = dynamic_cast<int>(1); }",
    "kernel void f(device int* y) { y[0] = sizeof(long double); }",
    "template <int N> struct A { static constant constexpr int n = A<N + 1>::n; };\n"
    "kernel void f(device int* y) { y[0] = A<0>::n; }",
    "constexpr int g(int n) { return n == 0 ? 0 : g(n - 1); } static_assert(g(100000) == 0);",
    "static_assert(sizeof(int) == 8, \"told\");",
    "#error told\n",
    "#include \"missing.h\"\n",
    "#if 1\n",
    "#pragma clang fp contract(off)\nkernel void f(device float* y) { y[0] = 1;\n#pragma clang fp contract(fast)\n }",
    "kernel void f(device int* y) { /* ",
    "kernel void f(device int* y) { char c = 'ab'; y[0] = \"text; }",
    "kernel void f(device int* y) { atomic_fetch_add_explicit(y, 1, memory_order_relaxed); }",
    "kernel void f(device atomic_int* y) { *y = 1; }",
    "kernel void f(device atomic_int* y) { atomic_fetch_add_explicit(y, 1, memory_order_seq_cst); }",
    "kernel void f(device int* y) { y[0] = simd_sum(float2x2(1)); }",
    "kernel void f(device int* y) { simdgroup_float8x8 a; y[0] = a; }",
    "kernel void f(device int* y) { texture2d<float> t; }",
    "[[kernel]] void f(device int* y) { [[maybe_unused]] int n = 2.5; y[0] = 1 << 40; }",
    "kernel void f(device int* y) { int n; y[0] = n; y[5 - 6] = 1; if (y[0] = 2) y[0] == 3; }",
    "kernel void f(device int* y, uint i [[thread_position_in_grid]]) { for (int k = 0; k < i; ++k) y[k] = 1; }",
    "int g(int n) { if (n) return 1; } kernel void f(device int* y) { y[0] = g(1); }",
    "template <typename T> kernel void f(device T* y) { y[0] = T::none; }\n"
    "template [[host_name(\"f_int\")]] kernel void f<int>(device int*);",
    "template <typename T> kernel void f(device T* y) {}\n"
    "template [[host_name(\"g\")]] kernel void f<int>(device int*);\n"
    "template [[host_name(\"g\")]] kernel void f<uint>(device uint*);",
    "kernel void f(device int* y) { auto g = [=](int n) mutable { return g(n); }; }",
    "kernel void f(device int* y) { device int& r; thread int& s = y[0]; }",
    "void f(device int* y) {} void f(device int* y) {}",
    "kernel void f(device int* y) { int a[3] = {1, 2, 3, 4}; }",
    "kernel void f(device int* y) { int n = 3; int a[n]; }",
    "kernel void f(device int* y) { y[0] = as_type<int>(1.0h); }",
    "kernel void f(device int* y) { return 1; }",
    "kernel void f(device int* y) { using namespace std; y[0] = std::max(1, 2); }",
    "#include <vector>\n",
    "union U { int a; float b; }; kernel void f(device U* y) { y[0] = U{.c = 1}; }",
    "kernel void f(device int* y) { switch (y[0]) { case 1: case 1: y[0] = 2; } }",
    "kernel void f(device int* y) { break; }",
    "kernel void f(device int y[]) { y[0] = 08; }",
    "kernel void f(device float* y) { y[0] = 1e99f + 1.0hh; }",
]  # fmt: skip

RIGHT = """
extern constant int given [[function_constant(3)]];
constant int other [[function_constant(4)]];
static constant float third [[function_constant(5)]];
const constant bool fourth [[function_constant(6)]];
constant constexpr short fifth [[function_constant(7)]];
extern "C" { constant int inside = 1; }
namespace a { namespace { constant int inner = 2; } }
constant alignas(16) float aligned[4] = {1, 2, 3, 4};
#pragma METAL internals : enable
#pragma clang fp contract(off)
kernel void f(device float* y [[buffer(0), function_constant(fourth)]], device float* z [[buffer(1)]],
              uint i [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]]) {
#pragma clang fp contract(fast)
  threadgroup alignas(16) float shared[64];
  [[maybe_unused]] threadgroup float zeroed[4] = {0};
  shared[lane] = given + other + third + (fourth ? 1 : 2) + fifth + inside + a::inner + aligned[i % 4];
  if (fourth) y[i] = shared[lane ^ 1u];
#pragma unroll
  for (uint k = 0; k < 4; ++k) z[i + k] = float(i) + 1.5h + float(1.5bf);
  [[unlikely]] if (i > 5) return;
}
[[kernel, max_total_threads_per_threadgroup(64)]] void g(device int* y [[buffer(0)]]) { y[0] = 1; }
"""


def messages(source: str) -> str:
    """What is said about the source, without the library's lines and without the source itself."""
    command = [METALC, "--emit", "llvm", "-o", "/dev/null", "/dev/stdin"]
    run = subprocess.run(command, input=HEAD + source, capture_output=True, text=True)
    lines = run.stderr.replace("/dev/stdin:", "").splitlines()
    told = [line for line in lines if re.match(r"\d+:\d+: |metalc: ", line)]
    return "\n".join([f"exit {run.returncode}", *told, ""])


def all_messages() -> str:
    return "\n".join(f"==== {source}\n{messages(source)}" for source in WRONG)


def test_messages_about_wrong_kernels():
    want = GOLDEN.read_text().split("\n==== ")
    for got, expected in zip(all_messages().split("\n==== "), want, strict=True):
        assert got.strip() == expected.strip()


def test_nothing_is_said_about_right_kernels():
    assert messages(RIGHT) == "exit 0\n"


if __name__ == "__main__":
    print(all_messages())
