"""MLX's behaviour in unusual cases."""

import mlx.core as mx
import numpy as np
import pytest

NAN, INF = float("nan"), float("inf")

# ---- numbers from Python and NumPy ----


@pytest.mark.parametrize(
    "dtype, low, high",
    [
        (mx.int8, -(2**7), 2**7 - 1),
        (mx.uint8, 0, 2**8 - 1),
        (mx.int16, -(2**15), 2**15 - 1),
        (mx.uint16, 0, 2**16 - 1),
        (mx.int32, -(2**31), 2**31 - 1),
        (mx.uint32, 0, 2**32 - 1),
    ],
)
def test_integers_that_overflow_raise(dtype, low, high):
    a = mx.zeros(1, dtype)
    for number in (low, high):
        assert (a + number).tolist() == (number + a).tolist() == [number]
    name = str(dtype).removeprefix("mlx.core.")
    for number in (low - 1, high + 1, 2**40, 2**63, -(2**40)):
        uses = [
            lambda n=number: a + n,
            lambda n=number: n + a,
            lambda n=number: a == n,
            lambda n=number: mx.maximum(a, n),
            lambda n=number: mx.where(mx.array([True]), a, n),
            lambda n=number: mx.full((2,), n, dtype),
            lambda n=number: mx.clip(a, None, n),
            lambda n=number: a.__setitem__(0, n),
        ]
        for use in uses:
            with pytest.raises(ValueError, match=f"Converting {number} to {name} would result"):
                use()
    # An explicit type wraps, like astype.
    assert mx.array(high + 1, dtype).item() == low and mx.array([high + 1], dtype).item() == low


def test_integers_of_64_bits():
    assert (mx.array([1], mx.bool_) + 2**40).dtype == mx.int64
    assert (mx.array([1], mx.uint64) + 2**63).tolist() == [2**63 + 1]
    with pytest.raises(ValueError, match="Converting 9223372036854775808 to int64 would"):
        mx.array([1], mx.int64) + 2**63
    for number in (2**64, -(2**63) - 1):
        with pytest.raises(ValueError, match="does not fit into 64 bits"):
            mx.array(number)
    assert (mx.array([1.0]) + 2**63).tolist() == [float(2**63)]
    assert mx.array(2**63).dtype == mx.uint64


def test_other_libraries_double_precision_becomes_single():
    x = np.arange(6, dtype=np.complex128).reshape(2, 3) * (1 + 2j)
    for source in (x, x.T, x[:, ::2], x[:0]):
        a = mx.from_dlpack(source)
        assert a.dtype == mx.complex64
        np.testing.assert_array_equal(np.array(a), source)
    assert mx.from_dlpack(np.ones(2)).dtype == mx.float32
    assert mx.asarray(np.ones(2)).dtype == mx.asarray(np.ones(2, np.float64)).dtype == mx.float32


def test_copies():
    x = np.arange(6, dtype=np.float32).reshape(2, 3)
    for source in (x, x[:, ::2], [1, 2], 3):
        with pytest.raises(ValueError, match=r"\[asarray\]"):
            mx.asarray(source, copy=False)
    with pytest.raises(ValueError, match=r"\[from_dlpack\]"):
        mx.from_dlpack(x, copy=False)
    strided = mx.arange(12).reshape(3, 4)[:, ::2]
    view = np.array(strided, copy=False)
    assert view.strides == (16, 8) and view.tolist() == strided.tolist()
    assert mx.ones(2).__dlpack_device__() == (1, 0)
    with pytest.raises(BufferError):
        mx.ones(2).__dlpack__(dl_device=(2, 0))


def test_buffers_of_bfloat16():
    a = mx.array([[1.0, 2.5], [3.0, 4.0]], mx.bfloat16)
    view = memoryview(a.T)
    assert (view.format, view.itemsize, view.strides) == ("bfloat16", 2, (2, 4))
    assert mx.array(view).tolist() == a.T.tolist() and mx.array(view).dtype == mx.bfloat16


# ---- operations ----


def test_ranges():
    assert mx.arange(mx.array(3)).dtype == mx.int32 and mx.arange(mx.array(3.0)).dtype == mx.float32
    assert mx.arange(3.0).dtype == mx.arange(0, 3, 0.5).dtype == mx.float32
    assert mx.arange(0, 2**33, 2**31).dtype == mx.int64
    with pytest.raises(ValueError, match=r"\[arange\].*bool"):
        mx.arange(True)


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.float32])
def test_median_with_nan(dtype):
    x = np.array([[1, NAN, 3], [4, 2, 6], [NAN, NAN, NAN]])
    got = mx.median(mx.array(x).astype(dtype), axis=1)
    np.testing.assert_array_equal(np.array(got.astype(mx.float32)), np.median(x, axis=1))
    assert np.isnan(mx.median(mx.array(x, dtype)).item())
    assert mx.median(mx.array([4, 1, 3, 2])).item() == 2.5


def test_forms_of_put_along_axis():
    a = mx.arange(6).reshape(2, 3)
    columns = mx.array([[0, 1], [1, 2]])
    assert mx.put_along_axis(a, columns, mx.array(9), 1).tolist() == [[9, 9, 2], [3, 9, 9]]
    assert mx.put_along_axis(a, columns, mx.array([[9], [8]]), 1).tolist() == [[9, 9, 2], [3, 8, 8]]
    assert mx.put_along_axis(a, mx.array([0, 5]), mx.array([9, 8])).tolist()[1] == [3, 4, 8]
    for function in (
        lambda x, i: mx.take_along_axis(x, i, axis=None),
        lambda x, i: mx.put_along_axis(x, i, mx.array(1)),
    ):
        with pytest.raises(ValueError, match="along_axis"):
            function(a, mx.array([[0], [5]]))  # the flattened array has one dimension


def test_forms_of_roll():
    a, x = mx.arange(6).reshape(2, 3), np.arange(6).reshape(2, 3)
    for shift, axis in [(1, None), (1, 0), (-4, 1), ((1, 2), (0, 1)), (1, (0, 1)), ((1, 2), 0)]:
        np.testing.assert_array_equal(mx.roll(a, shift, axis), np.roll(x, shift, axis))
    assert mx.roll(a, (1, 2)).tolist() == np.roll(x, 3).tolist()
    assert mx.roll(a, shift=1, axis=0).tolist() == mx.roll(a, mx.array(1), 0).tolist()
    assert mx.roll(mx.arange(5), (1, 2), (0,)).tolist() == [4, 0, 1, 2, 3]
    with pytest.raises(ValueError, match=r"\[roll\] There must be a shift for each axis"):
        mx.roll(a, (1,), (0, 1))


def test_infinities_of_complex_numbers():
    a = mx.array([complex(-INF, 0), complex(INF, 0), complex(0, -INF), complex(INF, 1)])
    assert mx.isneginf(a).tolist() == [True, False, False, False]
    assert mx.isposinf(a).tolist() == [False, True, False, False]


def test_checks_of_products():
    a = mx.ones((3, 4))
    assert mx.vecdot(a, a, axis=0).tolist() == [3] * 4 == mx.vecdot(a, a, axis=-2).tolist()
    assert mx.vecdot(mx.ones((2, 1, 4)), mx.ones((1, 3, 4))).shape == (2, 3)
    for b, axis in [(mx.ones(4), -1), (mx.ones((3, 1)), -1), (a, 2), (a, -3), (mx.array(1.0), -1)]:
        with pytest.raises(ValueError, match=r"\[vecdot\]"):
            mx.vecdot(a, b, axis=axis)
    for b in (mx.zeros((0,)), mx.zeros((2, 0))):
        with pytest.raises(ValueError, match=r"\[kron\] The arrays must not be empty"):
            mx.kron(mx.ones(2), b)
    with pytest.raises(ValueError, match=r"\[expm1\] Not supported for complex64"):
        mx.expm1(mx.array([1j]))
    with pytest.raises(ValueError, match=r"\[searchsorted\]"):
        mx.searchsorted(a, mx.array(1.0))


def test_diagonals_of_nothing():
    for k in (-2, 0, 2):
        assert mx.diag(mx.zeros(0), k).shape == (abs(k), abs(k))
        for shape in ((0, 0), (0, 3), (3, 0)):
            assert mx.diag(mx.zeros(shape), k).shape == (0,)


@pytest.mark.parametrize("dtype", [mx.int8, mx.int32, mx.int64])
def test_integers_to_negative_powers_are_zero(dtype):
    bases, exponents = mx.array([2, 1, -1, 0, 3], dtype), mx.array([-1, -2, -3, -1, 3], dtype)
    assert mx.power(bases, exponents).tolist() == [0, 0, 0, 0, 27]


def test_axes_that_are_not_there():
    a = mx.ones((2, 3))
    uses = [
        lambda: mx.sum(a, axis=2),
        lambda: mx.sort(a, -3),
        lambda: mx.expand_dims(a, 5),
        lambda: mx.concatenate([a], 2),
        lambda: mx.take(a, mx.array(0), 2),
        lambda: mx.vmap(mx.sum, in_axes=2)(a),
        lambda: mx.roll(a, 1, 2),
    ]
    for use in uses:
        for error in (ValueError, IndexError):
            with pytest.raises(error, match=r"\[\w+\] Axis"):
                use()


def test_paths_of_einsum():
    shapes = [(10, 17), (17, 9), (10, 13, 9), (16, 13, 9, 20), (10, 9, 20)]
    cases = [
        ("ij,jk,ilk,plkr,ikr->p", shapes),
        ("ab,bc,cd,de->ae", [(2, 30), (30, 4), (4, 50), (50, 6)]),
        ("ij,jk,kl,lm,mn->in", [(2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]),
        ("abc,bcd,de,ef,fa->", [(4, 3, 5), (3, 5, 2), (2, 6), (6, 3), (3, 4)]),
        ("ij,ij,ij->i", [(2, 3)] * 3),
    ]
    for subscripts, shapes in cases:
        ours, text = mx.einsum_path(subscripts, *[mx.ones(s) for s in shapes])
        theirs, _ = np.einsum_path(subscripts, *[np.ones(s) for s in shapes], optimize="greedy")
        if len(theirs[1]) == 2:
            assert ours == theirs[1:], subscripts
        assert f"Complete contraction:  {subscripts}\n" in text
        xs = [np.random.default_rng(0).standard_normal(s).astype(np.float32) for s in shapes]
        got = mx.einsum(subscripts, *map(mx.array, xs))
        np.testing.assert_allclose(got, np.einsum(subscripts, *xs), rtol=2e-3, atol=2e-3)
    path, text = mx.einsum_path("ij,jk,kl->il", mx.ones((2, 3)), mx.ones((3, 4)), mx.ones((4, 5)))
    assert path == [(1, 2), (0, 1)]
    assert text == (
        "  Complete contraction:  ij,jk,kl->il\n"
        "         Naive scaling:  4\n"
        "     Optimized scaling:  3\n"
        "      Naive FLOP count:  360\n"
        "  Optimized FLOP count:  180\n"
    )
    assert mx.einsum_path("a,b,c->abc", mx.ones(4), mx.ones(3), mx.ones(2))[0] == [(1, 2), (0, 1)]
    with pytest.raises(ValueError, match=r"\[einsum_path\].*2 terms for 1 operands"):
        mx.einsum_path("ij,jk", mx.ones((2, 3)))


# ---- transformations ----


def test_what_gradients_accept():
    x = mx.array([1.0, 2.0, 3.0])
    product = lambda a, b: (a * b).sum()  # noqa: E731
    for argnums in (1, [1], (1,)):
        assert mx.grad(product, argnums=argnums)(x, x + 1).tolist() == [1, 2, 3]
    with pytest.raises(ValueError, match=r"\[grad\] Argument index 0 is given more than once"):
        mx.grad(product, argnums=(0, 0))
    for result in ((x.sum(), x), [x.sum(), x], None, 3.0, ()):
        with pytest.raises(ValueError, match=r"\[grad\] The function must return a scalar array"):
            mx.grad(lambda a, r=result: r)(x)
    for result in ([x.sum(), x], None, 3.0, (), (3.0, x)):
        with pytest.raises(ValueError, match=r"\[value_and_grad\] The function must return"):
            mx.value_and_grad(lambda a, r=result: r)(x)
    value, gradient = mx.value_and_grad(lambda a: ((a * 2).sum(), {"a": a}, "text"))(x)
    assert value[0].item() == 12 and value[1]["a"].tolist() == [1, 2, 3] and value[2] == "text"
    assert gradient.tolist() == [2, 2, 2]


def test_gradients_of_ties():
    cotangent = mx.array([1.0, 10.0, 100.0, 1000.0, 10000.0])
    x = mx.array([2.0, 3.0, 3.0, 1.0, 3.0])

    def product(function, **options):
        return mx.vjp(lambda a: function(a, axis=0, **options), [x], [cotangent])[1][0].tolist()

    assert product(mx.cummax) == [1, 10, 1100, 0, 10000]
    assert product(mx.cummax, reverse=True) == [0, 11, 100, 0, 11000]
    assert product(mx.cummax, inclusive=False) == [10, 100, 11000, 0, 0]
    assert product(mx.cummax, reverse=True, inclusive=False) == [0, 1, 10, 0, 1100]
    negative = mx.vjp(lambda a: mx.cummin(a, axis=0), [-x], [cotangent])[1][0]
    assert negative.tolist() == [1, 10, 1100, 0, 10000]
    ones = mx.ones(2)
    pair = [mx.array([1.0, 2.0]), mx.array([1.0, 1.0])]
    assert [g.tolist() for g in mx.vjp(mx.maximum, pair, [ones])[1]] == [[0, 1], [1, 0]]
    assert [g.tolist() for g in mx.vjp(mx.minimum, pair, [ones])[1]] == [[0, 0], [1, 1]]
    edges = mx.grad(lambda a: mx.clip(a, 0, 1).sum())(mx.array([0.0, 0.5, 1.0, 2.0]))
    assert edges.tolist() == [0, 1, 0, 0]


def test_gradients_go_through_integers():
    x = mx.array([1.5, 2.5])
    through = mx.grad(lambda a: (a.astype(mx.int32).astype(mx.float32) * 3).sum())(x)
    assert through.tolist() == [3, 3]
    assert mx.grad(lambda a: (a * 2.0).sum())(mx.array([1, 2])).tolist() == [2, 2]
    (tangent,) = mx.jvp(lambda a: a.astype(mx.int32), [x], [mx.array([2.5, -1.5])])[1]
    assert tangent.tolist() == [2, -1] and tangent.dtype == mx.int32
    assert mx.grad(lambda a: mx.round(a).sum())(x).tolist() == [0, 0]


def test_async_eval_is_not_for_traces():
    x = mx.array([1.0, 2.0])

    def started(a):
        mx.async_eval(a + 1)
        return a.sum()

    for transformed in (mx.grad(started), mx.vmap(started)):
        with pytest.raises(ValueError, match=r"\[async_eval\] Not allowed inside"):
            transformed(x)
    assert mx.grad(lambda a: (mx.eval(a + 1), a.sum())[1])(x).tolist() == [1, 1]
    mx.async_eval(x + 1)


# ---- random numbers ----


def test_random_integers_come_from_uniform_numbers():
    key = mx.random.key(7)
    for low, high in [(0, 100), (-5, 5), (0, 2)]:
        want = np.floor(np.array(mx.random.uniform(low, high, (50,), key=key)))
        for dtype in (mx.int8, mx.int32, mx.int64):
            got = mx.random.randint(low, high, (50,), dtype, key)
            assert got.dtype == dtype
            np.testing.assert_array_equal(got, want)
    got = mx.random.randint(0, 2, (50,), mx.bool_, key)
    assert got.dtype == mx.bool_
    np.testing.assert_array_equal(got, want.astype(bool))
    assert mx.random.randint(0, 100, (6,), key=key).tolist() == [6, 20, 44, 38, 67, 32]
    assert mx.random.randint(-5, 5, (6,), key=key).tolist() == [-5, -3, -1, -2, 1, -2]
    assert mx.random.randint(5, 5, (3,)).tolist() == [5, 5, 5]
    with pytest.raises(ValueError, match=r"\[randint\] The type must be an integer type or bool"):
        mx.random.randint(0, 5, (3,), mx.float32)


def test_random_reals_of_a_key():
    key = mx.random.key(7)
    laplace = mx.random.laplace((5,), key=key)
    want = [2.04972, 0.912834, -0.357988, 0.268465, -0.432068]
    np.testing.assert_allclose(laplace, want, rtol=1e-5)
    moved = mx.random.laplace((5,), loc=2.0, scale=3.0, key=key)
    np.testing.assert_allclose(moved, 2 + 3 * np.array(laplace), rtol=1e-5)
    truncated = mx.random.truncated_normal(-1.0, 2.0, (5,), key=key)
    want = [-0.801708, -0.45949, 0.499021, -0.0712879, 0.557914]
    np.testing.assert_allclose(truncated, want, rtol=1e-5)
    assert mx.random.truncated_normal(2.0, -1.0, (2,), key=key).tolist() == [2, 2]
    for p in (1, mx.array([1, 0]), mx.array([True]), mx.array([1j])):
        with pytest.raises(
            ValueError, match=r"\[bernoulli\] The probability must be of a floating"
        ):
            mx.random.bernoulli(p)


@pytest.mark.parametrize(
    "name", ["bitwise_and", "bitwise_or", "bitwise_xor", "left_shift", "right_shift"]
)
@pytest.mark.parametrize("dtype", [mx.int8, mx.int64])
def test_bits_of_types_without_a_common_integer_type(name: str, dtype: mx.Dtype):
    with pytest.raises(RuntimeError, match="must be integer types or bool with one in common"):
        getattr(mx, name)(mx.array([1], mx.uint64), mx.array([1], dtype))


def test_types_of_sums_and_products():
    assert mx.sum(mx.array([True, True])).dtype == mx.int32
    assert mx.sum(mx.array(True)).dtype == mx.bool_  # a sum over no axes keeps the type
    assert mx.prod(mx.array(3, mx.uint8)).dtype == mx.uint8
    assert mx.cumprod(mx.array([True, False, True])).tolist() == [True, False, False]
    assert mx.cumsum(mx.array([True, True])).dtype == mx.int32


def test_logsumexp_of_complex_numbers():
    x = np.array([[1 + 2j, -3 + 0.5j, 90 - 1j], [0, 1j, -np.inf]], np.complex64)
    got = np.array(mx.logsumexp(mx.array(x), axis=1))
    with np.errstate(invalid="ignore"):
        want = np.log(np.exp(x.astype(np.complex128)).sum(1))
    np.testing.assert_allclose(got, want, rtol=1e-5)
