"""gather_mm, block_masked_mm, segmented_mm and hadamard_transform beside NumPy."""

import mlx.core as mx
import numpy as np
import pytest

RNG = np.random.default_rng(11)
TYPES = ["float32", "float16", "bfloat16", "float64"]
TOLERANCE = {"float64": 1e-12, "float32": 1e-5, "float16": 4e-3, "bfloat16": 3e-2}


def random(*shape, dtype="float32"):
    with mx.stream(mx.cpu):
        x = mx.array(RNG.standard_normal(shape), mx.float64)
        out = x.astype(getattr(mx, dtype))
        mx.eval(out)
        return out


def wide(x):
    with mx.stream(mx.cpu):
        return np.array(x.astype(mx.float64))


def close(got, want, tolerance=1e-5):
    scale = max(1.0, np.abs(want).max()) if np.size(want) else 1.0
    assert got.shape == np.shape(want)
    np.testing.assert_allclose(wide(got), want, rtol=tolerance, atol=tolerance * scale)


# ---- gather_mm ----


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("rows", [1, 3])
def test_gather_mm(rows, dtype):
    a, b = random(2, 2, rows, 7, dtype=dtype), random(5, 7, 6, dtype=dtype)
    with mx.stream(mx.cpu):
        transposed = mx.swapaxes(random(5, 6, 7, dtype=dtype), -1, -2)
        rights = (b, transposed, b[::-1], mx.broadcast_to(b[:1], b.shape))
    for right in rights:
        for lhs, rhs in [
            ([0, 3, 1], [4, 0, 0]),
            ([[0], [2]], [[1, 2, 3, 4]]),
            (None, [[4, 2], [2, 0]]),
            ([3, 2, 1, 0, 0], None),
            ([-1, 0], [-2, 1]),
            (2, [1, 1]),
        ]:
            left = np.arange(4).reshape(2, 2) if lhs is None else np.array(lhs)
            chosen = np.arange(5) if rhs is None else np.array(rhs)
            with mx.stream(mx.cpu):
                out = mx.gather_mm(
                    a,
                    right,
                    lhs_indices=None if lhs is None else mx.array(lhs),
                    rhs_indices=None if rhs is None else mx.array(rhs, mx.int64),
                )
            left, chosen = np.broadcast_arrays(left, chosen)
            assert out.dtype == a.dtype
            want = wide(a).reshape(4, rows, 7)[left] @ wide(right)[chosen]
            close(out, want, TOLERANCE[dtype])


def test_gather_mm_of_vectors_and_nothing():
    a, b = random(4, 3), random(2, 3, 5)
    index = mx.array([1, 0])
    close(mx.gather_mm(a[0], b, rhs_indices=index), wide(a)[0] @ wide(b)[[1, 0]])
    close(mx.gather_mm(a, b[0, :, 0], mx.array([0, 0])), np.stack([wide(a) @ wide(b)[0, :, 0]] * 2))
    close(mx.gather_mm(b, mx.swapaxes(b, 1, 2)), wide(b) @ wide(b).swapaxes(1, 2))
    none = mx.zeros((0,), mx.int32)
    assert mx.gather_mm(a, b, rhs_indices=none).shape == (0, 4, 5)
    assert mx.gather_mm(a[:0], b, rhs_indices=index).shape == (2, 0, 5)
    close(mx.gather_mm(mx.ones((4, 0)), mx.ones((2, 0, 5)), None, index), np.zeros((2, 4, 5)))
    far = mx.gather_mm(a, b, rhs_indices=mx.array([7, -9]))
    close(far, wide(a) @ wide(b)[[1, 0]])


def test_gather_mm_for_experts():
    tokens, experts = random(300, 1, 32), random(8, 32, 48)
    for rhs in (np.sort(RNG.integers(0, 7, 300)), RNG.integers(0, 7, 300)):
        out = mx.gather_mm(tokens, experts, None, mx.array(rhs), sorted_indices=True)
        close(out, wide(tokens) @ wide(experts)[rhs])


def test_gradients_of_gather_mm():
    a, b = random(3, 2, 4), random(5, 4, 6)
    lhs, rhs = mx.array([[0, 2, 2], [1, 0, -1]]), mx.array([[4, 4, -4], [1, 3, 0]])
    c = random(2, 3, 2, 6)

    def gathered(a, b):
        return mx.gather_mm(a, b, lhs, rhs)

    def plain(a, b):
        return a[lhs] @ b[rhs]

    for got, want in zip(
        mx.vjp(gathered, [a, b], [c])[1], mx.vjp(plain, [a, b], [c])[1], strict=True
    ):
        close(got, wide(want))
    tangents = [random(3, 2, 4), random(5, 4, 6)]
    got, want = (mx.jvp(f, [a, b], tangents)[1][0] for f in (gathered, plain))
    close(got, wide(want))
    with pytest.raises(ValueError, match=r"\[gather_mm\].*respect to indices"):
        mx.vjp(lambda i: mx.gather_mm(a, b, i, rhs), [lhs], [c])


def test_vmap_of_gather_mm():
    a, b = random(2, 3, 2, 4), random(5, 2, 4, 6)
    lhs, rhs = mx.array([[0, 2], [1, -1]]), mx.array([[4, 0], [-2, 2]])
    for axes in [(0, 1, 0, 0), (0, None, None, 1), (None, 1, 0, None), (None, None, 1, None)]:
        args = [a, b, lhs, rhs]
        args = [x if axis is not None else x[1] for x, axis in zip(args, axes, strict=True)]
        if axes[1] is None:
            args[1] = b[:, 1]
        out = mx.vmap(lambda *p: mx.gather_mm(*p), in_axes=axes)(*args)
        for i in range(2):
            mine = [
                x if axis is None else mx.take(x, mx.array(i), axis)
                for x, axis in zip(args, axes, strict=True)
            ]
            close(out[i], wide(mx.gather_mm(*mine)))


# ---- block_masked_mm ----


def spread(mask, block, rows, columns):
    return np.repeat(np.repeat(mask, block, -2), block, -1)[..., :rows, :columns]


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("kind", [bool, float])
@pytest.mark.parametrize("block", [7, 16, 32, 64, 128])
def test_block_masked_mm(block, kind, dtype):
    for batch, m, n, k in [((), 70, 33, 128), ((2,), 64, 64, 64), ((2, 3), 1, 40, 100)]:
        a, b = random(*batch, m, k, dtype=dtype), random(*batch, k, n, dtype=dtype)
        blocks = [-(-size // block) for size in (m, n, k)]

        def mask(rows, columns, batch=batch):
            values = RNG.integers(0, 2, (*batch, rows, columns)).astype(kind)
            return values if kind is bool else values * 1.5

        out, lhs, rhs = mask(blocks[0], blocks[1]), mask(blocks[0], blocks[2]), mask(*blocks[:0:-1])
        for given in [(None, None, None), (out, None, None), (None, lhs, rhs), (out, lhs, rhs)]:
            left, right = wide(a), wide(b)
            left = left if given[1] is None else left * spread(given[1], block, m, k)
            right = right if given[2] is None else right * spread(given[2], block, k, n)
            want = left @ right
            want = want if given[0] is None else want * spread(given[0], block, m, n)
            got = mx.block_masked_mm(
                a, b, block, *[None if g is None else mx.array(g) for g in given]
            )
            assert got.dtype == a.dtype
            close(got, want, TOLERANCE[dtype])


def test_blocks_that_are_left_out_may_hold_anything():
    a = mx.concatenate([mx.ones((4, 32)), mx.full((4, 32), mx.nan)], 1)
    mask = mx.array([[True, False]])
    close(mx.block_masked_mm(a, mx.ones((64, 3)), 32, mask_lhs=mask), np.full((4, 3), 32.0))


def test_gradients_of_block_masked_mm():
    a, b = random(2, 64, 96), random(96, 40)
    masks = [mx.array(RNG.random(s), mx.float32) for s in [(2, 2), (2, 3), (3, 2)]]
    c = random(2, 64, 40)

    def plain(a, b, out, lhs, rhs):
        def all_of(mask, rows, columns):
            return mx.repeat(mx.repeat(mask, 32, 0), 32, 1)[:rows, :columns]

        product = (a * all_of(lhs, 64, 96)) @ (b * all_of(rhs, 96, 40))
        return product * all_of(out, 64, 40)

    args = [a, b, *masks]
    for got, want in zip(
        mx.vjp(lambda a, b, *m: mx.block_masked_mm(a, b, 32, *m), args, [c])[1],
        mx.vjp(plain, args, [c])[1],
        strict=True,
    ):
        close(got, wide(want), 1e-4)
    out = mx.vmap(lambda a: mx.block_masked_mm(a, b, 32, *masks))(a)
    close(out, wide(mx.block_masked_mm(a, b, 32, *masks)))


# ---- segmented_mm ----


@pytest.mark.parametrize("dtype", TYPES)
def test_segmented_mm(dtype):
    a, b = random(5, 40, dtype=dtype), random(40, 6, dtype=dtype)
    other = mx.array([[0, 10], [10, 10], [8, 40], [39, 50], [60, 70], [7, 3]], mx.uint32)
    with mx.stream(mx.cpu):
        turned = (random(40, 5, dtype=dtype).T, random(6, 40, dtype=dtype).T)
    for segments in (other, other.reshape(2, 3, 2), other[0], other.astype(mx.int32)[:0]):
        for left, right in ((a, b), turned):
            with mx.stream(mx.cpu):
                out = mx.segmented_mm(left, right, segments)
            pairs = np.array(segments).reshape(-1, 2)
            want = [wide(left)[:, s:e] @ wide(right)[s:e] for s, e in pairs]
            want = np.array(want).reshape(*segments.shape[:-1], 5, 6)
            assert out.dtype == a.dtype
            close(out, want, TOLERANCE[dtype])
    with mx.stream(mx.cpu):
        one = mx.segmented_mm(a[:1], b[:, :1], other)
        close(
            one,
            np.array([wide(a)[:1, s:e] @ wide(b)[s:e, :1] for s, e in np.array(other)]),
            TOLERANCE[dtype],
        )
    assert mx.segmented_mm(mx.ones((2, 0)), mx.ones((0, 3)), other).shape == (6, 2, 3)


def test_gradients_and_vmap_of_segmented_mm():
    a, b = random(5, 12), random(12, 6)
    segments = mx.array([[0, 4], [2, 12], [5, 5], [11, 20]])
    c = random(4, 5, 6)

    def plain(a, b):
        return mx.stack([a[:, s:e] @ b[s:e] for s, e in [(0, 4), (2, 12), (5, 5), (11, 12)]])

    def segmented(a, b):
        return mx.segmented_mm(a, b, segments)

    for got, want in zip(
        mx.vjp(segmented, [a, b], [c])[1], mx.vjp(plain, [a, b], [c])[1], strict=True
    ):
        close(got, wide(want))
    tangents = [random(5, 12), random(12, 6)]
    got, want = (mx.jvp(f, [a, b], tangents)[1][0] for f in (segmented, plain))
    close(got, wide(want))
    stacked = mx.stack([a, 2 * a])
    out = mx.vmap(segmented, in_axes=(0, None))(stacked, b)
    close(out, np.stack([wide(plain(a, b)), 2 * wide(plain(a, b))]))
    out = mx.vmap(lambda s: mx.segmented_mm(a, b, s), in_axes=1)(segments.reshape(2, 2, 2))
    close(out, wide(plain(a, b)).reshape(2, 2, 5, 6).swapaxes(0, 1))


# ---- hadamard_transform ----


def hadamard(size):
    """From the transform of unit vectors; NumPy's own for powers of two."""
    h = np.ones((1, 1))
    while h.shape[0] < size:
        h = np.kron(np.array([[1, 1], [1, -1]]), h)
    return h


@pytest.mark.parametrize("size", [1, 2, 4, 64, 128, 256, 1024, 8192])
def test_hadamard_transform_of_powers_of_two(size):
    x = random(3, size)
    h = hadamard(size) if size <= 1024 else None
    y = mx.hadamard_transform(x)
    if h is not None:
        close(y, wide(x) @ h.T / np.sqrt(size))
        close(mx.hadamard_transform(x, scale=0.5), wide(x) @ h.T / 2)
    close(mx.hadamard_transform(y), wide(x), 1e-4)


@pytest.mark.parametrize("odd", [12, 20, 28])
def test_hadamard_transform_of_other_sizes(odd):
    h = wide(mx.hadamard_transform(mx.eye(odd), scale=1.0)).T
    assert set(h.reshape(-1)) == {-1.0, 1.0}
    np.testing.assert_array_equal(h @ h.T, odd * np.eye(odd))
    for power in (1, 2, 128):
        x = random(2, odd * power)
        y = mx.hadamard_transform(x)
        close(y, wide(x) @ np.kron(h, hadamard(power)).T / np.sqrt(odd * power), 2e-5)
        # The inverse is the transpose, which the gradient applies.
        back = mx.vjp(lambda x: mx.hadamard_transform(x), [x], [y])[1][0]
        close(back, wide(x), 2e-5)


def test_rows_of_the_matrices_of_other_sizes():
    first = {
        12: ["+-++++++++++", "--+-+-+-+-+-", "+++-++----++"],
        20: ["+----+----++--++-++-", "-+----+---+++---+-++"],
        28: ["+------++----++-+--+-+--++--", "-+-----+++-----+-+--+-+--++-"],
    }
    for size, rows in first.items():
        h = wide(mx.hadamard_transform(mx.eye(size), scale=1.0)).T
        for got, want in zip(h, rows, strict=False):
            assert "".join("+" if v > 0 else "-" for v in got) == want


def test_types_views_and_transformations_of_hadamard_transform():
    assert mx.hadamard_transform(mx.array(3.0)).tolist() == 3
    x = random(4, 6, 64)
    h = hadamard(64) / 8
    for dtype in TYPES:
        with mx.stream(mx.cpu):
            y = mx.hadamard_transform(x.astype(getattr(mx, dtype)))
        assert y.dtype == getattr(mx, dtype)
        close(y, wide(x.astype(mx.float32)) @ h, TOLERANCE[dtype] * 2 + 1e-7)
    assert mx.hadamard_transform(mx.arange(8)).dtype == mx.float32
    views = mx.swapaxes(random(64, 4), 0, 1)
    close(mx.hadamard_transform(views[::2]), wide(views)[::2] @ h)
    close(mx.vmap(mx.hadamard_transform, in_axes=1, out_axes=1)(x), wide(x) @ h)
    close(mx.jvp(mx.hadamard_transform, [x], [2 * x])[1][0], 2 * wide(x) @ h)
    assert mx.hadamard_transform(mx.zeros((0, 8))).shape == (0, 8)


# ---- errors ----


@pytest.mark.parametrize(
    "match,call",
    [
        (r"\[gather_mm\] Last dim", lambda a, i: mx.gather_mm(a, a, i, i)),
        (r"\[gather_mm\].*integers", lambda a, i: mx.gather_mm(a, a.T, i * 1.0, i)),
        (r"\[gather_mm\].*real floating", lambda a, i: mx.gather_mm(i[None], i[None].T, i, i)),
        (
            r"\[gather_mm\].*there are none",
            lambda a, i: mx.gather_mm(a, mx.ones((0, 5, 3)), None, i),
        ),
        (r"\[block_masked_mm\].*positive", lambda a, i: mx.block_masked_mm(a, a.T, 0)),
        (r"mask_out has the shape", lambda a, i: mx.block_masked_mm(a, a.T, 32, mx.ones((2, 1)))),
        (r"\[block_masked_mm\] Last", lambda a, i: mx.block_masked_mm(a, a)),
        (r"\[segmented_mm\].*2 dimensions", lambda a, i: mx.segmented_mm(a[None], a.T, i)),
        (r"\[segmented_mm\].*must be 2", lambda a, i: mx.segmented_mm(a, a.T, mx.array([1]))),
        (r"\[segmented_mm\].*integers", lambda a, i: mx.segmented_mm(a, a.T, i * 1.0)),
        (r"\[hadamard_transform\].*m \* 2\^k", lambda a, i: mx.hadamard_transform(mx.ones(3))),
        (r"\[hadamard_transform\].*m \* 2\^k", lambda a, i: mx.hadamard_transform(mx.ones(36))),
        (r"\[hadamard_transform\].*m \* 2\^k", lambda a, i: mx.hadamard_transform(mx.ones((2, 0)))),
        (r"complex", lambda a, i: mx.hadamard_transform(mx.array([1j, 1]))),
    ],
)
def test_arguments_that_are_refused(match, call):
    with pytest.raises(ValueError, match=match):
        call(mx.ones((4, 5)), mx.array([0, 0]))


@pytest.mark.parametrize("counts", [(0, 0), (0, 2), (2, 0), (1, 1), (0, 1), (1, 0)])
def test_gather_mm_with_no_indices_or_no_matrices(counts: tuple[int, int]):
    a, b = random(counts[0], 2, 3), random(counts[1], 3, 4)
    choices = [
        None,
        np.zeros(0, int),
        np.zeros(1, int),
        np.zeros((2, 1), int),
        np.zeros((3, 0), int),
    ]
    for lhs in choices:
        for rhs in choices:
            left = np.arange(counts[0]) if lhs is None else lhs
            right = np.arange(counts[1]) if rhs is None else rhs

            given = [None if i is None else mx.array(i, mx.int32) for i in (lhs, rhs)]
            try:
                both = np.broadcast_arrays(left, right)
            except ValueError:
                both = None
            takes_some = left.size > 0 and right.size > 0
            if both is None or (takes_some and 0 in counts):
                with pytest.raises(ValueError, match=r"\[(gather_mm|broadcast_shapes)\]"):
                    mx.eval(mx.gather_mm(a, b, *given))
                continue
            close(mx.gather_mm(a, b, *given), wide(a)[both[0]] @ wide(b)[both[1]] if both[0].size else
                  np.zeros((*both[0].shape, 2, 4)))  # fmt: skip
