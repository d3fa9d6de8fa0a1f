"""Declares a threadgroup array in a function that is no kernel."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="helper_with_threadgroup_array",
    input_names=["x"],
    output_names=["y"],
    header="""
        inline float mirrored(float v, uint i) {
            threadgroup float shared[64];
            shared[i] = v;
            threadgroup_barrier(mem_flags::mem_threadgroup);
            return shared[63 - i];
        }
    """,
    source="""
        uint i = thread_position_in_threadgroup.x;
        y[i] = mirrored(x[i], i);
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
