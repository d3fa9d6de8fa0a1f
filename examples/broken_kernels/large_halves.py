"""Sums squares as halves, which end at 65504."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="large_halves",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        half sum = 0;
        for (uint k = 0; k < 64; ++k) sum += x[k] * x[k];
        y[i] = sqrt(sum);
    """,
    check="all",
)

x = mx.arange(64, dtype=mx.float16)
(y,) = kernel(
    inputs=[x],
    grid=(64, 1, 1),
    threadgroup=(64, 1, 1),
    output_shapes=[x.shape],
    output_dtypes=[x.dtype],
    init_value=0,
)
mx.eval(y)  # raises mx.metal.KernelCheckError, which shows the line
