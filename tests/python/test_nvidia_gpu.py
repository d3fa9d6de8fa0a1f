"""What only an NVIDIA GPU shows: its memory, its faults, and the host beside it."""

import subprocess
import sys
import textwrap

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel

pytestmark = pytest.mark.gpu


def run(program: str) -> subprocess.CompletedProcess:
    """In a process of its own, as a lost GPU stays lost."""
    command = [sys.executable, "-c", textwrap.dedent(program)]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_the_default_device_is_the_gpu():
    assert mx.default_device() == mx.Device(mx.gpu)
    info = mx.device_info()
    assert info["architecture"].startswith("sm_")
    assert "NVIDIA" in info["device_name"]


@pytest.mark.parametrize("device", [mx.cpu, mx.gpu])
def test_kernels_run_on_streams_of_both_devices(device):
    x = mx.arange(1000, dtype=mx.float32) + 1
    source = "y[thread_position_in_grid.x] = 2 * x[thread_position_in_grid.x];"
    (y,) = run_kernel(source, {"x": x}, {"y": ((1000,), mx.float32)}, 1000, stream=device)
    np.testing.assert_array_equal(y, 2 * np.arange(1, 1001))


def test_arrays_go_back_and_forth(rng):
    x = rng.standard_normal((300, 400)).astype(np.float32)
    y = mx.array(x)
    for _ in range(5):
        y = mx.sort(mx.cos(y, stream=mx.gpu), axis=-1, stream=mx.cpu)
        x = np.sort(np.cos(x), axis=-1)
    np.testing.assert_allclose(np.array(y), x, rtol=1e-5, atol=1e-5)


PRODUCTS = """
    import mlx.core as mx, numpy as np
    rng = np.random.default_rng(0)
    def close(got, want, tolerance):
        error = np.abs(np.array(got.astype(mx.float32)) - want).max() / np.abs(want).max()
        assert error < tolerance, (got.dtype, got.shape, error)
    for dtype, tolerance in [(mx.float32, 1e-5), (mx.float16, 2e-3), (mx.bfloat16, 1e-2)]:
        for left, right in [((300, 500), (500, 200)), ((1, 64), (64, 4096)), ((3, 4, 64, 32), (4, 32, 96)),
                            ((2000, 8), (8, 2000)), ((7, 5, 9), (9, 3))]:
            a = mx.array(rng.standard_normal(left, np.float32)).astype(dtype)
            b = mx.array(rng.standard_normal(right, np.float32)).astype(dtype)
            x, y = (np.array(m.astype(mx.float32)) for m in (a, b))
            close(a @ b, x @ y, tolerance)
            row = mx.array(rng.standard_normal(right[-1], np.float32)).astype(dtype)
            close(mx.addmm(row, a, b), x @ y + np.array(row.astype(mx.float32)), tolerance)
            close(mx.addmm(a @ b, a, b, alpha=0.5, beta=2), 2.5 * (x @ y), tolerance)
            close(b.swapaxes(-1, -2) @ a.swapaxes(-1, -2), y.swapaxes(-1, -2) @ x.swapaxes(-1, -2), tolerance)
            close(a[::-1] @ b, x[::-1] @ y, tolerance)
"""


@pytest.mark.parametrize("libraries", ["0", "1"])
def test_products_with_a_library_and_without(libraries, monkeypatch):
    monkeypatch.setenv("MLX_CUDA_LIBRARIES", libraries)
    done = run(PRODUCTS)
    assert done.returncode == 0, done.stderr


ATTENTION = """
    import mlx.core as mx, numpy as np
    # (batches, heads, heads of keys, queries, keys, elements of a head): large enough for a library.
    for shape in [(1, 16, 16, 4096, 4096, 128), (2, 64, 8, 3000, 3500, 64)]:
        b, n, m, t, s, d = shape
        for dtype, tolerance in [(mx.float16, 2e-3), (mx.bfloat16, 1.5e-2)]:
            q, k, v = (mx.random.normal(x).astype(dtype) for x in [(b, t, n, d), (b, m, s, d), (b, m, s, d)])
            q = q.swapaxes(1, 2)
            for mask in [None, "causal"]:
                out = mx.fast.scaled_dot_product_attention(q, k, v, scale=d**-0.5, mask=mask)
                rows = slice(t - 64, t)
                wide = [x[-1:, : n // m].astype(mx.float32) for x in (q[:, :, rows], k[:, :1], v[:, :1])]
                scores = wide[0] @ wide[1].swapaxes(-1, -2) * d**-0.5
                if mask:
                    scores = mx.where(mx.arange(s) <= mx.arange(64)[:, None] + s - 64, scores, -np.inf)
                want = mx.softmax(scores, axis=-1) @ wide[2]
                error = mx.abs(out[-1:, : n // m, rows].astype(mx.float32) - want).max().item()
                assert error < tolerance, (shape, dtype, mask, error)
"""


@pytest.mark.parametrize("libraries", ["0", "1"])
def test_large_attention_with_a_library_and_without(libraries, monkeypatch):
    monkeypatch.setenv("MLX_CUDA_LIBRARIES", libraries)
    done = run(ATTENTION)
    assert done.returncode == 0, done.stderr


def test_a_view_of_numpy_shares_memory():
    x = mx.ones(100) * 3
    view = np.asarray(x)
    view[5] = 100
    assert (x + 0).sum().item() == 397
    del view
    assert x.sum().item() == 397


def test_more_memory_than_the_gpu_has_is_refused():
    size = mx.device_info()["memory_size"]
    with pytest.raises(RuntimeError, match="Unable to allocate"):
        mx.eval(mx.zeros((size // 2**20 + 1024, 2**20), mx.uint8))
    assert mx.ones(10).sum().item() == 10


def test_a_fault_names_the_kernel_and_loses_the_gpu():
    done = run("""
        import mlx.core as mx
        kernel = mx.fast.metal_kernel(
            name="faulty", input_names=["x"], output_names=["out"],
            source="out[thread_position_in_grid.x + (ulong(x[0]) << 40)] = 1;")
        def launch():
            mx.eval(kernel(inputs=[mx.array([77])], grid=(32, 1, 1), threadgroup=(32, 1, 1),
                           output_shapes=[(32,)], output_dtypes=[mx.float32]))
        for attempt in range(2):
            try:
                launch()
            except RuntimeError as error:
                print(error)
    """)
    assert done.returncode == 0, done.stderr
    first, second = done.stdout.splitlines()
    assert first.startswith("[faulty] The kernel failed on the NVIDIA GPU")
    assert "The NVIDIA GPU is lost to this process: [faulty]" in second


def test_a_kernel_that_never_ends_runs_into_the_time_limit():
    done = run("""
        import os
        os.environ["MLX_KERNEL_TIME_LIMIT"] = "1"
        import mlx.core as mx
        kernel = mx.fast.metal_kernel(
            name="endless", input_names=[], output_names=["out"],
            source="while (((volatile device float*)out)[0] != 5) {}")
        try:
            mx.eval(kernel(inputs=[], grid=(1, 1, 1), threadgroup=(1, 1, 1), init_value=0,
                           output_shapes=[(1,)], output_dtypes=[mx.float32]))
        except RuntimeError as error:
            print(error)
            os._exit(0)
    """)
    assert "[endless] The kernel ran longer than the time limit of 1 seconds" in done.stdout
