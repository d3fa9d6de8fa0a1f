"""Devices, streams, memory numbers, waiting and interruption."""

import subprocess
import sys
import textwrap
import threading
import time

import mlx.core as mx
import pytest


def test_devices_and_their_types():
    assert mx.gpu == mx.DeviceType.gpu and mx.cpu != mx.gpu
    assert mx.default_device() == mx.gpu and mx.gpu == mx.default_device()
    assert mx.Device(mx.cpu) == mx.cpu and mx.Device(mx.gpu, 0) == mx.Device(mx.gpu)
    assert repr(mx.Device(mx.cpu)) == "Device(cpu, 0)"
    assert mx.default_device() != "gpu"
    assert len({mx.Device(mx.cpu), mx.Device(mx.cpu), mx.Device(mx.gpu)}) == 2
    assert mx.is_available(mx.gpu) and mx.is_available(mx.Device(mx.cpu))
    assert mx.device_count(mx.gpu) >= 1 and mx.device_count(mx.cpu) == 1


def test_device_facts():
    facts = mx.device_info()
    assert facts == mx.device_info(mx.gpu) == mx.metal.device_info()
    assert {
        "architecture",
        "device_name",
        "memory_size",
        "max_recommended_working_set_size",
    } <= set(facts)
    assert mx.metal.is_available() is True
    assert mx.device_info(mx.cpu)


def test_default_device_can_change():
    try:
        mx.set_default_device(mx.cpu)
        assert mx.default_device() == mx.cpu
        assert (mx.array([1, 2]) + 1).tolist() == [2, 3]
    finally:
        mx.set_default_device(mx.gpu)


def test_streams():
    default = mx.default_stream(mx.gpu)
    assert default.device == mx.gpu and default == mx.default_stream(mx.Device(mx.gpu))
    new = mx.new_stream(mx.cpu)
    assert new != default and new.device == mx.cpu and "Stream(Device(cpu, 0)" in repr(new)
    assert mx.add(mx.array(1), 2, stream=new).item() == 3
    assert mx.add(mx.array(1), 2, stream=mx.cpu).item() == 3
    assert mx.add(mx.array(1), 2, stream=mx.Device(mx.gpu)).item() == 3
    assert len({default, new, mx.default_stream(mx.gpu)}) == 2


def test_stream_as_context():
    s = mx.new_stream(mx.cpu)
    before = mx.default_stream(mx.cpu)
    with mx.stream(s) as entered:
        assert entered == s and mx.default_device() == mx.cpu and mx.default_stream(mx.cpu) == s
        with mx.stream(mx.gpu):
            assert mx.default_device() == mx.gpu
        assert (mx.ones(3) + 1).sum().item() == 6
    assert mx.default_device() == mx.gpu and mx.default_stream(mx.cpu) == before
    with pytest.raises(KeyError), mx.stream(s):
        raise KeyError
    assert mx.default_device() == mx.gpu


def test_work_across_streams():
    a, b = mx.new_stream(mx.gpu), mx.new_stream(mx.cpu)
    x = mx.ones((64, 64))
    for _ in range(20):
        x = mx.add(mx.multiply(x, 0.5, stream=a), 0.5, stream=b)
    assert x.sum().item() == 64 * 64
    for s in (None, a, b, mx.cpu, mx.gpu):
        mx.synchronize(s)
    mx.synchronize()


def test_memory_of_outputs_that_nobody_uses_stays_with_their_stream():
    """The eigenvalues are dropped before they are computed. Their memory is not reused till then."""
    a = mx.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 5.0]])
    w = mx.array([0.0, 1.0, 2.0])
    for _ in range(20):
        vectors = mx.linalg.eigh(a, stream=mx.cpu)[1]
        scaled = mx.expand_dims(w * 1, -1, stream=mx.cpu)
        mx.eval(vectors, scaled)
        assert scaled.flatten().tolist() == [0, 1, 2]

    def weighted(a):
        return (mx.linalg.eigvalsh(a, stream=mx.cpu) * w).sum()

    expected = (vectors * w) @ vectors.T
    assert mx.allclose(mx.grad(weighted)(a), expected, atol=1e-5)


def test_small_operations_keep_their_place_behind_large_ones():
    other = mx.new_stream(mx.gpu)
    for _ in range(20):
        x = mx.arange(2**20)
        mx.async_eval(x)
        first = x[:4] * 2
        sums = [(first + i).sum() for i in range(3)]
        mx.async_eval(sums)
        y = mx.add(first, x[-4:], stream=other)
        mx.eval(y, sums)
        assert [s.item() for s in sums] == [12, 16, 20]
        assert y.tolist() == [2**20 - 4 + 3 * i for i in range(4)]


@pytest.mark.cpu_kernels
@pytest.mark.parametrize("waits_between", [False, True])
def test_small_operations_on_what_a_kernel_failed_to_compute(waits_between):
    kernel = mx.fast.metal_kernel(
        name="far_outside",
        input_names=["x"],
        output_names=["out"],
        source="out[0] = x[0] ? *(device float*)(ulong(x) >> 40) : 0;",
    )
    failed = kernel(
        inputs=[mx.ones(1)],
        grid=(1, 1, 1),
        threadgroup=(1, 1, 1),
        output_shapes=[(1,)],
        output_dtypes=[mx.float32],
    )[0]
    if waits_between:
        with pytest.raises(RuntimeError, match="far_outside"):
            mx.eval(failed)
    for _ in range(2):
        with pytest.raises(RuntimeError, match="far_outside"):
            mx.eval((failed + 1).sum())
    assert (mx.ones(3) + 1).sum().item() == 6


def test_contiguous_parts_do_not_keep_the_whole_alive():
    whole = mx.zeros((64, 1 << 16))
    mx.eval(whole)
    part = mx.contiguous(whole[-1:])
    mx.eval(part)
    mx.synchronize()
    before = mx.get_active_memory()
    del whole
    mx.synchronize()
    assert before - mx.get_active_memory() >= 2**24


@pytest.mark.cpu_kernels
def test_memory_numbers():
    mx.synchronize()
    before = mx.get_active_memory()
    a = mx.zeros((1024, 1024))
    mx.eval(a)
    # Streams of other tests may free their small arrays meanwhile.
    assert mx.get_active_memory() - before >= 2**22 - 2**14
    assert mx.get_peak_memory() >= mx.get_active_memory()
    del a
    mx.synchronize()  # until then the stream may still use it
    assert mx.get_active_memory() - before < 2**22
    for _ in range(100):
        mx.clear_cache()
        if mx.get_cache_memory() == 0:
            break
        time.sleep(0.01)
    assert mx.get_cache_memory() == 0
    old = mx.set_cache_limit(0)
    for length in (1, 16, 1024, 4096, 2**20):
        a = mx.zeros((length,))
        mx.eval(a)
        mx.synchronize()
        del a
        assert mx.get_cache_memory() == 0
    assert mx.set_cache_limit(old) == 0
    mx.reset_peak_memory()
    assert mx.get_peak_memory() == 0
    mx.eval(mx.ones(2**18))
    assert mx.get_peak_memory() >= 2**20
    old = mx.set_cache_limit(2**20)
    assert mx.set_cache_limit(old) == 2**20
    old = mx.set_memory_limit(2**30)
    assert mx.set_memory_limit(old) == 2**30
    assert mx.get_memory_limit() == old
    assert mx.metal.get_active_memory() == mx.get_active_memory()


def test_wired_limit():
    old = mx.set_wired_limit(1000)
    assert mx.set_wired_limit(old) == 1000
    most = mx.device_info()["max_recommended_working_set_size"]
    with pytest.raises(ValueError, match=r"\[set_wired_limit\] The limit must be at most"):
        mx.set_wired_limit(most + 10)
    assert mx.set_wired_limit(old) == old


def test_the_memory_limit_is_a_guideline():
    """Above it nothing fails; evaluation waits for work in flight, and no memory is cached."""
    ones = mx.ones(2**18)
    mx.eval(ones)
    before = mx.get_active_memory()
    old = mx.set_memory_limit(before + 3 * 2**20)
    try:
        mx.reset_peak_memory()
        total = mx.zeros(2**18)
        for i in range(200):  # each of a megabyte, and none needed for long
            total = mx.sin(total + ones * i)
        mx.eval(total)
        assert mx.get_peak_memory() - before <= 8 * 2**20
        held = [mx.full((2**18,), float(i)) for i in range(16)]
        mx.eval(held)
        assert [a[7].item() for a in held] == list(range(16))
        assert mx.get_active_memory() - before >= 16 * 2**20
        assert mx.set_memory_limit(1) == before + 3 * 2**20
        assert mx.sum(mx.ones((100, 100))).item() == 10000
        del held, total
        mx.synchronize()
        mx.clear_cache()
        assert mx.get_memory_limit() == 1
        assert mx.set_memory_limit(2**40) == 1
        with pytest.raises(RuntimeError, match="Unable to allocate"):
            mx.eval(mx.zeros((2**20, 2**18)))  # more than the machine has
    finally:
        mx.set_memory_limit(old)


def test_captures_accept_their_path():
    mx.metal.start_capture("trace.gputrace")
    mx.metal.stop_capture()
    with pytest.raises(RuntimeError):
        mx.metal.start_capture("trace.txt")


ENDLESS = """
    import os, signal, threading, time
    import mlx.core as mx

    # Shells start background jobs with Ctrl-C ignored; Python leaves it so.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    kernel = mx.fast.metal_kernel(
        name="endless", input_names=["x"], output_names=["out"],
        source="volatile device float* p = out; while (p[0] < 1.0f) { p[0] = x[0]; }",
    )
    out = kernel(inputs=[mx.zeros(1)], grid=(1, 1, 1), threadgroup=(1, 1, 1),
                 output_shapes=[(1,)], output_dtypes=[mx.float32], init_value=0)[0]
"""


def run(body: str) -> str:
    code = textwrap.dedent(ENDLESS) + textwrap.dedent(body)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.cpu_kernels
@pytest.mark.parametrize(
    "wait", ["mx.eval(out)", "out.item()", "mx.async_eval(out); mx.synchronize()"]
)
def test_ctrl_c_interrupts_a_kernel_that_never_ends(wait):
    printed = run(f"""
        threading.Timer(2.0, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            {wait}
        except KeyboardInterrupt:
            print("interrupted")
        print((mx.ones(3) + 1).sum().item())
    """)
    assert printed.split() == ["interrupted", "6.0"]


# Small operations run in the thread that evaluates them, others in that of the stream.
@pytest.mark.parametrize(("size", "operations", "seconds"), [(2**24, 100_000, 1), (4, 10**6, 0.1)])
def test_ctrl_c_interrupts_a_long_graph(size, operations, seconds):
    printed = run(f"""
        x = mx.ones({size})
        for _ in range({operations}):
            x = x + 1
        threading.Timer({seconds}, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            mx.eval(x)
        except KeyboardInterrupt:
            print("interrupted")
        print((mx.ones(3) + 1).sum().item())
    """)
    assert printed.split() == ["interrupted", "6.0"]


def test_other_threads_run_while_one_waits():
    printed = run("""
        ticks = []
        def tick():
            for _ in range(5):
                time.sleep(0.02)
                ticks.append(1)
            os.kill(os.getpid(), signal.SIGINT)
        threading.Thread(target=tick).start()
        try:
            mx.eval(out)
        except KeyboardInterrupt:
            print(len(ticks))
    """)
    assert printed.split() == ["5"]


def test_evaluation_in_many_threads():
    results = [None] * 8

    def work(i):
        x = mx.full((100,), float(i))
        for _ in range(10):
            x = x + 1
            mx.eval(x)
        results[i] = x[0].item()

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert results == [i + 10.0 for i in range(8)]
