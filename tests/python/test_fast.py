"""mlx.core.fast beside the same formulas in NumPy's double precision."""

import mlx.core as mx
import numpy as np
import pytest

RNG = np.random.default_rng(7)
FLOATS = {mx.float32: 2e-5, mx.float16: 4e-3, mx.bfloat16: 3e-2}


def random_array(shape, dtype=mx.float32):
    x = mx.array(RNG.standard_normal(shape).astype(np.float32)).astype(dtype)
    return x, wide(x)


def wide(x):
    return np.array(x.astype(mx.float32)).astype(np.float64)


def close(got, want, tolerance):
    assert got.shape == want.shape
    np.testing.assert_allclose(wide(got), want, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(5,), (3, 1), (2, 3, 64), (4, 1025), (0, 8)])
def test_normalization(dtype, shape):
    x, x64 = random_array(shape, dtype)
    (w, w64), (b, b64) = random_array(shape[-1:], dtype), random_array(shape[-1:], dtype)
    root = x64 / np.sqrt(np.mean(x64**2, -1, keepdims=True) + 1e-3)
    centred = x64 - np.mean(x64, -1, keepdims=True)
    normal = centred / np.sqrt(np.mean(centred**2, -1, keepdims=True) + 1e-3)
    tolerance = FLOATS[dtype]
    close(mx.fast.rms_norm(x, w, 1e-3), root * w64, tolerance)
    close(mx.fast.rms_norm(x, None, 1e-3), root, tolerance)
    for weight, bias in [(w, b), (w, None), (None, b), (None, None)]:
        want = normal * (1 if weight is None else w64) + (0 if bias is None else b64)
        got = mx.fast.layer_norm(x, weight, bias, 1e-3)
        close(got, want, tolerance)
        assert got.dtype == dtype


@pytest.mark.parametrize("length", [64, 300, 20000])
def test_normalization_with_strided_parameters(length):
    x, x64 = random_array((3, length))
    (wide_w, w64), (b, b64) = random_array((2 * length,)), random_array((1,))
    normal = x64 - np.mean(x64, -1, keepdims=True)
    normal /= np.sqrt(np.mean(normal**2, -1, keepdims=True) + 1e-3)
    got = mx.fast.layer_norm(x, wide_w[::2], mx.broadcast_to(b, (length,)), 1e-3)
    close(got, normal * w64[::2] + b64, 2e-5)
    got = mx.fast.layer_norm(x, mx.broadcast_to(b, (length,)), wide_w[::-2], 1e-3)
    close(got, normal * b64 + w64[::-2], 2e-5)


def test_normalization_has_the_types_of_its_parameters():
    x = mx.ones((2, 4), mx.float16)
    assert mx.fast.rms_norm(x, mx.ones(4), 1e-5).dtype == mx.float32
    assert mx.fast.layer_norm(x, None, mx.ones(4), 1e-5).dtype == mx.float16
    # Sums are in single precision: the squares do not fit float16.
    large = mx.full((1, 64), 300.0, mx.float16)
    assert np.allclose(np.array(mx.fast.rms_norm(large, None, 1e-5)), 1)


def rotated(x, dims, traditional, base, scale, offset, freqs):
    half = dims // 2
    speed = 1 / freqs if freqs is not None else base ** (-np.arange(half) / half)
    position = np.arange(x.shape[-2])
    if np.ndim(offset):
        position = position + np.reshape(offset, (-1,) + (1,) * (x.ndim - 2))
    else:
        position = position + offset
    turn = np.exp(1j * scale * position[..., None] * speed)
    first = slice(0, dims, 2) if traditional else slice(0, half)
    second = slice(1, dims, 2) if traditional else slice(half, dims)
    pairs = (x[..., first] + 1j * x[..., second]) * turn
    out = x.copy()
    out[..., first], out[..., second] = pairs.real, pairs.imag
    return out


@pytest.mark.parametrize("traditional", [False, True])
@pytest.mark.parametrize("dims", [2, 6, 8])
@pytest.mark.parametrize("shape", [(1, 1, 8), (2, 5, 8), (2, 3, 4, 8)])
def test_rope(traditional, dims, shape):
    for dtype in FLOATS:
        x, x64 = random_array(shape, dtype)
        for scale, offset in [(1.0, 0), (0.5, 3)]:
            got = mx.fast.rope(
                x, dims, traditional=traditional, base=1e4, scale=scale, offset=offset
            )
            assert got.dtype == dtype
            want = rotated(x64, dims, traditional, 1e4, scale, offset, None)
            close(got, want, FLOATS[dtype])
    freqs = RNG.uniform(1, 100, dims // 2).astype(np.float32)
    offsets = np.arange(shape[0]) * 7
    x, x64 = random_array(shape)
    got = mx.fast.rope(
        x, dims, traditional=traditional, base=None, scale=2.0, offset=mx.array(offsets),
        freqs=mx.array(freqs),
    )  # fmt: skip
    close(got, rotated(x64, dims, traditional, None, 2.0, offsets, freqs), 1e-4)


@pytest.mark.parametrize("traditional", [False, True])
@pytest.mark.parametrize("freqs", [False, True])
def test_rope_of_transposed_heads(traditional, freqs):
    """Of each entry with its own offset, for arrays of any rank and layout."""
    speeds = RNG.uniform(1, 100, 3).astype(np.float32)
    options = dict(traditional=traditional, scale=0.5)
    options |= dict(base=None, freqs=mx.array(speeds)) if freqs else dict(base=100.0)
    offsets = np.array([5, 0])

    def check(x: mx.array, offset) -> None:
        got = mx.fast.rope(x, 6, offset=mx.array(offset), **options)
        given = (None, 0.5, offset, speeds) if freqs else (100.0, 0.5, offset, None)
        close(got, rotated(np.array(x, np.float64), 6, traditional, *given), 1e-4)

    x, _ = random_array((2, 7, 3, 8))
    for offset in (offsets, 3):
        check(x, offset)
        check(x.transpose(0, 2, 1, 3), offset)
        check(x.transpose(0, 1, 3, 2)[..., :7].transpose(0, 1, 3, 2)[:, ::2], offset)
        check(mx.swapaxes(random_array((2, 7, 8, 3))[0], 2, 3), offset)
        check(random_array((2, 2, 2, 5, 8))[0], offset)
        check(random_array((2, 5, 8))[0], offset)


@pytest.mark.parametrize("traditional", [False, True])
def test_transforms_of_rope(traditional):
    x, x64 = random_array((2, 3, 5, 8))
    weights, w64 = random_array((2, 3, 5, 8))
    freqs = mx.array([1.0, 7.0, 50.0])

    def turned(x, freqs):
        return mx.fast.rope(
            x, 6, traditional=traditional, base=None, freqs=freqs, scale=1.0, offset=4
        )

    def loss(x, freqs):
        return (turned(x, freqs) * weights).sum()

    expected = np.array(x, np.float64)
    gradient = mx.grad(loss)(x, freqs)
    close(
        (gradient * x).sum(),
        np.sum(w64 * rotated(expected, 6, traditional, None, 1.0, 4, np.array(freqs))),
        1e-3,
    )
    second = mx.grad(lambda x: (mx.grad(loss)(x * x, freqs) * x).sum())(x)
    close(second, np.array(gradient, np.float64), 1e-4)
    both = mx.grad(loss, argnums=(0, 1))(x, freqs)
    close(both[0], np.array(gradient, np.float64), 1e-5)
    step = 1e-2
    for i in range(3):
        change = mx.array(np.eye(3, dtype=np.float32)[i] * step)
        slope = (loss(x, freqs + change) - loss(x, freqs - change)) / (2 * step)
        close(both[1][i], np.array(slope, np.float64), 2e-2)
    _, (tangent,) = mx.jvp(lambda x: turned(x, freqs), [x], [weights])
    close(tangent, rotated(w64, 6, traditional, None, 1.0, 4, np.array(freqs)), 1e-4)
    mapped = mx.vmap(lambda x: turned(x, freqs), in_axes=1, out_axes=2)(x[:, :, None])
    close(mapped, np.array(turned(x, freqs), np.float64)[:, None].transpose(0, 1, 2, 3, 4), 1e-5)
    compiled = mx.compile(lambda x: turned(x, freqs) + 1, shapeless=True)
    for part in (x, x[:, :2, :3]):
        close(compiled(part), np.array(turned(part, freqs) + 1, np.float64), 1e-5)


def attention(q, k, v, scale, mask=None, sinks=None):
    groups = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, groups, 1), np.repeat(v, groups, 1)
    scores = scale * q @ np.swapaxes(k, -1, -2)
    if isinstance(mask, str):
        seen = np.tril(np.ones(scores.shape[-2:], bool), k.shape[2] - q.shape[2])
        scores = np.where(seen, scores, -np.inf)
    elif mask is not None:
        scores = np.where(mask, scores, -np.inf) if mask.dtype == bool else scores + mask
    if sinks is not None:
        column = np.broadcast_to(sinks[None, :, None, None], (*scores.shape[:3], 1))
        scores = np.concatenate([column, scores], -1)
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    weights /= weights.sum(-1, keepdims=True)
    return weights[..., sinks is not None :] @ v


# Heads of q, heads of k, queries, keys. Some cases have more queries than are computed at a time.
SIZES = [(1, 1, 1, 1), (4, 4, 7, 7), (4, 2, 5, 9), (6, 1, 3, 40), (2, 1, 300, 310), (2, 2, 513, 3)]


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("dtype", FLOATS)
def test_attention(sizes, dtype):
    heads, shared, queries, keys = sizes
    (q, q64), (k, k64) = random_array((2, heads, queries, 8), dtype), random_array((2, shared, keys, 8), dtype)  # noqa: E501  # fmt: skip
    v, v64 = random_array((2, shared, keys, 5), dtype)
    tolerance = 2 * FLOATS[dtype]

    def check(mask=None, sinks=None):
        ours = {"mask": mask, "sinks": sinks}
        ours = {n: mx.array(a) if isinstance(a, np.ndarray) else a for n, a in ours.items()}
        ours = {
            n: a.astype(dtype) if isinstance(a, mx.array) and a.dtype != mx.bool_ else a
            for n, a in ours.items()
        }
        theirs = [wide(a) if isinstance(a, mx.array) and a.dtype != mx.bool_ else b
                  for a, b in zip(ours.values(), (mask, sinks))]  # fmt: skip
        got = mx.fast.scaled_dot_product_attention(q, k, v, scale=0.3, **ours)
        assert got.dtype == dtype
        close(got, attention(q64, k64, v64, 0.3, *theirs), tolerance)

    check()
    if keys >= queries:
        check("causal")
    for shape in [(queries, keys), (1, keys), (heads, 1, keys), (2, 1, queries, keys),
                  (2, heads, queries, keys)]:  # fmt: skip
        seen = RNG.uniform(size=shape) < 0.7
        seen[..., 0] = True
        check(seen)
        check(RNG.standard_normal(shape).astype(np.float32))
    sinks = RNG.standard_normal(heads).astype(np.float32)
    check(sinks=sinks)
    if keys >= queries:
        check("causal", sinks)


@pytest.mark.parametrize("dtype", FLOATS)
def test_queries_that_see_nothing_are_no_nans(dtype):
    """Queries that see no key, such as padding on the left, get the mean of the values."""
    (q, _), (k, _), (v, v64) = (random_array((2, 4, 3, 8), dtype) for _ in range(3))
    mask = mx.array([[False, False, False], [False, True, False], [True, True, True]])
    got = mx.fast.scaled_dot_product_attention(q, k, v, scale=0.5, mask=mask)
    close(got[:, :, 0], v64.mean(2), FLOATS[dtype])
    close(got[:, :, 1], v64[:, :, 1], FLOATS[dtype])


def test_gradients_and_vmap():
    """Beside the same formula written with the operations of mlx.core."""
    x, w, b = (random_array(s)[0] for s in [(3, 6), (6,), (6,)])

    def plain(x, w, b):
        centred = x - mx.mean(x, -1, keepdims=True)
        return centred * mx.rsqrt(mx.mean(centred * centred, -1, keepdims=True) + 1e-3) * w + b

    def loss(f):
        return lambda *a: (f(*a) * mx.arange(6)).sum()

    ours = mx.grad(loss(lambda *a: mx.fast.layer_norm(*a, 1e-3)), [0, 1, 2])(x, w, b)
    for got, want in zip(ours, mx.grad(loss(plain), [0, 1, 2])(x, w, b)):
        assert mx.allclose(got, want, atol=1e-5)
    mapped = mx.vmap(lambda a: mx.fast.rms_norm(a, w, 1e-3))(x)
    assert mx.allclose(mapped, mx.fast.rms_norm(x, w, 1e-3))
    q = random_array((1, 2, 4, 8))[0]

    def attend(q, mask="causal"):
        return mx.fast.scaled_dot_product_attention(q, q, q, scale=0.5, mask=mask)

    d = random_array(q.shape)[0]
    slope = mx.jvp(attend, [q], [d])[1][0]
    step = 1e-2
    want = (attend(q + step * d) - attend(q - step * d)) / (2 * step)
    assert mx.allclose(slope, want, atol=5e-3)
    (pulled,) = mx.vjp(attend, [q], [d])[1]
    assert abs((pulled * d).sum() - (slope * d).sum()) < 1e-3


def test_bad_arguments():
    x = mx.zeros((2, 3, 4))
    with pytest.raises(ValueError, match="weight must have the shape"):
        mx.fast.rms_norm(x, mx.zeros(3), 1e-5)
    with pytest.raises(ValueError, match="bias must have the shape"):
        mx.fast.layer_norm(x, None, mx.zeros((1, 4)), 1e-5)
    with pytest.raises(ValueError, match="floating"):
        mx.fast.rms_norm(x.astype(mx.int32), None, 1e-5)
    rope = dict(traditional=False, base=1e4, scale=1.0, offset=0)
    with pytest.raises(ValueError, match="at least 3 dimensions"):
        mx.fast.rope(x[0], 4, **rope)
    with pytest.raises(ValueError, match="dims must be even"):
        mx.fast.rope(x, 6, **rope)
    with pytest.raises(ValueError, match="Either base or freqs"):
        mx.fast.rope(x, 4, **(rope | {"base": None}))
    for freqs in (mx.ones((2, 2)), mx.ones((2, 1)), mx.ones(3), mx.array(1.0)):
        with pytest.raises(ValueError, match="freqs must have the shape"):
            mx.fast.rope(x, 4, **(rope | {"base": None, "freqs": freqs}))
    for offset in (1.5, mx.array([0.5])):
        with pytest.raises(ValueError, match="offset must be an integer, not of type float32"):
            mx.fast.rope(
                mx.ones((1, 2, 4)), 4, traditional=False, base=10.0, scale=1.0, offset=offset
            )
    with pytest.raises(ValueError, match="offset must be one number"):
        mx.fast.rope(x, 4, **(rope | {"offset": mx.array([1, 2, 3])}))
    q = mx.zeros((1, 4, 5, 8))
    for k in (mx.zeros((1, 3, 5, 8)), mx.zeros((2, 4, 5, 8)), mx.zeros((1, 4, 5, 7))):
        with pytest.raises(ValueError, match="do not fit together"):
            mx.fast.scaled_dot_product_attention(q, k, k, scale=1.0)
    with pytest.raises(ValueError, match="4 dimensions"):
        mx.fast.scaled_dot_product_attention(q[0], q[0], q[0], scale=1.0)
    with pytest.raises(ValueError, match='mask must be None, "causal" or an array, not "all"'):
        mx.fast.scaled_dot_product_attention(q, q, q, scale=1.0, mask="all")
    with pytest.raises(ValueError, match="neither bool nor one that converts"):
        half = q.astype(mx.float16)
        mx.fast.scaled_dot_product_attention(half, half, half, scale=1.0, mask=mx.zeros((5, 5)))
    with pytest.raises(ValueError, match="sinks must have the shape"):
        mx.fast.scaled_dot_product_attention(q, q, q, scale=1.0, sinks=mx.zeros(3))


@pytest.mark.cpu_kernels  # a GPU starts operations before the next one can take their memory
@pytest.mark.parametrize("mask", [None, "causal", "bool", "float"])
def test_attention_keeps_its_scores_once(rng: np.random.Generator, mask: str | None):
    """Masks and softmax take the place of the scores."""
    q = mx.array(rng.standard_normal((1, 4, 256, 32)).astype(np.float32))
    k = mx.array(rng.standard_normal((1, 4, 2048, 32)).astype(np.float32))
    shape = (256, 2048)
    masks = {"bool": mx.ones(shape, mx.bool_), "float": mx.zeros(shape)}
    given = masks.get(mask, mask)
    mx.eval(q, k, *masks.values())
    mx.synchronize()
    mx.clear_cache()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    mx.eval(mx.fast.scaled_dot_product_attention(q, k, k, scale=0.2, mask=given))
    scores = 4 * 4 * 256 * 2048
    assert mx.get_peak_memory() - before < 1.5 * scores
