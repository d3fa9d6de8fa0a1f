"""Arrays and kernels that several threads share."""

import threading
from collections.abc import Callable

import mlx.core as mx
import numpy as np
import pytest

THREADS = 4


def at_once(work: Callable[[int], None], count: int = THREADS) -> None:
    """Calls work(i) on all threads at once; raises an exception of one of them."""
    start = threading.Barrier(count)
    errors: list[BaseException] = []

    def body(i: int) -> None:
        start.wait()
        try:
            work(i)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
        assert not thread.is_alive(), "threads wait for each other"
    if errors:
        raise errors[0]


def chain(x: mx.array, length: int) -> mx.array:
    for _ in range(length):
        x = x + 1
    return x


def test_one_lazy_array():
    for _ in range(30):
        x = chain(mx.zeros((3,)), 40)
        reads = [
            lambda x=x: x.tolist() == [40] * 3,
            lambda x=x: np.array(x).tolist() == [40] * 3,
            lambda x=x: x[1].item() == 40,
            lambda x=x: mx.eval(x) is None and memoryview(x)[2] == 40,
        ]

        def work(i: int, reads=reads) -> None:
            assert reads[i]()

        at_once(work)


def test_graphs_with_common_parts():
    for round_ in range(20):
        common = chain(mx.full((8,), float(round_)), 5)
        low, high = mx.split(chain(mx.arange(8), 3), 2)

        def work(i: int, common=common, low=low, high=high, round_=round_) -> None:
            part = low if i % 2 else high
            stream = mx.cpu if i % 2 else mx.gpu
            y = mx.sum(mx.multiply(common, i, stream=stream)) + mx.sum(part)
            assert y.item() == (round_ + 5) * i * 8 + (18 if i % 2 else 34)

        at_once(work)


def test_gradients_by_shared_weights():
    for _ in range(10):
        weight = chain(mx.ones((4,)), 3)

        def work(i: int, weight=weight) -> None:
            if i == 0:
                return mx.eval(weight)
            gradient = mx.grad(lambda x: mx.sum(x * x * weight))
            assert gradient(mx.array([1.0] * 4)).tolist() == [8] * 4
            assert gradient(weight).tolist() == [32] * 4
            mapped = mx.vmap(lambda x: mx.sum(x * weight))(mx.ones((2, 4)))
            assert mapped.tolist() == [16, 16]

        at_once(work)


def test_a_traced_array_is_evaluated_by_another_thread():
    def cube(x: mx.array) -> mx.array:
        square = x * x
        values: list[float] = []
        thread = threading.Thread(target=lambda: values.append(square.item()))
        thread.start()
        thread.join()
        assert values == [9]
        return square * x

    assert mx.grad(cube)(mx.array(3.0)).item() == 27


def test_one_kernel():
    kernel = mx.fast.metal_kernel(
        "shared", ["x"], ["y"], "uint i = thread_position_in_grid.x; y[i] = x[i] * N;"
    )

    def work(i: int) -> None:
        for n in range(10):
            (y,) = kernel(
                inputs=[mx.arange(100, dtype=mx.float32)],
                grid=(100, 1, 1),
                threadgroup=(32, 1, 1),
                template=[("N", n)],
                output_shapes=[(100,)],
                output_dtypes=[mx.float32],
            )
            assert y[i].item() == i * n

    at_once(work)


def test_all_threads_get_the_error():
    for _ in range(5):
        kernel = mx.fast.metal_kernel("wrong", ["x"], ["y"], "y[0] = undeclared;")
        (y,) = kernel(
            inputs=[mx.ones(1)],
            grid=(1, 1, 1),
            threadgroup=(1, 1, 1),
            output_shapes=[(1,)],
            output_dtypes=[mx.float32],
        )

        def work(i: int, y=y) -> None:
            with pytest.raises(RuntimeError, match="undeclared"):
                mx.eval(chain(y, i))

        at_once(work)


def test_extensions_that_wait_inside_do_not_hold_others_up():
    """C++ that evaluates while it holds the interpreter's lock, beside threads that need it."""
    import mlx_sample_extensions as sample

    lengths = [chain(mx.array([1, 2, 3]), i) for i in range(THREADS)]
    x = mx.ones((4000, 1))
    old = mx.set_memory_limit(1)  # evaluations wait for memory
    try:

        def work(i: int) -> None:
            for _ in range(20):
                if i % 2:
                    repeated = sample.repeat_interleave(x[:3], chain(lengths[i], 1), 0)
                    assert repeated.shape == (9 + 3 * i, 1)
                else:
                    assert mx.sum(mx.sin(x * 0) + i).item() == 4000 * i

        at_once(work)
    finally:
        mx.set_memory_limit(old)
