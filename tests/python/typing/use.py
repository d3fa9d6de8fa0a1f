"""Typical programs, for mypy --strict and for Python."""

from collections.abc import Callable

import mlx.core as mx
from mlx.utils import tree_map

Parameters = dict[str, mx.array]


class Linear:
    """A layer of a neural network."""

    def __init__(self, inputs: int, outputs: int, key: mx.array) -> None:
        scale = 1 / inputs**0.5
        self.weight = mx.random.uniform(-scale, scale, (outputs, inputs), key=key)
        self.bias = mx.zeros(outputs)

    def __call__(self, x: mx.array) -> mx.array:
        return x @ self.weight.T + self.bias

    def parameters(self) -> Parameters:
        return {"weight": self.weight, "bias": self.bias}


def loss(parameters: Parameters, x: mx.array, y: mx.array) -> mx.array:
    prediction = mx.maximum(x @ parameters["weight"].T + parameters["bias"], 0)
    return mx.mean(mx.square(prediction - y))


def train() -> float:
    keys = mx.random.split(mx.random.key(0), 3)
    layer = Linear(4, 2, keys[0])
    x, y = mx.random.normal((8, 4), key=keys[1]), mx.random.normal((8, 2), key=keys[2])
    step: Callable[[Parameters, mx.array, mx.array], tuple[mx.array, Parameters]]
    step = mx.value_and_grad(loss)
    parameters = layer.parameters()
    for _ in range(3):
        value, gradient = step(parameters, x, y)
        parameters = tree_map(lambda p, g: p - 0.1 * g, parameters, gradient)
        mx.eval(parameters, value)
    return float(value.item())


def transforms() -> None:
    @mx.compile
    def scaled(x: mx.array, factor: float) -> mx.array:
        return x * factor

    doubled: mx.array = scaled(mx.ones((2, 2)), 2.0)
    rows: mx.array = mx.vmap(mx.sum)(doubled)
    outputs, products = mx.vjp(mx.square, [rows], [mx.ones_like(rows)])
    assert outputs[0].shape == products[0].shape

    @mx.custom_function
    def cube(x: mx.array) -> mx.array:
        return x**3

    @cube.vjp
    def cube_vjp(primal: mx.array, cotangent: mx.array, _: mx.array) -> mx.array:
        return 3 * primal**2 * cotangent

    slope: mx.array = mx.grad(cube)(mx.array(2.0))
    assert slope.item() == 12.0


def indexing() -> None:
    a = mx.arange(24, dtype=mx.float32).reshape(2, 3, -1)
    a[0, :, 1:3] = 0.0
    a[..., -1] = a[..., 0]
    picked: mx.array = a[mx.array([1, 0]), None]
    counts = mx.zeros(3, mx.int32).at[mx.array([0, 0, 2])].add(1)
    assert counts.tolist() == [2, 0, 1]
    extents: tuple[int, ...] = picked.shape
    a += 1
    masked = mx.where((a > 0) & (a < 5), -a, a)
    for row in masked:
        assert row.ndim == len(extents) - 2
    first, *_ = mx.split(masked, 2, axis=1) if masked.shape[1] % 2 == 0 else [masked]
    assert mx.issubdtype(first.dtype, mx.floating)


def kernel() -> list[float]:
    twice = mx.fast.metal_kernel(
        name="twice",
        input_names=["a"],
        output_names=["b"],
        source="b[thread_position_in_grid.x] = T(2) * a[thread_position_in_grid.x];",
    )
    a = mx.array([1.0, 2.0, 3.0])
    outputs: list[mx.array] = twice(
        inputs=[a],
        grid=(a.size, 1, 1),
        threadgroup=(a.size, 1, 1),
        template=[("T", mx.float32)],
        output_shapes=[a.shape],
        output_dtypes=[a.dtype],
    )
    values: list[float] = outputs[0].tolist()
    return values


def streams() -> mx.Device:
    stream = mx.new_stream(mx.cpu)
    with mx.stream(stream) as inside:
        assert inside == stream
        total = mx.sum(mx.linspace(0, 1, 5), stream=stream)
    mx.synchronize(stream)
    assert abs(float(total) - 2.5) < 1e-6
    return stream.device


if __name__ == "__main__":
    assert train() < 10
    transforms()
    indexing()
    assert kernel() == [2.0, 4.0, 6.0]
    assert streams().type == mx.cpu
