"""Fills one element more of a thread's own array than it has."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="window",
    input_names=["x"],
    output_names=["y"],
    source="""
        float window[4];
        uint i = thread_position_in_grid.x;
        for (uint k = 0; k <= 4; ++k) window[(i + k) % 5] = x[k];
        y[i] = window[i % 4];
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
