"""Adds to a variable that has no value at first."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="sum_without_start",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        float sum;
        for (uint k = 0; k < 8; ++k) sum += x[8 * i + k];
        y[i] = sum;
    """,
    check="all",
)

x = mx.arange(64, dtype=mx.float32)
(y,) = kernel(
    inputs=[x],
    grid=(8, 1, 1),
    threadgroup=(8, 1, 1),
    output_shapes=[(8,)],
    output_dtypes=[x.dtype],
)
mx.eval(y)  # raises mx.metal.KernelCheckError, which shows the line
