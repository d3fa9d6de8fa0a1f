"""Reads the border of a tile that no thread has filled."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="unfilled_tile",
    input_names=["x"],
    output_names=["y"],
    source="""
        threadgroup float tile[34];
        uint i = thread_position_in_grid.x;
        uint l = thread_position_in_threadgroup.x;
        tile[l + 1] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        y[i] = max(max(tile[l], tile[l + 1]), tile[l + 2]);
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
mx.eval(y)  # raises mx.metal.KernelCheckError, which shows the line
