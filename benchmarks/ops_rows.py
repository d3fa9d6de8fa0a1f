"""The rows of `ops.py`: each operation in NumPy, in PyTorch and with our arrays."""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import transformer_rows
from bench.row import Row

REPEATED = 100


def integers(*shape: int, below: int) -> np.ndarray:
    return np.random.default_rng(1).integers(0, below, shape).astype(np.int32)


class Table:
    """Rows for arrays of one size: x, y of shape (n, n), v of n, i of indices below n."""

    def __init__(self, size: str):
        self.small = size == "small"
        self.n = 128 if self.small else 2048
        self.made: list[Row] = []
        self.names_of_floats: dict[Callable, list[str]] = {}  # by the function that makes inputs

    def inputs(self) -> dict:
        random = np.random.default_rng(0)
        n = self.n
        return {
            "x": random.standard_normal((n, n), np.float32),
            "y": random.standard_normal((n, n), np.float32),
            "v": random.standard_normal(n, np.float32),
            "i": integers(n, below=n),
        }

    def shuffled(self) -> dict:
        """Matrices without equal elements, so that the sorted order is unique."""
        rows = np.tile(np.arange(self.n, dtype=np.float32), (self.n, 1))
        return {"x": np.random.default_rng(2).permuted(rows, axis=1)}

    def add(
        self,
        name: str,
        ours: Callable,
        theirs: Callable,
        reference: Callable,
        *,
        inputs: Callable[[], dict] | None = None,
        dtype: str = "float32",
        to: str = "",
        tolerance: float = 1e-5,
        moved: int = 2,
        flops: int = 0,
    ) -> None:
        """`ours` and `theirs` take the library, then an object with the inputs; `reference` that of
        float64 arrays. `dtype` is that of the floats, `to` that of the result; `moved` counts matrices.
        """
        made = inputs or self.inputs

        def exact(arrays: dict) -> dict:
            doubles = {
                k: a.astype(np.float64) if a.dtype == np.float32 else a for k, a in arrays.items()
            }
            return {"out": np.asarray(reference(np, Named(doubles)), np.float64)}

        def call_torch(torch, **tensors):
            named = Named(tensors)
            return [lambda: theirs(torch, named)]

        if made not in self.names_of_floats:
            self.names_of_floats[made] = [k for k, a in made().items() if a.dtype == np.float32]
        floats = self.names_of_floats[made]
        itemsize = 2 if "16" in dtype else 4
        self.made.append(
            Row(
                name=name,
                inputs=made,
                outputs={"out": ((), to or dtype)},
                reference=exact,
                array=lambda mx, **arrays: [ours(mx, Named(arrays))],
                torch=call_torch,
                dtypes={k: dtype for k in floats} if dtype != "float32" else {},
                moved=moved * itemsize * self.n**2,
                flops=flops,
                rtol=tolerance,
                atol=tolerance,
                targets={"kept": 1 / 1.1},
            )
        )

    def same(self, name: str, function: Callable, **options) -> None:
        """A row whose code is the same for all three libraries."""
        self.add(name, function, function, function, **options)


class Named:
    """A dictionary's values as attributes."""

    def __init__(self, values: dict):
        self.__dict__.update(values)


def add_elementwise(t: Table) -> None:
    t.same("add", lambda m, a: a.x + a.y, moved=3)
    t.same("add scalar", lambda m, a: a.x + 1.5)
    t.same("add row", lambda m, a: a.x + a.v)
    t.same("add column", lambda m, a: a.x + a.v[:, None])
    t.same("divide", lambda m, a: a.x / a.y, moved=3, tolerance=1e-4)
    t.same("compare", lambda m, a: a.x < a.y, moved=3, to="bool_")
    t.same("maximum", lambda m, a: m.maximum(a.x, a.y), moved=3)
    t.same("absolute value", lambda m, a: m.abs(a.x))
    for name in ("exp", "tanh", "sin", "log1p"):
        tame = (lambda m, a: m.log1p(m.abs(a.x))) if name == "log1p" else None
        t.same(name, tame or (lambda m, a, f=name: getattr(m, f)(a.x)), tolerance=1e-4)
    t.add(
        "erf",
        lambda m, a: m.erf(a.x),
        lambda m, a: m.erf(a.x),
        lambda m, a: erf(a.x),
        tolerance=1e-4,
    )
    t.add(
        "sigmoid",
        lambda m, a: m.sigmoid(a.x),
        lambda m, a: m.sigmoid(a.x),
        lambda m, a: 1 / (1 + np.exp(-a.x)),
    )
    t.add(
        "power",
        lambda m, a: m.power(m.abs(a.x), 1.7),
        lambda m, a: m.pow(m.abs(a.x), 1.7),
        lambda m, a: np.abs(a.x) ** 1.7,
        tolerance=1e-4,
    )
    t.same("select", lambda m, a: m.where(a.x > 0, a.x, a.y), moved=3)
    t.same("clip", lambda m, a: m.clip(a.x, -1, 1))
    t.same("add float16", lambda m, a: a.x + a.y, moved=3, dtype="float16", tolerance=5e-3)
    t.same("multiply bfloat16", lambda m, a: a.x * a.y, moved=3, dtype="bfloat16", tolerance=3e-2)
    t.add(
        "convert to float16",
        lambda m, a: a.x.astype(m.float16),
        lambda t, a: a.x.to(t.float16),
        lambda m, a: a.x,
        to="float16",
        tolerance=1e-2,
    )
    t.add(
        "gelu, compiled",
        lambda m, a: gelu_of(m)(a.x),
        lambda t, a: t.nn.functional.gelu(a.x),
        lambda m, a: a.x * (1 + erf(a.x / math.sqrt(2))) / 2,
        tolerance=1e-4,
    )
    t.add(
        "gelu, as written",
        lambda m, a: a.x * (1 + m.erf(a.x / math.sqrt(2))) / 2,
        lambda t, a: a.x * (1 + t.erf(a.x / math.sqrt(2))) / 2,
        lambda m, a: a.x * (1 + erf(a.x / math.sqrt(2))) / 2,
        tolerance=1e-4,
    )


@cache
def gelu_of(mx) -> Callable:
    return mx.compile(lambda x: x * (1 + mx.erf(x / math.sqrt(2))) / 2)


def erf(x: np.ndarray) -> np.ndarray:
    return np.vectorize(math.erf)(x)


def add_small(t: Table) -> None:
    def line():
        return {"s": np.arange(16, dtype=np.float32), "w": np.eye(16, dtype=np.float32)}

    def repeated(step: Callable) -> Callable:
        def run(m, a):
            for _ in range(REPEATED):
                out = step(m, a)
            return out

        return run

    def ours(step: Callable) -> Callable:
        def run(mx, a):
            for _ in range(REPEATED):
                out = step(mx, a)
                mx.eval(out)
            return out

        return run

    def chain(m, a):
        s = a.s
        for _ in range(REPEATED):
            s = s * 0.5 + 1
        return s

    for name, step in {
        "add of 16 x 100": lambda m, a: a.s + a.s,
        "product of 16x16 x 100": lambda m, a: a.w @ a.w,
        "sum of 16 x 100": lambda m, a: a.s.sum(),
    }.items():
        t.add(name, ours(step), repeated(step), step, inputs=line, moved=0)
    t.same("chain of 200 on 16", chain, inputs=line, moved=0)


def add_reductions(t: Table) -> None:
    loose = {"moved": 1, "tolerance": 1e-3}
    t.same("sum of all", lambda m, a: a.x.sum(), moved=1, tolerance=2e-2)
    t.same("sum of rows", lambda m, a: a.x.sum(-1), **loose)
    t.same("sum of columns", lambda m, a: a.x.sum(0), **loose)
    t.same("mean of rows", lambda m, a: a.x.mean(-1), **loose)
    t.add(
        "variance of rows",
        lambda m, a: m.var(a.x, -1),
        lambda m, a: m.var(a.x, -1, correction=0),
        lambda m, a: np.var(a.x, -1),
        **loose,
    )
    t.add(
        "max of rows",
        lambda m, a: a.x.max(-1),
        lambda m, a: a.x.amax(-1),
        lambda m, a: a.x.max(-1),
        moved=1,
    )
    for name, axis in (("all", None), ("rows", -1)):
        t.add(
            f"squared error of {name}, compiled",
            lambda m, a, axis=axis: squared_error_of(m, axis)(a.x, a.y),
            lambda m, a, axis=axis: (a.x - a.y).square().mean(axis),
            lambda m, a, axis=axis: np.square(a.x - a.y).mean(axis),
        )
    t.same("argmax of rows", lambda m, a: a.x.argmax(-1), moved=1, to="int32")
    t.same("argmax of columns", lambda m, a: a.x.argmax(0), moved=1, to="int32")
    t.add(
        "logsumexp of rows",
        lambda m, a: m.logsumexp(a.x, -1),
        lambda m, a: m.logsumexp(a.x, -1),
        lambda m, a: np.log(np.exp(a.x).sum(-1)),
        moved=1,
        tolerance=1e-4,
    )
    t.same("cumsum along rows", lambda m, a: m.cumsum(a.x, -1), tolerance=1e-2)
    t.same("cumsum along columns", lambda m, a: m.cumsum(a.x, 0), tolerance=1e-2)
    t.add(
        "cummax along rows",
        lambda m, a: m.cummax(a.x, -1) if hasattr(m, "cummax") else a.x.cummax(-1),
        lambda m, a: m.cummax(a.x, -1)[0],
        lambda m, a: np.maximum.accumulate(a.x, -1),
    )

    def softmax(m, a):
        e = np.exp(a.x - a.x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    def normalized(m, a):
        centered = a.x - a.x.mean(-1, keepdims=True)
        return centered / np.sqrt((centered**2).mean(-1, keepdims=True) + 1e-5) * a.v

    t.add("softmax", lambda m, a: m.softmax(a.x, -1), lambda m, a: m.softmax(a.x, -1), softmax)
    t.add(
        "layer norm",
        lambda m, a: m.fast.layer_norm(a.x, a.v, None, 1e-5),
        lambda t, a: t.nn.functional.layer_norm(a.x, a.v.shape, a.v, None, 1e-5),
        normalized,
        tolerance=1e-3,
    )
    t.add(
        "rms norm",
        lambda m, a: m.fast.rms_norm(a.x, a.v, 1e-5),
        lambda t, a: t.nn.functional.rms_norm(a.x, a.v.shape, a.v, 1e-5),
        lambda m, a: a.x / np.sqrt((a.x**2).mean(-1, keepdims=True) + 1e-5) * a.v,
        tolerance=1e-3,
    )


@cache
def squared_error_of(mx, axis: int | None) -> Callable:
    return mx.compile(lambda x, y: mx.mean(mx.square(x - y), axis=axis))


def add_ordering(t: Table) -> None:
    t.add(
        "sort rows",
        lambda m, a: m.sort(a.x, -1),
        lambda m, a: m.sort(a.x, -1)[0],
        lambda m, a: np.sort(a.x, -1),
    )
    t.add(
        "sort all",
        lambda m, a: m.sort(a.x.reshape(-1)),
        lambda m, a: m.sort(a.x.reshape(-1))[0],
        lambda m, a: np.sort(a.x.reshape(-1)),
    )
    t.add(
        "argsort rows",
        lambda m, a: m.argsort(a.x, -1),
        lambda m, a: m.argsort(a.x, -1),
        lambda m, a: np.argsort(a.x, -1),
        inputs=t.shuffled,
        to="int32",
    )
    t.add(
        "topk of rows",
        lambda m, a: m.sort(m.topk(a.x, 10, -1), -1),
        lambda m, a: m.sort(m.topk(a.x, 10, -1)[0], -1)[0],
        lambda m, a: np.sort(a.x, -1)[:, -10:],
        moved=1,
    )
    t.add(
        "median of rows",
        lambda m, a: m.median(a.x[:, 1:], -1),
        lambda m, a: m.median(a.x[:, 1:], -1)[0],
        lambda m, a: np.median(a.x[:, 1:], -1),
        moved=1,
    )


def add_moving(t: Table) -> None:
    t.add("take rows", lambda m, a: a.x[a.i], lambda m, a: a.x[a.i.long()], lambda m, a: a.x[a.i])
    t.add(
        "take columns",
        lambda m, a: m.take(a.x, a.i, 1),
        lambda m, a: m.index_select(a.x, 1, a.i),
        lambda m, a: np.take(a.x, a.i, 1),
    )
    t.add(
        "gather along rows",
        lambda m, a: m.take_along_axis(a.x, m.broadcast_to(a.i, a.x.shape), -1),
        lambda m, a: m.gather(a.x, -1, a.i.long().expand(a.x.shape)),
        lambda m, a: np.take_along_axis(a.x, np.broadcast_to(a.i, a.x.shape), -1),
    )
    t.add(
        "scatter-add rows",
        lambda m, a: a.x.at[a.i].add(a.y),
        lambda m, a: a.x.index_add(0, a.i, a.y),
        scattered,
        moved=3,
        tolerance=1e-3,
    )
    t.add(
        "concatenate",
        lambda m, a: m.concatenate([a.x, a.y], 1),
        lambda m, a: m.cat([a.x, a.y], 1),
        lambda m, a: np.concatenate([a.x, a.y], 1),
        moved=4,
    )
    t.add(
        "transpose",
        lambda m, a: m.contiguous(a.x.T),
        lambda m, a: a.x.T.contiguous(),
        lambda m, a: a.x.T,
    )
    t.add(
        "pad",
        lambda m, a: m.pad(a.x, 3),
        lambda t, a: t.nn.functional.pad(a.x, (3, 3, 3, 3)),
        lambda m, a: np.pad(a.x, 3),
    )
    t.add(
        "flip",
        lambda m, a: m.contiguous(a.x[:, ::-1]),
        lambda m, a: m.flip(a.x, (1,)),
        lambda m, a: a.x[:, ::-1],
    )
    t.add(
        "roll",
        lambda m, a: m.roll(a.x, 5, 1),
        lambda m, a: m.roll(a.x, 5, 1),
        lambda m, a: np.roll(a.x, 5, 1),
    )
    t.add(
        "repeat",
        lambda m, a: m.repeat(a.x[:, : t.n // 4], 4, 1),
        lambda m, a: a.x[:, : t.n // 4].repeat_interleave(4, 1),
        lambda m, a: np.repeat(a.x[:, : t.n // 4], 4, 1),
    )
    t.add(
        "assign to a slice",
        lambda m, a: assigned(m.array(a.x), a.y),
        lambda m, a: assigned(a.x.clone(), a.y),
        lambda m, a: assigned(a.x.copy(), a.y),
        moved=3,
    )


def scattered(m, a):
    out = a.x.copy()
    np.add.at(out, a.i, a.y)
    return out


def assigned(x, y):
    x[1::2] = y[1::2]
    return x


def add_products(t: Table) -> None:
    n = 64 if t.small else 1024

    def matrices():
        random = np.random.default_rng(0)
        return {
            "x": random.standard_normal((n, n), np.float32),
            "y": random.standard_normal((n, n), np.float32),
            "v": random.standard_normal(n, np.float32),
            "b": random.standard_normal((n // 4, 32, 32), np.float32),
        }

    options = {"inputs": matrices, "tolerance": 5e-3}
    t.same("product", lambda m, a: a.x @ a.y, flops=2 * n**3, **options)
    t.same("product, transposed", lambda m, a: a.x @ a.y.T, flops=2 * n**3, **options)
    t.same("product with a vector", lambda m, a: a.x @ a.v, **options)
    t.same("small products", lambda m, a: a.b @ a.b, flops=n // 4 * 2 * 32**3, **options)
    t.add(
        "product and sum",
        lambda m, a: m.addmm(a.v, a.x, a.y),
        lambda m, a: m.addmm(a.v, a.x, a.y),
        lambda m, a: a.v + a.x @ a.y,
        flops=2 * n**3,
        **options,
    )
    t.same("einsum", lambda m, a: m.einsum("ij,kj->ik", a.x, a.y), flops=2 * n**3, **options)
    for dtype in ("bfloat16", "float16"):
        loose = {"inputs": matrices, "tolerance": 1.0, "dtype": dtype}
        t.same(f"product {dtype}", lambda m, a: a.x @ a.y, flops=2 * n**3, **loose)
    heads, length, width = (2, 64, 16) if t.small else (8, 512, 64)

    def attended():
        random = np.random.default_rng(0)
        return {k: random.standard_normal((1, heads, length, width), np.float32) for k in "qkv"}

    def attention(m, a):
        scores = a.q @ a.k.swapaxes(-1, -2) / math.sqrt(width)
        e = np.exp(scores - scores.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True) @ a.v

    t.add(
        "attention",
        lambda m, a: m.fast.scaled_dot_product_attention(a.q, a.k, a.v, scale=1 / math.sqrt(width)),
        lambda t, a: t.nn.functional.scaled_dot_product_attention(a.q, a.k, a.v),
        attention,
        inputs=attended,
        tolerance=1e-4,
        flops=4 * heads * length**2 * width,
    )


def add_decompositions(t: Table) -> None:
    n = 24 if t.small else 256

    def matrix():
        x = np.random.default_rng(0).standard_normal((n, n), np.float32)
        return {"x": x, "p": (x @ x.T / n + np.eye(n)).astype(np.float32), "v": x[0].copy()}

    options = {"inputs": matrix, "tolerance": 5e-2, "moved": 0}

    def on_host(name: str, *results: int) -> Callable:
        def call(mx, a):
            out = getattr(mx.linalg, name)(a.p, stream=mx.cpu)
            return out[results[0]] if results else out

        return call

    t.add(
        "cholesky",
        on_host("cholesky"),
        lambda t, a: t.linalg.cholesky(a.p),
        lambda m, a: np.linalg.cholesky(a.p),
        **options,
    )
    t.add(
        "inverse",
        on_host("inv"),
        lambda t, a: t.linalg.inv(a.p),
        lambda m, a: np.linalg.inv(a.p),
        **options,
    )
    t.add(
        "solve",
        lambda mx, a: mx.linalg.solve(a.p, a.x, stream=mx.cpu),
        lambda t, a: t.linalg.solve(a.p, a.x),
        lambda m, a: np.linalg.solve(a.p, a.x),
        **options,
    )
    t.add(
        "eigenvalues",
        on_host("eigvalsh"),
        lambda t, a: t.linalg.eigvalsh(a.p),
        lambda m, a: np.linalg.eigvalsh(a.p),
        **options,
    )
    t.add(
        "svd",
        on_host("svd", 1),
        lambda t, a: t.linalg.svd(a.p)[1],
        lambda m, a: np.linalg.svd(a.p)[1],
        **options,
    )
    t.add(
        "qr",
        lambda mx, a: mx.abs(mx.linalg.qr(a.p, stream=mx.cpu)[1]),
        lambda t, a: t.abs(t.linalg.qr(a.p)[1]),
        lambda m, a: np.abs(np.linalg.qr(a.p)[1]),
        **options,
    )
    t.add(
        "Fourier transforms of rows",
        lambda mx, a: mx.abs(mx.fft.rfft(a.x)),
        lambda t, a: t.abs(t.fft.rfft(a.x)),
        lambda m, a: np.abs(np.fft.rfft(a.x)),
        tolerance=1e-2,
    )


def add_random(t: Table) -> None:
    shape = (t.n, t.n)

    def spread(m, x):
        return x.mean() + x.max() * 0

    for name, ours, theirs, mean in (
        ("uniform numbers", lambda m: m.random.uniform(shape=shape), lambda t: t.rand(shape), 0.5),
        ("normal numbers", lambda m: m.random.normal(shape), lambda t: t.randn(shape), 0.0),
    ):
        t.add(
            name,
            lambda m, a, f=ours: spread(m, f(m)),
            lambda m, a, f=theirs: spread(m, f(m)),
            lambda m, a, mean=mean: mean,
            moved=1,
            tolerance=2e-2 if not t.small else 2e-1,
        )


def rows(size: str) -> list[Row]:
    table = Table(size)
    for add in (
        add_elementwise,
        add_small,
        add_reductions,
        add_ordering,
        add_moving,
        add_products,
        add_decompositions,
        add_random,
    ):
        add(table)
    return [*table.made, *transformer_rows.rows(size)]
