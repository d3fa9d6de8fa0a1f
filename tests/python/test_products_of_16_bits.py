"""matmul and addmm of bfloat16 and float16, with code of their own, against double precision."""

import mlx.core as mx
import numpy as np
import pytest

RNG = np.random.default_rng(3)
UNITS = {"bfloat16": 2.0**-8, "float16": 2.0**-11}


def made(shape, dtype):
    return mx.array(RNG.standard_normal(shape).astype(np.float32)).astype(getattr(mx, dtype))


def wide(a):
    return np.array(a.astype(mx.float32)).astype(np.float64)


def close(got, want, terms, dtype):
    assert got.shape == want.shape and got.dtype == getattr(mx, dtype)
    error = np.abs(wide(got) - want)
    assert np.all(error <= 1.5 * UNITS[dtype] * np.abs(want) + 1e-5 * terms)


SIZES = [
    (1, 1, 1), (1, 5, 1), (5, 1, 1), (1, 1, 7), (3, 1, 9), (1, 9, 3), (4, 4, 1), (33, 70, 29),
    (64, 64, 64), (1, 300, 257), (300, 1, 257), (130, 515, 131), (257, 512, 300), (1, 2048, 1100),
    (3, 2100, 700), (700, 130, 65),
]  # fmt: skip


@pytest.mark.parametrize("dtype", UNITS)
@pytest.mark.parametrize("m,n,k", SIZES)
def test_transposed_and_sliced_matrices(m, n, k, dtype):
    whole_a, whole_b = made((m + 3, k + 2), dtype), made((k + 3, n + 5), dtype)
    a_forms = [made((m, k), dtype), made((k, m), dtype).T, whole_a[1:-2, 2:], whole_a[::-1][:m, :k]]
    b_forms = [made((k, n), dtype), made((n, k), dtype).T, whole_b[3:, 1:-4]]
    a_forms.append(mx.broadcast_to(made((1, k), dtype), (m, k)))
    b_forms.append(made((n, 2 * k), dtype)[:, ::2].T)
    for a in a_forms:
        for b in b_forms:
            close(a @ b, wide(a) @ wide(b), k, dtype)


@pytest.mark.parametrize("dtype", UNITS)
@pytest.mark.parametrize("m,n,k", [(1, 1, 1), (5, 1, 6), (1, 5, 6), (16, 16, 16), (9, 33, 20)])
def test_batches(m, n, k, dtype):
    def check(a, b):
        close(mx.matmul(a, b), np.matmul(wide(a), wide(b)), k, dtype)

    check(made((7, m, k), dtype), made((7, k, n), dtype))
    check(made((300, m, k), dtype), made((300, k, n), dtype))
    check(made((4, 5, m, k), dtype), made((4, 1, k, n), dtype))
    check(made((4, 1, m, k), dtype), made((5, k, n), dtype))
    check(made((1, 5, m, k), dtype), made((4, 1, k, n), dtype))
    check(made((6, m, k), dtype), made((k, n), dtype))
    check(made((m, k), dtype), made((6, k, n), dtype))
    check(made((3, m, k), dtype)[::-1], made((6, n, k), dtype).swapaxes(1, 2)[::-2])
    # Heads whose rows alternate in memory.
    heads = made((2, m, 3, k), dtype).transpose(0, 2, 1, 3)
    check(heads, made((2, n, 3, k), dtype).transpose(0, 2, 3, 1))
    check(heads, made((2, k, 3, n), dtype).transpose(0, 2, 1, 3))
    # Windows that overlap.
    line = made((m * k + 40,), dtype)
    check(mx.as_strided(line, (20, m, k), (2, k, 1)), made((20, k, n), dtype))


@pytest.mark.parametrize("dtype", UNITS)
def test_batches_of_large_matrices(dtype):
    a, b = made((3, 130, 140), dtype), made((3, 140, 150), dtype)
    close(a @ b, wide(a) @ wide(b), 140, dtype)
    c = made((150, 140), dtype).T
    close(a.swapaxes(1, 2).swapaxes(1, 2)[::-1] @ c, wide(a)[::-1] @ wide(c), 140, dtype)


@pytest.mark.parametrize("dtype", UNITS)
@pytest.mark.parametrize("alpha,beta", [(1.0, 1.0), (0.5, -2.0), (2.0, 0.0), (0.0, 1.0)])
def test_addmm(alpha, beta, dtype):
    for m, n, k in [(1, 1, 1), (5, 1, 6), (1, 7, 3), (17, 33, 20), (150, 600, 130)]:
        a, b = made((m, k), dtype), made((k, n), dtype)
        for c in [
            made((m, n), dtype),
            made((n,), dtype),
            made((m, 1), dtype),
            made((n, m), dtype).T,
        ]:
            want = alpha * wide(a) @ wide(b) + beta * wide(c)
            close(mx.addmm(c, a, b, alpha, beta), want, k, dtype)
    a, b, c = made((6, 5, 4), dtype), made((4, 3), dtype), made((6, 1, 3), dtype)
    want = alpha * (wide(a) @ wide(b)) + beta * wide(c)
    close(mx.addmm(c, a, b, alpha, beta), want, 4, dtype)


@pytest.mark.parametrize("dtype", UNITS)
def test_no_terms_and_special_values(dtype):
    kind = getattr(mx, dtype)
    assert mx.all(mx.matmul(mx.zeros((3, 0), kind), mx.zeros((0, 4), kind)) == 0)
    c = made((3, 4), dtype)
    assert mx.array_equal(mx.addmm(c, mx.zeros((3, 0), kind), mx.zeros((0, 4), kind)), c)
    a = mx.array([[mx.inf, 1.0], [mx.nan, 0.0], [1.0, -mx.inf]]).astype(kind)
    with np.errstate(invalid="ignore"):
        got, want = wide(a @ mx.ones((2, 5), kind)), wide(a) @ np.ones((2, 5))
    np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("dtype", UNITS)
def test_broadcast_reversed_and_permuted_batches(dtype):
    base = made((3, 4, 6, 5), dtype)
    two = mx.array(2.0, getattr(mx, dtype))
    forms = [
        base, base[::-1], base[:, ::-1, :, ::-1], base.transpose(1, 0, 2, 3), base[:, :1],
        mx.broadcast_to(base[:, :1], base.shape), mx.broadcast_to(base[:1, :1, :1], base.shape),
        mx.broadcast_to(two, base.shape), mx.broadcast_to(two, (1, 1, 6, 1)), base[1:, :, ::2],
        base[..., 1:4], base[:, :, ::-2],
    ]  # fmt: skip
    for a in forms:
        for b in forms:
            b = b.swapaxes(-1, -2)
            batches = zip(a.shape[:2], b.shape[:2], strict=True)
            if a.shape[-1] == b.shape[-2] and all(x == y or 1 in (x, y) for x, y in batches):
                close(a @ b, wide(a) @ wide(b), a.shape[-1], dtype)
