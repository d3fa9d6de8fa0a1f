"""Writes only those results that are not zero."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="forgotten_results",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        if (x[i] > 10) y[i] = x[i] - 10;
    """,
    check="all",
)

x = mx.arange(64, dtype=mx.float32)
(y,) = kernel(
    inputs=[x],
    grid=(64, 1, 1),
    threadgroup=(32, 1, 1),
    output_shapes=[x.shape],
    output_dtypes=[x.dtype],
)
mx.eval(y)  # raises mx.metal.KernelCheckError, which names the elements
