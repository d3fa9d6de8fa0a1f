"""Shuffles, broadcasts and fills: every type of data with every integer type of lanes and distances."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import TARGET, run_one, share

SCALARS = ["bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong"]
SCALARS += ["half", "bfloat", "float"]
VECTORS = [f"{kind}{n}" for kind in SCALARS for n in (2, 3, 4)]
LANES = ["bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong", "size_t"]
INCLUDE = '#include "mlx/backend/metal/kernels/utils.h"\n'

# MSL: a value that differs between lanes, and a bit for each function that gives a lane a wrong
# result.
LIBRARY = """
template <typename T> struct values {
  static T at(uint i) { return T(i + 1); }
  static bool same(T a, T b) { return a == b; }
};
template <> struct values<bool> {
  static bool at(uint i) { return (i * 11 >> 1 & 3) == 1; }
  static bool same(bool a, bool b) { return a == b; }
};
template <typename T, int N> struct values<vec<T, N>> {
  static vec<T, N> at(uint i) {
    vec<T, N> v;
    for (int k = 0; k < N; ++k) v[k] = values<T>::at(i + 41 * k);
    return v;
  }
  static bool same(vec<T, N> a, vec<T, N> b) { return all(a == b); }
};

template <typename T, typename L> uint wrong(uint lane, uint distance) {
  const L d = L(distance), other = L((lane * 5 + 3) % 32);
  const uint n = uint(ushort(d)), quad = lane & ~3u, q = lane & 3u;
  const T v = values<T>::at(lane), f = values<T>::at(lane + 50);
  uint bits = 0, bit = 0;
  auto check = [&](T got, uint source, uint added = 0) {
    bits |= values<T>::same(got, values<T>::at(source + added)) ? 0u : 1u << bit;
    ++bit;
  };
  check(simd_shuffle(v, other), uint(ushort(other)));
  check(simd_broadcast(v, d), n);
  check(simd_shuffle_xor(v, d), lane ^ n);
  check(simd_shuffle_down(v, d), lane + n < 32 ? lane + n : lane);
  check(simd_shuffle_up(v, d), lane >= n ? lane - n : lane);
  check(simd_shuffle_rotate_down(v, d), (lane + n) % 32);
  check(simd_shuffle_rotate_up(v, d), (lane - n) % 32);
  check(simd_shuffle_and_fill_down(v, f, d), (lane + n) % 32, lane + n < 32 ? 0 : 50);
  check(simd_shuffle_and_fill_up(v, f, d), (lane - n) % 32, lane >= n ? 0 : 50);
  check(simd_shuffle_and_fill_down(v, f, d, 8), (lane & ~7u) | ((lane + n) & 7),
        (lane & 7) + n < 8 ? 0 : 50);
  check(simd_shuffle_and_fill_up(v, f, d, L(8) > 1 ? L(8) : L(1)),
        L(8) > 1 ? (lane & ~7u) | ((lane - n) & 7) : lane,
        (L(8) > 1 ? lane & 7 : 0) >= n ? 0 : 50);
  check(simd_broadcast_first(v), 0);
  check(quad_shuffle(v, d), quad + n);
  check(quad_broadcast(v, d), quad + n);
  check(quad_shuffle_xor(v, d), lane ^ n);
  check(quad_shuffle_down(v, d), q + n < 4 ? lane + n : lane);
  check(quad_shuffle_up(v, d), q >= n ? lane - n : lane);
  check(quad_shuffle_rotate_down(v, d), quad + ((q + n) & 3));
  check(quad_shuffle_rotate_up(v, d), quad + ((q - n) & 3));
  check(quad_shuffle_and_fill_down(v, f, d), quad + ((q + n) & 3), q + n < 4 ? 0 : 50);
  check(quad_shuffle_and_fill_up(v, f, d), quad + ((q - n) & 3), q >= n ? 0 : 50);
  check(quad_broadcast_first(v), quad);
  return bits;
}

// Which function is called, without code.
template <typename T, typename L> constexpr bool chosen() {
  T v; L d;
  static_assert(is_same_v<decltype(simd_shuffle(v, d)), T>);
  static_assert(is_same_v<decltype(simd_broadcast(v, d)), T>);
  static_assert(is_same_v<decltype(simd_shuffle_xor(v, d)), T>);
  static_assert(is_same_v<decltype(simd_shuffle_down(v, d)), T>);
  static_assert(is_same_v<decltype(simd_shuffle_up(v, d)), T>);
  static_assert(is_same_v<decltype(simd_shuffle_rotate_down(v, d)), T>);
  static_assert(is_same_v<decltype(simd_shuffle_rotate_up(v, d)), T>);
  static_assert(is_same_v<decltype(simd_shuffle_and_fill_down(v, v, d)), T>);
  static_assert(is_same_v<decltype(simd_shuffle_and_fill_up(v, v, d)), T>);
  static_assert(is_same_v<decltype(simd_shuffle_and_fill_down(v, v, d, d)), T>);
  static_assert(is_same_v<decltype(simd_shuffle_and_fill_up(v, v, d, d)), T>);
  static_assert(is_same_v<decltype(quad_shuffle(v, d)), T>);
  static_assert(is_same_v<decltype(quad_broadcast(v, d)), T>);
  static_assert(is_same_v<decltype(quad_shuffle_xor(v, d)), T>);
  static_assert(is_same_v<decltype(quad_shuffle_down(v, d)), T>);
  static_assert(is_same_v<decltype(quad_shuffle_up(v, d)), T>);
  static_assert(is_same_v<decltype(quad_shuffle_rotate_down(v, d)), T>);
  static_assert(is_same_v<decltype(quad_shuffle_rotate_up(v, d)), T>);
  static_assert(is_same_v<decltype(quad_shuffle_and_fill_down(v, v, d)), T>);
  static_assert(is_same_v<decltype(quad_shuffle_and_fill_up(v, v, d, d)), T>);
  return true;
}
"""
COMPLEX = """
template <> struct values<complex64_t> {
  static complex64_t at(uint i) { return {float(i), -2.0f * i}; }
  static bool same(complex64_t a, complex64_t b) { return a == b; }
};
"""


def pairs(types: list[str]) -> list[tuple[str, str]]:
    """Some types of data, each with another type of lanes: only these run, to save time."""
    chosen = types[1::8] if types is VECTORS else types[::2]
    return share([(name, LANES[3 * i % len(LANES)]) for i, name in enumerate(chosen)])


def lanes_of(name: str) -> list[str]:
    """All types of lanes for a scalar; they are distributed over the vectors of a scalar's type."""
    size = int(name[-1]) if name in VECTORS else 0
    return LANES[size % 3 :: 3] if size else LANES


def statements(types: list[str]) -> tuple[str, str]:
    """Code that resolves overloads for all pairs of types, and code that runs for some."""
    chosen = "".join(
        f"static_assert(chosen<{name}, {lane}>());" for name in types for lane in lanes_of(name)
    )
    runs = "".join(
        f"out[{32 * i} + lane] = wrong<{name}, {lane}>(lane, d);"
        for i, (name, lane) in enumerate(pairs(types))
    )
    return "" if TARGET else chosen, runs  # overloads are the same for every processor


def check(got: mx.array, types: list[str]) -> None:
    """Names the pairs whose functions gave wrong results."""
    bits = np.array(got).reshape(-1, 32)
    bad = [(*pair, hex(row.max())) for pair, row in zip(pairs(types), bits) if row.any()]
    assert bad == []


@pytest.mark.parametrize("types", [SCALARS, VECTORS], ids=["scalars", "vectors"])
@pytest.mark.parametrize("distance", [1, 3])
def test_kernels_of_their_own(types: list[str], distance: int):
    chosen, runs = statements(types)
    source = f"""
        #include <metal_stdlib>
        using namespace metal;
        {LIBRARY}
        {chosen}
        kernel void lanes(const device uint* k, device uint* out,
                          uint lane [[thread_index_in_simdgroup]]) {{
          const uint d = k[0];
          {runs}
        }}
    """
    kernel = mx.fast.metal_kernel(name="lanes", source=source)
    size = 32 * len(pairs(types))
    got = kernel(
        mx.array([distance], mx.uint32),
        mx.zeros(size, mx.uint32),
        grid=(32, 1, 1),
        threadgroup=(32, 1, 1),
    )
    check(got, types)


@pytest.mark.parametrize("include", ["", INCLUDE], ids=["plain", "include"])
def test_bodies(include: str):
    types = ["complex64_t", "float", "int2", "complex64_t", "bool"]
    chosen, runs = statements(types)
    kernel = mx.fast.metal_kernel(
        "lanes_in_a_body",
        ["k"],
        ["out"],
        f"""
        const uint d = k[0], lane = thread_index_in_simdgroup;
        {runs}
        """,
        include + LIBRARY + COMPLEX + chosen,
    )
    size = 32 * len(pairs(types))
    (got,) = kernel(
        inputs=[mx.array([3], mx.uint32)],
        grid=(32, 1, 1),
        threadgroup=(32, 1, 1),
        output_shapes=[(size,)],
        output_dtypes=[mx.uint32],
    )
    check(got, types)


def test_distances_of_a_loop():
    body = """
        uint i = thread_position_in_grid.x;
        float v = x[i];
        for (uint d = 16; d > 0; d /= 2) v += simd_shuffle_down(v, d);
        int w = int(x[i]);
        for (ulong d = 1; d < 32; d *= 2) w = max(w, simd_shuffle_xor(w, d));
        out[i] = i == 0 ? v : float(w);
    """
    x = np.arange(32, dtype=np.float32) * 3
    got = run_one(body, {"x": x}, {"out": ((32,), mx.float32)}, 32)
    np.testing.assert_array_equal(got, [x.sum()] + [93] * 31)
