"""Counts in results that nothing has set to zero: the call has no init_value."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="histogram_without_zeros",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        atomic_fetch_add_explicit(&y[x[i] % 8], 1, memory_order_relaxed);
    """,
    atomic_outputs=True,
    check="all",
)

x = mx.arange(64, dtype=mx.int32)
(y,) = kernel(
    inputs=[x],
    grid=(64, 1, 1),
    threadgroup=(32, 1, 1),
    output_shapes=[(8,)],
    output_dtypes=[x.dtype],
)
mx.eval(y)  # raises mx.metal.KernelCheckError, which shows the line
