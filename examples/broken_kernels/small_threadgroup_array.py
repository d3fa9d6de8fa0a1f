"""Has a threadgroup array for 32 threads in threadgroups of 64."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="small_threadgroup_array",
    input_names=["x"],
    output_names=["y"],
    source="""
        threadgroup float shared[32];
        uint i = thread_position_in_threadgroup.x;
        shared[i] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        y[i] = shared[i / 2];
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
