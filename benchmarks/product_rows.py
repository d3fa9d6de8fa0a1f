"""Products of matrices in 16 bits, and convolutions of sizes that are common in networks."""

from collections.abc import Callable

import numpy as np
from bench.row import Row

TOLERANCE = {"float32": 1e-4, "bfloat16": 1.6e-2, "float16": 2e-3}
FORWARD, INPUT, WEIGHT = range(3)
GRADIENTS = ["", " input gradient", " weight gradient"]


def rounded(values: np.ndarray, dtype: str) -> np.ndarray:
    """Rounds to the type, but returns float32: peers then convert it exactly."""
    if dtype == "float16":
        return values.astype(np.float16).astype(np.float32)
    if dtype == "bfloat16":
        return (values.view(np.uint32) & 0xFFFF0000).view(np.float32)
    return values


def numbers(dtype: str, **shapes: tuple[int, ...]) -> Callable[[], dict]:
    def inputs() -> dict:
        random = np.random.default_rng(0)
        return {
            name: rounded(random.standard_normal(shape, np.float32), dtype)
            for name, shape in shapes.items()
        }

    return inputs


def product(name: str, dtype: str, m: int, n: int, k: int, transposed: bool = False) -> Row:
    shapes = {"a": (m, k), "b": (n, k) if transposed else (k, n)}
    tolerance = TOLERANCE[dtype]

    def multiply(_, a, b):
        return a @ (b.T if transposed else b)

    return Row(
        name=f"{name} {dtype}",
        inputs=numbers(dtype, **shapes),
        outputs={"out": ((m, n), dtype)},
        reference=lambda arrays: {"out": multiply(np, **arrays)},
        array=lambda mx, a, b: [multiply(mx, a, b)],
        torch=lambda torch, a, b: [lambda: multiply(torch, a, b)],
        dtypes=dict.fromkeys(shapes, dtype),
        flops=2 * m * n * k,
        rtol=tolerance,
        atol=tolerance * k**0.5,
        targets={"PyTorch": 0.9},
    )


def convolution(name: str, dtype: str, x: tuple, w: tuple, stride: int, groups: int, part: int):
    """`x` (N, H, W, C), `w` (O, K, K, C / groups); the edges are padded by half a kernel."""
    pad = w[1] // 2
    height, width = ((n + 2 * pad - w[1]) // stride + 1 for n in x[1:3])
    out = (x[0], height, width, w[0])
    shapes = {"x": x, "w": w, "c": out}
    flops = 2 * int(np.prod(out)) * int(np.prod(w[1:]))
    result = (out, x, w)[part]
    tolerance = TOLERANCE[dtype]

    def ours(mx, x, w, c):
        def f(x, w):
            return mx.conv2d(x, w, stride, pad, 1, groups)

        if part == FORWARD:
            return [f(x, w)]
        if part == INPUT:
            return mx.vjp(lambda v: f(v, w), [x], [c])[1]
        return mx.vjp(lambda v: f(x, v), [w], [c])[1]

    def run(torch, x, w, c):
        """PyTorch's arrays are (N, C, H, W), here in memory as ours are."""
        if part == FORWARD:
            return torch.nn.functional.conv2d(x, w, None, stride, pad, 1, groups)
        wanted = [part == INPUT, part == WEIGHT, False]
        results = torch.ops.aten.convolution_backward(
            c, x, w, None, [stride] * 2, [pad] * 2, [1, 1], False, [0, 0], groups, wanted
        )
        return results[part - 1]

    def theirs(torch, x, w, c):
        tensors = [a.permute(0, 3, 1, 2) for a in (x, w, c)]
        return [lambda: run(torch, *tensors).permute(0, 2, 3, 1)]

    def reference(arrays: dict) -> dict:
        """Sums over the taps of the kernel, each a product of matrices."""
        x, w, c = (arrays[key] for key in "xwc")
        padded = np.pad(x, [(0, 0), (pad, pad), (pad, pad), (0, 0)])
        gradient, of_weight, sums = np.zeros_like(padded), np.zeros_like(w), np.zeros_like(c)
        inputs, outputs = w.shape[3], w.shape[0] // groups
        for i, j, g in np.ndindex(w.shape[1], w.shape[2], groups):
            rows = slice(i, i + (height - 1) * stride + 1, stride)
            columns = slice(j, j + (width - 1) * stride + 1, stride)
            ins, of = slice(g * inputs, (g + 1) * inputs), slice(g * outputs, (g + 1) * outputs)
            under = padded[:, rows, columns, ins]
            if part == FORWARD:
                sums[..., of] += under @ w[of, i, j].T
            elif part == INPUT:
                gradient[:, rows, columns, ins] += c[..., of] @ w[of, i, j]
            else:
                of_weight[of, i, j] += np.tensordot(c[..., of], under, ([0, 1, 2], [0, 1, 2]))
        inner = gradient[:, pad : pad + x.shape[1], pad : pad + x.shape[2]]
        return {"out": (sums, inner, of_weight)[part]}

    terms = flops / 2 / np.prod(result)
    return Row(
        name=f"{name}{GRADIENTS[part]} {dtype}",
        inputs=numbers(dtype, **shapes),
        outputs={"out": (result, dtype)},
        reference=reference,
        array=ours,
        torch=theirs,
        dtypes=dict.fromkeys(shapes, dtype),
        flops=flops,
        rtol=tolerance,
        atol=tolerance * terms**0.5,
        targets={"PyTorch": 0.9},
    )


def rows(size: str) -> list[Row]:
    small = size == "small"
    side = 128 if small else 1024
    found = []
    for dtype in ("bfloat16", "float16"):
        found.append(product("matmul", dtype, side, side, side))
        found.append(product("matmul transposed", dtype, side, side, side, True))
        found.append(product("matmul of 8 rows", dtype, 8, side, side, True))
        found.append(product("matmul of 1 row", dtype, 1, side, side, True))
    images, shrink = (1, 4) if small else (8, 1)
    layers = [
        ("conv 56x56x64 3x3", 56, 64, 64, 3, 1, 1),
        ("conv 56x56x64 1x1", 56, 64, 256, 1, 1, 1),
        ("conv 28x28x128 3x3 by 2", 28, 128, 128, 3, 2, 1),
        ("conv 7x7x512 3x3", 7, 512, 512, 3, 1, 1),
        ("conv 224x224x3 7x7 by 2", 224, 3, 64, 7, 2, 1),
        ("conv 112x112x64 depthwise", 112, 64, 64, 3, 1, 64),
    ]
    for dtype in ("float32", "bfloat16"):
        for name, extent, inputs, outputs, kernel, stride, groups in layers:
            extent = max(7, extent // shrink)
            x = (images, extent, extent, inputs)
            w = (outputs, kernel, kernel, inputs // groups)
            # The gradient of the image is not needed.
            parts = (FORWARD, WEIGHT) if inputs == 3 else (FORWARD, INPUT, WEIGHT)
            for part in parts:
                found.append(convolution(name, dtype, x, w, stride, groups, part))
    return found
