"""Convolutions against sums in double precision, and their derivatives and maps."""

import itertools
import multiprocessing

import mlx.core as mx
import numpy as np
import pytest

RNG = np.random.default_rng(7)
FLOATS = {"float32": 2e-6, "float16": 2e-3, "bfloat16": 1.6e-2}
DEVICES = [mx.cpu, mx.gpu]


def numbers(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def spread(value, spatial):
    return list(value) if isinstance(value, (tuple, list)) else [value] * spatial


def reference(x, w, stride=1, padding=0, kernel_dilation=1, input_dilation=1, groups=1, flip=False):
    """The definition, in double precision: pads and dilates, then a product per kernel element."""
    x, w = np.asarray(x, np.float64), np.asarray(w, np.float64)
    spatial = x.ndim - 2
    two_lists = isinstance(padding, tuple) and isinstance(padding[0], list)
    low, high = padding if two_lists else (padding, padding)
    low, high = spread(low, spatial), spread(high, spatial)
    stride, apart = spread(stride, spatial), spread(kernel_dilation, spatial)
    for axis, gap in enumerate(spread(input_dilation, spatial), 1):
        shape = list(x.shape)
        shape[axis] = max(0, (shape[axis] - 1) * gap + 1)
        wide = np.zeros(shape)
        wide[(slice(None),) * axis + (slice(None, None, gap),)] = x
        x = wide
    ends = [(0, 0), *((max(0, a), max(0, b)) for a, b in zip(low, high)), (0, 0)]
    x = np.pad(x, ends)
    for axis, (a, b) in enumerate(zip(low, high), 1):
        x = x[(slice(None),) * axis + (slice(max(0, -a), x.shape[axis] - max(0, -b)),)]
    if flip:
        w = np.flip(w, tuple(range(1, spatial + 1)))
    kernel = w.shape[1:-1]
    extents = [
        (n - (k - 1) * d - 1) // s + 1 for n, k, d, s in zip(x.shape[1:-1], kernel, apart, stride)
    ]
    out = np.zeros((x.shape[0], *extents, w.shape[0]))
    inputs, outputs = w.shape[-1], w.shape[0] // groups
    for tap in itertools.product(*map(range, kernel)):
        window = tuple(
            slice(t * d, t * d + (n - 1) * s + 1, s)
            for t, d, n, s in zip(tap, apart, extents, stride)
        )
        for g in range(groups):
            of = slice(g * outputs, (g + 1) * outputs)
            under = x[(slice(None), *window, slice(g * inputs, (g + 1) * inputs))]
            out[..., of] += under @ w[(of, *tap)].T
    return out


def close(got, want, tolerance=2e-6):
    got = np.array(got.astype(mx.float32) if got.dtype != mx.float64 else got)
    assert got.shape == want.shape
    scale = max(1.0, np.max(np.abs(want), initial=0))
    np.testing.assert_allclose(got, want, rtol=0, atol=5 * tolerance * scale)


# Shapes of input and weight, and options of conv_general.
CASES = [
    ((2, 9, 3), (4, 3, 3), {}),
    ((1, 9, 1), (1, 9, 1), {}),
    ((1, 1, 1), (1, 1, 1), {}),
    ((3, 17, 5), (7, 4, 5), dict(stride=3, padding=2)),
    ((2, 64, 16), (32, 5, 16), dict(padding=([3], [0]), kernel_dilation=2)),
    ((2, 11, 6), (9, 3, 2), dict(groups=3, padding=1, flip=True)),
    ((2, 7, 4), (6, 3, 4), dict(input_dilation=3, padding=2)),
    ((2, 7, 4), (6, 3, 4), dict(input_dilation=3, padding=([5], [9]), kernel_dilation=2)),
    ((2, 7, 4), (6, 3, 4), dict(input_dilation=2, stride=3, padding=1, flip=True)),
    ((2, 12, 4), (6, 3, 4), dict(padding=([-2], [-3]))),
    ((2, 12, 4), (6, 3, 4), dict(padding=([-2], [3]), input_dilation=2)),
    ((2, 5, 4), (6, 1, 4), dict(padding=3, stride=2)),
    ((2, 5, 4), (6, 2, 4), dict(input_dilation=4, padding=1)),
    ((1, 300, 8), (8, 3, 8), dict(padding=1)),
    ((2, 8, 9, 3), (5, 3, 2, 3), dict(padding=1)),
    ((1, 15, 14, 16), (32, 3, 3, 16), dict(stride=(2, 1), padding=(1, 0))),
    ((2, 15, 14, 4), (4, 3, 3, 1), dict(groups=4, padding=1)),
    ((2, 15, 14, 4), (8, 3, 3, 1), dict(groups=4, stride=2, flip=True)),
    ((2, 9, 9, 6), (4, 3, 3, 3), dict(groups=2, kernel_dilation=(2, 3), padding=2)),
    ((1, 6, 5, 6), (4, 3, 4, 3), dict(groups=2, input_dilation=(2, 3), padding=([1, 2], [2, 3]))),
    ((1, 6, 5, 3), (4, 3, 4, 3), dict(input_dilation=(1, 2), stride=(2, 1), flip=True)),
    ((1, 6, 5, 3), (4, 1, 1, 3), dict(input_dilation=2)),
    ((4, 28, 28, 32), (32, 3, 3, 32), dict(padding=1)),
    ((1, 56, 40, 16), (16, 5, 5, 16), dict(padding=2, stride=2)),
    ((1, 128, 97, 32), (64, 1, 1, 32), dict(stride=(3, 2), padding=1)),
    ((1, 40, 40, 16), (16, 5, 5, 16), dict(padding=1, input_dilation=2)),
    ((2, 5, 6, 7, 3), (4, 2, 3, 2, 3), dict(padding=1)),
    ((1, 5, 6, 7, 4), (4, 2, 3, 2, 2), dict(groups=2, stride=(1, 2, 3), kernel_dilation=(2, 1, 1))),
    ((1, 3, 4, 5, 2), (3, 2, 2, 3, 2), dict(input_dilation=2, padding=1)),
    ((1, 12, 24, 24, 8), (8, 3, 3, 3, 8), dict(padding=1)),
]


@pytest.mark.parametrize("dtype", [*FLOATS, "float64"])
@pytest.mark.parametrize("x,w,options", CASES)
def test_results(x, w, options, dtype):
    x, w = numbers(*x), numbers(*w)
    for device in DEVICES if dtype != "float64" else [mx.cpu]:
        with mx.stream(device):
            a, b = (mx.array(v).astype(getattr(mx, dtype)) for v in (x, w))
            rounded = [np.array(v.astype(mx.float32)) for v in (a, b)]
            got = mx.conv_general(a, b, **options)
            assert got.dtype == getattr(mx, dtype)
            close(got, reference(*rounded, **options), FLOATS.get(dtype, 1e-8))


def slope(f, args, directions, step=1e-3):
    """The central difference of f, which is a product of its arguments, is exact but for rounding."""
    ahead = [a + step * d for a, d in zip(args, directions)]
    behind = [a - step * d for a, d in zip(args, directions)]
    return (f(*ahead) - f(*behind)) / (2 * step)


@pytest.mark.parametrize("x,w,options", CASES)
def test_derivatives_in_float64(x, w, options):
    x, w, dx, dw = (RNG.standard_normal(shape) for shape in (x, w, x, w))
    want = slope(lambda a, b: reference(a, b, **options), [x, w], [dx, dw])
    with mx.stream(mx.cpu):
        args = [mx.array(v, mx.float64) for v in (x, w)]
        tangents = [mx.array(v, mx.float64) for v in (dx, dw)]

        def f(a, b):
            return mx.conv_general(a, b, **options)

        close(mx.jvp(f, args, tangents)[1][0], want, 1e-7)
        cotangent = mx.array(RNG.standard_normal(want.shape), mx.float64)
        pulled = mx.vjp(f, args, [cotangent])[1]
        assert [p.shape for p in pulled] == [a.shape for a in args]
        got = sum((p * t).sum().item() for p, t in zip(pulled, tangents))
        np.testing.assert_allclose(got, np.sum(np.array(cotangent) * want), rtol=1e-6, atol=1e-6)

        # The derivatives of both gradients, which are gradients in the other two parts.
        def gradients(a, b, c):
            return mx.vjp(f, [a, b], [c])[1]

        three = [*args, cotangent]
        directions = [mx.array(RNG.standard_normal(v.shape), mx.float64) for v in three]
        moved = mx.jvp(gradients, three, directions)[1]
        weights = [mx.array(RNG.standard_normal(v.shape), mx.float64) for v in moved]
        second = mx.vjp(gradients, three, weights)[1]
        forward = sum((m * v).sum().item() for m, v in zip(moved, weights))
        backward = sum((m * v).sum().item() for m, v in zip(second, directions))
        np.testing.assert_allclose(forward, backward, rtol=1e-8, atol=1e-8)
        step = 1e-4
        ahead = gradients(*(a + step * d for a, d in zip(three, directions)))
        behind = gradients(*(a - step * d for a, d in zip(three, directions)))
        for m, p, n in zip(moved, ahead, behind):
            close(m, np.array((p - n) / (2 * step)), 1e-6)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("x,w,options", CASES)
def test_gradients_of_other_types(x, w, options, dtype):
    """Gradients in other types, beside those in double precision, which the test above checks."""
    kind = getattr(mx, dtype)
    arrays = [mx.array(numbers(*shape)).astype(kind) for shape in (x, w)]
    out = mx.conv_general(*arrays, **options)
    cotangent = mx.array(numbers(*out.shape)).astype(kind)
    got = mx.vjp(lambda a, b: mx.conv_general(a, b, **options), arrays, [cotangent])[1]
    with mx.stream(mx.cpu):
        wide = [v.astype(mx.float64) for v in (*arrays, cotangent)]
        want = mx.vjp(lambda a, b: mx.conv_general(a, b, **options), wide[:2], wide[2:])[1]
        want = [np.array(v) for v in want]
    for g, v in zip(got, want):
        assert g.dtype == kind
        close(g, v, FLOATS[dtype])


MAPPED = [case for case in CASES if np.prod(case[0]) < 1500]


@pytest.mark.parametrize("x,w,options", MAPPED)
@pytest.mark.parametrize("in_axes", [(0, None), (None, 0), (0, 0), (2, 1), (-1, -1)])
def test_vmap_of_results_and_gradients(x, w, options, in_axes):
    def stacked(shape, axis):
        one = numbers(*(shape if axis is None else (3, *shape)))
        return mx.array(one if axis is None else np.moveaxis(one, 0, axis))

    def taken(a, axis, i):
        return a if axis is None else mx.take(a, i, axis)

    def f(a, b):
        return mx.conv_general(a, b, **options)

    def g(a, b):
        return mx.grad(lambda *args: mx.sin(f(*args)).sum(), argnums=[0, 1])(a, b)

    args = [stacked(x, in_axes[0]), stacked(w, in_axes[1])]
    each = [[taken(a, axis, i) for a, axis in zip(args, in_axes)] for i in range(3)]
    close(mx.vmap(f, in_axes)(*args), np.stack([np.array(f(*one)) for one in each]))
    for k, got in enumerate(mx.vmap(g, in_axes)(*args)):
        close(got, np.stack([np.array(g(*one)[k]) for one in each]))


def test_vmap_over_no_element():
    out = mx.vmap(mx.conv1d)(mx.zeros((0, 2, 5, 4)), mx.zeros((0, 6, 3, 4)))
    assert out.shape == (0, 2, 3, 6)
    assert mx.vmap(mx.conv1d, (0, None))(mx.zeros((0, 2, 5, 4)), mx.zeros((6, 3, 4))).shape == (
        0, 2, 3, 6,
    )  # fmt: skip


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_forms(spatial):
    x, w = numbers(2, *range(7, 7 + spatial), 4), numbers(6, *[3] * spatial, 2)
    conv, transposed = (getattr(mx, f"conv{t}{spatial}d") for t in ("", "_transpose"))
    a, b = mx.array(x), mx.array(w)
    want = reference(x, w, stride=2, padding=1, kernel_dilation=2, groups=2)
    close(conv(a, b, 2, 1, 2, 2), want)
    many = [2] * spatial, [1] * spatial, [2] * spatial
    if spatial > 1:
        close(conv(a, b, *map(tuple, many), groups=2), want)
    close(conv(a, b, stride=2, padding=1, dilation=2, groups=2, stream=mx.cpu), want)
    want = reference(
        x, w, padding=([3] * spatial, [4] * spatial), kernel_dilation=2, input_dilation=3,
        groups=2, flip=True,
    )  # fmt: skip
    close(transposed(a, b, 3, 1, 2, 1, 2), want)
    close(transposed(a, b, stride=3, padding=1, dilation=2, output_padding=1, groups=2), want)
    shape = [(n - 1) * 3 - 2 + 4 + 1 + 1 for n in x.shape[1:-1]]
    assert list(want.shape) == [2, *shape, 6]
    # The padding is larger than a stride: nothing contributes to the last results.
    far = transposed(a, b, stride=2, output_padding=5, groups=2)
    assert far.shape[1] == 6 * 2 + 3 + 5 and mx.all(far[:, -5:] == 0)
    # The transposed convolution is the gradient of the convolution.
    plain = mx.array(numbers(6, *[3] * spatial, 4))
    out = conv(a, plain, stride=2, padding=1)
    cotangent = mx.array(numbers(*out.shape))
    pulled = mx.vjp(lambda v: conv(v, plain, stride=2, padding=1), [a], [cotangent])[1][0]
    back = transposed(cotangent, mx.swapaxes(plain, 0, -1), stride=2, padding=1)
    inner = tuple(slice(0, n) for n in back.shape)
    close(back, np.array(pulled[inner]))


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("n,m", [(1, 1), (5, 1), (1, 4), (7, 3), (6, 4), (3, 8), (1000, 129)])
def test_convolve(n, m, mode):
    a, v = numbers(n), numbers(m)
    close(mx.convolve(mx.array(a), mx.array(v), mode), np.convolve(a, v, mode).astype(np.float64))
    close(mx.convolve(mx.array(a), mx.array(v), mode=mode, stream=mx.cpu), np.convolve(a, v, mode))
    if mode == "full":
        close(mx.convolve(mx.array(a), mx.array(v)), np.convolve(a, v))


def test_views_and_mixed_types():
    x, w = numbers(3, 20, 22, 8), numbers(6, 5, 6, 8)
    a, b = mx.array(x)[::-1, 2:, ::2, ::2], mx.array(w)[:, ::-2, 1:4, ::2]
    want = reference(x[::-1, 2:, ::2, ::2], w[:, ::-2, 1:4, ::2], padding=1)
    close(mx.conv2d(a, b, padding=1), want)
    first = mx.array(numbers(8, 22, 20, 3))
    close(mx.conv2d(first.T, mx.array(w)), reference(np.array(first).T, w))
    repeated = mx.broadcast_to(mx.array(x[:1, :, :, :1]), (4, 20, 22, 8))
    close(mx.conv2d(repeated, mx.array(w)), reference(np.array(repeated), w))
    assert mx.conv2d(a.astype(mx.float16), b.astype(mx.bfloat16)).dtype == mx.float32
    assert mx.conv2d(a.astype(mx.float16), b).dtype == mx.float32
    close(mx.conv2d(mx.array(x) + 1, mx.array(w) * 2), reference(x + 1, w * 2))


def test_empty_arrays():
    assert mx.conv1d(mx.zeros((0, 5, 2)), mx.zeros((3, 2, 2))).shape == (0, 4, 3)
    assert mx.conv1d(mx.zeros((2, 5, 2)), mx.zeros((0, 2, 2))).shape == (2, 4, 0)
    no_channels = mx.conv2d(mx.zeros((2, 5, 4, 0)), mx.zeros((3, 2, 2, 0)))
    assert no_channels.shape == (2, 4, 3, 3) and mx.all(no_channels == 0)
    only_zeros = mx.conv1d(mx.zeros((2, 0, 3)), mx.ones((4, 3, 3)), padding=2)
    assert only_zeros.shape == (2, 2, 4) and mx.all(only_zeros == 0)
    back = mx.conv_transpose1d(mx.zeros((0, 5, 2)), mx.zeros((3, 2, 2)), stride=2)
    assert back.shape == (0, 10, 3)
    gradient = mx.grad(lambda a, b: mx.conv1d(a, b).sum(), argnums=[0, 1])
    a, b = gradient(mx.zeros((0, 5, 2)), mx.zeros((3, 2, 2)))
    assert a.shape == (0, 5, 2) and b.shape == (3, 2, 2) and mx.all(b == 0)


X1, W1, X2 = mx.zeros((2, 8, 4)), mx.zeros((6, 3, 4)), mx.zeros((2, 8, 8, 4))
W2 = mx.zeros((6, 3, 3, 4))
WRONG = [
    (lambda: mx.conv1d(X2, W1), r"\[conv1d\].*3 dimensions.*\(2,8,8,4\)"),
    (lambda: mx.conv2d(X2, W1), r"\[conv2d\].*4 dimensions.*\(6,3,4\)"),
    (lambda: mx.conv3d(X2, W2), r"\[conv3d\].*5 dimensions"),
    (lambda: mx.conv_general(mx.zeros((2, 4)), W1), r"\[conv_general\].*3 to 5 dimensions"),
    (lambda: mx.conv_general(mx.zeros((1,) * 6), mx.zeros((1,) * 6)), "1 to 3 spatial axes"),
    (lambda: mx.conv1d(X1, mx.zeros((6, 3, 5))), r"4 channels.*5 in each of 1"),
    (lambda: mx.conv1d(X1, W1, groups=2), r"4 channels.*4 in each of 2"),
    (lambda: mx.conv1d(X1, mx.zeros((5, 3, 2)), groups=2), "5 output channels"),
    (lambda: mx.conv1d(X1, W1, groups=0), "groups must be at least 1, but is 0"),
    (lambda: mx.conv1d(X1, W1, groups=-1), "groups must be at least 1"),
    (lambda: mx.conv1d(X1, W1, stride=0), "stride must be at least 1, but is 0"),
    (lambda: mx.conv1d(X1, W1, dilation=0), "dilation must be at least 1"),
    (lambda: mx.conv_general(X1, W1, input_dilation=-2), "input_dilation must be at least 1"),
    (lambda: mx.conv2d(X2, W2, stride=(1, 2, 3)), "stride must have 1 or 2 elements, not 3"),
    (lambda: mx.conv_general(X2, W2, padding=([1], [1, 2, 3])), "padding must have 1 or 2"),
    (lambda: mx.conv_general(X2, W2, padding=([1], [1], [1], "a")), "padding must be an int"),
    (lambda: mx.conv1d(X1, W1, dilation=4), "spans 9 elements.*padded input has 8"),
    (lambda: mx.conv1d(X1, mx.zeros((6, 0, 4))), "kernel has no elements"),
    (lambda: mx.conv_general(X1, W1, padding=([-9], [9])), "drops more than the 8 elements"),
    (lambda: mx.conv1d(X1, W1, padding=2**31 - 1), "too long"),
    (lambda: mx.conv1d(X1, W1, stride=2**31), "32 bits"),
    (lambda: mx.conv1d(X1, W1, dilation=2**31 - 1), "too long"),
    (lambda: mx.conv1d(X1.astype(mx.int32), W1.astype(mx.int32)), "floating point types.*int32"),
    (lambda: mx.conv1d(X1, W1.astype(mx.complex64)), "floating point types.*complex64"),
    (lambda: mx.conv_transpose1d(X1, W1, output_padding=-1), "output_padding must be at least 0"),
    (lambda: mx.conv_transpose1d(X1, W1, padding=-1), "padding must be at least 0"),
    (lambda: mx.conv_transpose1d(X1, W1, padding=9), r"\[conv_transpose1d\]"),
    (lambda: mx.conv_transpose2d(X1, W1), r"\[conv_transpose2d\].*4 dimensions"),
    (lambda: mx.convolve(X1, X1), r"\[convolve\].*1 dimension"),
    (lambda: mx.convolve(mx.zeros(0), mx.zeros(3)), "at least 1 element"),
    (lambda: mx.convolve(mx.zeros(3), mx.zeros(3), "circular"), "full.*same.*valid.*circular"),
]


@pytest.mark.parametrize("call,pattern", WRONG)
def test_invalid_arguments(call, pattern):
    with pytest.raises(ValueError, match=pattern):
        call()


def test_float64_needs_the_host():
    with pytest.raises(ValueError, match="float64"):
        x = mx.array(numbers(1, 4, 1), mx.float64)
        mx.eval(mx.conv1d(x, x, stream=mx.gpu))


def test_many_streams_at_once():
    x, w = numbers(2, 24, 24, 16), numbers(16, 3, 3, 16)
    streams = [mx.new_stream(device) for device in DEVICES * 3]
    a, b = mx.array(x), mx.array(w)
    results = [mx.conv2d(a, b, padding=1, stream=s) for s in streams for _ in range(4)]
    mx.eval(results)
    for out in results:
        close(out, reference(x, w, padding=1))


def child(queue):
    x, w = mx.ones((4, 30, 30, 16)), mx.ones((16, 3, 3, 16))
    queue.put(mx.conv2d(x, w).sum().item())


@pytest.mark.cpu_kernels
def test_in_a_child_of_fork():
    expected = mx.conv2d(mx.ones((4, 30, 30, 16)), mx.ones((16, 3, 3, 16))).sum().item()
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    process = context.Process(target=child, args=(queue,))
    process.start()
    assert queue.get(timeout=60) == expected
    process.join(60)
    assert process.exitcode == 0


def test_compiled():
    x, w = mx.array(numbers(2, 9, 9, 4)), mx.array(numbers(6, 3, 3, 4))
    gradient = mx.grad(lambda a, b: mx.conv2d(a, b, stride=2).square().sum(), argnums=[0, 1])
    for got, want in zip(mx.compile(gradient)(x, w), gradient(x, w)):
        close(got, np.array(want))


@pytest.mark.torch
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_beside_pytorch(spatial, torch):
    x, w = numbers(2, *range(8, 8 + spatial), 6), numbers(4, *[3] * spatial, 3)
    front = (0, spatial + 1, *range(1, spatial + 1))
    theirs = torch.from_numpy(x.transpose(front)).requires_grad_()
    kernel = torch.from_numpy(w.transpose(front)).requires_grad_()
    options = dict(stride=2, padding=1, dilation=2, groups=2)
    want = getattr(torch, f"conv{spatial}d")(theirs, kernel, **options)
    want.square().sum().backward()
    ours = getattr(mx, f"conv{spatial}d")
    loss = mx.value_and_grad(lambda a, b: ours(a, b, **options).square().sum(), argnums=[0, 1])
    value, (dx, dw) = loss(mx.array(x), mx.array(w))
    last = (0, *range(2, spatial + 2), 1)
    close(value, np.array(want.square().sum().item()))
    close(dx, theirs.grad.numpy().transpose(last))
    close(dw, kernel.grad.numpy().transpose(last))

    options |= dict(stride=3, output_padding=1)
    swapped = numbers(4, *[3] * spatial, 3)  # (C_out, K..., C_in / groups)
    groups = [part.transpose(front).swapaxes(0, 1) for part in np.split(swapped, 2)]
    want = getattr(torch, f"conv_transpose{spatial}d")(
        theirs, torch.from_numpy(np.concatenate(groups).copy()), **options
    )
    got = getattr(mx, f"conv_transpose{spatial}d")(mx.array(x), mx.array(swapped), **options)
    close(got, want.detach().numpy().transpose(last))


def test_types_are_promoted():
    x, w = X1.astype(mx.int32), W1.astype(mx.float16)
    got = mx.conv1d(x, w)
    assert got.dtype == mx.float16
    assert mx.array_equal(got, mx.conv1d(x.astype(mx.float16), w))
