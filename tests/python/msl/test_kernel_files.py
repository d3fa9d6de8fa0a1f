"""Other parts of kernel files: static members, coherent memory, names of their own."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one

THREADGROUP = 32


def run_file(name: str, source: str, *arrays: mx.array, threads: int = THREADGROUP) -> np.ndarray:
    """Runs a kernel whose last argument is its output."""
    kernel = mx.fast.metal_kernel(name=name, source="#include <metal_stdlib>\n" + source)
    return np.array(kernel(*arrays, grid=(threads, 1, 1), threadgroup=(THREADGROUP, 1, 1)))


def test_static_members_defined_outside_their_class():
    source = """
        using namespace metal;
        template <int M, int R, int S> struct Tiles {};
        template <> struct Tiles<2, 3, 4> {
          static constexpr constant int kSize = 4;
          static constant constexpr const float t[4][8] = {
            {0, 1, 2, 3, 4, 5, 6, 7}, {8, 9, 10, 11, 12, 13, 14, 15}, {16}, {24, -25}};
        };
        constant constexpr const float Tiles<2, 3, 4>::t[4][8];
        struct Plain { static constant const uint offset; static constant const float2 scales[2]; };
        constant const uint Plain::offset = 100;
        namespace outer { struct Deep { static constant const int n; }; }
        constant const int outer::Deep::n = 1000;
        constant const float2 Plain::scales[2] = {float2(1, 2), float2(3, 4)};
        kernel void members(device float* out, uint i [[thread_position_in_grid]]) {
          out[i] = Tiles<2, 3, 4>::t[i / 8][i % 8] + Plain::offset + outer::Deep::n +
                   Plain::scales[i % 2].y * 1e4f + Tiles<2, 3, 4>::kSize * 1e5f;
        }
    """
    got = run_file("members", source, mx.zeros(32))
    table = np.zeros(32)
    table[:17] = np.arange(17)
    table[24:26] = [24, -25]
    scale = np.where(np.arange(32) % 2, 4, 2) * 1e4
    np.testing.assert_array_equal(got, table + 1100 + scale + 4e5)


def test_coherent_memory_and_fences():
    """A kernel that waits for a value of another device, which is already there."""
    source = """
        #ifndef __METAL_MEMORY_SCOPE_SYSTEM__
        #error no fences between devices
        #endif
        kernel void waits(volatile coherent(system) device uint* input [[buffer(0)]],
                          device coherent(device) const uint* same [[buffer(1)]],
                          device coherent uint* out [[buffer(2)]],
                          uint i [[thread_position_in_grid]]) {
          input[i] = input[i];
          metal::atomic_thread_fence(metal::mem_flags::mem_device, metal::memory_order_seq_cst,
                                     metal::thread_scope_system);
          while (true) {
            if (input[i] >= same[i]) break;
          }
          bool coherent = true;
          out[i] = coherent ? input[i] + 1 : 0;
        }
    """
    x = mx.arange(32).astype(mx.uint32)
    got = mx.fast.metal_kernel(name="waits", source="#include <metal_stdlib>\n" + source)(
        x, x, mx.zeros(32, mx.uint32), grid=(32, 1, 1), threadgroup=(32, 1, 1)
    )
    np.testing.assert_array_equal(
        np.array(got[-1] if isinstance(got, (list, tuple)) else got), np.arange(32) + 1
    )


ZEROED = """
    using namespace metal;
    struct Pair { float a; int b[3]; };
    template <typename T, int N> float in_a_function(uint i) {
      threadgroup T x[N] = {0}, y[N] = {};
      threadgroup T single = 0;
      float before = float(x[i % N]) + float(y[i % N]) + float(single);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      x[i % N] = y[i % N] = single = T(1);
      return before;
    }
    #define SHARED threadgroup float of_a_macro[4] = {0.0f, 0.e3f, 0x0, 0}
    kernel void zeroed(device float* out, uint g [[thread_position_in_grid]],
                       uint i [[thread_position_in_threadgroup]]) {
      threadgroup float b[32] = {0};
      threadgroup Pair pair = {0};
      threadgroup float4 vectors[8] = {};
      threadgroup bool flag = false;
      threadgroup half h{0.0h};
      threadgroup uchar bytes[5] = {0, 0, 0};
      threadgroup array<int, 3> a = {0};
      threadgroup atomic_uint count = {0};
      SHARED;
      float sum = b[i % 32] + pair.a + pair.b[i % 3] + vectors[i % 8].w + float(flag) + h +
                  bytes[i % 5] + a[i % 3] + of_a_macro[i % 4] + in_a_function<half, 5>(i) +
                  in_a_function<int, 64>(i);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      b[i % 32] = pair.a = pair.b[i % 3] = vectors[i % 8].w = h = bytes[i % 5] = a[i % 3] = 7;
      of_a_macro[i % 4] = 7; flag = true;
      atomic_fetch_add_explicit(&count, 1u, memory_order_relaxed);
      threadgroup_barrier(mem_flags::mem_threadgroup);
      out[g] = sum * 1000 + atomic_load_explicit(&count, memory_order_relaxed);
    }
"""


@pytest.mark.parametrize("threads", [1000, 7])
def test_threadgroup_memory_that_starts_as_zeros(threads: int):
    """Each threadgroup leaves other values in memory for the next one."""
    kernel = mx.fast.metal_kernel(name="zeroed", source="#include <metal_stdlib>\n" + ZEROED)
    got = kernel(mx.zeros(threads), grid=(threads, 1, 1), threadgroup=(48, 1, 1))
    want = np.full(threads, 48)
    want[threads // 48 * 48 :] = threads % 48
    np.testing.assert_array_equal(np.array(got), want)


def test_all_threads_see_zeros_before_any_writes():
    """Threads of one SIMD-group write memory that others must clear before."""
    source = """#include <metal_stdlib>
    kernel void mirrored(device uint* out, uint g [[thread_position_in_grid]],
                         uint i [[thread_position_in_threadgroup]]) {
      threadgroup uint b[256] = {0};
      b[255 - i] += i + 1;
      metal::threadgroup_barrier(metal::mem_flags::mem_threadgroup);
      out[g] = b[i];
    }
    """
    kernel = mx.fast.metal_kernel(name="mirrored", source=source)
    got = kernel(mx.zeros(1024, mx.uint32), grid=(1024, 1, 1), threadgroup=(256, 1, 1))
    np.testing.assert_array_equal(np.array(got).reshape(4, 256), [np.arange(256, 0, -1)] * 4)


@pytest.mark.parametrize(
    "declaration, message",
    [
        ("float x = 1;", "cannot have an initializer"),
        ("float x[2] = {0, out[0]};", "cannot have an initializer"),
        ("float x = 0x1;", "cannot have an initializer"),
        ("float x = 0.0e0f + 1;", "cannot have an initializer"),
        ("With x = {};", "of this class cannot have an initializer"),
    ],
)
def test_other_values_of_threadgroup_memory_are_refused(declaration: str, message: str):
    header = "struct With { int a = 5; };"
    with pytest.raises(RuntimeError, match=message):
        run_one(
            f"threadgroup {declaration} out[0] = 1;",
            {},
            {"out": ((1,), mx.float32)},
            1,
            header=header,
        )
    header = "struct Without { int a; };"
    body = "threadgroup Without x = {}; out[0] = x.a;"
    assert run_one(body, {}, {"out": ((1,), mx.float32)}, 1, header=header)[0] == 0


# Names that programs use and Metal's library does not have: names in C++'s standard library, and
# names that an implementation of Metal's library may use.
PLAIN_NAMES = """
    forward move declval swap exchange pair tuple get tie apply invoke ref optional variant any_of
    all_of none_of find count sort copy fill transform accumulate reduce begin end size data empty
    advance next prev midpoint gcd lcm hash plus minus multiplies divides modulus negate less greater
    equal_to logical_and bit_and bit_cast byte identity type_identity remove_cvref void_t nullopt
    function vector string list map set queue stack iterator range span view unique ratio duration
    low high lower upper left right first second last middle inner outer top bottom near far
    width height depth rows cols columns channels batch heads stride strides offset offsets shape
    dim dims ndim index indices lane lanes warp block blocks tile tiles group groups grid thread_id
    simd quad simd_size simdgroup_size wave value values element elements component components
    storage bits bits_of float_of raw mask masks magnitude exponent mantissa fraction sign_of sign_bit
    infinity inf nan epsilon eps pi tau e euler inverse inverted backward is_forward causal masked
    scale scales scaled bias biases weight weights gamma beta alpha delta theta lambda sigma mu
    input output in out result results src dst source target from to a b c x y z w r g n m k i j
    convert converted widen narrow pack unpack packed load store loaded stored add sub mul div mod
    larger smaller largest smallest least most mean sum prod product total average variance norm
    is_nan is_inf both either neither two_sum two_product square cube relu gelu silu softmax
    sigmoid erf erfinv lgamma tgamma expm1 log1p_ hypot cbrt lerp sincosf powi uniform_ normal
    random seed state key counter round_up round_down ceil_div cdiv align aligned pad padding
    axis axes order traits detail impl internal helpers utils common base derived text code rest
    flag flags mode op kind type tag level scope fence barrier lock mutex semaphore ticket
    vec2 vec3 vec4 mat2 mat3 mat4 dvec ivec uvec color colour texture_size texel image sampler_state
    half8 float8 int8 uint8 bf16 f16 f32 i8 u8 i16 u16 i32 u32 i64 u64 fp16 fp32 complex complex64
""".split()


@pytest.mark.parametrize("what", ["constants", "function constants", "functions"])
def test_names_that_are_free(what: str):
    """Names of constants, function constants and functions, with `using namespace metal`."""
    declarations, uses = "", ""
    for k, name in enumerate(PLAIN_NAMES):
        if what == "constants":
            declarations += f"constant int {name} = {k + 1};"
            uses += f"+ {name}"
        elif what == "function constants":
            declarations += f"constant int {name} [[function_constant({k})]];"
            uses += f"+ (is_function_constant_defined({name}) ? {name} : {k + 1})"
        else:
            declarations += f"inline int {name}(float x) {{ return int(x) + {k}; }}"
            uses += f"+ {name}(1.0f)"
    source = f"""
        using namespace metal;
        {declarations}
        kernel void names(device float* values_, uint id [[thread_position_in_grid]]) {{
          values_[id] = float(0 {uses});
        }}
    """
    got = run_file("names", source, mx.zeros(1), threads=1)
    assert got[0] == len(PLAIN_NAMES) * (len(PLAIN_NAMES) + 1) // 2


@pytest.mark.parametrize("declaration", """
    constant int | int constant | const constant int | constant const int | const int constant
    static constant int | constant static int | unsigned int constant | constant unsigned int
    extern constant int | extern int constant
""".strip().replace("\n", "|").split("|"))  # fmt: skip
def test_words_of_a_function_constant_in_any_order(declaration: str):
    source = f"""
        using namespace metal;
        {declaration} flag [[function_constant(0)]];
        constant int chosen = is_function_constant_defined(flag) ? int(flag) : 7;
        kernel void f(device float* y, uint id [[thread_position_in_grid]]) {{ y[id] = chosen; }}
    """
    assert run_file("f", source, mx.zeros(1), threads=1)[0] == 7


def test_array_parameters_are_pointers():
    source = """
        using namespace metal;
        constant constexpr int kRows = 4;
        float last(const device float values[16], uint i) { return values[15 - i]; }
        float sum(threadgroup float tile[kRows][8], int row) {
          float total = 0;
          for (int k = 0; k < 8; ++k) total += tile[row][k];
          return total;
        }
        float at(threadgroup const float cube[][2][4], uint i, constant int scales[2]) {
          return cube[i / 8][i / 4 % 2][i % 4] * scales[1];
        }
        constant int scales[2] = {2, 3};
        kernel void f(const device float x[16] [[buffer(0)]], device float y[] [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
          threadgroup float tile[kRows][8];
          tile[i / 8][i % 8] = x[i % 16];
          threadgroup_barrier(mem_flags::mem_threadgroup);
          if (const device float* p = &x[i % 16]) y[i] = *p + 100 * last(x, i % 16);
          y[i] += 10000 * sum(tile, i / 8);
          y[i] += at(reinterpret_cast<threadgroup float(*)[2][4]>(&tile[0][0]), i, scales);
        }
    """
    x = np.arange(16, dtype=np.float32)
    y = run_file("f", source, mx.array(x), mx.zeros(32))
    i = np.arange(32)
    tile = x[i % 16].reshape(4, 8)
    expected = x[i % 16] + 100 * x[15 - i % 16] + 10000 * tile.sum(1)[i // 8] + 3 * tile.ravel()
    assert np.array_equal(y, expected)


@pytest.mark.parametrize("space", ["device", "const device", "device const", "constant"])
@pytest.mark.parametrize("count", [1, 2, 3, 7])
def test_arrays_of_buffers(space: str, count: int):
    """Their elements have the indices from that of the argument on."""
    source = f"""
        using namespace metal;
        kernel void buffers(const array<{space} float*, {count}> inputs [[buffer(0)]],
                            constant int* first, device float* out [[buffer(COUNT)]],
                            uint i [[thread_position_in_grid]]) {{
          float sum = 0;
          for (size_t k = 0; k < inputs.size(); ++k) sum += inputs[(k + *first) % COUNT][i] * (k + 1);
          out[i] = sum + 1000 * inputs[COUNT - 1][0];
        }}
    """.replace("COUNT", str(count))
    inputs = [mx.array(np.arange(32, dtype=np.float32) + 100 * k) for k in range(count)]
    kernel = mx.fast.metal_kernel(name="buffers", source="#include <metal_stdlib>\n" + source)
    got = kernel(
        *inputs, mx.zeros(32), mx.array([1]), grid=(32, 1, 1), threadgroup=(THREADGROUP, 1, 1)
    )
    got = got[-1] if isinstance(got, list) else got
    want = sum(np.array(inputs[(k + 1) % count]) * (k + 1) for k in range(count))
    np.testing.assert_array_equal(np.array(got), want + 1000 * np.array(inputs[-1])[0])


def test_arrays_of_outputs():
    source = """
        using namespace metal;
        kernel void outputs(const device float* x, array<device float*, 3> out,
                            uint i [[thread_position_in_grid]]) {
          for (uint k = 0; k < 3; ++k) out[k][i] += x[i] * (k + 1);
          device float* first = out[0];
          out[0] = out[2];
          out[2] = first;
          out[0][i] += 1000;
        }
    """
    x = mx.arange(32).astype(mx.float32)
    kernel = mx.fast.metal_kernel(name="outputs", source="#include <metal_stdlib>\n" + source)
    got = kernel(x, *[mx.zeros(32)] * 3, grid=(32, 1, 1), threadgroup=(THREADGROUP, 1, 1))
    for k, result in enumerate(got):
        np.testing.assert_array_equal(np.array(result), np.arange(32) * (k + 1) + 1000 * (k == 2))


def test_names_of_the_simd_library():
    source = """
        #include <simd/simd.h>
        struct Shared {
          vector_float3 position; float mass; simd_float4 colour; simd::float2 corner;
          matrix_float3x3 rotation; simd_float4x4 view; vector_uchar4 bytes; simd_packed_float4 tail;
        };
        kernel void shared(device float* out) {
          Shared s;
          s.position = {1, 2, 3};
          s.rotation = simd_float3x3(2.0f);
          s.view = matrix_float4x4(1.0f);
          s.corner = simd::float2(4, 5);
          s.bytes = 6;
          out[0] = (s.rotation * s.position).z + s.corner.y + s.bytes.w + s.view[3][3];
          out[1] = sizeof(Shared);
        }
    """
    got = run_file("shared", source, mx.zeros(2))
    np.testing.assert_array_equal(got, [18, 16 + 16 + 16 + 16 + 48 + 64 + 32])
