"""Short-time Fourier transforms beside SciPy's windows and a loop in double precision."""

import mlx.core as mx
import numpy as np
import pytest

RNG = np.random.default_rng(5)
PAD_MODES = {"reflect": "reflect", "constant": "constant", "edge": "edge", "symmetric": "symmetric"}


def framed(x, n_fft, hop, window, center=True, mode="reflect", norm="backward", half=True):
    """The transform by definition, in double precision."""
    if center:
        width = [(0, 0)] * (x.ndim - 1) + [(n_fft // 2, n_fft // 2)]
        x = np.pad(x, width, mode=mode)
    left = (n_fft - len(window)) // 2
    whole = np.zeros(n_fft)
    whole[left : left + len(window)] = window
    count = 1 + (x.shape[-1] - n_fft) // hop
    transform = np.fft.rfft if half else np.fft.fft
    frames = [transform(x[..., i * hop : i * hop + n_fft] * whole, norm=norm) for i in range(count)]
    return np.stack(frames, axis=-1)


def close(got, want, tolerance=2e-5):
    assert got.shape == want.shape
    np.testing.assert_allclose(
        np.array(got), want, rtol=0, atol=tolerance * (1 + np.abs(want).max())
    )


def signal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize("device", [mx.cpu, mx.gpu])
@pytest.mark.parametrize("n_fft, hop", [(8, 4), (16, 5), (9, 2), (16, 16), (12, 20), (4, 1)])
@pytest.mark.parametrize("center", [True, False])
def test_frames(n_fft, hop, center, device):
    x = signal(2, 3, 50)
    got = mx.fft.stft(mx.array(x), n_fft, hop, center=center, stream=device)
    assert got.dtype == mx.complex64
    close(got, framed(x.astype(float), n_fft, hop, np.ones(n_fft), center))


@pytest.mark.parametrize("mode", PAD_MODES)
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_edges_and_norms(mode, norm):
    x = signal(40)
    window = np.hanning(10)
    got = mx.fft.stft(
        mx.array(x), 16, 4, window=mx.array(window.astype(np.float32)), pad_mode=mode, norm=norm
    )
    close(got, framed(x.astype(float), 16, 4, window, True, mode, norm))


def test_windows_and_defaults():
    x = signal(64)
    a = mx.array(x)
    close(mx.fft.stft(a, 16), framed(x, 16, 4, np.ones(16)))
    close(mx.fft.stft(a, 16, win_length=7), framed(x, 16, 4, np.ones(7)))
    assert mx.fft.stft(mx.zeros(4096)).shape == (1025, 9)
    whole = framed(x, 16, 4, np.ones(16), half=False)
    close(mx.fft.stft(a, 16, onesided=False), whole)
    close(mx.fft.stft(a.astype(mx.complex64), 16), whole)
    assert mx.fft.stft(mx.arange(20), 8).dtype == mx.complex64
    assert mx.fft.stft(mx.zeros((0, 50)), 8).shape == (0, 5, 26)
    close(mx.fft.stft(mx.array(signal(3, 80))[:, ::2].T.T, 8).real * 0, np.zeros((3, 5, 21)))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("n_fft, hop", [(16, 4), (16, 8), (9, 3), (15, 5)])
@pytest.mark.parametrize("norm", ["backward", "ortho", "forward"])
def test_signals_come_back(center, n_fft, hop, norm):
    x = signal(2, 60)
    window = mx.array((np.hamming(n_fft)).astype(np.float32))
    made = mx.fft.stft(mx.array(x), n_fft, hop, window=window, center=center, norm=norm)
    back = mx.fft.istft(made, n_fft, hop, window=window, center=center, norm=norm)
    assert back.dtype == mx.float32
    length = back.shape[-1]
    assert length == (made.shape[-1] - 1) * hop + (n_fft if not center else n_fft % 2)
    np.testing.assert_allclose(back, x[:, :length], atol=1e-5)
    two = mx.fft.stft(mx.array(x), n_fft, hop, window=window, center=center, onesided=False)
    again = mx.fft.istft(two, n_fft, hop, window=window, center=center, onesided=False)
    np.testing.assert_allclose(again, x[:, :length], atol=1e-5)


def test_lengths():
    x = signal(50)
    made = mx.fft.stft(mx.array(x), 16, 4)
    for length in (0, 10, 48, 50, 100):
        back = mx.fft.istft(made, 16, 4, length=length)
        assert back.shape == (length,)
        np.testing.assert_allclose(back[:50], x[:length], atol=1e-5)
        assert not np.any(np.array(back[56:]))
    assert mx.fft.istft(made).shape == (48,)  # n_fft and hop_length follow from the frequencies
    assert mx.fft.istft(mx.ones((9, 1)), 16, 4).shape == (0,)
    gaps = mx.fft.istft(mx.ones((9, 2)), 16, 20, center=False)
    assert gaps.shape == (36,) and gaps[16:20].tolist() == [0, 0, 0, 0]


def test_no_window_reaches_the_ends():
    window = mx.hanning(16)
    made = mx.fft.stft(mx.array(signal(40)), 16, 4, window=window, center=False)
    back = mx.fft.istft(made, 16, 4, window=window, center=False)
    assert back[0].item() == 0 and back[-1].item() == 0 and np.isfinite(np.array(back)).all()


def test_derivatives():
    x = mx.array(signal(40))
    weights = mx.array(signal(5, 11))

    def loss(a):
        made = mx.fft.stft(a, 8, 4, window=mx.hanning(8))
        return (mx.square(made.real) * weights).sum() + (made.imag * weights).sum()

    direction = mx.array(signal(40))
    slope = (mx.grad(loss)(x) * direction).sum().item()
    (tangent,) = mx.jvp(loss, [x], [direction])[1]
    wide = (loss(x + 1e-2 * direction) - loss(x - 1e-2 * direction)).item() / 2e-2
    assert slope == pytest.approx(tangent.item(), rel=1e-4)
    assert slope == pytest.approx(wide, rel=1e-2)
    total = mx.grad(lambda a: mx.fft.istft(mx.fft.stft(a, 8, 4), 8, 4).sum())(x)
    np.testing.assert_allclose(total, np.ones(40), atol=1e-5)


def test_vmap():
    x = mx.array(signal(3, 40))
    close(mx.vmap(lambda a: mx.fft.stft(a, 8))(x), np.array(mx.fft.stft(x, 8)))
    made = mx.fft.stft(x, 8)
    close(mx.vmap(lambda a: mx.fft.istft(a, 8))(made), np.array(mx.fft.istft(made, 8)))


@pytest.mark.torch
def test_torch_agrees(torch):
    x = signal(2, 100)
    window = np.hanning(12).astype(np.float32)
    options = {"n_fft": 16, "hop_length": 6, "win_length": 12}
    theirs = torch.stft(
        torch.tensor(x), **options, window=torch.tensor(window), return_complex=True
    )
    ours = mx.fft.stft(mx.array(x), **options, window=mx.array(window))
    close(ours, theirs.numpy())
    back = torch.istft(theirs, **options, window=torch.tensor(window), length=90)
    np.testing.assert_allclose(
        mx.fft.istft(ours, **options, window=mx.array(window), length=90), back, atol=1e-5
    )


@pytest.mark.parametrize(
    "call, message",
    [
        (lambda x: mx.fft.stft(mx.array(1.0), 8), r"\[stft\] The array must have at least 1"),
        (lambda x: mx.fft.stft(x, 0), r"\[stft\] n_fft must be positive, but is 0"),
        (lambda x: mx.fft.stft(x, 2), r"\[stft\] hop_length must be positive"),
        (lambda x: mx.fft.stft(x, 8, -1), r"\[stft\] hop_length must be positive, but is -1"),
        (lambda x: mx.fft.stft(x, 8, win_length=0), r"\[stft\] win_length must be positive"),
        (lambda x: mx.fft.stft(x, 8, win_length=9), r"\[stft\] The window has 9 elements"),
        (lambda x: mx.fft.stft(x, 8, window=mx.ones((1, 8))), r"\[stft\] The window must have one"),
        (lambda x: mx.fft.stft(x, 8, window=1j * mx.ones(8)), r"\[stft\] The window must be real"),
        (lambda x: mx.fft.stft(x[:3], 8, center=False), r"\[stft\] A signal of 3 elements"),
        (lambda x: mx.fft.stft(x, 8, norm="foo"), "norm must be"),
        (lambda x: mx.fft.stft(x, 8, pad_mode="foo"), r"\[pad\]"),
        (lambda x: mx.fft.istft(x, 8), r"\[istft\] The array must have frequencies"),
        (lambda x: mx.fft.istft(mx.zeros((9, 0)), 16), r"\[istft\] .*at least one frame"),
        (lambda x: mx.fft.istft(mx.ones((9, 3)), 0), r"\[istft\] n_fft must be positive"),
        (lambda x: mx.fft.istft(mx.ones((9, 3)), 16, length=-1), r"\[istft\] length must not be"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call(mx.array(signal(20)))
