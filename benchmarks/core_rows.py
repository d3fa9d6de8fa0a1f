"""The array core's own kernels, elementwise, broadcast, reduction, softmax and copy, and products."""

from collections.abc import Callable

import numpy as np
import product_rows
from bench.row import Row


def rows(size: str) -> list[Row]:
    side = 256 if size == "small" else 4096
    count = side * side
    line = 4 * count  # bytes of a float32 matrix

    def inputs() -> dict:
        random = np.random.default_rng(0)
        return {
            "x": random.standard_normal((side, side), np.float32),
            "y": random.standard_normal((side, side), np.float32),
            "v": random.standard_normal(side, np.float32),
        }

    def row(
        name: str,
        ours: Callable,
        torch: Callable,
        reference: Callable,
        moved: int,
        shape: tuple = (side, side),
        tolerance: float = 1e-5,
        permuted: bool = False,
        target: float | None = 1.0,
    ) -> Row:
        """The functions take the array module, x, y and v."""

        def right(arrays: dict) -> dict:
            doubles = {key: value.astype(np.float64) for key, value in arrays.items()}
            x = doubles["x"].T if permuted else doubles["x"]
            return {"out": np.asarray(reference(np, x, doubles["y"], doubles["v"]))}

        return Row(
            name=name,
            inputs=inputs,
            outputs={"out": (shape, "float32")},
            reference=right,
            array=lambda mx, x, y, v: [ours(mx, x, y, v)],
            torch=lambda t, x, y, v: [lambda: torch(t, x, y, v)],
            permuted={"x": (1, 0)} if permuted else {},
            moved=moved,
            rtol=tolerance,
            atol=tolerance,
            targets={"PyTorch": target, "kept": target} if target else {},
        )

    def same(function: Callable) -> dict:
        return {"ours": function, "torch": function, "reference": function}

    def softmax(_, x, y, v):
        e = np.exp(x - x.max(-1, keepdims=True))
        return e / e.sum(-1, keepdims=True)

    return [
        row(
            "copy",
            lambda mx, x, y, v: mx.contiguous(x + 0),
            lambda t, x, y, v: x + 0,
            lambda np, x, y, v: x,
            2 * line,
        ),
        row(
            "copy transposed",
            lambda mx, x, y, v: mx.contiguous(x),
            lambda t, x, y, v: x.contiguous(),
            lambda np, x, y, v: x,
            2 * line,
            permuted=True,
            target=None,
        ),
        row("add", **same(lambda m, x, y, v: x + y), moved=3 * line),
        row("exp", **same(lambda m, x, y, v: m.exp(x)), moved=2 * line),
        row("tanh", **same(lambda m, x, y, v: m.tanh(x)), moved=2 * line),
        row(
            "select",
            lambda mx, x, y, v: mx.where(x > 0, x, y),
            lambda t, x, y, v: t.where(x > 0, x, y),
            lambda np, x, y, v: np.where(x > 0, x, y),
            3 * line,
        ),
        row("add scalar", **same(lambda m, x, y, v: x + 1.5), moved=2 * line),
        row("broadcast rows", **same(lambda m, x, y, v: x + v), moved=2 * line),
        row("broadcast columns", **same(lambda m, x, y, v: x + v[:, None]), moved=2 * line),
        row(
            "add transposed",
            **same(lambda m, x, y, v: x + y),
            moved=3 * line,
            permuted=True,
            target=None,
        ),
        row(
            "sum of all",
            **same(lambda m, x, y, v: x.sum()),
            moved=line,
            shape=(),
            tolerance=2e-2,
        ),
        row(
            "sum of rows",
            **same(lambda m, x, y, v: x.sum(-1)),
            moved=line,
            shape=(side,),
            tolerance=1e-3,
        ),
        row(
            "sum of columns",
            **same(lambda m, x, y, v: x.sum(0)),
            moved=line,
            shape=(side,),
            tolerance=1e-3,
        ),
        row(
            "max of rows",
            lambda mx, x, y, v: x.max(-1),
            lambda t, x, y, v: x.amax(-1),
            lambda np, x, y, v: x.max(-1),
            line,
            shape=(side,),
        ),
        row(
            "softmax",
            lambda mx, x, y, v: mx.softmax(x, -1),
            lambda t, x, y, v: t.softmax(x, -1),
            softmax,
            2 * line,
        ),
        row(
            "softmax of short rows",
            lambda mx, x, y, v: mx.softmax(x.reshape(-1, 64), -1),
            lambda t, x, y, v: t.softmax(x.reshape(-1, 64), -1),
            lambda np, x, y, v: softmax(np, x.reshape(-1, 64), y, v),
            2 * line,
            shape=(count // 64, 64),
        ),
        *product_rows.rows(size),
    ]
