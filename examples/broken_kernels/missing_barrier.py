"""Reads what other threads write, without a barrier in between."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="missing_barrier",
    input_names=["x"],
    output_names=["y"],
    source="""
        threadgroup float shared[64];
        uint i = thread_position_in_threadgroup.x;
        shared[i] = x[i];
        y[i] = shared[63 - i];
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
