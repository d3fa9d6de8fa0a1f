"""mlx.core.linalg against NumPy in double precision, with derivatives beside finite differences."""

import mlx.core as mx
import numpy as np
import pytest

RNG = np.random.default_rng(23)
LA = mx.linalg
TYPES = ["float32", "float64", "complex64"]
BATCHES = [(), (3,), (2, 0), (2, 3)]
TALL, WIDE, SQUARE = (5, 3), (3, 5), (4, 4)


def random_array(shape, dtype="float64"):
    x = RNG.standard_normal(shape)
    if dtype == "complex64":
        x = x + 1j * RNG.standard_normal(shape)
    return x.astype(dtype)


def positive_definite(shape, dtype="float64"):
    x = random_array(shape, dtype).astype("complex128" if dtype == "complex64" else "float64")
    return (x @ np.conj(np.swapaxes(x, -1, -2)) + 2 * np.eye(shape[-1])).astype(dtype)


def to_mx(x):
    """Converts arrays, and keeps float64; other objects stay as they are."""
    return mx.array(x, getattr(mx, str(x.dtype))) if isinstance(x, np.ndarray) else x


def run(function, *arrays, **options):
    with mx.stream(mx.cpu):
        out = function(*(to_mx(a) for a in arrays), **options)
        mx.eval(out)
        return [np.array(o) for o in out] if isinstance(out, (tuple, list)) else np.array(out)


def wide(x):
    return np.asarray(x, np.complex128 if np.iscomplexobj(x) else np.float64)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def close(got, want, dtype="float32", scale=1.0):
    tolerance = (1e-10 if dtype == "float64" else 2e-4) * scale
    np.testing.assert_allclose(wide(got), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("matrix", [TALL, WIDE, SQUARE, (0, 3), (3, 0), (1, 1)])
def test_decompositions_of_any_shape(dtype, batch, matrix):
    a = random_array((*batch, *matrix), dtype)
    m, n, k = *matrix, min(matrix)

    q, r = run(LA.qr, a)
    assert q.shape == (*batch, m, k) and r.shape == (*batch, k, n) and q.dtype == dtype
    close(wide(q) @ wide(r), a, dtype)
    close(adjoint(wide(q)) @ wide(q), np.broadcast_to(np.eye(k), (*batch, k, k)), dtype)
    assert np.array_equal(r, np.triu(r))

    u, s, vt = run(LA.svd, a)
    assert (u.shape, s.shape, vt.shape) == ((*batch, m, m), (*batch, k), (*batch, n, n))
    close((wide(u)[..., :k] * wide(s)[..., None, :]) @ wide(vt)[..., :k, :], a, dtype)
    close(adjoint(wide(u)) @ wide(u), np.broadcast_to(np.eye(m), (*batch, m, m)), dtype)
    close(wide(vt) @ adjoint(wide(vt)), np.broadcast_to(np.eye(n), (*batch, n, n)), dtype)
    close(run(LA.svd, a, compute_uv=False), s, dtype)

    p, lower, upper = run(LA.lu, a)
    assert p.dtype == np.uint32 and p.shape == (*batch, m)
    product = wide(lower) @ wide(upper)
    close(np.take_along_axis(product, p[..., None].astype(np.int64), -2), a, dtype)
    factors, pivots = run(LA.lu_factor, a)
    assert pivots.shape == (*batch, k) and factors.shape == a.shape
    close(np.triu(factors)[..., :k, :], upper, dtype)
    # Pivot j is the row that row j is exchanged with, one exchange after the other.
    count = int(np.prod(batch))
    for exchanges, rows in zip(pivots.reshape(count, k), p.reshape(count, m)):
        order = np.arange(m)
        for j, other in enumerate(exchanges):
            order[[j, other]] = order[[other, j]]
        assert np.array_equal(np.argsort(order), rows)

    if 0 not in matrix:
        close(run(LA.pinv, a), np.linalg.pinv(wide(a)), dtype, 10)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("n", [1, 2, 4, 33])
def test_square_matrices(dtype, batch, n):
    a = (random_array((*batch, n, n), dtype) + 2 * np.sqrt(n) * np.eye(n)).astype(dtype)
    close(run(LA.inv, a), np.linalg.inv(wide(a)), dtype)
    for upper in (False, True):
        triangle = np.triu(a) if upper else np.tril(a)
        close(run(LA.tri_inv, a, upper=upper), np.linalg.inv(wide(triangle)), dtype, 100)
    det, (sign, size) = run(LA.det, a), run(LA.slogdet, a)
    want_sign, want_size = np.linalg.slogdet(wide(a))
    close(size, want_size, dtype)
    close(sign, want_sign, dtype)
    want = np.linalg.det(wide(a))
    close(det / np.abs(want), want / np.abs(want), dtype)

    for shape in [(n,), (*batch, n, 1), (n, 3), (2, 1, 1, n, 3)]:
        b = random_array(shape, dtype)
        close(run(LA.solve, a, b), np.linalg.solve(wide(a), wide(b)), dtype)
        for upper in (False, True):
            triangle = wide(np.triu(a) if upper else np.tril(a))
            want = np.linalg.solve(triangle, wide(b))
            close(run(LA.solve_triangular, a, b, upper=upper), want, dtype, 100)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("batch", BATCHES)
@pytest.mark.parametrize("n", [0, 1, 3, 20])
def test_hermitian_matrices(dtype, batch, n):
    a = positive_definite((*batch, n, n), dtype)
    garbage = random_array((n, n), dtype)
    for upper in (False, True):
        # The other triangle is not read.
        x = np.triu(a) + np.tril(garbage, -1) if upper else np.tril(a) + np.triu(garbage, 1)
        factor = run(LA.cholesky, x, upper=upper)
        want = np.linalg.cholesky(wide(a))
        close(factor, adjoint(want) if upper else want, dtype)
        close(run(LA.cholesky_inv, factor, upper=upper), np.linalg.inv(wide(a)), dtype)
        w, v = run(LA.eigh, x, "U" if upper else "L") if n else (np.zeros((*batch, 0)), a)
        close(w, np.linalg.eigvalsh(wide(a)), dtype, 10)
        close(wide(a) @ wide(v), wide(v) * wide(w)[..., None, :], dtype, 100)
        close(adjoint(wide(v)) @ wide(v), np.broadcast_to(np.eye(n), a.shape), dtype)
        with mx.stream(mx.cpu):
            values = LA.eigvalsh(to_mx(x), UPLO="u" if upper else "L")
        close(np.array(values), w, dtype, 10)
        assert np.array(values).dtype == (np.float64 if dtype == "float64" else np.float32)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (7, 7), (2, 5, 5), (0, 3, 3)])
def test_eig(dtype, shape):
    a = random_array(shape, dtype)
    w, v = run(LA.eig, a)
    assert w.dtype == v.dtype == np.complex64
    close(wide(a) @ wide(v), wide(v) * wide(w)[..., None, :], scale=10)
    close(np.linalg.norm(wide(v), axis=-2), np.ones(w.shape))
    assert sorted(run(LA.eigvals, a).ravel(), key=str) == sorted(w.ravel(), key=str)


def test_eig_of_rotations_has_conjugate_pairs():
    w, v = run(LA.eig, np.array([[0.0, -1.0], [1.0, 0.0]], np.float32))
    assert sorted(w.imag) == [-1, 1] and np.allclose(w.real, 0)
    close(np.abs(v), np.full((2, 2), np.sqrt(0.5)))


ORDERS = [None, 1, -1, 2, -2, np.inf, -np.inf, "fro", "nuc"]


@pytest.mark.parametrize("dtype", ["float32", "int32", "complex64", "float16"])
@pytest.mark.parametrize("keepdims", [False, True])
def test_norms(dtype, keepdims):
    a = (4 * random_array((3, 4, 5), "complex64" if dtype == "complex64" else "float64")).astype(
        dtype
    )
    scale = 30 if dtype == "float16" else 1
    for axis in [(0, 1), (2, 0), (-1, -2)]:
        for order in ORDERS:
            if dtype == "float16" and order in (2, -2, "nuc"):
                continue
            want = np.linalg.norm(wide(a), order, axis, keepdims)
            close(run(LA.norm, a, order, list(axis), keepdims), want, scale=scale)
    for axis in range(-3, 3):
        for order in [None, 0, 1, -1, 2, 3, 0.5, np.inf, -np.inf]:
            want = np.linalg.norm(wide(a), order, axis, keepdims)
            close(run(LA.norm, a, order, axis, keepdims), want, scale=10 * scale)
    close(
        run(LA.norm, a, keepdims=keepdims), np.linalg.norm(wide(a), keepdims=keepdims), scale=scale
    )
    close(run(LA.norm, a[0], 1), np.linalg.norm(wide(a[0]), 1), scale=scale)
    close(run(LA.norm, a[0, 0], 3), np.linalg.norm(wide(a[0, 0]), 3), scale=scale)


@pytest.mark.parametrize("order", ORDERS)
def test_norms_of_a_matrix(order):
    """Neither square nor symmetric, so that rows and columns have different norms."""
    a = random_array((3, 5)) * np.arange(1, 6, dtype=np.float32)
    for axis in (None, (0, 1), (1, 0)):
        want = np.linalg.norm(wide(a), order, axis)
        close(run(LA.norm, a, order, axis and list(axis)), want, scale=10)


def test_norms_without_powers_are_exact():
    """A power of 1 or 1/2 may be off by a rounding error."""
    a = 1000 * random_array((4096, 1))
    np.testing.assert_array_equal(run(LA.norm, a, 1, -1), np.abs(a[:, 0]))
    n = np.arange(-2048, 2048, dtype=np.float32)[:, None]
    np.testing.assert_array_equal(run(LA.norm, n, 2, -1), np.abs(n[:, 0]))


def cross_product(a, b, axis):
    """Vectors of two elements count as having a third that is zero."""

    def extended(x):
        short = x.shape[axis] == 2
        return np.concatenate([x, 0 * np.take(x, [0], axis)], axis) if short else x

    return np.cross(extended(a), extended(b), axis=axis)


@pytest.mark.parametrize("lengths", [(3, 3), (2, 3), (3, 2), (2, 2)])
@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_cross(lengths, axis):
    shapes = [np.insert((4, 5), axis if axis >= 0 else 2, n) for n in lengths]
    a, b = (RNG.integers(-9, 9, shape).astype(np.float32) for shape in shapes)
    want = cross_product(a, b, axis)
    assert np.array_equal(run(LA.cross, a, b, axis=axis), want)
    one = np.take(b, [0], 1 if axis == 0 else 0)
    assert np.array_equal(run(LA.cross, a, one, axis=axis), cross_product(a, one, axis))


def test_strided_inputs_both_devices_and_vmap():
    base = positive_definite((6, 4, 4)).astype(np.float32)
    x = mx.array(base)
    functions = {
        "inv": LA.inv, "det": LA.det, "cholesky": LA.cholesky, "eigvalsh": LA.eigvalsh,
    }  # fmt: skip
    for name, function in functions.items():
        want = getattr(np.linalg, name)(base[::-2].swapaxes(-1, -2).astype(np.float64))
        for device in (mx.cpu, mx.gpu):
            close(np.array(function(x[::-2].swapaxes(-1, -2), stream=device)), want, scale=10)
        close(np.array(mx.vmap(function, in_axes=1)(x[::-2].swapaxes(0, 1))), want, scale=10)
    multiple = {"qr": 2, "svd": 3, "eigh": 2, "slogdet": 2, "lu": 3, "lu_factor": 2, "eig": 2}
    for name, count in multiple.items():
        parts = mx.vmap(getattr(LA, name))(x)
        assert len(parts) == count
        for part, one in zip(parts, getattr(LA, name)(x)):
            assert np.array_equal(np.array(part), np.array(one)), name
    b = mx.array(random_array((4, 6), "float32"))
    mapped = mx.vmap(LA.solve, in_axes=(0, 1))(x, b)
    close(np.array(mapped), np.linalg.solve(base, np.array(b).T[..., None])[..., 0])
    close(np.array(mx.vmap(LA.solve, in_axes=(None, 1))(x[0], b)), np.linalg.solve(base[0], b).T)
    close(np.array(LA.solve(x[:, None], mx.array(np.eye(4, dtype=np.float32)))).squeeze(1),
          np.linalg.inv(base))  # fmt: skip


def check_derivatives(function, *primals):
    """vjp and jvp of a function of float64 matrices, beside central differences."""
    directions = [random_array(p.shape) for p in primals]
    step = 1e-5
    ahead = run(function, *(p + step * d for p, d in zip(primals, directions)))
    behind = run(function, *(p - step * d for p, d in zip(primals, directions)))
    if not isinstance(ahead, list):
        ahead, behind = [ahead], [behind]
    want = [(a - b) / (2 * step) for a, b in zip(ahead, behind)]
    cotangents = [random_array(w.shape) for w in want]

    def listed(*arrays):
        out = function(*arrays)
        return list(out) if isinstance(out, (tuple, list)) else [out]

    with mx.stream(mx.cpu):
        inputs, moves = [to_mx(p) for p in primals], [to_mx(d) for d in directions]
        tangents = mx.jvp(listed, inputs, moves)[1]
        pulled = mx.vjp(listed, inputs, [to_mx(c) for c in cotangents])[1]
        for got, expected in zip(tangents, want):
            np.testing.assert_allclose(np.array(got), expected, rtol=1e-5, atol=1e-6)
        slope = sum(np.sum(np.array(p) * d) for p, d in zip(pulled, directions))
    expected = sum(np.sum(c * w) for c, w in zip(cotangents, want))
    np.testing.assert_allclose(slope, expected, rtol=1e-5, atol=1e-6)


def symmetric(x):
    return (x + x.swapaxes(-1, -2)) / 2


def with_signs(function):
    """Eigenvectors have any sign: their first elements are made positive."""

    def positive(a):
        w, v = function(a)
        return w, v * mx.sign(v[..., :1, :])

    return positive


@pytest.mark.parametrize("batch", [(), (3,)])
def test_derivatives(batch):
    a, b = random_array((*batch, 4, 4)) + 3 * np.eye(4), random_array((*batch, 4, 2))
    check_derivatives(LA.inv, a)
    check_derivatives(LA.solve, a, b)
    check_derivatives(LA.solve, a, random_array(4))
    check_derivatives(LA.solve, a, random_array((2, 1, 4, 2)))
    for upper in (False, True):
        check_derivatives(lambda x, u=upper: LA.tri_inv(x, upper=u), a)
        check_derivatives(lambda x, y, u=upper: LA.solve_triangular(x, y, upper=u), a, b)
        spd = positive_definite((*batch, 4, 4))
        check_derivatives(lambda x, u=upper: LA.cholesky(symmetric(x), upper=u), spd)
        name = "U" if upper else "L"
        check_derivatives(with_signs(lambda x, n=name: LA.eigh(symmetric(x), n)), spd)
        check_derivatives(lambda x, n=name: LA.eigvalsh(symmetric(x), n), spd)
    check_derivatives(LA.det, a)
    check_derivatives(lambda x: LA.slogdet(x)[1], a)
    check_derivatives(LA.qr, random_array((*batch, 5, 3)))
    check_derivatives(LA.qr, a)
    check_derivatives(lambda x: LA.svd(x, compute_uv=False), random_array((*batch, 5, 3)))
    check_derivatives(lambda x: LA.norm(x, "nuc", [-2, -1]), random_array((*batch, 3, 5)))


def test_complex_derivatives():
    """Real functions of complex matrices: the slope along a direction is Re sum(conj(g) d)."""
    a = positive_definite((3, 3), "complex64")
    d = random_array((3, 3), "complex64")
    d = d + adjoint(d)
    pairs = [
        (LA.inv, np.linalg.inv),
        (LA.cholesky, np.linalg.cholesky),
        (LA.eigvalsh, np.linalg.eigvalsh),
        (LA.det, np.linalg.det),
        (lambda x: LA.solve(x, x[:, 0] * 2 + 1), lambda x: np.linalg.solve(x, x[:, 0] * 2 + 1)),
    ]
    step = 1e-6
    x = a.astype(np.complex128)
    for function, reference in pairs:
        got = np.array(mx.grad(lambda x, f=function: mx.square(mx.abs(f(x))).sum())(mx.array(a)))
        ahead, behind = (np.sum(np.abs(reference(x + s * d)) ** 2) for s in (step, -step))
        slope = np.sum(np.real(np.conj(got) * d))
        np.testing.assert_allclose(slope, (ahead - behind) / (2 * step), rtol=2e-3)


def test_bad_arguments():
    square = mx.zeros((3, 3))
    for function in (LA.inv, LA.tri_inv, LA.det, LA.slogdet, LA.eig, LA.eigh, LA.cholesky):
        with pytest.raises(ValueError, match="square"):
            function(mx.zeros((2, 3)))
        with pytest.raises(ValueError, match="at least 2 dimensions"):
            function(mx.zeros((3,)))
    for function in (LA.inv, LA.tri_inv, LA.eig, LA.eigh, LA.cholesky):
        with pytest.raises(ValueError, match="must be float32, float64 or complex64, not int32"):
            function(mx.zeros((3, 3), mx.int32))
    for function in (LA.qr, LA.svd, LA.lu, LA.lu_factor, LA.pinv):
        with pytest.raises(ValueError, match="at least 2 dimensions"):
            function(mx.zeros((3,)))
    with pytest.raises(ValueError, match="3 rows"):
        LA.solve(square, mx.zeros((2, 3)))
    with pytest.raises(ValueError, match="do not broadcast|broadcast"):
        LA.solve(mx.zeros((2, 3, 3)), mx.zeros((5, 3, 1)))
    with pytest.raises(ValueError, match='UPLO must be "L" or "U", not "X"'):
        LA.eigh(square, "X")
    with pytest.raises(ValueError, match="2 or 3 elements"):
        LA.cross(mx.zeros(4), mx.zeros(4))
    with pytest.raises(ValueError, match="1 or 2 dimensions"):
        LA.norm(mx.zeros((2, 2, 2)), 2)
    with pytest.raises(ValueError, match="must be a number"):
        LA.norm(mx.zeros(3), "fro")
    with pytest.raises(ValueError, match="order of a matrix norm"):
        LA.norm(square, 3)
    with pytest.raises(ValueError, match="One axis or two"):
        LA.norm(mx.zeros((2, 2, 2)), 2, axis=[0, 1, 2])
    with pytest.raises(TypeError, match="ord must be"):
        LA.norm(square, [1])
    with pytest.raises(ValueError, match="no more columns than rows"):
        mx.grad(lambda x: LA.qr(x)[1].sum())(mx.ones((2, 3)))
    with pytest.raises(ValueError, match="singular vectors have no derivatives"):
        mx.grad(lambda x: LA.svd(x)[0].sum())(mx.ones((2, 3)))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("n", "columns"), [(31, 70), (65, 1), (130, 257), (520, 40)])
def test_large_systems(dtype, n, columns):
    """They are solved in blocks, whose columns the cores share."""
    a = (random_array((n, n), dtype) + 3 * np.sqrt(n) * np.eye(n)).astype(dtype)
    a = a[RNG.permutation(n)]  # so that rows are exchanged
    b = random_array((n, columns), dtype)
    close(run(LA.solve, a, b), np.linalg.solve(wide(a), wide(b)), dtype)
    for upper in (False, True):
        triangle = (np.triu(a) if upper else np.tril(a)) + 3 * np.sqrt(n) * np.eye(n)
        triangle = triangle.astype(dtype)
        want = np.linalg.solve(wide(triangle), wide(b))
        close(run(LA.solve_triangular, triangle, b, upper=upper), want, dtype)


def test_one_singular_matrix_of_many():
    a = random_array((3000, 4, 4), "float32") + 8 * np.eye(4, dtype=np.float32)
    close(run(LA.inv, a), np.linalg.inv(wide(a)))
    a[1777] = 0
    for function in (LA.inv, LA.tri_inv):
        with pytest.raises(RuntimeError, match="singular"):
            run(function, a)


def test_matrices_without_a_result_are_errors_when_they_are_evaluated():
    for function in (LA.inv, LA.tri_inv):
        with pytest.raises(RuntimeError, match="singular"):
            mx.eval(function(mx.zeros((3, 3))))
    with pytest.raises(RuntimeError, match="not positive definite"):
        mx.eval(LA.cholesky(-mx.eye(3)))
    sign, size = LA.slogdet(mx.zeros((3, 3)))
    assert sign.item() == 0 and size.item() == -np.inf and LA.det(mx.zeros((3, 3))).item() == 0
