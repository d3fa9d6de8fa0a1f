"""mlx.core.fft against NumPy in double precision, with derivatives beside finite differences."""

import mlx.core as mx
import numpy as np
import pytest

RNG = np.random.default_rng(42)
COMPLEX = ["fft", "ifft"]
REAL = ["rfft", "irfft"]
NORMS = ["backward", "ortho", "forward"]


def signal(shape, kind="complex"):
    x = RNG.standard_normal(shape)
    return (x + 1j * RNG.standard_normal(shape)).astype(np.complex64) if kind == "complex" else x


def argument_of(name, shape):
    return signal(shape, "real").astype(np.float32) if name == "rfft" else signal(shape)


def close(got, want, tolerance=2e-5):
    got = np.array(got)
    assert got.shape == want.shape and got.dtype == (
        np.complex64 if np.iscomplexobj(want) else np.float32
    )
    scale = max(1.0, np.max(np.abs(want), initial=0))
    np.testing.assert_allclose(got, want, rtol=0, atol=tolerance * scale)


@pytest.mark.parametrize("name", COMPLEX + REAL)
@pytest.mark.parametrize("shape", [(1,), (2,), (7,), (16,), (97,), (4096,), (3, 10), (4, 0, 6)])
def test_one_axis(name, shape):
    x = argument_of(name, shape)
    lengths = [None, 1, 5, 12] if 0 not in shape else [None]
    for n in lengths:
        if name == "irfft" and n is None and shape[-1] == 1:
            continue  # no elements
        want = getattr(np.fft, name)(x.astype(np.complex128 if name != "rfft" else np.float64), n)
        close(getattr(mx.fft, name)(mx.array(x), n), want)
    for axis in range(-len(shape), len(shape)):
        if shape[axis] < 2:
            continue
        for norm in NORMS:
            want = getattr(np.fft, name)(x, axis=axis, norm=norm)
            close(getattr(mx.fft, name)(mx.array(x), axis=axis, norm=norm), want)


@pytest.mark.parametrize("name", COMPLEX + REAL)
@pytest.mark.parametrize("norm", NORMS)
def test_several_axes(name, norm):
    x = argument_of(name, (5, 6, 7, 8))
    ours, theirs = getattr(mx.fft, name + "n"), getattr(np.fft, name + "n")
    for axes in [None, [0], [-1], [1, 2], [2, 1], [3, 0, 1], [0, 1, 2, 3]]:
        close(ours(mx.array(x), axes=axes, norm=norm), theirs(x, axes=axes, norm=norm))
        lengths = [4, 9, 6, 10][: len(axes or x.shape)]
        axes = axes or range(4)
        want = theirs(x, s=lengths, axes=axes, norm=norm)
        close(ours(mx.array(x), s=lengths, axes=axes, norm=norm), want)
    pair = getattr(mx.fft, name + "2"), getattr(np.fft, name + "2")
    close(pair[0](mx.array(x), norm=norm), pair[1](x, norm=norm))
    close(pair[0](mx.array(x), [6, 4], [1, 0], norm), pair[1](x, (6, 4), (1, 0), norm))


@pytest.mark.parametrize("name", COMPLEX + REAL)
def test_views_types_devices_and_large_batches(name):
    x = argument_of(name, (64, 50, 33))
    view, want = mx.array(x)[::-2, 3:, ::2], getattr(np.fft, name)(x[::-2, 3:, ::2], axis=1)
    for device in (mx.cpu, mx.gpu):
        close(getattr(mx.fft, name)(view, axis=1, stream=device), want)
    one = mx.broadcast_to(mx.array(x[0, 0]), (4, 33))
    close(getattr(mx.fft, name)(one), getattr(np.fft, name)(np.broadcast_to(x[0, 0], (4, 33))))
    for dtype in (mx.float16, mx.bfloat16, mx.int32, mx.bool_, mx.float32):
        numbers = mx.array([3, 0, -2, 1, 7]).astype(dtype)
        wide = np.array(numbers.astype(mx.float32))
        close(getattr(mx.fft, name)(numbers), getattr(np.fft, name)(wide))


@pytest.mark.parametrize("n", [1, 2, 5, 8])
def test_frequencies_and_shifts(n):
    for d in (1.0, 0.25):
        close(mx.fft.fftfreq(n, d), np.fft.fftfreq(n, d))
        close(mx.fft.rfftfreq(n, d), np.fft.rfftfreq(n, d))
    x = np.arange(n * 6, dtype=np.float32).reshape(n, 2, 3)
    for name in ("fftshift", "ifftshift"):
        ours, theirs = getattr(mx.fft, name), getattr(np.fft, name)
        for axes in [None, 0, -1, [0, 2]]:
            assert np.array_equal(np.array(ours(mx.array(x), axes)), theirs(x, axes))
    assert mx.array_equal(mx.fft.ifftshift(mx.fft.fftshift(mx.array(x))), mx.array(x))


CASES = [
    ("fft", dict(n=5, axis=0)), ("ifft", dict(n=8, axis=0, norm="ortho")),
    ("rfft", dict(axis=0)), ("rfft", dict(n=8, axis=1)), ("irfft", dict(n=9, axis=0)),
    ("irfft", dict(n=10, axis=1, norm="forward")), ("fftn", {}), ("rfftn", dict(axes=[1, 0])),
    ("irfftn", dict(s=[4, 7], axes=[0, 1])), ("ifft2", {}), ("rfft2", dict(s=[3, 6])), ("irfft2", {}),
]  # fmt: skip


@pytest.mark.parametrize("name,options", CASES)
def test_derivatives(name, options):
    """The slope of Re sum(conj(w) y) along d is Re sum(conj(g) d); all transforms are linear."""
    x = argument_of("rfft" if name.startswith("r") else "fft", (6, 5))
    d = argument_of("rfft" if name.startswith("r") else "fft", (6, 5))
    transform = getattr(mx.fft, name)
    moved = getattr(np.fft, name)(d, **options)
    w = signal(moved.shape, "complex" if np.iscomplexobj(moved) else "real").astype(moved.dtype)
    close(mx.jvp(lambda a: transform(a, **options), [mx.array(x)], [mx.array(d)])[1][0], moved)
    cotangent = mx.array(w.astype(np.complex64 if np.iscomplexobj(w) else np.float32))
    (pulled,) = mx.vjp(lambda a: transform(a, **options), [mx.array(x)], [cotangent])[1]
    assert pulled.shape == x.shape and np.array(pulled).dtype == x.dtype
    slope = np.sum(np.real(np.conj(np.array(pulled)) * d))
    np.testing.assert_allclose(slope, np.sum(np.real(np.conj(w) * moved)), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name,options", CASES)
@pytest.mark.parametrize("axis", [0, 1, 2])
def test_vmap(name, options, axis):
    x = argument_of("rfft" if name.startswith("r") else "fft", (6, 5))
    stacked = np.stack([x, 2 * x, -x], axis)
    got = mx.vmap(lambda a: getattr(mx.fft, name)(a, **options), in_axes=axis)(mx.array(stacked))
    want = getattr(np.fft, name)(x, **options)
    close(got, np.stack([want, 2 * want, -want]))


def test_bad_arguments():
    x = mx.zeros((4, 4))
    with pytest.raises(ValueError, match="As many lengths as axes"):
        mx.fft.fftn(x, s=[4], axes=[0, 1])
    for name in COMPLEX + REAL:
        with pytest.raises(ValueError, match="say nothing without the axes"):
            getattr(mx.fft, name + "n")(x, s=[4, 4])
    for frequencies in (mx.fft.fftfreq, mx.fft.rfftfreq):
        with pytest.raises(ValueError, match="must not be 0"):
            frequencies(4, 0)
    with pytest.raises(ValueError, match="given twice"):
        mx.fft.fftn(x, axes=[0, -2])
    with pytest.raises(ValueError, match="out of bounds"):
        mx.fft.fft(x, axis=2)
    with pytest.raises(ValueError, match="at least 1 element, not 0"):
        mx.fft.fft(x, n=0)
    with pytest.raises(ValueError, match="at least 1 element, not 0"):
        mx.fft.irfft(mx.zeros((3, 1), mx.complex64))
    with pytest.raises(ValueError, match='norm must be "backward"'):
        mx.fft.fft(x, norm="half")
    with pytest.raises(ValueError, match="must be positive"):
        mx.fft.fftfreq(0)
