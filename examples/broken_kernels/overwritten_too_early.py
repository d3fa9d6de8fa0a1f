"""Writes the array for the next step while others still read it: a second barrier is missing."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="overwritten_too_early",
    input_names=["x"],
    output_names=["y"],
    source="""
        threadgroup float shared[64];
        uint i = thread_position_in_threadgroup.x;
        float sum = 0;
        for (uint step = 0; step < 4; ++step) {
            shared[i] = x[i] * step;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            sum += shared[63 - i];
        }
        y[i] = sum;
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
