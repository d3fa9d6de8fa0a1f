"""Reads the element to the right, also where there is none."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="right_neighbour",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        y[i] = x[i + 1] - x[i];
    """,
    check="all",
)

x = mx.arange(64, dtype=mx.float32)
(y,) = kernel(
    inputs=[x],
    grid=(64, 1, 1),
    threadgroup=(64, 1, 1),
    output_shapes=[x.shape],
    output_dtypes=[x.dtype],
    init_value=0,
)
mx.eval(y)  # raises mx.metal.KernelCheckError, which shows the line
