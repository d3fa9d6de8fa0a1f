"""Calls `max` with a float and an int: Apple's compiler cannot choose between its overloads."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="ambiguous_max",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        y[i] = max(x[i], 0);
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
)
mx.eval(y)  # raises mx.metal.KernelCheckError, which shows the line
