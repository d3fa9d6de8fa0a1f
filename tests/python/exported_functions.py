"""Functions for the tests of export, which use every primitive."""

import re
from collections.abc import Callable
from pathlib import Path

import mlx.core as mx
import numpy as np

HEADERS = Path(__file__).resolve().parents[2] / "cpp" / "mlx"
# Primitives that are never in a file, as export/primitives.cpp says, and base classes. A Copy is
# replaced by its input.
NOT_IN_FILES = {
    "Communication",
    "Copy",
    "CustomTransforms",
    "Elementwise",
    "Fused",
    "Load",
    "UnaryPrimitive",
}
# Those that functions get on GPUs only (tests/cpp/discrete).
ON_GPUS = {"Attention"}


def primitive_classes() -> set[str]:
    """All classes of primitives, from the headers that define them."""
    found: set[str] = set()
    text = "".join(path.read_text() for path in HEADERS.rglob("*.h"))
    text = re.sub(r"#define(.*\\\n)*.*", "", text)
    found |= set(re.findall(r"class (\w+)[^;{]*: public (?:Unary)?Primitive\b", text))
    found |= set(re.findall(r"class (\w+)[^;{]*: public Elementwise\b", text))
    found |= set(re.findall(r"^\w+_PRIMITIVE\((\w+)\)", text, re.MULTILINE))
    rows = (HEADERS / "primitives" / "elementwise.def").read_text()
    found |= set(re.findall(r"^MLX_(?:UNARY|BINARY)(?:_CUSTOM)?\((\w+),", rows, re.MULTILINE))
    return found


def floats(*shape: int, seed: int = 0) -> mx.array:
    """Numbers between 0.1 and 0.9."""
    rng = np.random.default_rng(seed)
    return mx.array(rng.uniform(0.1, 0.9, shape).astype(np.float32))


def matrices(n: int = 3) -> mx.array:
    """A pair of symmetric matrices with positive eigenvalues."""
    a = floats(2, n, n)
    return a @ mx.swapaxes(a, -1, -2) + mx.eye(n)


def listed(result: mx.array | tuple | list) -> list[mx.array]:
    return [result] if isinstance(result, mx.array) else list(result)


def check_same(got: mx.array | tuple | list, want: mx.array | tuple | list) -> None:
    got, want = listed(got), listed(want)
    assert len(got) == len(want)
    for a, b in zip(got, want):
        assert a.dtype == b.dtype and a.shape == b.shape
        assert mx.array_equal(a, b, equal_nan=a.dtype != mx.bool_, stream=mx.cpu).item()


X = floats(4, 6)
Y = floats(4, 6, seed=1)
BITS_A = mx.array([[3, 1, 2, 0], [5, 4, 7, 6]])
BITS_B = mx.array([[1, 2, 3, 1], [2, 2, 1, 3]])
PICKED = mx.array([2, 0, 1])
S = matrices()
W = floats(8, 64)
QUANTIZED = mx.quantize(W, group_size=32, bits=4)
PACKED = mx.quantize(floats(3, 8, 64), group_size=32, bits=4)

Q = {"group_size": 32, "bits": 4}

UNARY = """
    abs arccos arcsin arcsinh arctan arctanh ceil cos cosh erf erfinv exp expm1 floor log log10 log1p
    log2 negative reciprocal round rsqrt sigmoid sign sin sinh sqrt square tan tanh logical_not isnan
""".split()
BINARY = """
    add arctan2 divide divmod equal floor_divide greater greater_equal less less_equal logaddexp
    logical_and logical_or maximum minimum multiply not_equal power remainder subtract
""".split()
BITS = "bitwise_and bitwise_or bitwise_xor left_shift right_shift".split()
REDUCTIONS = "all any argmax argmin logsumexp max mean min prod std sum var median".split()
SCANS = "cummax cummin cumprod cumsum logcumsumexp softmax sort argsort".split()


def along_rows(name: str) -> Callable[[mx.array], mx.array]:
    return lambda x: getattr(mx, name)(x, axis=1)


def kernel(x: mx.array) -> list[mx.array]:
    double = mx.fast.metal_kernel(
        "twice",
        ["x"],
        ["y"],
        "uint i = thread_position_in_grid.x; if (i < x_shape[0]) y[i] = T(2) * x[i] + y[i];",
    )
    return double(
        inputs=[x],
        template=[("T", x.dtype)],
        grid=(6, 1, 1),
        threadgroup=(2, 1, 1),
        output_shapes=[(6,)],
        output_dtypes=[x.dtype],
        init_value=1,
    )


def with_own_rules(x: mx.array) -> mx.array:
    @mx.custom_function
    def f(x):
        return mx.sin(x) * x

    f.vjp(lambda primal, cotangent, output: cotangent * 7)
    return f(x) + 1


def assigned(x: mx.array, y: mx.array) -> mx.array:
    copy = mx.array(x)
    copy[1:3, ::2] = y[1:3, ::2]
    return copy


def in_order(x: mx.array, y: mx.array):
    return mx.depends([x + 1, y * 2], [mx.exp(x)])


CASES = {
    **{name: (getattr(mx, name), X) for name in UNARY},
    "arccosh": (mx.arccosh, X + 1),
    **{name: (getattr(mx, name), X, Y) for name in BINARY},
    **{name: (getattr(mx, name), BITS_A, BITS_B) for name in BITS},
    "bitwise_invert": (mx.bitwise_invert, BITS_A),
    "nan equal": (lambda a, b: mx.array_equal(a, b, equal_nan=True), X, X),
    "complex": (
        lambda z: [mx.real(z), mx.imag(z), mx.conjugate(z), z * 2j, mx.abs(z)],
        mx.array([1 + 2j, 3 - 1j]),
    ),
    **{name: (along_rows(name), X) for name in REDUCTIONS + SCANS},
    "reverse scan": (lambda x: mx.cumsum(x, 0, reverse=True, inclusive=False), X),
    "precise": (lambda x: mx.softmax(x, axis=-1, precise=True), X.astype(mx.float16)),
    "layer norm": (lambda x: mx.fast.layer_norm(x, x[0], None, 1e-3), X),
    "gradient of rms norm": (
        mx.grad(lambda x: mx.square(mx.fast.rms_norm(x, x[0], 1e-3)).sum()),
        X,
    ),
    "partition": (lambda x: [mx.partition(x, 2), mx.argpartition(x, 2, axis=0)], X),
    "topk": (lambda x: mx.topk(x, 2), X),
    "astype": (lambda x: [x.astype(mx.float16), x.astype(mx.int8), x.astype(mx.complex64)], X),
    "view": (lambda x: x.view(mx.int32), X),
    "as_strided": (lambda x: mx.as_strided(x, (3, 2), (2, 1), 4), X),
    "broadcast": (lambda x: mx.broadcast_to(x, (3, 4, 6)), X),
    "concatenate": (lambda x, y: mx.concatenate([x, y], axis=1), X, Y),
    "contiguous": (lambda x: mx.contiguous(x.T), X),
    "shapes": (
        lambda x: [
            x[None],
            x[None].squeeze(0),
            x.reshape(3, 8),
            x.flatten(),
            x.T,
            x.moveaxis(0, 1),
        ],
        X,
    ),
    "flatten": (lambda x: mx.flatten(x, 0, 1), floats(2, 3, 4)),
    "unflatten": (lambda x: mx.unflatten(x, 1, (2, 3)), X),
    "pad": (lambda x: mx.pad(x, [(1, 2), (0, 1)], constant_values=3), X),
    "split": (lambda x: mx.split(x, [2, 3], axis=1), X),
    "one half": (lambda x: mx.split(x, 2)[1], X),
    "creation": (lambda x: [mx.arange(6.0) + x, mx.full((2, 2), x[0, 0]), mx.zeros((3,))], X),
    "tri": (lambda x: [mx.tril(x), mx.eye(3), mx.linspace(0, 1, 5)], X),
    "clip": (lambda x: mx.clip(x, -0.5, 0.5), X),
    "where": (lambda x, y: mx.where(x > y, x, 2.0), X, Y),
    "stop_gradient": (lambda x: mx.stop_gradient(x) * x, X),
    "depends": (in_order, X, Y),
    "gather": (lambda x, i: [x[i], x[:, i], mx.take(x, i, axis=1)], X, PICKED),
    "gather_axis": (lambda x, i: mx.take_along_axis(x, i, axis=0), X, BITS_B[:, :1]),
    "slices": (lambda x: [x[1:3, ::-2], x[-1], x[..., 1]], X),
    "slice update": (assigned, X, Y),
    "scatter": (
        lambda x, i: [x.at[i].add(1), x.at[i].maximum(2), x.at[i].multiply(3), x.at[i].minimum(0)],
        X,
        PICKED,
    ),
    "scatter_axis": (lambda x, i: mx.put_along_axis(x, i, mx.array(5.0), axis=0), X, BITS_B[:, :1]),
    "dynamic": (
        lambda x, i: [
            mx.slice(x, i, (0,), (2, 6)),
            mx.slice_update(x, mx.ones((2, 6)), i, (0,)),
        ],
        X,
        mx.array([1]),
    ),
    "products": (lambda x, y: [x @ y.T, mx.inner(x, y), mx.einsum("ij,kj->ik", x, y)], X, Y),
    "addmm": (lambda c, x, y: mx.addmm(c, x, y.T, alpha=2, beta=0.5), floats(4, 4), X, Y),
    "gather_mm": (
        lambda a, b, i: mx.gather_mm(a, b, lhs_indices=i, rhs_indices=i),
        floats(3, 2, 4),
        floats(3, 4, 5),
        PICKED.astype(mx.uint32),
    ),
    "segmented_mm": (
        lambda a, b, s: mx.segmented_mm(a, b, s),
        X,
        floats(6, 3),
        mx.array([[0, 2], [2, 6]], dtype=mx.uint32),
    ),
    "conv": (
        lambda x, w: mx.conv1d(x, w, stride=2, padding=1, dilation=2),
        floats(2, 9, 4),
        floats(5, 3, 4),
    ),
    "conv_transpose": (
        lambda x, w: mx.conv_transpose2d(x, w, stride=2),
        floats(1, 4, 4, 2),
        floats(3, 2, 2, 2),
    ),
    "hadamard": (mx.hadamard_transform, floats(3, 8)),
    "fft": (
        lambda x: [mx.fft.fft(x), mx.fft.rfft2(x), mx.fft.irfft(mx.fft.rfft(x)), mx.fft.ifftn(x)],
        X,
    ),
    "quantize": (lambda w: mx.quantize(w, **Q), W),
    "dequantize": (lambda *q: mx.dequantize(*q, **Q), *QUANTIZED),
    "mxfp4": (lambda w: mx.quantize(w, mode="mxfp4"), W),
    "quantized_matmul": (lambda x, *q: mx.quantized_matmul(x, *q, **Q), W, *QUANTIZED),
    "gather_qmm": (
        lambda x, i, *q: mx.gather_qmm(x, *q, rhs_indices=i, **Q),
        floats(3, 1, 64),
        PICKED.astype(mx.uint32),
        *PACKED,
    ),
    "fp8": (lambda x: mx.from_fp8(mx.to_fp8(x)), X),
    "solve": (
        lambda a, b: [
            mx.linalg.solve(a, b, stream=mx.cpu),
            mx.linalg.solve_triangular(a, b, stream=mx.cpu),
            mx.linalg.inv(a, stream=mx.cpu),
            mx.linalg.tri_inv(a, stream=mx.cpu),
        ],
        S,
        floats(2, 3, 2),
    ),
    "decompositions": (
        lambda a: [
            mx.linalg.cholesky(a, stream=mx.cpu),
            *mx.linalg.qr(a, stream=mx.cpu),
            *mx.linalg.lu(a, stream=mx.cpu),
            *mx.linalg.eigh(a, stream=mx.cpu),
            *mx.linalg.svd(a, stream=mx.cpu),
            mx.linalg.det(a, stream=mx.cpu),
            *mx.linalg.slogdet(a, stream=mx.cpu),
        ],
        S,
    ),
    "eig": (lambda a: mx.linalg.eig(a, stream=mx.cpu), floats(3, 3)),
    "random": (
        lambda key: [mx.random.normal((3, 4), key=key), mx.random.split(key, 3)],
        mx.random.key(3),
    ),
    "fast": (
        lambda x, w: [
            mx.fast.rms_norm(x, w, 1e-5),
            mx.fast.layer_norm(x, w, None, 1e-5),
            mx.fast.rope(x[None], 4, traditional=False, base=100.0, scale=1.0, offset=2),
        ],
        X,
        floats(6),
    ),
    "attention": (
        lambda q: mx.fast.scaled_dot_product_attention(q, q, q, scale=0.3, mask="causal"),
        floats(1, 2, 5, 8),
    ),
    "kernel": (kernel, floats(6)),
    "own rules": (with_own_rules, X),
    "compiled": (mx.compile(lambda x, y: [mx.tanh(x * y + 1) * x, x.sum()]), X, Y),
    "grad": (mx.grad(lambda x, y: (mx.sin(x) @ y.T).sum()), X, Y),
    "vmap": (mx.vmap(lambda x, y: mx.softmax(x) @ y), X, Y),
    "no inputs": (lambda: mx.ones((2, 2)) * 3,),
    "the input": (lambda x: x, X),
    "a constant": (lambda x: [Y, x], X),
}
# The number of elements is a primitive only in graphs for all shapes.
SHAPELESS = {
    "mean": (lambda x: x.mean(axis=0), X, Y[:3]),
    "var": (lambda x: [x.var(), x.std(axis=1, ddof=1)], X, Y[:3]),
    "loss": (mx.grad(lambda x: mx.square(x - x.mean(axis=0)).mean()), X, Y[:3]),
    "elementwise": (lambda x: mx.exp(x) * 2 + x, X, Y[:2]),
    "compiled": (mx.compile(lambda x: mx.exp(x) * 2 + x), X, Y[:2]),
    "products": (lambda x: x @ mx.swapaxes(x, -1, -2), X, Y[:2]),
    "softmax": (lambda x: mx.softmax(x, axis=-1), X, Y[:2, :3]),
    "split": (lambda x: mx.split(x, 2, axis=1), X, Y[:1]),
    "batches": (lambda x: x[None] @ floats(2, 6, 3), X, Y[:1]),
    "depends": (lambda x: mx.depends(x + 1, x), X, Y[:1]),
    "own rules": (with_own_rules, X, Y[:2]),
    "gradient": (mx.grad(lambda x: mx.sin(x).sum()), X, Y[:2]),
    "concatenate": (lambda x: mx.concatenate([x, x + 1], axis=0), X, Y[:2]),
    "last row": (lambda x: x[-1], X, floats(9, 5)),
    "last column": (lambda x: x[..., -1], X, floats(9, 5)),
    "take": (lambda x: x[mx.array([1, 2])], X, Y[:, :2]),
    "einsum": (lambda x: mx.einsum("ij,kj->ik", x, x), X, Y[:2, :3]),
}
