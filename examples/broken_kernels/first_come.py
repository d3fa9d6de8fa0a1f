"""Keeps the large values, in the order in which threads come."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="first_come",
    input_names=["x"],
    output_names=["y", "count"],
    source="""
        uint i = thread_position_in_grid.x;
        if (x[i] > 10) {
          uint place = atomic_fetch_add_explicit((device atomic_uint*)count, 1u, memory_order_relaxed);
          y[place] = x[i];
        }
    """,
    check="order",
)

x = mx.arange(64, dtype=mx.float32)
y, count = kernel(
    inputs=[x],
    grid=(64, 1, 1),
    threadgroup=(32, 1, 1),
    output_shapes=[x.shape, (1,)],
    output_dtypes=[x.dtype, mx.uint32],
    init_value=0,
)
mx.eval(y, count)  # raises mx.metal.KernelCheckError, which shows the line
