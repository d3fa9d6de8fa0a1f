"""Declarations that kernels use without includes: indexing, limits, names, complex numbers."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one

SHAPE = (3, 4, 5, 2)
STRIDES = np.array([7, 100, -3, 1000], np.int64)


def offsets(shape: tuple[int, ...] = SHAPE, strides: np.ndarray = STRIDES) -> np.ndarray:
    """Offset of every element in row-major order."""
    index = np.indices(shape).reshape(len(shape), -1)
    return strides[: len(shape)] @ index


INDEXING = {
    "elem_to_loc(e, shape, strides, ndim)": "uint e = i;",
    "elem_to_loc(int(i), shape, strides, ndim)": "",
    "elem_to_loc(int64_t(i), shape, strides, ndim)": "",
    "(int64_t)elem_to_loc(size_t(i), shape, strides, ndim)": "",
    "elem_to_loc<int>(int(i), shape, strides, ndim)": "",
    "elem_to_loc<int64_t>(i, shape, strides, ndim)": "",
    "(int64_t)elem_to_loc(i, shape, (constant const size_t*)strides, ndim)": "",
    "elem_to_loc(g, shape, strides, ndim)": "uint3 g(i % 2, i / 2 % 5, i / 10);",
    "elem_to_loc<int>(g, shape, strides, ndim)": "uint3 g(i % 2, i / 2 % 5, i / 10);",
    "elem_to_loc_2_nd(g, shape, strides, other, ndim).x": "uint3 g(i % 2, i / 2 % 5, i / 10);",
    "elem_to_loc_2_nd<int>(g, shape, other, strides, ndim)[1]": "uint3 g(i % 2, i / 2 % 5, i / 10);",
    "elem_to_loc_3_nd(g, shape, other, other, strides, ndim).z": "uint3 g(i % 2, i / 2 % 5, i / 10);",
}


@pytest.mark.parametrize("expression", INDEXING)
def test_elem_to_loc(expression: str):
    body = f"uint i = thread_position_in_grid.x; {INDEXING[expression]} out[i] = {expression};"
    count = int(np.prod(SHAPE))
    inputs = {
        "shape": np.array(SHAPE, np.int32),
        "strides": STRIDES,
        "other": STRIDES * 2,
        "ndim": len(SHAPE),
    }
    got = run_one(body, inputs, {"out": ((count,), mx.int64)}, count)
    np.testing.assert_array_equal(got, offsets())


def test_elem_to_loc_of_one_to_three_dimensions():
    body = """
        uint3 g = thread_position_in_grid;
        uint i = (g.z * 4 + g.y) * 5 + g.x;
        out[3 * i] = elem_to_loc_1<int>(g.x, strides[2]);
        out[3 * i + 1] = elem_to_loc_2(g.xy, strides + 1);
        out[3 * i + 2] = elem_to_loc_3<int64_t>(g, strides);
    """
    got = run_one(
        body,
        {"strides": STRIDES},
        {"out": ((3, 4, 5, 3), mx.int64)},
        (5, 4, 3),
        threadgroup=(5, 4, 3),
    )
    z, y, x = np.indices((3, 4, 5))
    np.testing.assert_array_equal(got[..., 0], -3 * x)
    np.testing.assert_array_equal(got[..., 1], 100 * y - 3 * x)
    np.testing.assert_array_equal(got[..., 2], 7 * z + 100 * y - 3 * x)


def test_offsets_beyond_32_bits():
    body = "out[0] = elem_to_loc(3u, shape, strides, 2); out[1] = elem_to_loc(uint3(1, 1, 0), shape, strides, 2);"
    inputs = {
        "shape": np.array([2, 2], np.int32),
        "strides": np.array([1 << 40, 1 << 33], np.int64),
    }
    got = run_one(body, inputs, {"out": ((2,), mx.int64)}, 1)
    assert (got == (1 << 40) + (1 << 33)).all()


@pytest.mark.parametrize("dims", [1, 2, 3, 4])
@pytest.mark.parametrize("step", [1, 3])
def test_walking_along(dims: int, step: int):
    for template in sorted({1, min(dims, 3), dims}):
        body = f"""
            LoopedElemToLoc<{template}, int64_t> place({dims});
            for (int i = 0; i < 40; ++i) {{
                out[i] = place.location();
                {"place.next(shape, strides);" if step == 1 else f"place.next({step}, shape, strides);"}
            }}
        """
        shape = (40, *SHAPE[1:])[4 - dims :] if dims == 4 else (200, *SHAPE[1:dims])
        inputs = {"shape": np.array(shape, np.int32), "strides": STRIDES[:dims]}
        got = run_one(body, inputs, {"out": ((40,), mx.int64)}, 1)
        np.testing.assert_array_equal(got, offsets(shape, STRIDES)[: 40 * step : step])


def test_limits():
    names = {
        "float": (np.float32, True),
        "half": (np.float16, True),
        "int": (np.int32, False),
        "uint": (np.uint32, False),
        "uchar": (np.uint8, False),
        "char": (np.int8, False),
        "long": (np.int64, False),
        "ulong": (np.uint64, False),
    }
    for name, (kind, floating) in names.items():
        body = f"""
            out[0] = Limits<{name}>::max; out[1] = Limits<{name}>::min;
            out[2] = Limits<{name}>::finite_max; out[3] = Limits<{name}>::finite_min;
            out[4] = metal::numeric_limits<{name}>::max(); out[5] = numeric_limits<{name}>::lowest();
            out[6] = numeric_limits<{name}>::min(); out[7] = numeric_limits<{name}>::epsilon();
        """
        got = run_one(body, {}, {"out": ((8,), getattr(mx, np.dtype(kind).name))}, 1)
        limits = np.finfo(kind) if floating else np.iinfo(kind)
        ends = [np.inf, -np.inf] if floating else [limits.max, limits.min]
        want = [*ends, limits.max, limits.min, limits.max, limits.min]
        want += [limits.tiny, limits.eps] if floating else [limits.min, 0]
        np.testing.assert_array_equal(got, np.array(want, kind), err_msg=name)


def test_numeric_limits_of_floats():
    body = """
        out[0] = -numeric_limits<bfloat>::infinity();
        out[1] = numeric_limits<bfloat>::max();
        out[2] = numeric_limits<bfloat>::epsilon();
        out[3] = metal::isnan(numeric_limits<float>::quiet_NaN()) + metal::isnan(numeric_limits<half>::quiet_NaN());
        out[4] = numeric_limits<half>::digits + numeric_limits<bfloat>::digits + numeric_limits<float>::digits;
        out[5] = numeric_limits<float>::max_exponent;
        out[6] = numeric_limits<float>::denorm_min() > 0;
        out[7] = numeric_limits<int>::digits + numeric_limits<uchar>::digits10;
        out[8] = FLT_MAX; out[9] = HALF_MAX; out[10] = INT_MAX == 0x7fffffff && UINT_MAX == ~0u && INT_MIN < 0;
        out[11] = float(Limits<bfloat16_t>::finite_min);
    """
    got = run_one(body, {}, {"out": ((12,), mx.float32)}, 1)
    largest = np.float32(2.0**127 * (2 - 2.0**-7))
    want = [
        -np.inf,
        largest,
        2.0**-7,
        2,
        11 + 8 + 24,
        128,
        1,
        33,
        np.finfo(np.float32).max,
        65504,
        1,
        -largest,
    ]
    np.testing.assert_array_equal(got, np.array(want, np.float32))


def test_helpers():
    header = """
        MTL_CONST int kSize = 3;
        METAL_FUNC float twice(float x) { return 2 * x; }
        static constant constexpr const int kOther = 4;
    """
    body = """
        out[0] = ceildiv(10, 4); out[1] = ceildiv(8u, 4); out[2] = twice(kSize + kOther);
        out[3] = log1p(1e-8); out[4] = float(log1p(0.5h)); out[5] = sizeof(float16_t) + sizeof(bfloat16_t);
        out[6] = bfloat16_t(1.5) + float16_t(2); out[7] = bfloat16_to_uint16(bfloat16_t(1));
        out[8] = uint16_to_bfloat16(0x4000); out[9] = is_same_v<bfloat16_t, bfloat> && is_same_v<float16_t, half>;
        out[10] = sizeof(size_t) + sizeof(ptrdiff_t) + sizeof(int64_t) + sizeof(ulong); out[11] = sizeof(complex64_t);
    """
    got = run_one(body, {}, {"out": ((12,), mx.float32)}, 1, header=header)
    want = [3, 2, 14, np.log1p(1e-8), np.log1p(0.5), 4, 3.5, 0x3F80, 2, 1, 32, 8]
    np.testing.assert_allclose(got, want, rtol=1e-3)


def test_instantiated_kernels_compile():
    header = """
        template <typename T, int N>
        [[kernel]] void filler(device T* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = T(N); }
        instantiate_kernel("filler_float_3", filler, float, 3)
        instantiate_kernel("filler_complex", filler, complex64_t, 4)
    """
    assert run_one("out[0] = 1;", {}, {"out": ((1,), mx.float32)}, 1, header=header)[0] == 1


@pytest.mark.parametrize(
    "include",
    [
        "mlx/backend/metal/kernels/utils.h",
        "mlx/backend/metal/kernels/bf16.h",
        "mlx/backend/metal/kernels/complex.h",
    ],
)
def test_headers_may_be_included_again(include: str):
    header = f'#include "{include}"\n#include <metal_stdlib>\nusing namespace metal;\n'
    assert (
        run_one(
            "out[0] = complex64_t(1, 2).imag;", {}, {"out": ((1,), mx.float32)}, 1, header=header
        )[0]
        == 2
    )


# ---- complex numbers ----


def test_complex_arithmetic(rng: np.random.Generator):
    a, b = (rng.normal(size=(32, 2)).astype(np.float32) for _ in "ab")
    body = """
        uint i = thread_position_in_grid.x;
        complex64_t a = complex64_t(x[2 * i], x[2 * i + 1]);
        complex64_t b = {y[2 * i], y[2 * i + 1]};
        complex64_t r[9] = {a + b, a - b, a * b, a / b, -a, a * 2.0f, 1 + a, a - half(0.5), complex64_t(a.real)};
        r[8] += b; r[8] *= a; r[8] -= 1; r[8] /= b;
        device complex64_t* o = (device complex64_t*)out + 9 * i;
        for (int k = 0; k < 9; ++k) o[k] = r[k];
        o[0] += a; o[0] -= a;
    """
    got = run_one(body, {"x": a, "y": b}, {"out": ((32, 9, 2), mx.float32)}, 32)
    p, q = (v[:, 0] + 1j * v[:, 1] for v in (a.astype(np.float64), b.astype(np.float64)))
    last = ((p.real + q) * p - 1) / q
    want = np.stack([p + q, p - q, p * q, p / q, -p, p * 2, 1 + p, p - 0.5, last], axis=1)
    np.testing.assert_allclose(got[..., 0] + 1j * got[..., 1], want, rtol=1e-4, atol=1e-5)


def test_complex_comparisons_conversions_and_lanes():
    body = """
        uint lane = thread_index_in_simdgroup;
        threadgroup complex64_t shared[2];
        complex64_t z(lane, -2.0f * lane);
        complex64_t sum = simd_sum(z), down = simd_shuffle_down(z, 1), other = simd_shuffle(z, ushort(3));
        if (lane == 0) { shared[0] = z; shared[1] = shared[0]; }
        if (lane == 0) {
            complex64_t one = 1, big(1, 5), zero = 0;
            out[0] = one < big; out[1] = big <= one; out[2] = one == complex64_t(1, 0); out[3] = one != big;
            out[4] = static_cast<float>(big); out[5] = int(big); out[6] = bool(zero) + 2 * bool(complex64_t(0, 1));
            out[7] = sum.real; out[8] = sum.imag; out[9] = down.real; out[10] = other.imag; out[11] = (one > zero);
        }
    """
    got = run_one(body, {}, {"out": ((12,), mx.float32)}, 32)
    np.testing.assert_array_equal(got, [1, 0, 1, 1, 1, 1, 2, 496, -992, 1, -6, 1])


def test_complex_numbers_convert():
    body = """
        complex64_t zero, z(3, -4);
        float real = z;
        float2 parts = z;
        complex64_t swapped = parts.yx;
        complex32_t small = z;
        complex_t<bfloat> rounded = complex64_t(1.0f / 3, 256.5f);
        complex64_t again = small + half(1);
        out[0] = zero.real + zero.imag; out[1] = real; out[2] = parts.y; out[3] = swapped.real;
        out[4] = small.imag; out[5] = rounded.imag; out[6] = again.real; out[7] = z == 3;
        out[8] = (z * 2).imag; out[9] = is_complex_v<complex32_t> && !is_complex_v<float2>;
        out[10] = Limits<complex32_t>::finite_max.imag; out[11] = simd_sum(small).real;
    """
    (got,) = run_kernel(body, {}, {"out": ((12,), mx.float32)}, 1)
    want = [0, 3, -4, -4, -4, 256, 4, 0, -8, 1, 65504, 3]
    np.testing.assert_array_equal(got, want)


def test_complex_log1p(rng: np.random.Generator):
    x = (rng.normal(size=(64, 2)) * 10.0 ** rng.integers(-5, 3, (64, 1))).astype(np.float32)
    body = """
        uint i = thread_position_in_grid.x;
        float2 y = log1p(complex64_t(x[2 * i], x[2 * i + 1]));
        out[2 * i] = y.x; out[2 * i + 1] = y.y;
    """
    (got,) = run_kernel(body, {"x": x}, {"out": ((64, 2), mx.float32)}, 64)
    want = np.log1p(x[:, 0].astype(np.float64) + 1j * x[:, 1])
    np.testing.assert_allclose(got[:, 0] + 1j * got[:, 1], want, rtol=1e-5)


def test_cast_to():
    body = """
        out[0] = cast_to<bool>(x[0]); out[1] = cast_to<bool>(x[1]); out[2] = cast_to<bool>(x[2]);
        out[3] = cast_to<bool>(complex64_t(0, 2)); out[4] = cast_to<bool>(bfloat16_t(-0.0f));
        out[5] = cast_to<int>(2.75f); out[6] = cast_to<bool>(256); out[7] = cast_to<bool>(half(NAN));
    """
    x = np.array([1e-45, -0.0, np.nan], np.float32)
    (got,) = run_kernel(body, {"x": x}, {"out": ((8,), mx.float32)}, 1)
    np.testing.assert_array_equal(got, [1, 0, 1, 1, 0, 2, 1, 1])


def test_axpby_for_every_type(rng: np.random.Generator):
    """The extension page's kernel: strided inputs of float, half, bfloat and complex elements."""
    body = """
        uint index = thread_position_in_grid.x;
        auto x_offset = elem_to_loc(index, x_shape, x_strides, x_ndim);
        out[index] = static_cast<T>(alpha) * x[x_offset] + static_cast<T>(beta) * x[x_offset];
    """
    x = rng.integers(-4, 5, (4, 6)).astype(np.float32)
    for dtype in (mx.float32, mx.float16, mx.bfloat16):
        (got,) = run_kernel(
            body,
            {"x": mx.array(x).astype(dtype), "alpha": 2.0, "beta": 0.5},
            {"out": ((4, 6), dtype)},
            24,
            template=[("T", dtype)],
        )
        np.testing.assert_array_equal(got, 2.5 * x)
