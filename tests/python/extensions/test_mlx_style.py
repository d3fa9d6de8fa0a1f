"""Features that only MLX's own kernel files use: they compile, and give the right results."""

from pathlib import Path

import mlx.core as mx
import numpy as np
import pytest
from test_metalc_options import metalc

HEADER = """
#include <metal_logging>

// Constructors by address space, and conversions to them.
template <typename T>
struct pair_t {
  T first;
  T second;
  constexpr pair_t(T a, T b) thread : first(a), second(b) {};
  constexpr pair_t() thread : first(0), second(0) {};
  constexpr pair_t() threadgroup : first(0), second(0) {};
  template <typename U, typename = metal::enable_if_t<metal::is_convertible_v<U, T>>>
  constexpr pair_t(U x) thread : first(static_cast<T>(x)), second(static_cast<T>(0)) {}
  template <typename U, typename = metal::enable_if_t<metal::is_convertible_v<U, T>>>
  constexpr pair_t(U x) device : first(static_cast<T>(x)), second(static_cast<T>(0)) {}
  template <typename U, typename = metal::enable_if_t<metal::is_convertible_v<U, T>>>
  constexpr pair_t(U x) constant : first(static_cast<T>(x)), second(static_cast<T>(0)) {}
  constexpr operator metal::vec<T, 2>() const constant { return metal::vec<T, 2>(first, second); }
};
static_assert(pair_t<half>{1.0h, 2.0h}.second == 2.0h);
constant pair_t<float> kPair(5);

// Traits of one's own in Metal's namespace.
namespace metal {
template <typename T>
struct is_empty : metal::bool_constant<__is_empty(T)> {};
template <typename... Ts>
struct make_void {
  typedef void type;
};
template <typename... Ts>
using void_t = typename make_void<Ts...>::type;
template <typename T>
constexpr constant bool is_small = _disjunction<is_same<T, char>, is_same<T, short>>::value;
}  // namespace metal
static_assert(metal::is_small<short> && !metal::is_small<int> && !metal::is_empty<int>::value);
static_assert(metal::is_same_v<metal::remove_addrspace_t<const device int>, const int>);

// Arrays as parameters, in an address space.
template <typename T>
METAL_FUNC T weighted(uint2 at, constant const int64_t weights[2], device const T values[2]) {
  return at.x * weights[0] * values[0] + at.y * weights[1] * values[1];
}

// Further types for SIMD-group functions, in terms of Metal's.
inline ulong simd_shuffle_down(ulong data, ushort delta) {
  return as_type<ulong>(metal::simd_shuffle_down(as_type<uint2>(data), delta));
}
inline bool simd_shuffle_down(bool data, ushort delta) {
  return simd_shuffle_down(static_cast<uint>(data), delta);
}

constant metal::os_log logger("tests", "style");
"""

BODY = """
    uint i = thread_position_in_grid.x;
    logger.log_debug("thread %u", i);
    pair_t<float> made = float(i);
    uint2 at(i, 1);
    ulong next = simd_shuffle_down(ulong(i) << 40, ushort(1));
    bool odd = simd_shuffle_down(bool(i & 1), ushort(1));
    out[i] = made.first + kPair.first + weighted(at, x_strides, x) + (next >> 40) + (odd ? 100 : 0);
"""


@pytest.mark.cpu_kernels
def test_idioms():
    kernel = mx.fast.metal_kernel("style", ["x"], ["out"], BODY, HEADER)
    x = np.arange(64, dtype=np.float32).reshape(32, 2) + 1
    (out,) = kernel(
        inputs=[mx.array(x)],
        grid=(32, 1, 1),
        threadgroup=(32, 1, 1),
        output_shapes=[(32,)],
        output_dtypes=[mx.float32],
    )
    i = np.arange(32)
    following = np.minimum(i + 1, 31)
    wanted = i + 5 + (i * 2 * 1 + 1 * 1 * 2) + following + 100 * (following & 1)
    assert np.array(out).tolist() == wanted.tolist()


def test_function_constants_that_are_constexpr(tmp_path: Path):
    (tmp_path / "x.metal").write_text("""
        #define LIBRARY_CONST static constant constexpr const
        LIBRARY_CONST bool is_forward [[function_constant(0)]];
        LIBRARY_CONST int steps [[function_constant(1)]];
        LIBRARY_CONST int kSize = 4;
        [[kernel]] void walk(device int* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
          for (int s = 0; s < steps; ++s) x[i] += is_forward ? kSize : -kSize;
        }
    """)
    metalc("-o", "x.metallib", "x.metal", cwd=tmp_path)
    assert "walk(" in metalc("--list", "x.metallib", cwd=tmp_path)


def test_headers_for_apples_compiler_only_give_way(tmp_path: Path):
    kernels = tmp_path / "mlx" / "backend" / "metal" / "kernels"
    kernels.mkdir(parents=True)
    (kernels / "bf16_math.h").write_text("#error only Apple's compiler understands this\n")
    (kernels / "own.h").write_text('#include "mlx/backend/metal/kernels/bf16_math.h"\n')
    (tmp_path / "x.metal").write_text("""
        #include <metal_stdlib>
        #include "mlx/backend/metal/kernels/own.h"
        kernel void f(device bfloat* x, uint i [[thread_position_in_grid]]) { x[i] = metal::exp(x[i]); }
    """)
    metalc("-I", ".", "-o", "x.metallib", "x.metal", cwd=tmp_path)
