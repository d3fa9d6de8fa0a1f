"""What MLX has and this package lacks, so that a program that asks for it is told so."""

_LACKING = {
    "mlx.core": """
        ArrayLike block_masked_mm clear_streams conv1d conv2d conv3d conv_general
        conv_transpose1d conv_transpose2d conv_transpose3d convolve cuda cumulative_prod
        cumulative_sum dequantize distributed export_function export_to_dot exporter
        from_fp8 FunctionExporter gather_mm gather_qmm gather_qqmm get_array_buffer_size
        get_printoptions hadamard_transform import_function matrix_norm minmax
        new_thread_local_stream new_thread_unsafe_stream PrintOptions printoptions qqmm
        quantize quantized_matmul segmented_mm set_printoptions ThreadLocalStream to_fp8 unique
    """,
    "mlx.core.fft": """
        istft stft
    """,
    "mlx.core.fast": """
        cross_entropy cuda_kernel gated_delta_update precompiled_cuda_kernel
    """,
}


def names_lacking(module: str) -> list[str]:
    """The public names of a module of MLX that this package lacks, submodules among them."""
    return _LACKING.get(module, "").split()


def attribute_error(module: str, name: str) -> str:
    """What the error says where ``name`` is asked for and not found."""
    if name in names_lacking(module):
        return f"{module}.{name} is part of MLX, but this package does not have it"
    return f"module '{module}' has no attribute '{name}'"
