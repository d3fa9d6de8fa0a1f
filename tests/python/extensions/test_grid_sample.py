"""The sample operation grid_sample against NumPy and PyTorch: values, derivatives, vmap, errors."""

import itertools

import mlx.core as mx
import numpy as np
import pytest
import sampling
from hypothesis import given, settings
from hypothesis import strategies as st
from mlx_sample_extensions import grid_sample

HOWS = list(
    itertools.product(
        ("bilinear", "nearest", "bicubic"), ("zeros", "border", "reflection"), (False, True)
    )
)
HOW = pytest.mark.parametrize("how", HOWS, ids=lambda h: "-".join(map(str, h)))
SMOOTH = pytest.mark.parametrize(
    "how", [h for h in HOWS if h[0] != "nearest"], ids=lambda h: "-".join(map(str, h))
)
STREAMS = pytest.mark.parametrize("stream", [mx.cpu, mx.gpu], ids=["cpu", "gpu"])


def away_from_kinks(grid: np.ndarray, height: int, width: int) -> np.ndarray:
    """Moves points away from the pixels' centres and edges, where derivatives are discontinuous."""
    sizes = np.array([width, height])
    for align in (False, True):
        u = (grid + 1) / 2 * (sizes - 1) if align else ((grid + 1) * sizes - 1) / 2
        near = np.abs(2 * u - np.rint(2 * u)) < 0.1
        grid = np.where(near, grid + 0.13 / sizes, grid)
    return grid


def pictures(rng, batch=2, height=6, width=9, channels=3, points=(5, 7), reach=1.6):
    x = rng.standard_normal((batch, height, width, channels)).astype(np.float32)
    grid = rng.uniform(-reach, reach, (batch, *points, 2))
    for _ in range(3):
        grid = away_from_kinks(grid, height, width)
    return x, grid.astype(np.float32)


@STREAMS
@HOW
@pytest.mark.parametrize("channels", [3, 16, 40])
def test_values(rng, stream, how, channels):
    x, grid = pictures(rng, channels=channels)
    out = grid_sample(mx.array(x), mx.array(grid), *how, stream=stream)
    assert np.allclose(np.array(out), sampling.grid_sample(x, grid, *how), atol=2e-5)


@pytest.mark.parametrize(
    "shape", [(1, 1, 1, 1), (3, 1, 8, 2), (1, 33, 1, 64), (0, 4, 4, 3), (2, 4, 4, 0)]
)
@pytest.mark.parametrize("how", [("bilinear",), ("bicubic", "reflection", True)])
def test_unusual_shapes(rng, shape, how):
    x = rng.standard_normal(shape).astype(np.float32)
    grid = rng.uniform(-0.9, 0.9, (shape[0], 3, 2, 2)).astype(np.float32)
    out = grid_sample(mx.array(x), mx.array(grid), *how)
    assert out.shape == (shape[0], 3, 2, shape[3])
    assert np.allclose(np.array(out), sampling.grid_sample(x, grid, *how), atol=2e-5)
    assert grid_sample(mx.array(x), mx.zeros((shape[0], 0, 2, 2))).shape == (
        shape[0],
        0,
        2,
        shape[3],
    )


@STREAMS
@pytest.mark.parametrize("dtype, tolerance", [(mx.float16, 4e-3), (mx.bfloat16, 3e-2)])
@pytest.mark.parametrize("channels", [2, 32])
def test_narrow_types(rng, stream, dtype, tolerance, channels):
    x, grid = pictures(rng, channels=channels, reach=0.9)
    a, b = mx.array(x).astype(dtype), mx.array(grid).astype(dtype)
    rounded = [np.array(v.astype(mx.float32)) for v in (a, b)]
    out = grid_sample(a, b, stream=stream)
    assert out.dtype == dtype
    expected = sampling.grid_sample(*rounded)
    assert np.allclose(np.array(out.astype(mx.float32)), expected, atol=tolerance)

    g = rng.standard_normal(out.shape).astype(np.float32)
    _, grads = mx.vjp(
        lambda p, q: grid_sample(p, q, stream=stream), [a, b], [mx.array(g).astype(dtype)]
    )
    for got, wanted in zip(grads, sampling.gradients(*rounded, g)):
        assert got.dtype == dtype
        error = np.abs(np.array(got.astype(mx.float32)) - wanted)
        assert error.max() <= 4 * tolerance * max(1, np.abs(wanted).max())


def test_types_promote():
    x, grid = mx.ones((1, 2, 2, 1)), mx.zeros((1, 1, 1, 2))
    assert grid_sample(x.astype(mx.uint8), grid.astype(mx.int32)).dtype == mx.float32
    assert grid_sample(x.astype(mx.float16), grid).dtype == mx.float32
    assert grid_sample(x.astype(mx.float16), grid.astype(mx.float16)).dtype == mx.float16


def test_layouts(rng):
    x, grid = pictures(rng)
    nchw = mx.array(np.ascontiguousarray(x.transpose(0, 3, 1, 2)))
    a = mx.transpose(nchw, (0, 2, 3, 1))
    b = mx.array(np.repeat(grid, 2, axis=2))[:, :, ::2]
    assert np.allclose(np.array(grid_sample(a, b)), sampling.grid_sample(x, grid), atol=2e-5)


def test_points_that_are_no_points(rng):
    x, _ = pictures(rng, batch=1)
    strange = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 1e9, 3.0, -3.0], np.float32)
    grid = np.stack(np.meshgrid(strange, strange), -1)[None].astype(np.float32)
    for how in HOWS:
        out = np.array(grid_sample(mx.array(x), mx.array(grid), *how))
        assert np.isfinite(out).all(), how
        if how[1] == "zeros":
            assert (out == 0).all(), how


# ---- derivatives ----


@STREAMS
@SMOOTH
@pytest.mark.parametrize("channels", [3, 40, 64, 200])
def test_vjp(rng, stream, how, channels):
    x, grid = pictures(rng, channels=channels)
    g = rng.standard_normal((*grid.shape[:3], channels)).astype(np.float32)
    function = lambda a, b: grid_sample(a, b, *how, stream=stream)  # noqa: E731
    _, grads = mx.vjp(function, [mx.array(x), mx.array(grid)], [mx.array(g)])
    for got, wanted in zip(grads, sampling.gradients(x, grid, g, *how)):
        assert np.allclose(np.array(got), wanted, atol=1e-4 * max(1, np.abs(wanted).max()))


DTYPES = {mx.float32: 1e-4, mx.float16: 1e-2, mx.bfloat16: 8e-2}


@settings(max_examples=12, deadline=None)
@given(
    st.sampled_from(HOWS),
    st.sampled_from(list(DTYPES)),
    st.sampled_from([1, 3, 4, 8, 16, 33, 64, 96]),
    st.integers(1, 3),
    # Many pixels for a few points, or the reverse: sums are computed in two ways.
    st.sampled_from([((40, 37), (1, 2)), ((5, 6), (4, 9)), ((1, 3), (7, 1)), ((6, 1), (30, 20))]),
    st.integers(0, 2**32 - 1),
)
def test_any_channels(how, dtype, channels, batch, sizes, seed):
    size, points = sizes
    x, grid = pictures(np.random.default_rng(seed), batch, *size, channels, points)
    g = np.random.default_rng(seed + 1).standard_normal((batch, *points, channels))
    a, b, c = (mx.array(v.astype(np.float32)).astype(dtype) for v in (x, grid, g))
    # The points are rounded to their type: near discontinuities if it is coarse.
    x, grid, g = (np.array(v.astype(mx.float32)) for v in (a, b, c))
    (out,), (gx, ggrid) = mx.vjp(lambda p, q: grid_sample(p, q, *how), [a, b], [c])
    wanted = [sampling.grid_sample(x, grid, *how), *sampling.gradients(x, grid, g, *how)]
    if how[0] == "nearest":
        wanted[2] = np.zeros_like(grid)
    compared = [(out, wanted[0]), (gx, wanted[1])]
    if dtype == mx.float32:
        compared.append((ggrid, wanted[2]))
    for got, value in compared:
        error = np.abs(np.array(got.astype(mx.float32)) - value)
        assert error.max() <= DTYPES[dtype] * max(1, np.abs(value).max())


def test_gradient_where_all_points_are_at_one_place(rng):
    x, _ = pictures(rng, channels=16)
    grid = np.full((2, 40, 30, 2), 0.03, np.float32)
    g = rng.standard_normal((2, 40, 30, 16)).astype(np.float32)
    _, (gx,) = mx.vjp(lambda a: grid_sample(a, mx.array(grid)), [mx.array(x)], [mx.array(g)])
    assert np.allclose(np.array(gx), sampling.gradients(x, grid, g)[0], atol=2e-4)


@pytest.mark.cpu_kernels  # on a GPU, atomic additions come in any order
def test_gradients_of_pictures_do_not_depend_on_chance(rng):
    x, grid = pictures(rng, channels=64, points=(40, 50))
    g = mx.array(rng.standard_normal((2, 40, 50, 64)).astype(np.float32))
    first, *others = (
        np.array(mx.vjp(lambda a: grid_sample(a, mx.array(grid)), [mx.array(x)], [g])[1][0])
        for _ in range(5)
    )
    assert all((first == other).all() for other in others)


@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_vjp_of_nearest(rng, padding):
    x, grid = pictures(rng)
    g = rng.standard_normal((*grid.shape[:3], 3)).astype(np.float32)
    function = lambda a, b: grid_sample(a, b, "nearest", padding)  # noqa: E731
    _, (gx, ggrid) = mx.vjp(function, [mx.array(x), mx.array(grid)], [mx.array(g)])
    assert np.allclose(
        np.array(gx), sampling.gradients(x, grid, g, "nearest", padding)[0], atol=1e-5
    )
    assert ggrid.shape == grid.shape and not np.array(ggrid).any()


@SMOOTH
def test_vjp_by_one_argument(rng, how):
    x, grid = pictures(rng)
    g = rng.standard_normal((*grid.shape[:3], 3)).astype(np.float32)
    wanted = sampling.gradients(x, grid, g, *how)
    a, b, c = mx.array(x), mx.array(grid), mx.array(g)
    gx = mx.grad(lambda v: (grid_sample(v, b, *how) * c).sum())(a)
    ggrid = mx.grad(lambda v: (grid_sample(a, v, *how) * c).sum())(b)
    assert np.allclose(np.array(gx), wanted[0], atol=1e-4 * np.abs(wanted[0]).max())
    assert np.allclose(np.array(ggrid), wanted[1], atol=1e-4 * np.abs(wanted[1]).max())


@HOW
@pytest.mark.parametrize("moved", [(0,), (1,), (0, 1)])
def test_jvp(rng, how, moved):
    x, grid = pictures(rng)
    tx, tgrid = (rng.standard_normal(v.shape).astype(np.float32) for v in (x, grid))

    def function(*arguments):
        full = [mx.array(x), mx.array(grid)]
        for operand, value in zip(moved, arguments):
            full[operand] = value
        return grid_sample(*full, *how)

    _, (out,) = mx.jvp(
        function, [mx.array((x, grid)[i]) for i in moved], [mx.array((tx, tgrid)[i]) for i in moved]
    )
    step = 1e-6
    there, here = (
        sampling.grid_sample(
            x + s * (0 in moved) * tx.astype(np.float64),
            grid + s * (1 in moved) * tgrid.astype(np.float64),
            *how,
        )
        for s in (step, -step)
    )
    wanted = (there - here) / (2 * step)
    assert np.allclose(np.array(out), wanted, atol=1e-4 * max(1, np.abs(wanted).max()))


def second_differences(x, grid, g, u, v, how):
    """Derivatives in x, grid and g of sum(u * x_grad) + sum(v * grid_grad)."""
    arguments = [a.astype(np.float64) for a in (x, grid, g)]

    def value(x, grid, g):
        step = 1e-4
        moved = sampling.grid_sample(x, grid + step * v, *how)
        moved = (moved - sampling.grid_sample(x, grid - step * v, *how)) / (2 * step)
        return (g * (moved + sampling.grid_sample(u, grid, *how))).sum()

    result = []
    for i, argument in enumerate(arguments):
        derivative = np.zeros_like(argument)
        for at in np.ndindex(argument.shape):
            values = []
            for step in (1e-4, -1e-4):
                changed = list(arguments)
                changed[i] = argument.copy()
                changed[i][at] += step
                values.append(value(*changed))
            derivative[at] = (values[0] - values[1]) / 2e-4
        result.append(derivative)
    return result


@SMOOTH
def test_vjp_of_vjp(rng, how):
    x, grid = pictures(rng, batch=1, height=4, width=5, channels=2, points=(2, 3), reach=1.2)
    g = rng.standard_normal((1, 2, 3, 2)).astype(np.float32)
    u, v = (rng.standard_normal(a.shape).astype(np.float32) for a in (x, grid))

    def gradients(a, b, c):
        return mx.vjp(lambda p, q: grid_sample(p, q, *how), [a, b], [c])[1]

    primals = [mx.array(a) for a in (x, grid, g)]
    _, got = mx.vjp(gradients, primals, [mx.array(u), mx.array(v)])
    wanted = second_differences(x, grid, g, u, v, how)
    for a, b in zip(got, wanted):
        assert np.allclose(np.array(a), b, atol=2e-3 * max(1, np.abs(b).max()))

    tangents = [rng.standard_normal(a.shape).astype(np.float32) for a in (x, grid, g)]
    _, moved = mx.jvp(gradients, primals, [mx.array(t) for t in tangents])
    forward = (np.array(moved[0]) * u).sum() + (np.array(moved[1]) * v).sum()
    backward = sum((t * b).sum() for t, b in zip(tangents, wanted))
    assert np.isclose(forward, backward, rtol=1e-2, atol=1e-2)


def test_third_derivative_of_bicubic(rng):
    x = mx.array(rng.standard_normal((1, 6, 6, 1)).astype(np.float32))

    def value(c):
        return grid_sample(x, mx.stack([c, c * 0.5]).reshape(1, 1, 1, 2), "bicubic").sum()

    c, step = 0.11, 1e-3
    third = mx.grad(mx.grad(mx.grad(value)))(mx.array(c))
    at = lambda t: sampling.grid_sample(  # noqa: E731
        np.array(x), np.array([t, t * 0.5]).reshape(1, 1, 1, 2), "bicubic"
    ).sum()
    steps = [at(c + k * step) for k in (-2, -1, 1, 2)]
    wanted = (-steps[0] + 2 * steps[1] - 2 * steps[2] + steps[3]) / (2 * step**3)
    assert np.isclose(third.item(), wanted, rtol=1e-2)


# ---- vmap ----


@pytest.mark.parametrize("how", [("bilinear",), ("bicubic", "border", True)])
@pytest.mark.parametrize("axes", [(0, 0), (1, 2), (0, None), (None, 0), (-1, -1)])
def test_vmap(rng, axes, how):
    x = rng.standard_normal((4, 2, 5, 6, 3)).astype(np.float32)
    grid = rng.uniform(-1.3, 1.3, (4, 2, 3, 3, 2)).astype(np.float32)
    wanted = np.stack(
        [
            sampling.grid_sample(
                x[i if axes[0] is not None else 0], grid[i if axes[1] is not None else 0], *how
            )
            for i in range(4)
        ]
    )
    arguments = [
        mx.array(a[0] if axis is None else np.ascontiguousarray(np.moveaxis(a, 0, axis)))
        for a, axis in zip((x, grid), axes)
    ]
    out = mx.vmap(lambda a, b: grid_sample(a, b, *how), in_axes=axes)(*arguments)
    assert np.allclose(np.array(out), wanted, atol=2e-5)


def test_vmap_of_gradients(rng):
    x = rng.standard_normal((3, 1, 5, 6, 2)).astype(np.float32)
    grid = rng.uniform(-0.95, 0.95, (3, 1, 3, 3, 2)).astype(np.float32)
    gradient = mx.grad(lambda a, b: grid_sample(a, b).sum(), argnums=(0, 1))
    mapped = mx.vmap(gradient)(mx.array(x), mx.array(grid))
    for i in range(3):
        for got, wanted in zip(mapped, gradient(mx.array(x[i]), mx.array(grid[i]))):
            assert np.allclose(np.array(got[i]), np.array(wanted), atol=1e-5)


# ---- arguments ----


def test_errors():
    x, grid = mx.ones((1, 4, 4, 3)), mx.zeros((1, 2, 2, 2))
    cases = [
        ((x[0], grid), {}, r"x must have shape \(N, H, W, C\)"),
        ((x, grid[0]), {}, "grid must have shape"),
        ((x, mx.zeros((1, 2, 2, 3))), {}, "grid must have shape"),
        ((x, mx.zeros((2, 2, 2, 2))), {}, "same length along axis 0"),
        ((mx.zeros((1, 0, 4, 3)), grid), {}, "at least one pixel"),
        ((x, grid), {"mode": "cubic"}, "Invalid mode 'cubic'.*bilinear, nearest, bicubic"),
        ((x, grid), {"padding_mode": "wrap"}, "Invalid padding_mode 'wrap'.*zeros, border"),
        ((x.astype(mx.complex64), grid), {}, "complex64"),
    ]
    many = mx.broadcast_to(mx.zeros((1, 1, 1, 1)), (65536, 256, 257, 1))
    cases += [
        ((many, mx.broadcast_to(grid, (65536, 2, 2, 2))), {}, "fewer than 2\\^31 pixels"),
        (
            (x, mx.broadcast_to(grid[:, :1, :1], (1, 65536, 32768, 2))),
            {},
            "fewer than 2\\^31 points",
        ),
    ]
    for arguments, keywords, message in cases:
        with pytest.raises(ValueError, match=r"\[grid_sample\] .*" + message):
            grid_sample(*arguments, **keywords)


# ---- PyTorch ----


@pytest.mark.torch
@HOW
def test_against_torch(rng, torch, how):
    x, grid = pictures(rng, channels=4)
    g = rng.standard_normal((*grid.shape[:3], 4)).astype(np.float32)
    mode, padding, align = how
    function = lambda a, b: grid_sample(a, b, mode, padding, align)  # noqa: E731
    (out,), grads = mx.vjp(function, [mx.array(x), mx.array(grid)], [mx.array(g)])

    tx = torch.from_numpy(x).permute(0, 3, 1, 2).requires_grad_()
    tgrid = torch.from_numpy(grid).requires_grad_()
    expected = torch.nn.functional.grid_sample(
        tx, tgrid, mode=mode, padding_mode=padding, align_corners=align
    )
    expected.backward(torch.from_numpy(g).permute(0, 3, 1, 2))
    wanted = [expected.detach(), tx.grad]
    assert np.allclose(np.array(out), wanted[0].permute(0, 2, 3, 1).numpy(), atol=2e-5)
    assert np.allclose(np.array(grads[0]), wanted[1].permute(0, 2, 3, 1).numpy(), atol=1e-4)
    assert np.allclose(np.array(grads[1]), tgrid.grad.numpy(), atol=2e-4)
