"""Sums and maxima of ragged segments by a kernel of its own, with gradients by custom_vjp; checked
beside the operation of the sample package."""

import mlx.core as mx
from mlx_sample_extensions import repeat_interleave, segment_reduce

# One thread for each element of the result: it reads its column in the segment's rows.
SOURCE = """
    uint element = thread_position_in_grid.x;
    int columns = x_shape[1];
    int segment = element / columns, column = element % columns;
    int start = offsets[segment], end = offsets[segment + 1];
    float result = MAXIMUM && start < end ? -INFINITY : 0;
    for (int row = start; row < end; ++row) {
        float value = x[row * columns + column];
        result = MAXIMUM ? max(result, value) : result + value;
    }
    out[element] = T(result);
"""

kernel = mx.fast.metal_kernel(
    name="segment_reduce", input_names=["x", "offsets"], output_names=["out"], source=SOURCE
)


def reduce_segments(x: mx.array, lengths: mx.array, maximum: bool) -> mx.array:
    """x (T, C) reduced over segments of `lengths` (K,) rows: (K, C)."""
    offsets = mx.concatenate([mx.zeros((1,), mx.int32), mx.cumsum(lengths.astype(mx.int32))])
    shape = (lengths.shape[0], x.shape[1])
    return kernel(
        inputs=[x, offsets],
        template=[("T", x.dtype), ("MAXIMUM", maximum)],
        grid=(shape[0] * shape[1], 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[shape],
        output_dtypes=[x.dtype],
    )[0]


@mx.custom_vjp
def segment_sum(x: mx.array, lengths: mx.array) -> mx.array:
    return reduce_segments(x, lengths, False)


def segment_sum_forward(x: mx.array, lengths: mx.array) -> tuple[mx.array, mx.array]:
    return reduce_segments(x, lengths, False), lengths


def segment_sum_backward(lengths: mx.array, cotangent: mx.array) -> tuple[mx.array, None]:
    """Every row gets its segment's gradient; lengths have none."""
    return mx.repeat(cotangent, lengths, axis=0), None


segment_sum.defvjp(segment_sum_forward, segment_sum_backward)


@mx.custom_vjp
def segment_max(x: mx.array, lengths: mx.array) -> mx.array:
    return reduce_segments(x, lengths, True)


def segment_max_forward(x: mx.array, lengths: mx.array) -> tuple[mx.array, tuple]:
    out = reduce_segments(x, lengths, True)
    return out, (x, lengths, out)


def segment_max_backward(kept: tuple, cotangent: mx.array) -> tuple[mx.array, None]:
    """Rows with equal extremes share the gradient."""
    x, lengths, out = kept
    holds = (x == mx.repeat(out, lengths, axis=0)).astype(x.dtype)
    shares = cotangent / mx.maximum(reduce_segments(holds, lengths, False), 1)
    return holds * mx.repeat(shares, lengths, axis=0), None


segment_max.defvjp(segment_max_forward, segment_max_backward)


def main() -> None:
    lengths = mx.array([2, 0, 3])
    x = mx.array([[1.0, 8.0], [4.0, 5.0], [2.0, 2.0], [6.0, 7.0], [6.0, 1.0]])
    weights = mx.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    for function, operation in ((segment_sum, "sum"), (segment_max, "max")):
        out = function(x, lengths)
        gradient = mx.grad(lambda v: (function(v, lengths) * weights).sum())(x)  # noqa: B023
        other = mx.grad(lambda v: (segment_reduce(v, lengths, operation) * weights).sum())(x)  # noqa: B023
        same = mx.allclose(out, segment_reduce(x, lengths, operation)).item()
        print(f"{operation}: {out.tolist()}, as the operation: {same}")
        print(f"gradient: {gradient.tolist()}, likewise: {mx.allclose(gradient, other).item()}")
    print("segments:", repeat_interleave(mx.arange(3), lengths, 0).tolist())


if __name__ == "__main__":
    main()
