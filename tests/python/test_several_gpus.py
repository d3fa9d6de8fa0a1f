"""Several GPUs: the driver "discrete" of the tests shows two, in processes of their own."""

import os
import subprocess
import sys
import textwrap


def run(code: str) -> str:
    """Runs a program on two devices, and returns what it prints."""
    program = (
        "import numpy as np\nimport mlx.core as mx\n"
        "first, second = mx.Device(mx.gpu, 0), mx.Device(mx.gpu, 1)\n" + textwrap.dedent(code)
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        env={**os.environ, "MLX_METAL_DEVICE": "discrete"},
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_devices_and_streams():
    """Each device has streams of its own, and can be the default one."""
    run("""
        assert mx.device_count(mx.gpu) == 2
        names = mx.array(1).__array_namespace__().__array_namespace_info__()
        assert names.devices() == (mx.Device(mx.cpu), first, second)
        assert mx.is_available(second) and not mx.is_available(mx.Device(mx.gpu, 2))
        assert mx.device_info(second)["device_name"]
        assert mx.default_stream(second) != mx.default_stream(first)
        assert repr(mx.default_stream(second).device) == "Device(gpu, 1)"
        assert mx.new_stream(second).device == second
        mx.set_default_device(second)
        assert mx.default_device() == second
        assert (mx.ones(3) + 1).sum().item() == 6
        mx.synchronize()
        mx.set_default_device(mx.gpu)
        assert mx.default_device() == first
        with mx.stream(second):
            assert mx.default_device() == second
        assert mx.default_device() == first
        for unknown in (mx.Device(mx.gpu, 2), mx.Device(mx.cpu, 1)):
            for use in (mx.set_default_device, mx.new_stream, mx.default_stream, mx.device_info):
                try:
                    use(unknown)
                except (ValueError, RuntimeError) as error:
                    assert "not available" in str(error), error
                else:
                    raise AssertionError(use)
    """)


def test_operations_on_either():
    """Products, kernels, compiled functions, random numbers and gradients give equal numbers."""
    run("""
        x = mx.random.normal((64, 48))
        kernel = mx.fast.metal_kernel(
            name="twice", input_names=["x"], output_names=["y"],
            source="uint i = thread_position_in_grid.x; y[i] = 2 * x[i];")

        def twice(x, device):
            return kernel(inputs=[x], output_shapes=[x.shape], output_dtypes=[x.dtype],
                          grid=(x.size, 1, 1), threadgroup=(64, 1, 1), stream=device)[0]

        def results(device):
            with mx.stream(device):
                compiled = mx.compile(lambda x: mx.tanh(x) * x + 1)
                loss = lambda x: mx.logsumexp(x @ x.T).sum()
                return [x @ x.T, compiled(x), mx.grad(loss)(x), mx.sort(x, axis=0), twice(x, device),
                        mx.random.uniform(shape=(33,), key=mx.random.key(3)),
                        mx.fft.rfft(x), x[mx.array([3, 1])], mx.linalg.norm(x),
                        mx.conv1d(x[None], mx.ones((2, 3, 48)))]

        for one, other in zip(results(first), results(second)):
            assert np.array_equal(np.array(one), np.array(other))
    """)


def test_what_a_gpu_is_counts_for_each():
    """float64 is refused, and exported functions are those of a GPU, also on the second one."""
    run("""
        import tempfile
        with mx.stream(second):
            try:
                mx.eval(mx.ones(3, dtype=mx.float64) + 1)
            except ValueError as error:
                assert "float64" in str(error)
            else:
                raise AssertionError
            path = tempfile.mkdtemp() + "/f.mlxfn"
            mx.export_function(path, lambda x: mx.exp(x) + 1, mx.ones(3))
        (y,) = mx.import_function(path)(mx.zeros(3))
        assert y.tolist() == [2, 2, 2]
        assert mx.default_device() == first
        fused = mx.compile(lambda x: mx.exp(x) * x + 1)
        with mx.stream(second):
            a = fused(mx.ones(1000))
            mx.eval(a)
        b = fused(mx.ones(1000))
        assert mx.array_equal(a, b)
    """)


def test_streams_of_both_run_together():
    """Threads that use one device each, and share an array."""
    run("""
        import threading
        shared = mx.random.normal((128, 128))
        sums = {}

        def work(number, device):
            stream = mx.new_stream(device)
            x = shared
            for _ in range(20):
                x = mx.matmul(x, shared, stream=stream)
                x = mx.divide(x, mx.max(mx.abs(x, stream=stream), stream=stream), stream=stream)
                mx.eval(x)
            sums[number] = np.array(x)

        threads = [threading.Thread(target=work, args=(i, (first, second)[i % 2])) for i in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        for i in range(1, 4):
            assert np.array_equal(sums[0], sums[i])
    """)


def test_memory_is_counted_together():
    """The statistics are sums over the devices."""
    run("""
        before = mx.get_active_memory()
        arrays = [mx.zeros((1 << 20,), dtype=mx.float32, stream=d) for d in (first, second)]
        mx.eval(arrays)
        assert mx.get_active_memory() - before == 2 << 22
        mx.reset_peak_memory()
        del arrays
        assert mx.get_active_memory() == before
        mx.clear_cache()
    """)


def test_the_diagnosis_lists_them():
    """`python -m mlx` has a line for each."""
    done = subprocess.run(
        [sys.executable, "-m", "mlx"],
        capture_output=True,
        text=True,
        env={**os.environ, "MLX_METAL_DEVICE": "discrete"},
    )
    lines = done.stdout.splitlines()
    assert sum(line.split()[:1] == ["gpu"] for line in lines) == 2, done.stdout
