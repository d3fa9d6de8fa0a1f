"""Lifetimes: reference cycles, kernels, the end of the process, and forks."""

import gc
import os
import subprocess
import sys
import weakref
from collections.abc import Iterator

import mlx.core as mx
import pytest

X = mx.array([1.0, 2.0, 3.0])


@pytest.fixture(autouse=True, scope="module")
def only_new_objects() -> Iterator[None]:
    """Collections pass over the objects of other tests, which would take seconds each time."""
    gc.freeze()
    yield
    gc.unfreeze()


class Probe:
    """An object that a function holds, to observe when it is freed."""


def compiled(function):
    return mx.compile(function)


def with_gradient(function):
    return mx.grad(function)


def with_value_and_gradient(function):
    return mx.value_and_grad(function)


def mapped(function):
    return mx.vmap(function)


def mapped_by_axes(function):
    return mx.vmap(function, in_axes=[0], out_axes=0)


def checkpointed(function):
    return mx.checkpoint(function)


def custom(function):
    return mx.custom_function(function)


def custom_with_rules(function):
    made = mx.custom_function(lambda x: x * 2)
    made.vjp(lambda primals, cotangents, outputs: function(primals))
    made.jvp(lambda primals, tangents: function(primals))
    made.vmap(lambda inputs, axes: (function(inputs), axes))
    return made


def custom_vjp(function):
    made = mx.custom_vjp(lambda x: x * 2)
    made.defvjp(lambda x: (function(x), None), lambda residuals, cotangent: function(cotangent))
    return made


MAKERS = [
    compiled,
    with_gradient,
    with_value_and_gradient,
    mapped,
    mapped_by_axes,
    checkpointed,
    custom,
    custom_with_rules,
    custom_vjp,
]


def cycle(make, use):
    """A callable of ours that the wrapped function refers to, and a weak reference to its probe."""
    probe = Probe()

    def function(x):
        return mx.sum(x * x) if probe and holder else x

    holder = {}
    holder["callable"] = make(function)
    if use:
        value = holder["callable"](X)
        mx.eval(value)
        del value
        assert weakref.ref(probe)() is probe
    return weakref.ref(probe)


@pytest.mark.parametrize("use", [False, True])
@pytest.mark.parametrize("make", MAKERS)
def test_cycles_through_transformations_are_collected(make, use):
    mx.synchronize()
    gc.collect()
    gc.disable()
    try:
        probe = cycle(make, use)
        assert probe() is not None  # there was a cycle
    finally:
        gc.enable()
    mx.synchronize()
    gc.collect()
    assert probe() is None


def transformed_with_probe(make):
    """A callable of ours, and a weak reference to the probe of the wrapped function."""
    probe = Probe()

    def function(x):
        return mx.sum(x * x) if probe else x

    return make(function), weakref.ref(probe)


@pytest.mark.parametrize("make", MAKERS)
def test_what_is_in_use_is_not_collected(make):
    transformed, probe = transformed_with_probe(make)
    for _ in range(3):
        gc.collect()
    assert probe() is not None
    mx.eval(transformed(X))
    del transformed
    mx.synchronize()
    gc.collect()
    assert probe() is None


def test_rules_live_as_long_as_their_graphs():
    """A graph keeps the rules of a function that has been collected."""

    def make():
        @mx.custom_function
        def double(x):
            return x * 2

        @double.vjp
        def rule(primals, cotangents, outputs):
            return cotangents * 100 if double else None

        return double

    def loss(x):
        y = make()(x)
        gc.collect()
        return mx.sum(y)

    assert mx.grad(loss)(X).tolist() == [100, 100, 100]


def test_cycles_through_kernels_are_collected():
    probe = Probe()
    kernel = mx.fast.MetalKernel("cycle", "y[0] = 1;", template=[("T", mx.float32)])
    kernel.owner = probe
    probe.kernel = kernel
    ref = weakref.ref(probe)
    del probe, kernel
    gc.collect()
    assert ref() is None

    class Shape(list):
        pass

    shapes = Shape([(1,)])
    kernel = mx.fast.metal_kernel("cycle", ["x"], ["y"], "y[0] = x[0];", output_shapes=shapes)
    shapes.append(kernel)
    ref = weakref.ref(shapes)
    del shapes, kernel
    gc.collect()
    assert ref() is None


def test_transformations_carry_attributes():
    for make in MAKERS:
        made = make(lambda x: mx.sum(x))
        made.note = "kept"
        assert made.note == "kept" and callable(made)


def run(program: str, *, code: int = 0, timeout: int = 300) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=timeout
    )
    assert done.returncode == code, (done.returncode, done.stderr)
    assert "Traceback" not in done.stderr and "terminate" not in done.stderr, done.stderr
    return done.stdout


@pytest.mark.cpu_kernels
def test_kernels_that_are_not_used_any_more_are_unloaded():
    """Memory for code does not grow with the number of kernels that a program has used."""
    run("""
import mlx.core as mx

def mapped():
    return sum(1 for line in open("/proc/self/maps") if "r-x" in line and "/" not in line)

x = mx.array([1.0])
def use(numbers):
    for i in numbers:
        kernel = mx.fast.metal_kernel("k", ["x"], ["y"], f"y[0] = x[0] * {i};")
        (y,) = kernel(inputs=[x], grid=(1, 1, 1), threadgroup=(1, 1, 1),
                      output_shapes=[(1,)], output_dtypes=[mx.float32])
        assert y.item() == i
    mx.synchronize()

use(range(256))
before = mapped()
use(range(256, 320))
assert mapped() <= before + 8, (before, mapped())
assert before > 50, before
use(range(3))  # and those that were forgotten come back
""")


def test_a_kernel_works_while_others_push_it_out_of_the_cache():
    run("""
import mlx.core as mx

x = mx.array([1.0])
def kernel(i):
    return mx.fast.metal_kernel("k", ["x"], ["y"], f"y[0] = x[0] + {i};")
def call(k):
    return k(inputs=[x], grid=(1, 1, 1), threadgroup=(1, 1, 1),
             output_shapes=[(1,)], output_dtypes=[mx.float32])[0]

kept = kernel(-1)
assert call(kept).item() == 0
pending = [call(kernel(i)) for i in range(280)]  # none of these kernels is held by anyone
mx.async_eval(pending)
assert [y.item() for y in pending] == [i + 1 for i in range(280)]
assert call(kept).item() == 0
""")


def test_templates_do_not_fill_memory():
    kernel = mx.fast.metal_kernel("t", ["x"], ["y"], "y[0] = x[0] + N;")
    for n in range(70):
        (y,) = kernel(
            inputs=[X],
            grid=(1, 1, 1),
            threadgroup=(1, 1, 1),
            template=[("N", n)],
            output_shapes=[(1,)],
            output_dtypes=[mx.float32],
        )
        assert y.item() == n + 1


ENDINGS = {
    "work that nobody waits for": "mx.async_eval([mx.sin(x * i) for i in range(200)])",
    "a graph that is not evaluated": "kept = mx.sin(x)",
    "a thread that evaluates": """
def work():
    while True:
        mx.eval(mx.sin(x) @ x)
threading.Thread(target=work, daemon=True).start()
time.sleep(0.1)
""",
    "a thread that makes kernels": """
def work():
    i = 0
    while True:
        i += 1
        k = mx.fast.metal_kernel("k", ["x"], ["y"], f"y[0] = x[0] + {i % 50};")
        mx.eval(k(inputs=[x], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)],
                  output_dtypes=[mx.float32]))
threading.Thread(target=work, daemon=True).start()
time.sleep(0.3)
""",
    "work that is started at the end": "atexit.register(lambda: mx.async_eval(mx.sin(x) @ x))",
    "work that is done at the end": "atexit.register(lambda: print(mx.sum(mx.ones(10)).item()))",
    "arrays and kernels that live to the end": """
kept = [mx.sin(x), mx.grad(lambda v: mx.sum(v)), mx.compile(lambda v: v)]
sys.kept = kept
mx.eval(kept[0])
""",
    "a custom rule in a graph": """
f = mx.custom_function(lambda v: v * 2)
f.vjp(lambda p, c, o: c)
kept = f(x)
""",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_the_process_ends_with(ending):
    program = (
        "import atexit, sys, threading, time\nimport mlx.core as mx\nx = mx.ones((300, 300))\n"
    )
    for _ in range(3):
        run(program + ENDINGS[ending])


FORK = """
import os, sys, threading, time
import mlx.core as mx

kernel = mx.fast.metal_kernel("add", ["x"], ["y"], "uint i = thread_position_in_grid.x; y[i] = x[i] + 1;")
def add_one(x):
    return kernel(inputs=[x], grid=(x.size, 1, 1), threadgroup=(32, 1, 1),
                  output_shapes=[x.shape], output_dtypes=[x.dtype])[0]

def in_child(function):
    pid = os.fork()
    if pid == 0:
        try:
            function()
            os._exit(0)
        except BaseException as error:
            print(type(error).__name__, error, file=sys.stderr, flush=True)
            os._exit(1)
    _, status = os.waitpid(pid, 0)
    assert os.waitstatus_to_exitcode(status) == 0
"""

AFTER_FORK = {
    "arrays of the parent and new ones": """
x = mx.arange(100000, dtype=mx.float32)
lazy = mx.sin(x) * 2
done = mx.eval(add_one(x))
def child():
    assert mx.allclose(add_one(x), x + 1).item()
    assert mx.sum(lazy).item() == mx.sum(mx.sin(x) * 2).item()
    m = mx.random.normal((64, 64), key=mx.random.key(1))
    assert mx.allclose(m @ mx.eye(64), m).item()
    assert mx.array_equal(mx.sort(-x), mx.sort(-x)).item()
    u, s, v = mx.linalg.svd(m, stream=mx.cpu)
    mx.eval(u, s, v)
    other = mx.new_stream(mx.gpu)
    assert add_one(mx.array([1.0])).item() == 2
    with mx.stream(other):
        assert (mx.array([1.0]) + 1).item() == 2
    new = mx.fast.metal_kernel("new", ["x"], ["y"], "y[0] = x[0] * 3;")
    assert new(inputs=[x], grid=(1, 1, 1), threadgroup=(1, 1, 1), output_shapes=[(1,)],
               output_dtypes=[mx.float32])[0].item() == 0
    mx.synchronize()
in_child(child)
in_child(lambda: in_child(child))
assert mx.sum(lazy).item() == mx.sum(mx.sin(x) * 2).item()
""",
    "work in flight": """
x = mx.ones((400, 400))
for _ in range(3):
    pending = x
    for _ in range(10):
        pending = mx.sin(pending @ x)
    mx.async_eval(pending)
    def child():
        mx.eval(pending)
        assert pending.shape == (400, 400) and mx.sum(add_one(pending)).item() > 0
    in_child(child)
    mx.eval(pending)
""",
    "threads of the parent at work": """
x = mx.ones((200, 200))
stop = threading.Event()
def work(i):
    while not stop.is_set():
        mx.eval(mx.sin(x * i) @ x)
threads = [threading.Thread(target=work, args=(i,)) for i in range(2)]
for t in threads:
    t.start()
def child():
    assert mx.sum(add_one(x)).item() == 2 * 200 * 200
    mx.eval(x @ x)
for _ in range(10):
    in_child(child)
stop.set()
for t in threads:
    t.join()
""",
    "a pool of processes": """
import multiprocessing
def square(n):
    return mx.sum(mx.arange(n) ** 2).item() + add_one(mx.array([float(n)])).item()
expected = [square(n) for n in range(1, 9)]
with multiprocessing.get_context("fork").Pool(2) as pool:
    assert pool.map(square, range(1, 9)) == expected
""",
}


@pytest.mark.cpu_kernels
@pytest.mark.parametrize("what", AFTER_FORK)
def test_a_forked_process_goes_on_with(what):
    run(FORK + AFTER_FORK[what])


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="not a system with affinity")
def test_threads_keep_the_cores_that_the_user_gave_them():
    run("""
import os, threading, time
import mlx.core as mx

x = mx.ones((512, 512))
mx.eval(mx.sin(x) + 1, x @ x)
cores = sorted(os.sched_getaffinity(0))
def all_threads():
    return {int(t): os.sched_getaffinity(int(t)) for t in os.listdir("/proc/self/task")}
for t in all_threads():
    os.sched_setaffinity(t, {cores[-1]})
wanted = all_threads()
for i in range(200):
    mx.eval(mx.sin(x * i) + x)
now = all_threads()
assert all(now.get(t, c) == c for t, c in wanted.items()), (wanted, now)
""")
