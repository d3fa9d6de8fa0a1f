"""Functions that these tables cannot describe, and the files in tests/python that test them."""

_BY_FILE = {
    "test_behaviour.py": "einsum_path",
    "test_convolution_ops.py": "conv_general",
    "test_array_api.py": "get_array_buffer_size matrix_norm",
    "test_compile.py": "compile",
    "test_distributed.py": "fast.cuda_kernel fast.precompiled_cuda_kernel",
    "test_dtypes.py": "can_cast isdtype issubdtype result_type",
    "test_export.py": "export_function export_to_dot exporter import_function",
    "test_fast_losses.py": "fast.gated_delta_update",
    "test_fft.py": "fft.fftfreq fft.rfftfreq",
    "test_grouped_products.py": "segmented_mm",
    "test_io.py": "load save savez savez_compressed",
    "test_io_gguf.py": "save_gguf",
    "test_io_safetensors.py": "save_safetensors",
    "test_linalg.py": "linalg.eig linalg.eigh linalg.eigvals linalg.lu linalg.lu_factor linalg.qr"
    " linalg.svd",
    "test_metal_kernel.py": "fast.metal_kernel",
    "test_numpy_interop.py": "asarray from_dlpack",
    "test_ops_shapes.py": "broadcast_shapes view",
    "test_printing.py": "get_printoptions printoptions set_printoptions",
    "test_quantized.py": "dequantize from_fp8 quantize to_fp8",
    "test_quantized_products.py": "gather_qmm gather_qqmm qqmm quantized_matmul",
    "test_random.py": "random.bernoulli random.categorical random.gumbel random.key random.laplace"
    " random.multivariate_normal random.normal random.permutation random.randint random.seed"
    " random.split random.truncated_normal random.uniform",
    "test_stft.py": "fft.istft fft.stft",
    "test_streams.py": "clear_cache default_device default_stream device_count device_info"
    " get_active_memory get_cache_memory get_memory_limit get_peak_memory is_available new_stream"
    " reset_peak_memory set_cache_limit set_default_device set_memory_limit set_wired_limit stream"
    " synchronize",
    "test_thread_streams.py": "clear_streams new_thread_local_stream new_thread_unsafe_stream"
    " set_default_stream",
    "test_transforms.py": "async_eval checkpoint depends disable_compile enable_compile eval grad"
    " jvp value_and_grad vjp vmap",
    "test_unique.py": "unique",
}  # fmt: skip

ELSEWHERE = {name: file for file, names in _BY_FILE.items() for name in names.split()}
