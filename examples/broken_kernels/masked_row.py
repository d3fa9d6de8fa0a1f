"""Takes the exponential of a row that is all masked: infinity minus infinity is no number."""

import mlx.core as mx

kernel = mx.fast.metal_kernel(
    name="masked_row",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        float largest = -INFINITY;
        for (uint k = 0; k < 8; ++k) largest = max(largest, k > i ? x[k] : -INFINITY);
        float shifted = (i < 7 ? x[i] : -INFINITY) - largest;
        y[i] = exp(shifted);
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
