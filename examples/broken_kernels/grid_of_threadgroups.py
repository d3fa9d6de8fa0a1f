"""Counts threadgroups in the grid, which counts threads: most elements are never written."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="grid_of_threadgroups",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        if (i < 1000) {
            y[i] = 2 * x[i];
        }
    """,
    check="all",
)

x = mx.arange(1000, dtype=mx.float32)
(y,) = kernel(
    inputs=[x],
    grid=((1000 + 63) // 64, 1, 1),
    threadgroup=(64, 1, 1),
    output_shapes=[x.shape],
    output_dtypes=[x.dtype],
)
mx.eval(y)  # raises mx.metal.KernelCheckError, which shows the line
