"""Products with quantised matrices beside double precision: values, gradients, vmap."""

import mlx.core as mx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quantized_reference import (
    AFFINE,
    EPSILON,
    FEW_MODES,
    FLOATS,
    MODES,
    RNG,
    TYPES,
    close,
    dequantized,
    keywords,
    random,
    unpacked,
    wide,
)


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
@settings(max_examples=60, deadline=None)
def test_products_of_one_vector(data):
    """Rows of whole blocks of 128 or 256 columns, and others; more of them than a threadgroup has."""
    group, bits = data.draw(st.sampled_from(AFFINE))
    dtype = data.draw(st.sampled_from(TYPES))
    columns, groups = data.draw(st.integers(1, 70)), data.draw(st.integers(1, 40))
    x = random(1, groups * group)
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


def compare_derivatives(function, expected, args, cotangent):
    vjps = [mx.vjp(f, args, [cotangent])[1] for f in (function, expected)]
    for got, want in zip(*vjps, strict=True):
        close(got, wide(want), 1e-4)
    tangents = [random(*a.shape) for a in args]
    got, want = (mx.jvp(f, args, tangents)[1][0] for f in (function, expected))
    close(got, wide(want), 1e-4)


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
    compare_derivatives(quantized, plain, args, c)

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
    compare_derivatives(quantized, plain, args, c)


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
