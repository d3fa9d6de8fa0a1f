"""Quantised arrays beside their definition in NumPy: conversion, products, gradients, vmap."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quantized_reference import AFFINE, E2M1, FLOATS, MODES, dequantized, e4m3, unpacked, wide

RNG = np.random.default_rng(5)
TYPES = ["float32", "float16", "bfloat16"]
EPSILON = {"float32": 2e-6, "float16": 1e-3, "bfloat16": 8e-3}
FEW_MODES = [("affine", 64, 4), ("affine", 32, 3), ("mxfp4", 32, 4), ("nvfp4", 16, 4)]


def random(*shape, dtype="float32"):
    return mx.array(RNG.standard_normal(shape).astype(np.float32)).astype(getattr(mx, dtype))


def keywords(mode, group, bits):
    return {"group_size": group, "bits": bits, "mode": mode}


def close(got, want, tolerance=2e-5):
    want = np.asarray(want, np.float64)
    scale = np.abs(want).max() if want.size else 1.0
    assert np.shape(got) == want.shape
    np.testing.assert_allclose(wide(got), want, rtol=tolerance, atol=tolerance * max(scale, 1e-3))


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


# ---- products ----


@pytest.mark.parametrize("rows", [1, 3, 40])
@pytest.mark.parametrize("mode,group,bits", MODES)
def test_quantized_matmul(mode, group, bits, rows):
    for transpose in (True, False):
        parts = mx.quantize(random(96, 640), **keywords(mode, group, bits))
        x = random(rows, 640 if transpose else 96)
        out = mx.quantized_matmul(x, *parts, transpose=transpose, **keywords(mode, group, bits))
        w = dequantized(parts, group, bits, mode)
        close(out, wide(x) @ (w.T if transpose else w))


def check_product(x, parts, group, bits, dtype, mode="affine", transpose=True):
    """Compares with double precision: the error is relative to the sum of magnitudes.

    Columns have few numbers of each group: there it is relative to the group's largest number.
    """
    x = x.astype(getattr(mx, dtype))
    if mode == "affine":
        parts = [parts[0], *(part.astype(x.dtype) for part in parts[1:])]
    got = mx.quantized_matmul(x, *parts, transpose=transpose, **keywords(mode, group, bits))
    assert got.dtype == x.dtype
    w = dequantized(parts, group, bits, mode)
    largest = abs(w).reshape(len(w), -1, group).max(-1).repeat(group, -1)
    w, magnitudes = (w.T, abs(w).T) if transpose else (w, largest)
    error = abs(wide(got) - wide(x) @ w)
    assert (error <= EPSILON[dtype] * (abs(wide(x)) @ magnitudes) + 1e-30).all()


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_products_of_many_vectors(data):
    group, bits = data.draw(st.sampled_from(AFFINE))
    dtype = data.draw(st.sampled_from(TYPES))
    rows = data.draw(st.sampled_from([12, 31, 32, 33, 64, 100, 530, 1030]))
    columns, groups = data.draw(st.integers(1, 330)), data.draw(st.integers(1, 9))
    magnitude = 10.0 ** data.draw(st.integers(-3, 1))  # results must fit float16
    x = random(rows, groups * group) * magnitude
    parts = mx.quantize(random(columns, groups * group), group_size=group, bits=bits)
    check_product(x, parts, group, bits, dtype)


@given(st.data())
@settings(max_examples=100, deadline=None)
def test_products_of_few_vectors_with_columns(data):
    """Rows of all lengths: they are added up in parts of 256."""
    mode, group, bits = data.draw(st.sampled_from(MODES))
    dtype = data.draw(st.sampled_from(TYPES))
    vectors = data.draw(st.integers(1, 12))
    rows = data.draw(st.sampled_from([1, 2, 31, 255, 256, 257, 600, 1030]))
    columns = group * data.draw(st.integers(1, 20))
    step = data.draw(st.sampled_from([-1, 1, 2]))
    x = random(vectors, rows * abs(step))[:, ::step]
    x = x if data.draw(st.booleans()) else mx.contiguous(x.T).T
    parts = mx.quantize(random(rows, columns), **keywords(mode, group, bits))
    check_product(x, parts, group, bits, dtype, mode, transpose=False)


def test_products_with_columns_of_more_rows_than_parts():
    parts = mx.quantize(random(33000, 64))
    check_product(random(1, 33000), parts, 64, 4, "float32", transpose=False)


@pytest.mark.parametrize("vectors", [1, 3])
@pytest.mark.parametrize("mode", FLOATS)
def test_infinities_times_columns_of_small_floats(mode, vectors):
    group, bits = FLOATS[mode]
    parts = mx.quantize(mx.abs(random(40, 64)) + 1, **keywords(mode, group, bits))
    x = mx.abs(random(vectors, 40))
    x[:, 7] = float("inf")
    got = mx.quantized_matmul(x, *parts, transpose=False, **keywords(mode, group, bits))
    assert (np.array(got) == np.inf).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("vectors", [1, 5])
def test_many_gathered_products_with_columns_need_little_memory(vectors, dtype):
    parts = mx.quantize(random(130, 600, 64, dtype=dtype))
    x, picked = random(300, vectors, 600, dtype=dtype), mx.array(RNG.integers(0, 130, 300))
    mx.eval(parts, x, picked)
    mx.clear_cache()
    mx.reset_peak_memory()
    before = mx.get_active_memory()
    out = mx.gather_qmm(x, *parts, rhs_indices=picked, transpose=False)
    mx.eval(out)
    assert mx.get_peak_memory() - before < 4 * 4 * out.size + (1 << 20)
    w = dequantized(parts, 64, 4, "affine")[np.array(picked)]
    close(out, wide(x) @ w, EPSILON[dtype] * 5)


@pytest.mark.parametrize("dtype", TYPES)
def test_numbers_that_are_not_finite_stay_in_their_rows(dtype):
    parts = mx.quantize(random(70, 256), group_size=64, bits=4)
    x = random(40, 256)
    clean = mx.quantized_matmul(x.astype(getattr(mx, dtype)), *parts, group_size=64, bits=4)
    x[3, 17], x[20, 0], x[39, 255] = float("inf"), float("-inf"), float("nan")
    got = mx.quantized_matmul(x.astype(getattr(mx, dtype)), *parts, group_size=64, bits=4)
    for row in range(40):
        if row in (3, 20, 39):
            assert not np.isfinite(wide(got[row])).any()
        else:
            assert (wide(got[row]) == wide(clean[row])).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("mode,group,bits", FEW_MODES)
def test_types_of_quantized_matmul(mode, group, bits, dtype):
    for device in (mx.cpu, mx.gpu):
        for columns in (64, 192, 4096 + 64):
            parts = mx.quantize(random(7, columns, dtype=dtype), **keywords(mode, group, bits))
            w = dequantized(parts, group, bits, mode)
            for shape in [(columns,), (1, columns), (2, 3, columns), (5, columns)]:
                x = random(*shape, dtype=dtype)
                out = mx.quantized_matmul(x, *parts, **keywords(mode, group, bits), stream=device)
                assert out.dtype == x.dtype
                close(out, wide(x) @ w.T, EPSILON[dtype] * 5)


def test_type_of_a_mixed_product():
    parts = mx.quantize(random(4, 64, dtype="float16"))
    assert mx.quantized_matmul(random(1, 64), *parts).dtype == mx.float32
    assert mx.quantized_matmul(random(1, 64, dtype="bfloat16"), *parts).dtype == mx.float32
    assert mx.dequantize(*parts, dtype=mx.bfloat16).dtype == mx.bfloat16


@pytest.mark.parametrize("dtype", ["int32", "uint8", "int64", "bool_"])
def test_products_of_integers(dtype):
    x = mx.array(RNG.integers(0, 2 if dtype == "bool_" else 9, (5, 128)), getattr(mx, dtype))
    for floats in (mx.float32, mx.float16):
        parts = mx.quantize(random(64, 128).astype(floats))
        got = mx.quantized_matmul(x, *parts)
        assert got.dtype == floats
        close(got, wide(mx.quantized_matmul(x.astype(floats), *parts)))
        close(mx.gather_qmm(x, *[p[None] for p in parts], rhs_indices=mx.array([0]))[0], wide(got))


@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("rows", [1, 5, 33])
def test_batches_of_quantized_matrices(rows, transpose):
    parts = mx.quantize(random(3, 64, 128))
    w = dequantized(parts, 64, 4, "affine")
    w = np.swapaxes(w, -1, -2) if transpose else w
    for batch in [(), (1,), (3,), (2, 1), (2, 3)]:
        x = random(*batch, rows, w.shape[-2])
        close(mx.quantized_matmul(x, *parts, transpose=transpose), wide(x) @ w)
    vector = random(w.shape[-2])
    close(mx.quantized_matmul(vector, *parts, transpose=transpose), wide(vector) @ w)


def test_views_and_empty_arrays():
    full = random(2, 300, 64)
    x = full[1, ::3]
    parts = mx.quantize(random(64, 16).T)
    close(mx.quantized_matmul(x, *parts), wide(x) @ dequantized(parts, 64, 4, "affine").T)
    views = [mx.stack([p, p], -1)[..., 0] for p in parts]
    close(mx.quantized_matmul(x[:2], *views), wide(x)[:2] @ dequantized(parts, 64, 4, "affine").T)
    assert mx.quantized_matmul(mx.zeros((0, 64)), *parts).shape == (0, 16)
    empty = mx.quantize(mx.zeros((0, 64)))
    assert mx.quantized_matmul(mx.ones((3, 64)), *empty).shape == (3, 0)
    assert mx.dequantize(*empty).shape == (0, 64)
    nothing = mx.quantize(mx.zeros((4, 0)))
    assert nothing[0].shape == (4, 0)
    assert (np.array(mx.quantized_matmul(mx.ones((3, 0)), *nothing)) == np.zeros((3, 4))).all()


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("mode,group,bits", FEW_MODES)
def test_gather_qmm(mode, group, bits, transpose, dtype):
    parts = mx.quantize(random(5, 64, 128, dtype=dtype), **keywords(mode, group, bits))
    w = dequantized(parts, group, bits, mode)
    w = np.swapaxes(w, -1, -2) if transpose else w
    for rows in (1, 6):
        x = random(2, 2, rows, w.shape[-2], dtype=dtype)
        flat = wide(x).reshape(4, rows, -1)
        for lhs, rhs in [
            ([0, 3, 1], [4, 0, 0]),
            ([[0], [2]], [[1, 2, 3, 4] * 8]),
            (None, [[4, 2], [2, 0]]),
            ([3, 2, 1, 0, 0], None),
            ([-1, 0], [-2, 1]),
        ]:
            left = np.arange(4).reshape(2, 2) if lhs is None else np.array(lhs)
            right = np.arange(5) if rhs is None else np.array(rhs)
            out = mx.gather_qmm(
                x,
                *parts,
                lhs_indices=None if lhs is None else mx.array(lhs),
                rhs_indices=None if rhs is None else mx.array(rhs),
                transpose=transpose,
                **keywords(mode, group, bits),
            )
            left, right = np.broadcast_arrays(left, right)
            close(out, flat[left] @ w[right], EPSILON[dtype] * 5)


def test_gather_qmm_of_many_rows_for_few_matrices():
    parts = mx.quantize(random(6, 32, 64))
    w = np.swapaxes(dequantized(parts, 64, 4, "affine"), -1, -2)
    x = random(200, 1, 64)
    rhs = np.sort(RNG.integers(0, 5, 200)).astype(np.uint32)
    out = mx.gather_qmm(x, *parts, rhs_indices=mx.array(rhs), sorted_indices=True)
    close(out, wide(x) @ w[rhs])
    beyond = mx.gather_qmm(x[:2], *parts, rhs_indices=mx.array([99, 5]))
    close(beyond, wide(x)[:2] @ w[[5, 5]])
    assert mx.gather_qmm(
        x, *parts, lhs_indices=mx.zeros((0,), mx.int32), rhs_indices=mx.zeros((0,), mx.int32)
    ).shape == (0, 1, 32)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("mode", FLOATS)
def test_qqmm(mode, dtype):
    group, bits = FLOATS[mode]
    x, w = random(2, 3, 64, dtype=dtype), random(32, 64, dtype=dtype)
    of_x, of_w = mx.quantize(x, mode=mode), mx.quantize(w, mode=mode)
    want = dequantized(of_x, group, bits, mode) @ dequantized(of_w, group, bits, mode).T
    for out in (mx.qqmm(x, w, mode=mode), mx.qqmm(x, *of_w, mode=mode)):
        assert out.dtype == x.dtype
        close(out, want, EPSILON[dtype] * 2)
    stacked = mx.stack([w, -w])
    indices = mx.array([1, 0, 1])
    out = mx.gather_qqmm(x, stacked, None, mx.array([0, 0, 1]), indices, mode=mode)
    left, right = np.array([0, 0, 1]), np.array([-1, 1, -1])[:, None, None]
    close(out, want[left] * right, EPSILON[dtype] * 2)


def test_qqmm_with_global_scales():
    x, w = random(3, 64), random(32, 64)
    for of_x, of_w in [(mx.abs(x).max(), mx.abs(w).max()), (None, mx.abs(w).max())]:
        quantized_w = mx.quantize(w, mode="nvfp4", global_scale=of_w)
        hat_w = mx.dequantize(*quantized_w, mode="nvfp4", global_scale=of_w, dtype=mx.float32)
        quantized_x = mx.quantize(x, mode="nvfp4", global_scale=of_x)
        hat_x = mx.dequantize(*quantized_x, mode="nvfp4", global_scale=of_x, dtype=mx.float32)
        want = wide(hat_x) @ wide(hat_w).T
        scales = {"global_scale_x": of_x, "global_scale_w": of_w}
        close(mx.qqmm(x, w, **scales), want)
        close(mx.qqmm(x, *quantized_w, **scales), want)
        picked = mx.gather_qqmm(
            x[None], w[None], rhs_indices=mx.array([0]), lhs_indices=mx.array([0]), **scales
        )
        close(picked, want[None])


# ---- transformations ----


@pytest.mark.parametrize("transpose", [True, False])
@pytest.mark.parametrize("rows", [1, 20])
def test_gradients_of_quantized_matmul(rows, transpose):
    q, scales, biases = mx.quantize(random(64, 128))
    x = random(2, rows, 128 if transpose else 64)
    c = random(2, rows, 64 if transpose else 128)

    def quantized(x, scales, biases):
        return mx.quantized_matmul(x, q, scales, biases, transpose=transpose)

    def plain(x, scales, biases):
        w = mx.dequantize(q, mx.ones_like(scales), mx.zeros_like(biases))
        w = (w.reshape(64, 2, 64) * scales[..., None] + biases[..., None]).reshape(64, 128)
        return x @ (w.T if transpose else w)

    args = [x, scales, biases]
    for got, want in zip(mx.vjp(quantized, args, [c])[1], mx.vjp(plain, args, [c])[1], strict=True):
        close(got, wide(want), 1e-4)
    tangents = [random(*a.shape) for a in args]
    got, want = (mx.jvp(f, args, tangents)[1][0] for f in (quantized, plain))
    close(got, wide(want), 1e-4)

    def dequantize(scales, biases):
        return mx.dequantize(q, scales, biases)

    cotangent = random(64, 128)
    of_scales, of_biases = mx.vjp(dequantize, args[1:], [cotangent])[1]
    codes = unpacked(np.array(q), 4).reshape(64, 2, 64)
    grouped = wide(cotangent).reshape(64, 2, 64)
    close(of_scales, (codes * grouped).sum(-1), 1e-4)
    close(of_biases, grouped.sum(-1), 1e-4)


@pytest.mark.parametrize("transpose", [True, False])
def test_gradients_of_gather_qmm(transpose):
    q, scales, biases = mx.quantize(random(4, 32, 64))
    x = random(3, 2, 64 if transpose else 32)
    lhs, rhs = mx.array([[0, 2, 2], [1, 0, -1]]), mx.array([[3, 3, -4], [1, 3, 0]])
    c = random(2, 3, 2, 32 if transpose else 64)

    def quantized(x, scales, biases):
        return mx.gather_qmm(
            x, q, scales, biases, lhs_indices=lhs, rhs_indices=rhs, transpose=transpose
        )

    def plain(x, scales, biases):
        w = mx.dequantize(q, scales, biases)
        w = mx.swapaxes(w, -1, -2) if transpose else w
        return x[lhs] @ w[rhs]

    args = [x, scales, biases]
    for got, want in zip(mx.vjp(quantized, args, [c])[1], mx.vjp(plain, args, [c])[1], strict=True):
        close(got, wide(want), 1e-4)
    tangents = [random(*a.shape) for a in args]
    got, want = (mx.jvp(f, args, tangents)[1][0] for f in (quantized, plain))
    close(got, wide(want), 1e-4)


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


def test_gradients_of_qqmm_are_quantized_products():
    x, w, c = random(64, 32), random(48, 32), random(64, 48)
    mode = {"mode": "nvfp4"}
    of_x, of_w = mx.vjp(lambda x, w: mx.qqmm(x, w, **mode), [x, w], [c])[1]
    close(of_x, wide(mx.qqmm(c, mx.contiguous(w.T), **mode)))
    close(of_w, wide(mx.qqmm(mx.contiguous(c.T), mx.contiguous(x.T), **mode)))
    parts = mx.quantize(w, **mode)
    of_x = mx.vjp(lambda x: mx.qqmm(x, *parts, **mode), [x], [c])[1][0]
    close(of_x, wide(c) @ dequantized(parts, 16, 4, "nvfp4"))
    odd = mx.vjp(lambda x, w: mx.qqmm(x, w, **mode), [x[:5], w[:7]], [c[:5, :7]])[1]
    close(odd[0], wide(c[:5, :7]) @ wide(w[:7]))


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


def test_vmap_of_products():
    parts = mx.quantize(random(3, 32, 64))
    x = random(4, 3, 64)

    def product(x, *parts):
        return mx.quantized_matmul(x, *parts)

    one = [p[0] for p in parts]
    out = mx.vmap(product, in_axes=(1, None, None, None))(x, *one)
    close(out, np.stack([wide(product(x[:, i], *one)) for i in range(3)]))
    out = mx.vmap(product, in_axes=(1, 0, 0, 0))(x, *parts)
    close(out, np.stack([wide(product(x[:, i], *[p[i] for p in parts])) for i in range(3)]))
    out = mx.vmap(product, in_axes=(None, 0, 0, 0))(x, *parts)
    close(out, np.stack([wide(product(x, *[p[i] for p in parts])) for i in range(3)]))


def test_vmap_of_gathered_products():
    parts = mx.quantize(random(2, 3, 32, 64))
    x = random(5, 2, 1, 64)
    lhs, rhs = mx.array([[0, 4, -1], [1, 1, 0]]), mx.array([[2, -1, 1], [0, 0, 2]])

    def product(x, *rest):
        return mx.gather_qmm(x, *rest[:3], lhs_indices=rest[3], rhs_indices=rest[4])

    for axes in [
        (1, None, None, None, None, None),
        (None, 0, 0, 0, None, None),
        (1, 0, 0, 0, 0, 0),
        (None, None, None, None, None, 0),
    ]:
        args = [x if axes[0] is not None else x[:, 0]]
        args += list(parts) if axes[1] is not None else [p[1] for p in parts]
        args += [lhs if axes[4] is not None else lhs[0], rhs if axes[5] is not None else rhs[1]]
        out = mx.vmap(product, in_axes=axes)(*args)
        for i in range(2):
            mine = [
                a if axis is None else mx.take(a, mx.array(i), axis)
                for a, axis in zip(args, axes, strict=True)
            ]
            close(out[i], wide(product(*mine)))


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
