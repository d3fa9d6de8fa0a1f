"""The rest of the standard library: type traits, array, pack and unpack, names accepted anywhere."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_one

TRAITS = [
    "is_same_v<float, float> && !is_same<float, half>::value",
    "is_same_v<enable_if_t<true, int>, int>",
    "is_same_v<conditional_t<false, int, half>, half>",
    "is_integral_v<uchar> && is_integral<ulong>::value && !is_integral_v<float>",
    "is_floating_point_v<half> && is_floating_point_v<bfloat> && is_floating_point<float>::value",
    "is_signed_v<int> && is_unsigned_v<uint> && !is_signed<uchar>::value",
    "is_same_v<remove_cv_t<const volatile int>, int> && is_same_v<remove_const_t<const int>, int>",
    "is_same_v<remove_reference_t<thread float&>, float> && is_same_v<decay_t<const float&>, float>",
    "is_same_v<make_unsigned_t<int>, uint> && is_same_v<make_signed_t<ulong>, long>",
    "bool_constant<true>::value && true_type() && !false_type::value",
    "integral_constant<int, 3>() == 3 && integral_constant<int, 3>::value == 3",
    "is_convertible_v<int, float> && is_arithmetic_v<bfloat> && is_pointer_v<device float*>",
    "is_same_v<remove_addrspace_t<device float>, float> && is_void_v<void>",
    "conjunction_v<is_integral<int>, is_signed<int>> && negation_v<is_same<int, uint>>",
    "is_same_v<common_type_t<int, float>, float> && is_same_v<common_type_t<char, half, int>, half>",
    "metal::is_same_v<metal::remove_pointer_t<int*>, int> && is_vector_v<float4>",
    "is_null_pointer_v<decltype(nullptr)> && !is_null_pointer_v<device float*>",
    "is_move_constructible_v<int> && is_copy_assignable<int>::value && !is_move_assignable_v<const int>",
    "is_same_v<typename bare<device const float>::type, const float>",
    "is_same_v<typename bare<threadgroup float>::type, float> && is_same_v<typename bare<float>::type, float>",
]


def test_type_traits():
    header = """
        template <typename T> struct bare { using type = T; };
        template <typename T> struct bare<device T> { using type = T; };
        template <typename T> struct bare<threadgroup T> { using type = T; };
    """
    body = "".join(f"out[{i}] = {trait};" for i, trait in enumerate(TRAITS))
    got = run_one(body, {}, {"out": ((len(TRAITS),), mx.int32)}, 1, header=header)
    assert [trait for trait, holds in zip(TRAITS, got) if not holds] == []


def test_overloads_chosen_by_traits():
    header = """
        template <typename T, enable_if_t<is_integral_v<T>, bool> = true> float kind(T) { return 1; }
        template <typename T, enable_if_t<is_floating_point_v<T>, bool> = true> float kind(T) { return 2; }
        template <typename T> float tag(T, true_type) { return 10; }
        template <typename T> float tag(T, false_type) { return 20; }
    """
    body = "out[0] = kind(1u) + tag(1, is_same<int, float>()); out[1] = kind(1.0h) + tag(1, bool_constant<true>());"
    got = run_one(body, {}, {"out": ((2,), mx.float32)}, 1, header=header)
    np.testing.assert_array_equal(got, [21, 12])


def test_array():
    header = "constant array<float, 3> kTable = {10, 20, 30};"
    body = """
        threadgroup array<int, 4> shared;
        array<float, 4> a = {1, 2, 3, 4};
        array<array<int, 2>, 2> nested = {};
        a[2] = 30; a.back() += 1;
        float sum = 0;
        for (float v : a) sum += v;
        for (size_t i = 0; i < a.size(); ++i) shared[i] = a[i];
        shared.front() = 7;
        array<float, 4> b = a;
        b.fill(2);
        nested[1][0] = 5;
        out[0] = sum; out[1] = shared[0] + shared[3]; out[2] = a.size(); out[3] = b[3]; out[4] = kTable[1];
        out[5] = nested[1][0] + nested[0][1]; out[6] = *(a.data() + 1); out[7] = sizeof(array<half, 5>);
        array d{1.0f, 2.0f}; out[8] = d[1];
    """
    got = run_one(body, {}, {"out": ((9,), mx.float32)}, 1, header=header)
    np.testing.assert_array_equal(got, [38, 12, 4, 2, 20, 5, 2, 10, 2])


def test_pack_and_unpack():
    body = """
        uint bits = pack_float_to_unorm4x8(float4(0, 0.5, 1, 2));
        out[0] = bits;
        out[1] = pack_float_to_snorm4x8(float4(-1, 1, 0, -2));
        out[2] = pack_float_to_unorm2x16(float2(1, 0.25));
        out[3] = pack_half_to_snorm2x16(half2(-1, 0.5));
        out[4] = pack_float_to_unorm10a2(float4(1, 0, 1, 1));
        out[5] = pack_float_to_unorm565(float3(1, 0, 1));
        float4 v = unpack_unorm4x8_to_float(bits);
        half4 h = unpack_snorm4x8_to_half(0x80ff7f00);
        float2 s = unpack_snorm2x16_to_float(0x80007fff);
        float3 c = unpack_unorm565_to_float(0xf81f);
        out[6] = uint(v.y * 255) + uint(v.w * 1000);
        out[7] = h.y == 1 && h.w == -1 && h.x == 0 && s.x == 1 && s.y == -1 && c.x == 1 && c.y == 0;
    """
    got = run_one(body, {}, {"out": ((8,), mx.uint32)}, 1)
    want = [0xFFFF8000, 0x81007F81, 0x4000FFFF, 0x40008001, 0xFFF003FF, 0xF81F, 1128, 1]
    np.testing.assert_array_equal(got, want)


def test_pixels_in_srgb():
    body = """
        uint i = thread_position_in_grid.x;
        float4 linear = unpack_unorm4x8_srgb_to_float(i | (255 - i) << 8 | i << 24);
        out[4 * i] = linear.x; out[4 * i + 1] = linear.y; out[4 * i + 2] = linear.w;
        out[4 * i + 3] = pack_float_to_srgb_unorm4x8(linear) == (i | (255 - i) << 8 | i << 24)
            && pack_half_to_srgb_unorm4x8(half4(0, 1, 2, -1)) == 0xffff00
            && unpack_unorm4x8_srgb_to_half(i).x == half(linear.x);
    """
    got = run_one(body, {}, {"out": ((256, 4), mx.float32)}, 256)
    stored = np.arange(256) / 255
    curve = np.where(stored <= 0.04045, stored / 12.92, ((stored + 0.055) / 1.055) ** 2.4)
    want = np.stack([curve, curve[::-1], stored, np.ones(256)], axis=1)
    np.testing.assert_allclose(got, want, rtol=1e-6, atol=1e-7)


PARTS = [
    "array",
    "atomic",
    "common",
    "compute",
    "geometric",
    "integer",
    "limits",
    "math",
    "matrix",
    "pack",
]
PARTS += [
    "quadgroup",
    "relational",
    "simdgroup",
    "simdgroup_matrix",
    "stdlib",
    "type_traits",
    "types",
]


@pytest.mark.parametrize("part", PARTS)
def test_parts_may_be_included_by_name(part: str):
    header = f"using namespace metal;\n#include <metal_{part}>\nfloat f() {{ return max(1.0f, 2.0f); }}\n"
    assert run_one("out[0] = f();", {}, {"out": ((1,), mx.float32)}, 1, header=header)[0] == 2
