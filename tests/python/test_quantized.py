"""Quantised arrays beside their definition in NumPy: conversion, gradients, vmap, errors."""

import mlx.core as mx
import numpy as np
import pytest
from quantized_reference import (
    E2M1,
    EPSILON,
    FEW_MODES,
    FLOATS,
    MODES,
    RNG,
    TYPES,
    close,
    dequantized,
    e4m3,
    keywords,
    random,
    unpacked,
    wide,
)

# ---- conversion ----


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("mode,group,bits", MODES)
def test_round_trip(mode, group, bits, dtype):
    w = random(3, 5, 3 * 128, dtype=dtype)
    parts = mx.quantize(w, group_size=group, bits=bits, mode=mode)
    assert parts[0].dtype == mx.uint32 and parts[0].shape == (3, 5, 3 * 4 * bits)
    assert [p.shape for p in parts[1:]] == [(3, 5, 384 // group)] * (2 if mode == "affine" else 1)
    out = mx.dequantize(*parts, **keywords(mode, group, bits))
    want = dequantized(parts, group, bits, mode)
    assert out.dtype == (w.dtype if mode == "affine" else mx.bfloat16)
    close(out, want, EPSILON["bfloat16" if mode != "affine" else dtype])

    error = np.abs(want - wide(w)).reshape(3, 5, -1, group)
    step = np.abs(wide(parts[1]))[..., None] if mode == "affine" else None
    if mode == "affine":
        assert (error <= step * (1 + 2**bits * EPSILON[dtype]) + 1e-6).all()
        assert np.mean(error <= step * (0.5 + 2**bits * EPSILON[dtype]) + 1e-6) > 0.95
    else:
        largest = np.abs(wide(w)).reshape(3, 5, -1, group).max(-1, keepdims=True)
        assert (error <= largest * (0.35 if bits == 4 else 0.3)).all()


def test_both_ends_of_groups_of_one_bit():
    w = mx.array([[-1.0, 0.1, 0.2, 1.0, 0.0, -0.01, 0.5, -0.5] * 4, [-3.0, -1.0] * 16])
    parts = mx.quantize(w, group_size=32, bits=1)
    out = np.array(mx.dequantize(*parts, group_size=32, bits=1))
    assert out[0, :8].tolist() == [-1, 1, 1, 1, -1, -1, 1, -1]
    np.testing.assert_array_equal(out[1], np.array(w)[1])
    assert parts[1].tolist() == [[2], [2]] and parts[2].tolist() == [[-1], [-3]]


@pytest.mark.parametrize("bits", [2, 3, 4, 5, 6, 8])
def test_ends_and_zeros_of_affine_groups(bits):
    low = random(40, 64)
    low[0] = mx.abs(low[0])
    low[1] = -mx.abs(low[1])
    low[2] = 5.0
    low[3] = 0.0
    low[:, 7] = mx.where(mx.arange(40) > 3, 0.0, low[:, 7])
    parts = mx.quantize(low, bits=bits)
    out, w = wide(mx.dequantize(*parts, bits=bits)), wide(low)
    end = np.abs(w).argmax(-1)
    rows = np.arange(40)
    np.testing.assert_array_equal(out[rows, end], w[rows, end])
    assert (out[2] == 5).all() and (out[3] == 0).all()
    # If zero is inside the range, it is exact except for rounding.
    assert np.abs(out[4:, 7]).max() < 1e-6


@pytest.mark.parametrize("mode", FLOATS)
def test_numbers_of_a_mode_are_exact(mode):
    group, bits = FLOATS[mode]
    largest = 448.0 if bits == 8 else 6.0
    values = np.concatenate([E2M1, -E2M1]) if bits == 4 else e4m3(np.arange(1, 127))
    w = RNG.choice(values, (6, 4, group))
    w[..., 0] = largest
    w[..., 1] = -largest
    w = (w * 2.0 ** np.arange(-2, 2)[:, None]).reshape(6, -1)
    for dtype in TYPES:
        parts = mx.quantize(mx.array(w.astype(np.float32)).astype(getattr(mx, dtype)), mode=mode)
        np.testing.assert_array_equal(wide(mx.dequantize(*parts, mode=mode, dtype=mx.float32)), w)
    zeros = mx.quantize(mx.zeros((4, 64)), mode=mode)
    assert (np.array(mx.dequantize(*zeros, mode=mode, dtype=mx.float32)) == 0).all()


@pytest.mark.parametrize("dtype, tolerance", [(mx.float32, 1e-5), (mx.float16, 2e-3)])
def test_a_global_scale_for_each_matrix(dtype, tolerance):
    w = random(3, 8, 64) * mx.array([1e-3, 1, 0]).reshape(3, 1, 1)
    scales = mx.abs(w).max((1, 2))
    parts = [mx.quantize(m, mode="nvfp4", global_scale=s) for m, s in zip(w, scales)]
    packed, small = (mx.stack([part[i] for part in parts]) for i in range(2))
    x, picked = random(5, 2, 64).astype(dtype), mx.array([0, 2, 1, 1, 0])
    arguments = {"rhs_indices": picked, "mode": "nvfp4", "global_scale": scales}
    got = mx.gather_qmm(x, packed, small, **arguments)
    assert got.dtype == dtype
    for i, at in enumerate(picked.tolist()):
        matrix = mx.dequantize(*parts[at], mode="nvfp4", global_scale=scales[at], dtype=mx.float32)
        close(got[i], wide(x[i]) @ wide(matrix).T, tolerance)
    with pytest.raises(ValueError, match="for each matrix of w"):
        mx.gather_qmm(x, packed, small, **(arguments | {"global_scale": scales[:1]}))
    with pytest.raises(ValueError, match="nvfp4 only"):
        mx.gather_qmm(x, *mx.quantize(w), rhs_indices=picked, global_scale=scales)


def test_global_scale():
    w = random(8, 64) * mx.array(np.logspace(-3, 3, 8, dtype=np.float32))[:, None]
    scale = mx.abs(w).max()
    parts = mx.quantize(w, mode="nvfp4", global_scale=scale)
    assert np.array(parts[1]).max() == 126  # the largest scale there is
    out = mx.dequantize(*parts, mode="nvfp4", global_scale=scale, dtype=mx.float32)
    want = dequantized(parts, 16, 4, "nvfp4") * wide(scale) / (448 * 6)
    close(out, want, 1e-6)
    plain = mx.dequantize(*parts, mode="nvfp4", global_scale=scale)
    assert plain.dtype == mx.float32 and mx.array_equal(plain, out)
    half = mx.dequantize(*parts, mode="nvfp4", global_scale=scale, dtype=mx.float16)
    assert half.dtype == mx.float16 and mx.allclose(half, out, rtol=1e-3)
    assert np.abs(want - wide(w))[4:].max() < 0.2 * wide(scale)
    none = mx.quantize(mx.zeros((1, 16)), mode="nvfp4", global_scale=mx.array(0.0))
    assert (np.array(none[1]) == 0).all()


def test_codes_lie_in_words_from_the_lowest_bits():
    for bits in (1, 2, 3, 4, 5, 6, 8):
        codes = np.arange(64) % 2**bits
        scale = mx.ones((1, 1))
        stream = ((codes[:, None] >> np.arange(bits)) & 1).astype(np.uint8).reshape(-1)
        words = np.packbits(stream, bitorder="little").view(np.uint32)[None]
        out = mx.dequantize(mx.array(words), scale, 0 * scale, group_size=64, bits=bits)
        np.testing.assert_array_equal(np.array(out)[0], codes)
        again = mx.quantize(out, group_size=64, bits=bits)
        assert unpacked(np.array(again[0]), bits).shape == (1, 64)


@pytest.mark.parametrize("dtype", TYPES)
def test_fp8(dtype):
    type_ = getattr(mx, dtype)
    codes = np.arange(256, dtype=np.uint8)
    values = mx.from_fp8(mx.array(codes), type_)
    assert values.dtype == type_
    np.testing.assert_array_equal(wide(values), e4m3(codes))
    number = ~np.isnan(e4m3(codes))
    np.testing.assert_array_equal(np.array(mx.to_fp8(values))[number], codes[number])
    assert (np.array(mx.to_fp8(mx.array([np.nan, -np.nan]))) & 127 == 127).all()
    high = mx.array([1e4, -1e4, 464, np.inf]).astype(type_)
    assert np.array(mx.from_fp8(mx.to_fp8(high), mx.float32)).tolist() == [448, -448, 448, 448]


def test_fp8_rounds_to_the_nearest_and_halves_to_even():
    table = np.sort(np.unique(e4m3(np.arange(127))))
    middle = (table[1:] + table[:-1]) / 2
    even = np.where(np.arange(len(middle)) % 2 == 0, table[:-1], table[1:])
    x = np.concatenate([middle, middle * (1 - 1e-6), middle * (1 + 1e-6)])
    want = np.concatenate([even, table[:-1], table[1:]])
    got = wide(mx.from_fp8(mx.to_fp8(mx.array(x.astype(np.float32))), mx.float32))
    np.testing.assert_array_equal(got, want)
    views = mx.array(x.astype(np.float32)[:378].reshape(2, 189)).T
    assert mx.array_equal(mx.to_fp8(views), mx.to_fp8(mx.contiguous(views)))
    assert mx.from_fp8(mx.to_fp8(mx.zeros((0, 3)))).shape == (0, 3)


# ---- transformations ----


def test_gradients_of_small_floats():
    parts = mx.quantize(random(32, 64), mode="mxfp4")
    w = dequantized(parts, 32, 4, "mxfp4")
    x, c = random(3, 64), random(3, 32)
    grad = mx.vjp(lambda x: mx.quantized_matmul(x, *parts, mode="mxfp4"), [x], [c])[1][0]
    close(grad, wide(c) @ w)
    with pytest.raises(ValueError, match=r"\[dequantize\].*scales of a mode other than affine"):
        mx.vjp(lambda s: mx.dequantize(parts[0], s, mode="mxfp4"), [parts[1]], [mx.ones((32, 64))])


def gradient_by_hand(w, cotangent, group, bits):
    """That of quantised and dequantised groups, in which the packed elements are constants."""
    parts = mx.quantize(mx.array(w), group_size=group, bits=bits)
    levels = unpacked(np.array(parts[0]), bits).reshape(-1, group)
    groups, c = w.reshape(-1, group), cotangent.reshape(-1, group)
    of_scales, of_biases = (c * levels).sum(-1), c.sum(-1)
    out = np.zeros_like(groups)
    for i, row in enumerate(groups):
        low, high = row.argmin(), row.argmax()
        if bits == 1:
            out[i, low] = of_biases[i] - of_scales[i]
            out[i, high] = of_scales[i]
        else:  # the end that is farther from zero is exact: it is the bias
            edge = max(low, high, key=lambda j: abs(row[j]))
            steps = round(row[edge] / np.array(parts[1]).reshape(-1)[i])
            out[i, edge] = of_biases[i] + of_scales[i] / steps
    return out.reshape(w.shape)


@pytest.mark.parametrize("bits", [1, 2, 3, 4, 8])
@pytest.mark.parametrize("group", [32, 128])
def test_gradients_of_quantize(group, bits):
    w, c, t = (RNG.standard_normal((2, 3, 256)).astype(np.float32) for _ in range(3))
    options = {"group_size": group, "bits": bits}

    def there_and_back(w):
        return mx.dequantize(*mx.quantize(w, **options), **options)

    _, (got,) = mx.vjp(there_and_back, [mx.array(w)], [mx.array(c)])
    want = gradient_by_hand(w, c, group, bits)
    close(got, want)
    assert mx.vjp(there_and_back, [mx.array(w, mx.float16)], [mx.array(c, mx.float16)])[1][
        0
    ].dtype == (mx.float16)
    _, (tangent,) = mx.jvp(there_and_back, [mx.array(w)], [mx.array(t)])
    np.testing.assert_allclose((wide(tangent) * c).sum(), (want * t).sum(), rtol=1e-3)


def test_gradients_of_quantized_groups_of_one_number():
    for number, gradient in ((0.0, 0.0), (3.0, 1.0)):
        w = mx.full((2, 64), number)
        got = mx.grad(lambda w: mx.dequantize(*mx.quantize(w)).sum())(w)
        close(got, np.full((2, 64), gradient))


def test_quantized_arrays_without_derivatives():
    w = random(4, 64)
    with pytest.raises(ValueError, match=r"\[quantize\].*mode other than affine"):
        mx.jvp(lambda w: mx.quantize(w, mode="mxfp4")[1], [w], [w])
    with pytest.raises(ValueError, match=r"\[dequantize\].*derivative"):
        parts = mx.quantize(w, mode="mxfp4")
        mx.jvp(lambda q: mx.dequantize(q, parts[1], mode="mxfp4"), parts[:1], parts[:1])


@pytest.mark.parametrize("axis", [0, 1])
def test_vmap(axis):
    w = random(3, 5, 64) if axis == 0 else random(5, 3, 64)
    rows = [w[i] if axis == 0 else w[:, i] for i in range(3)]
    for mode, group, bits in FEW_MODES:
        options = keywords(mode, group, bits)
        out = mx.vmap(lambda a, o=options: tuple(mx.quantize(a, **o)), in_axes=axis)(w)
        for i in range(3):
            for got, want in zip(out, mx.quantize(rows[i], **options), strict=True):
                assert mx.array_equal(got[i], want)
        back = mx.vmap(lambda *parts, o=options: mx.dequantize(*parts, **o))(*out)
        for i in range(3):
            assert mx.array_equal(
                back[i], mx.dequantize(*mx.quantize(rows[i], **options), **options)
            )
    codes = mx.vmap(mx.to_fp8, in_axes=axis, out_axes=axis)(w)
    assert mx.array_equal(codes, mx.to_fp8(w))
    assert mx.array_equal(mx.vmap(mx.from_fp8)(codes), mx.from_fp8(codes))


# ---- errors ----


def refuse(match, function, *args, **options):
    with pytest.raises(ValueError, match=match):
        function(*args, **options)


def test_arguments_that_are_refused():
    w = random(32, 512)
    refuse(r"\[quantize\].*group size 48", mx.quantize, w, group_size=48)
    refuse(r"\[quantize\].*bits 7", mx.quantize, w, bits=7)
    refuse(r"\[quantize\].*mode \"nf4\"", mx.quantize, w, mode="nf4")
    refuse(r"\[quantize\].*mxfp4 has groups of 32", mx.quantize, w, bits=3, mode="mxfp4")
    refuse(r"\[quantize\].*at least 2 dimensions", mx.quantize, w[0])
    refuse(r"\[quantize\].*divisible by the group", mx.quantize, w[:, :100])
    refuse(r"\[quantize\].*type of w", mx.quantize, mx.ones((4, 64), mx.int32))
    scale = mx.array(1.0)
    refuse(r"\[quantize\].*nvfp4 only", mx.quantize, w, global_scale=scale)
    refuse(r"one floating number", mx.quantize, w, mode="nvfp4", global_scale=mx.ones((2,)))
    for code, options in [(w, {}), (mx.array([1]), {}), (mx.array([True]), {})]:
        refuse(r"\[from_fp8\].*uint8", mx.from_fp8, code, **options)
    refuse(r"\[from_fp8\].*result", mx.from_fp8, mx.zeros((1,), mx.uint8), mx.int32)
    refuse(r"\[to_fp8\]", mx.to_fp8, mx.array([1]))


def test_matrices_that_are_refused():
    x, w = random(10, 512), random(32, 512)
    q, scales, biases = mx.quantize(w)
    product = mx.quantized_matmul
    refuse(r"\[quantized_matmul\]", product, x, q.T, scales, biases)
    refuse(r"\[quantized_matmul\]", product, x, q.T, scales.T, biases.T)
    refuse(r"transpose is false", product, x, q, scales, biases, False)
    refuse(r"do not fit together", product, x, q, scales.T, biases.T)
    refuse(r"same shape", product, x, q, scales, biases[:4])
    refuse(r"Biases must be given", product, x, q, scales)
    refuse(r"do not fit together", product, x, q, scales, biases, bits=8)
    refuse(r"type uint32", product, x, w, scales, biases)
    refuse(r"type of x", product, x.astype(mx.complex64), q, scales, biases)
    integers = x.astype(mx.int32)
    refuse(r"type of x", product, integers, *mx.quantize(w, mode="mxfp4"), mode="mxfp4")
    refuse(r"last dimension of x", product, x[:, :256], q, scales, biases)
    refuse(r"last dimension of x", product, mx.array(1.0), q, scales, biases)
    refuse(r"Scales of the mode mxfp4", product, x, q, scales, mode="mxfp4")
    refuse(r"must not be given", product, x, q, scales, biases, mode="mxfp4")
    refuse(r"type of scales", product, x, q, scales.astype(mx.int32), biases)
    fp4, fp4_scales = mx.quantize(w, mode="mxfp4")
    refuse(r"\[dequantize\]", mx.dequantize, fp4, fp4_scales, bits=3, mode="mxfp4")
    refuse(r"\[dequantize\]", mx.dequantize, fp4, fp4_scales, group_size=64, mode="mxfp4")
    refuse(r"\[dequantize\].*result", mx.dequantize, q, scales, biases, dtype=mx.int8)
    indices = mx.array([0.0])
    refuse(r"integers", mx.gather_qmm, x, q, scales, biases, rhs_indices=indices)
    refuse(r"2 dimensions", mx.gather_qmm, x[0], q, scales, biases, rhs_indices=mx.array([0]))
    refuse(r"\[qqmm\].*affine", mx.qqmm, x, w, mode="affine")
    refuse(r"\[qqmm\].*w must have 2", mx.qqmm, x, w[None])
    refuse(r"\[qqmm\].*scales must be given", mx.qqmm, x, q)
    refuse(r"\[qqmm\].*of x must be divisible by the group size 16", mx.qqmm, x[:, :8], w)
    refuse(r"\[gather_qqmm\] w must have at least 2", mx.gather_qqmm, x, w[0])
    refuse(r"\[qqmm\].*nvfp4 only", mx.qqmm, x, w, mode="mxfp8", global_scale_x=mx.array(1.0))
    with pytest.raises(ValueError, match="no derivative with respect to indices"):
        mx.vjp(
            lambda i: mx.gather_qmm(x, q, scales, biases, rhs_indices=i),
            [mx.array([0])],
            [mx.ones((1, 10, 32))],
        )


@pytest.mark.parametrize(("mode", "largest"), [("mxfp4", 6.0), ("mxfp8", 448.0)])
def test_scales_that_are_powers_of_two(mode: str, largest: float):
    """The smallest power that keeps the largest number of a group in range; 1 for zeros."""
    peaks = np.array([1.0, 1.5, 1.55, 1.75, 1.8, 3.0, 1e-3, 700.0], np.float32)
    w = np.zeros((9, 32), np.float32)
    w[:8, 5] = peaks
    scales = np.array(mx.quantize(mx.array(w), mode=mode)[1]).reshape(-1)
    np.testing.assert_array_equal(scales[:8], 127 + np.ceil(np.log2(peaks / largest)))
    assert scales[8] == 127


@pytest.mark.parametrize("mode", ["mxfp4", "nvfp4"])
def test_small_numbers_become_zero_without_a_sign(mode: str):
    w = np.full((1, 32), -0.001, np.float32)
    w[0, ::16] = 6
    packed = np.array(mx.quantize(mx.array(w), mode=mode)[0])
    assert not (packed & 0x88888888).any()
