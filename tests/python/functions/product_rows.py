"""Matrix products, convolutions, linear algebra, Fourier transforms and what networks use."""

import itertools

import mlx.core as mx
import numpy as np
import scipy.linalg
import scipy.special
from arrangement_rows import refused
from function_rows import FLOATS, Case, Row, cases

SINGLE_AND_DOUBLE = (mx.float32, mx.float64)
WITH_COMPLEX = (*FLOATS, mx.complex64)
X = mx.zeros((2, 3))

MATRICES = cases(
    ((2, 3), (3, 4)),
    ((3,), (3, 4)),
    ((2, 3), (3,)),
    ((3,), (3,)),
    ((5, 2, 3), (3, 4)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((2, 0), (0, 3)),
    ((40, 65), (65, 33)),
)


def addmm(c, a, b, alpha=1.0, beta=1.0):
    return beta * c + alpha * (a @ b)


def gather_mm(a, b, lhs, rhs):
    return a[lhs] @ b[rhs]


def block_masked_mm(a, b, mask, block_size):
    blocks = np.kron(mask, np.ones((block_size, block_size)))
    return (a @ b) * blocks[: a.shape[-2], : b.shape[-1]]


def hadamard_transform(x):
    return x @ scipy.linalg.hadamard(x.shape[-1]) / np.sqrt(x.shape[-1])


PRODUCTS = [
    Row("matmul", np.matmul, MATRICES, dtypes=WITH_COMPLEX, tolerance=4,
        invalid=(refused("matmul", X, X), refused("matmul", X, mx.array(1.0)))),
    Row("inner", np.inner, cases(((3,), (3,)), ((2, 3), (4, 3))), dtypes=FLOATS, tolerance=4,
        invalid=(refused("inner", X, mx.zeros(4)),)),
    Row("outer", np.outer, cases(((3,), (4,)), ((2, 2), (3,)), ((), (2,))), dtypes=FLOATS),
    Row("vecdot", lambda a, b, axis=-1: np.sum(a * b, axis),
        (*cases(((3,), (3,)), ((2, 3), (1, 3))), *cases(((3, 2), (3, 2)), axis=0)), tolerance=4,
        invalid=(refused("vecdot", X, mx.zeros(4), message="vecdot|broadcast"),)),
    Row("kron", np.kron, cases(((2, 3), (4, 2)), ((3,), (2,)), ((2, 2), (3,)))),
    Row("tensordot", lambda a, b, axes: np.tensordot(a, b, axes),
        (*cases(((2, 3, 4), (3, 4, 5)), axes=2), *cases(((2, 3), (3, 2)), axes=[[0], [1]])),
        tolerance=4, invalid=(refused("tensordot", X, X, 1),)),
    Row("einsum", lambda *a, subscripts: np.einsum(subscripts, *a),
        (
            *cases(((2, 3), (3, 4)), subscripts="ij,jk"),
            *cases(((2, 3), (3, 4), (4, 2)), subscripts="ij,jk,kl->li"),
            *cases(((5, 2, 3), (5, 3, 4)), subscripts="...ij,...jk->...ik"),
            *cases((3, 3), subscripts="ii->i"),
            *cases((3, 4), subscripts="ij->"),
        ),
        tolerance=4, call=lambda *a, subscripts: mx.einsum(subscripts, *a),
        invalid=(refused("einsum", "ij,jk", X, message="einsum"),
                 refused("einsum", "ij,jk", X, X, message="einsum"))),
    Row("addmm", addmm,
        (*cases(((2, 4), (2, 3), (3, 4)), ((4,), (2, 3), (3, 4)), ((), (5, 2, 3), (3, 4))),
         *cases(((2, 4), (2, 3), (3, 4)), alpha=0.5, beta=2.0)), tolerance=8,
        invalid=(refused("addmm", X, X, X),)),
    Row("gather_mm", gather_mm, cases(((3, 2, 4), (3, 4, 5), (6,), (6,)), ((3, 2, 4), (3, 4, 1), (), ())),
        ("signed", "signed", "index 3", "index 3"), tolerance=4,
        call=lambda a, b, lhs, rhs: mx.gather_mm(a, b, lhs, rhs)),
    Row("block_masked_mm", block_masked_mm, cases(((70, 33), (33, 40), (3, 2)), block_size=32),
        ("signed", "signed", "bool"), (mx.float32, mx.float16), tolerance=8, mappable=False,
        call=lambda a, b, mask, block_size: mx.block_masked_mm(a, b, block_size, mask),
        differentiable=False),
    Row("hadamard_transform", hadamard_transform, cases((8,), (3, 16)), tolerance=4),
]  # fmt: skip


# ---- Convolutions: channels are the last axis ----


def convolution(x, w, stride=1, padding=0, dilation=1, groups=1):
    """The definition: a product of matrices for each element of the kernel."""
    spatial = w.ndim - 2
    x = np.pad(x, [(0, 0), *[(padding, padding)] * spatial, (0, 0)])
    sizes = [
        (n - dilation * (k - 1) - 1) // stride + 1 for n, k in zip(x.shape[1:-1], w.shape[1:-1])
    ]
    each = w.shape[0] // groups
    out = np.zeros((x.shape[0], *sizes, w.shape[0]))
    for place in itertools.product(*(range(k) for k in w.shape[1:-1])):
        window = tuple(
            slice(p * dilation, p * dilation + (size - 1) * stride + 1, stride)
            for p, size in zip(place, sizes)
        )
        for group in range(groups):
            taken = slice(group * w.shape[-1], (group + 1) * w.shape[-1])
            made = slice(group * each, (group + 1) * each)
            out[..., made] += x[(slice(None), *window, taken)] @ w[(made, *place, slice(None))].T
    return out


def transposed_convolution(x, w, stride=1, padding=0, dilation=1, output_padding=0):
    """The gradient of a convolution: zeros between the elements, and a flipped kernel."""
    spatial = w.ndim - 2
    spread = np.zeros((x.shape[0], *[(n - 1) * stride + 1 for n in x.shape[1:-1]], x.shape[-1]))
    spread[(slice(None), *[slice(None, None, stride)] * spatial)] = x
    border = [
        (dilation * (k - 1) - padding, dilation * (k - 1) - padding + output_padding)
        for k in w.shape[1:-1]
    ]
    spread = np.pad(spread, [(0, 0), *border, (0, 0)])
    return convolution(spread, np.flip(w, tuple(range(1, spatial + 1))), dilation=dilation)


def convolutions(spatial: int, transposed: bool = False) -> tuple[Case, ...]:
    name = "output_padding" if transposed else "groups"
    x, w = (2, *range(7, 7 + spatial), 4), (6, *range(2, 2 + spatial), 4)
    last = {"output_padding": 1, "stride": 2} if transposed else {"groups": 2}
    grouped = w if name == "output_padding" else (*w[:-1], 2)
    return (
        *cases((x, w)),
        *cases((x, w), stride=2, padding=1),
        *cases((x, w), dilation=2),
        *cases((x, grouped), **last),
    )


CONVOLUTION_DTYPES = (mx.float32, mx.float16, mx.float64)


def convolution_row(spatial: int) -> Row:
    name = f"conv{spatial}d"
    x = mx.zeros((1, *[5] * spatial, 2))
    wrong = refused(name, x, mx.zeros((1, *[3] * spatial, 3)), message="conv")
    return Row(
        name, convolution, convolutions(spatial), dtypes=CONVOLUTION_DTYPES, tolerance=8,
        invalid=(wrong, refused(name, x, x[0], message="conv")),
    )  # fmt: skip


def transposed_row(spatial: int) -> Row:
    return Row(
        f"conv_transpose{spatial}d", transposed_convolution, convolutions(spatial, True),
        dtypes=CONVOLUTION_DTYPES, tolerance=8,
    )  # fmt: skip


CONVOLUTIONS = [
    *(convolution_row(spatial) for spatial in (1, 2, 3)),
    *(transposed_row(spatial) for spatial in (1, 2, 3)),
    Row("convolve", lambda a, v, mode="full": np.convolve(a, v, mode),
        (*cases(((7,), (3,)), ((3,), (7,))), *cases(((9,), (4,)), mode="same"),
         *cases(((9,), (4,)), mode="valid")), tolerance=4,
        invalid=(refused("convolve", X, mx.zeros(3)),)),
]  # fmt: skip


# ---- Linear algebra ----


def regular(x):
    """A matrix far from singular, made of any."""
    return x + 8 * (
        mx.eye(x.shape[-1], dtype=x.dtype) if isinstance(x, mx.array) else np.eye(x.shape[-1])
    )


def definite(x):
    swap = mx.swapaxes if isinstance(x, mx.array) else np.swapaxes
    return regular(x @ swap(x, -1, -2))


def linear(name, reference, rows, prepared=lambda x: x, **more) -> Row:
    """The first argument is prepared so that the function is defined and differentiable."""
    function = getattr(mx.linalg, name)

    def call(a, *others, **options):
        return function(prepared(a), *others, **options)

    return Row(
        f"linalg.{name}",
        lambda a, *others, **options: reference(prepared(a), *others, **options),
        rows,
        **{"dtypes": SINGLE_AND_DOUBLE, "tolerance": 8, "call": call} | more,
    )


SQUARES = cases((3, 3), (2, 4, 4), (1, 1))


def singular_values(x):
    return np.linalg.svd(x, compute_uv=False)


def cholesky_of(function):
    return lambda x, upper=False: function(x).swapaxes(-1, -2) if upper else function(x)


LINEAR_ALGEBRA = [
    linear("norm", lambda x, ord=None, axis=None, keepdims=False: np.asarray(np.linalg.norm(x, ord, axis, keepdims)),
           (*cases((5,), (3, 4)), *cases((3, 4), ord=1, axis=1), *cases((3, 4), ord=np.inf, axis=0, keepdims=True),
            *cases((3, 4), ord="fro"), *cases((2, 3, 4), ord=3, axis=-1))),
    linear("inv", np.linalg.inv, SQUARES, regular,
           invalid=((lambda: mx.linalg.inv(X), ValueError, "inv"),)),
    linear("pinv", np.linalg.pinv, cases((3, 4), (2, 4, 3)), tolerance=32,
           differentiable=False),
    linear("det", lambda x: np.asarray(np.linalg.det(x)), SQUARES, regular),
    linear("slogdet", lambda x: tuple(map(np.asarray, np.linalg.slogdet(x))), SQUARES, regular),
    linear("cholesky", cholesky_of(np.linalg.cholesky),
           (*SQUARES, *cases((3, 3), upper=True)), definite),
    linear("cholesky_inv", lambda x: np.linalg.inv(np.tril(x) @ np.swapaxes(np.tril(x), -1, -2)),
           SQUARES, regular),
    linear("tri_inv", lambda x, upper=False: np.linalg.inv(np.triu(x) if upper else np.tril(x)),
           (*SQUARES, *cases((3, 3), upper=True)), regular),
    linear("solve", lambda a, b: np.linalg.solve(a, b if b.ndim == a.ndim else b[..., None]).reshape(b.shape),
           cases(((3, 3), (3,)), ((3, 3), (3, 2)), ((2, 3, 3), (2, 3, 2))), regular),
    linear("solve_triangular",
           lambda a, b, upper=False: np.linalg.solve(np.triu(a) if upper else np.tril(a), b),
           (*cases(((3, 3), (3, 2))), *cases(((3, 3), (3, 2)), upper=True)), regular),
    linear("eigvalsh", np.linalg.eigvalsh, SQUARES, definite, tolerance=32),
    linear("cross", lambda a, b, axis=-1: np.cross(a, b, axis=axis),
           (*cases(((3,), (3,)), ((2, 3), (2, 3))), *cases(((3, 2), (3, 2)), axis=0))),
]  # fmt: skip


# ---- Fourier transforms ----


def transform(name, rows, **more) -> Row:
    complex_in = not name.startswith("r") and not name.endswith("shift")
    complex_out = "irfft" not in name
    dtypes = (mx.float32, mx.complex64) if complex_in else (mx.float32,)
    result = lambda *types: mx.complex64 if complex_out else mx.float32  # noqa: E731
    return Row(f"fft.{name}", getattr(np.fft, name), rows, dtypes=dtypes, result=result,
               differentiable=False, tolerance=4, **more)  # fmt: skip


ONE_AXIS = (
    *cases((8,), (2, 9), (3, 1)),
    *cases((4, 5), axis=0),
    *cases((2, 8), n=5),
    *cases((2, 8), n=12, norm="ortho"),
)
SEVERAL_AXES = (*cases((4, 6), (2, 3, 5)), *cases((2, 3, 5), axes=(0, 2)))
INVERSE_REAL = (*cases((5,), (2, 4)), *cases((2, 5), n=9), *cases((5, 2), axis=0))


def shift(name) -> Row:
    rows = (*cases((5,), (4, 3)), *cases((4, 3), axes=(1,)))
    return Row(f"fft.{name}", getattr(np.fft, name), rows, dtypes=(mx.float32, mx.int32))


TRANSFORMS = [
    transform("fft", ONE_AXIS),
    transform("ifft", ONE_AXIS),
    transform("rfft", ONE_AXIS),
    transform("irfft", INVERSE_REAL),
    *(transform(name, SEVERAL_AXES) for name in ("fftn", "ifftn", "rfftn", "irfftn")),
    *(transform(name, cases((4, 6), (2, 3, 5))) for name in ("fft2", "ifft2", "rfft2", "irfft2")),
    shift("fftshift"),
    shift("ifftshift"),
]


# ---- What networks use ----


def rms_norm(x, weight, eps):
    return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * weight


def layer_norm(x, weight, bias, eps):
    centred = x - x.mean(-1, keepdims=True)
    return centred / np.sqrt(centred.var(-1, keepdims=True) + eps) * weight + bias


def attention(q, k, v, scale, mask=None):
    repeats = q.shape[1] // k.shape[1]
    k, v = np.repeat(k, repeats, 1), np.repeat(v, repeats, 1)
    scores = scale * q @ np.swapaxes(k, -1, -2)
    if mask == "causal":
        queries, keys = scores.shape[-2:]
        scores = np.where(np.tri(queries, keys, keys - queries), scores, -np.inf)
    return scipy.special.softmax(scores, -1) @ v


def rope(x, dims, traditional, base=10000.0, scale=1.0, offset=0):
    angles = (
        scale
        * (np.arange(x.shape[-2]) + offset)[:, None]
        / base ** (np.arange(dims // 2) * 2 / dims)
    )
    sin, cos, out = np.sin(angles), np.cos(angles), x.copy()
    half = dims // 2
    first, second = (
        (slice(0, dims, 2), slice(1, dims, 2))
        if traditional
        else (slice(0, half), slice(half, dims))
    )
    out[..., first] = x[..., first] * cos - x[..., second] * sin
    out[..., second] = x[..., first] * sin + x[..., second] * cos
    return out


def cross_entropy(logits, targets):
    chosen = np.take_along_axis(logits, targets[..., None], -1)[..., 0]
    return scipy.special.logsumexp(logits, -1) - chosen


ROTATED = {"base": 10000.0, "scale": 1.0, "offset": 0}
HEADS = ((1, 4, 5, 8), (1, 2, 6, 8), (1, 2, 6, 8))
NETWORKS = [
    Row("fast.rms_norm", rms_norm, cases(((2, 3, 16), (16,)), ((5, 70), (70,)), eps=1e-5),
        tolerance=4),
    Row("fast.layer_norm", layer_norm, cases(((2, 3, 16), (16,), (16,)), ((5, 70), (70,), (70,)), eps=1e-5),
        tolerance=4),
    Row("fast.scaled_dot_product_attention", attention,
        (*cases(HEADS, scale=0.3), *cases(((2, 2, 40, 16),) * 3, scale=0.25, mask="causal")),
        dtypes=FLOATS[:3], tolerance=8, mappable=False),
    Row("fast.rope", rope,
        (*cases((1, 2, 5, 8), dims=8, traditional=False, **ROTATED),
         *cases((1, 2, 5, 8), dims=4, traditional=True, base=100.0, scale=0.5, offset=3)),
        dtypes=FLOATS[:3], tolerance=4, differentiable=False),
    Row("fast.cross_entropy", cross_entropy, cases(((4, 7), (4,)), ((2, 3, 5), (2, 3))),
        ("signed", "index 5"), FLOATS[:3], lambda *_: mx.float32, differentiable=False,
        tolerance=4),
]  # fmt: skip

ROWS = PRODUCTS + CONVOLUTIONS + LINEAR_ALGEBRA + TRANSFORMS + NETWORKS
