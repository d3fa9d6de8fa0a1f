"""Runs small kernels checked, and says what is found."""

import mlx.core as mx
import numpy as np


def launch(
    kernel: mx.fast.MetalKernel,
    x: mx.array,
    *,
    threads: int = 1,
    threadgroup: int = 64,
    outputs: int = 1,
    dtype: mx.Dtype = mx.float32,
    **options,
) -> mx.array:
    """Of a kernel with one input and one output."""
    (output,) = kernel(
        inputs=[x],
        grid=(threads, 1, 1),
        threadgroup=(threadgroup, 1, 1),
        output_shapes=[(outputs,)],
        output_dtypes=[dtype],
        **options,
    )
    return output


def reports(
    source: str,
    check: str,
    *,
    x: object = None,
    outputs: int = 64,
    threads: int = 64,
    threadgroup: int = 64,
    dtype: mx.Dtype = mx.float32,
    init_value: float | None = 0,
    **options,
) -> list:
    """Of a kernel with one input `x` and one output `o`."""
    if x is None:
        x = np.arange(64, dtype=np.float32)
    kernel = mx.fast.metal_kernel(
        name="under_check",
        input_names=["x"],
        output_names=["o"],
        source=source,
        check=check,
        **options,
    )
    o = launch(
        kernel,
        mx.array(x),
        threads=threads,
        threadgroup=threadgroup,
        outputs=outputs,
        dtype=dtype,
        init_value=init_value,
    )
    try:
        mx.eval(o)
    except mx.metal.KernelCheckError as error:
        return error.reports
    return []
