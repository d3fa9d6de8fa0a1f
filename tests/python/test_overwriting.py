"""Operations write into the memory of arrays that nobody needs any more, also while earlier work runs."""

import mlx.core as mx
import numpy as np
import pytest

LARGE = (64, 64, 1024)  # 16 MiB: not computed at once


def peak_over(steps) -> float:
    """What `steps`, a function that returns an array, needs at most, as a multiple of a large array."""
    mx.synchronize()
    before = mx.get_active_memory()
    mx.reset_peak_memory()
    mx.eval(steps())
    return (mx.get_peak_memory() - before) / (4 * np.prod(LARGE))


def updates(update) -> mx.array:
    x = mx.zeros(LARGE)
    for i in range(LARGE[0]):
        x = update(x, i)
    return x


@pytest.mark.parametrize(
    "update",
    [
        lambda x, i: mx.slice_update(x, mx.ones((1, 64, 1024)), mx.array([i]), [0]),
        lambda x, i: x.at[i].add(1),
        lambda x, i: mx.abs(x),
        lambda x, i: mx.cumsum(x, axis=i % 3),
    ],
    ids=["dynamic slices", "slices", "elementwise", "scans"],
)
def test_long_chains_need_the_memory_of_one_array(update) -> None:
    assert peak_over(lambda: updates(update)) < 2.5


def test_gradients_of_parts_are_added_in_place() -> None:
    w = mx.zeros(LARGE)
    mx.eval(w)

    def loss(w):
        return sum((w[i] * (i + 1)).sum() for i in range(LARGE[0]))

    assert peak_over(lambda: mx.grad(loss)(w)) < 3
    expected = np.broadcast_to(np.arange(1, 65, dtype=np.float32)[:, None, None], LARGE)
    assert np.array_equal(np.array(mx.grad(loss)(w)), expected)


def test_an_array_that_another_stream_reads_is_not_overwritten() -> None:
    streams = [mx.new_stream(mx.gpu), mx.new_stream(mx.gpu), mx.new_stream(mx.cpu)]
    random = np.random.default_rng(0)
    for _ in range(20):
        arrays = [mx.full((1 << 20,), float(i)) for i in range(3)]
        numbers = [float(i) for i in range(3)]
        for _ in range(60):
            a, b = random.integers(0, 3, 2)
            stream = streams[random.integers(0, 3)]
            if random.random() < 0.5:
                arrays[a] = mx.add(arrays[a], arrays[b], stream=stream)
                numbers[a] += numbers[b]
            else:
                arrays[a] = mx.add(arrays[a], 1, stream=stream)
                numbers[a] += 1
            if max(numbers) > 1e6:
                arrays[a] = mx.full((1 << 20,), 1.0, stream=stream)
                numbers[a] = 1.0
            if random.random() < 0.3:
                mx.async_eval(arrays[a])
        mx.eval(arrays)
        for got, want in zip(arrays, numbers, strict=True):
            assert mx.all(got == want).item()
