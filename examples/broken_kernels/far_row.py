"""Computes where a row begins in 32 bits, which are too few."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="far_row",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        int row = 3000000 + int(i), columns = 2048;
        float v = x[i];
        if (v < 0) v = x[row * columns];
        y[i] = v;
    """,
    check="numbers",
)

x = mx.arange(64, dtype=mx.float32) - 1
(y,) = kernel(
    inputs=[x],
    grid=(64, 1, 1),
    threadgroup=(64, 1, 1),
    output_shapes=[x.shape],
    output_dtypes=[x.dtype],
    init_value=0,
)
mx.eval(y)  # raises mx.metal.KernelCheckError, which shows the line
