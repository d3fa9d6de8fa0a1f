"""What each process of a group does. A function fails by an exception, which ends all processes."""

import os
import signal
import sys
import threading
import time

import mlx.core as mx
import mlx.nn as nn
import numpy as np
from mlx.nn.layers import distributed as parts
from mlx.nn.utils import average_gradients
from mlx.utils import tree_flatten

dist = mx.distributed
group = dist.init(strict=True, backend="ring")
RANK, SIZE = group.rank(), group.size()

DTYPES = (
    "bool_ uint8 uint16 uint32 uint64 int8 int16 int32 int64 float16 bfloat16 float32 complex64"
).split()
# What arrives is combined in pieces of 256 KiB, and sent in turns of 512 KiB.
SIZES = [0, 1, 3, 5, 1000, 65537, 131072 * SIZE - 1, 131072 * SIZE + 1]
REDUCTIONS = [
    (dist.all_sum, mx.add),
    (dist.all_max, mx.maximum),
    (dist.all_min, mx.minimum),
]


def values(rank: int, size: int, dtype: str) -> mx.array:
    """Small integers, different in each process, of which sums are exact."""
    return (mx.arange(size) * (2 * rank + 3) % 7 - (dtype[0] != "u")).astype(getattr(mx, dtype))


def reduced(operation, arrays: list[mx.array]) -> mx.array:
    total = arrays[0]
    for a in arrays[1:]:
        total = mx.logical_or(total, a) if a.dtype == mx.bool_ else operation(total, a)
    return total


def same(found: mx.array, wanted: mx.array) -> None:
    assert found.shape == wanted.shape and found.dtype == wanted.dtype, (found, wanted)
    assert mx.array_equal(found, wanted).item(), (found, wanted)


def fails(call, kind: type[Exception], *texts: str) -> None:
    try:
        mx.eval(call())
    except kind as error:
        assert all(text in str(error) for text in texts), error
    else:
        raise AssertionError(f"no {kind}")


def reductions() -> None:
    for dtype in DTYPES:
        for size in SIZES if dtype in ("float32", "bfloat16", "complex64") else (3, 1000):
            arrays = [values(r, size, dtype) for r in range(SIZE)]
            for function, operation in REDUCTIONS[: 3 if size < 2000 else 1]:
                if dtype == "bool_":
                    operation = {mx.maximum: mx.logical_or, mx.minimum: mx.logical_and}.get(
                        operation
                    )
                    wanted = arrays[0]
                    for a in arrays[1:]:
                        wanted = (operation or mx.logical_or)(wanted, a)
                else:
                    wanted = reduced(operation, arrays)
                same(function(arrays[RANK]), wanted)
    x = mx.array([1.0, float("nan"), -2.0]) if RANK == 1 else mx.array([2.0, 1.0, -3.0])
    assert mx.isnan(dist.all_max(x)).tolist() == mx.isnan(dist.all_min(x)).tolist()
    assert mx.isnan(dist.all_max(x)).tolist() == [False, True, False]
    same(
        dist.all_sum(mx.array(2**31 - 1)), mx.array((2**31 - 1) * SIZE, mx.uint32).astype(mx.int32)
    )
    with mx.stream(mx.cpu):
        same(
            dist.all_sum(mx.array([0.1, RANK], mx.float64)).astype(mx.float32),
            mx.array([0.1 * SIZE, sum(range(SIZE))]),
        )


def gathers() -> None:
    for dtype in DTYPES:
        for size in (0, 1, 65537):
            arrays = [values(r, 3 * size, dtype).reshape(size, 3) for r in range(SIZE)]
            same(dist.all_gather(arrays[RANK]), mx.concatenate(arrays))
    same(dist.all_gather(mx.array(RANK)), mx.arange(SIZE))
    for dtype in DTYPES:
        for length in (0, 1, 40000):
            arrays = [values(r, SIZE * length * 2, dtype).reshape(-1, 2) for r in range(SIZE)]
            wanted = reduced(mx.add, arrays)[RANK * length : (RANK + 1) * length]
            same(dist.sum_scatter(arrays[RANK]), wanted)
    for x in (mx.array(1), mx.zeros((SIZE + 1, 2))):
        fails(lambda x=x: dist.sum_scatter(x), ValueError, "[sum_scatter]", "divided")


def layouts() -> None:
    """Views, inputs that are used again, and ones whose memory the result may have."""
    whole = [mx.arange(24.0).reshape(4, 6) * (r + 1) for r in range(SIZE)]
    views = [
        lambda a: a.T,
        lambda a: a[::2, 1::3],
        lambda a: a[::-1],
        lambda a: mx.broadcast_to(a[1], (5, 6)),
        lambda a: a[2:],
    ]
    for view in views:
        x = view(whole[RANK])
        before = np.array(x)
        same(dist.all_sum(x), reduced(mx.add, [view(a) for a in whole]))
        same(dist.all_gather(x), mx.concatenate([view(a) for a in whole]))
        assert np.array_equal(np.array(x), before)
        same(dist.all_sum(view(whole[RANK]) + 1), reduced(mx.add, [view(a) + 1 for a in whole]))


def graphs() -> None:
    """Several operations in one graph, with computation in between and beside."""
    x = mx.arange(1000.0) + RANK
    total = sum(mx.arange(1000.0) + r for r in range(SIZE))
    a = dist.all_sum(x)
    b = dist.all_max(mx.sin(a))
    c = dist.all_gather(x * 2)
    d = mx.exp(x / 1000) @ mx.ones((1000, 50))
    e = dist.sum_scatter(mx.broadcast_to(b, (SIZE, 1000)))
    for _ in range(3):
        mx.async_eval(a + 1, c)
        mx.eval(b, d, e)
        assert mx.allclose(b, mx.sin(total)) and mx.allclose(e[0], SIZE * b, rtol=1e-5)
    same(a, total)
    many = [dist.all_sum(x * i) for i in range(60)]
    mx.eval(many)
    for i, found in enumerate(many):
        assert mx.allclose(found, total * i)
    chain = x
    for _ in range(40):
        chain = dist.all_sum(chain) / SIZE + 1
    assert mx.allclose(chain, total / SIZE + 40, rtol=1e-4)
    for group_given in (None, group, dist.init()):
        same(dist.all_sum(mx.array(1), group=group_given, stream=mx.cpu), mx.array(SIZE))


def messages() -> None:
    behind, before = (RANK + 1) % SIZE, (RANK - 1) % SIZE
    x = mx.arange(10) * (RANK + 1)
    if RANK == 0:
        same(dist.send(x, behind), x)
        same(dist.recv_like(x, before), sum(mx.arange(10) * (r + 1) for r in range(SIZE)))
    else:
        mx.eval(dist.send(dist.recv((10,), mx.int32, before) + x, behind))
    # All send before they receive, more than the system keeps, to both sides.
    large = mx.full((3_000_000,), RANK, mx.float32)
    mx.eval(dist.send(large, behind), dist.send(large[::2], before))
    got = dist.recv(large.shape, mx.float32, before)
    same(got, mx.full(large.shape, before, mx.float32))
    got = dist.recv((1_500_000,), mx.float32, behind)
    same(got, mx.full(got.shape, behind, mx.float32))
    same(dist.all_sum(mx.array(1)), mx.array(SIZE))
    mx.eval(dist.send(mx.zeros((0, 2)), behind))
    assert dist.recv((0, 2), mx.float32, before).tolist() == []
    for other in (-1, SIZE):
        fails(
            lambda other=other: dist.send(x, other), ValueError, "[send]", f"from 0 to {SIZE - 1}"
        )
        fails(
            lambda other=other: dist.recv_like(x, other),
            ValueError,
            "[recv]",
            f"from 0 to {SIZE - 1}",
        )
    fails(lambda: dist.send(x, RANK), RuntimeError, "[send] In a ring")
    fails(lambda: dist.recv((-1,), mx.int8, before), ValueError, "negative")
    fails(lambda: group.split(0), RuntimeError, "cannot be split")


def transforms() -> None:
    x, t = mx.arange(4.0) + RANK, mx.arange(4.0) * 10 + RANK
    everyone = [mx.arange(4.0) * 10 + r for r in range(SIZE)]
    for function in (dist.all_sum, dist.all_max, dist.all_min):
        same(mx.vjp(function, [x], [t])[1][0], t)
        same(mx.jvp(function, [x], [t])[1][0], function(t))
        same(mx.vmap(function, in_axes=1, out_axes=1)(x.reshape(2, 2)), function(x.reshape(2, 2)))
    cotangent = mx.arange(4.0 * SIZE)
    same(mx.vjp(dist.all_gather, [x], [cotangent])[1][0], cotangent[4 * RANK : 4 * RANK + 4])
    same(mx.jvp(dist.all_gather, [x], [t])[1][0], mx.concatenate(everyone))
    same(mx.vjp(dist.all_gather, [mx.array(1.0)], [cotangent[:SIZE]])[1][0], mx.array(float(RANK)))
    wide = mx.arange(2.0 * SIZE) + RANK
    same(mx.vjp(dist.sum_scatter, [wide], [t[:2]])[1][0], dist.all_gather(t[:2]))
    same(mx.jvp(dist.sum_scatter, [wide], [wide])[1][0], dist.sum_scatter(wide))
    fails(lambda: mx.vjp(lambda v: dist.send(v, 1 - RANK), [x], [x]), ValueError, "Send")
    rows = mx.arange(6.0 * SIZE).reshape(3, 2 * SIZE) + RANK
    for function in (dist.all_gather, dist.sum_scatter):
        wanted = mx.stack([function(row) for row in rows])
        same(mx.vmap(function)(rows), wanted)
        same(mx.vmap(function, in_axes=1)(rows.T), wanted)
    same(mx.vmap(dist.all_gather)(x), mx.stack([dist.all_gather(v) for v in x]))
    loss = mx.value_and_grad(lambda v: (dist.all_sum(v) ** 2).sum())
    total = sum(mx.arange(4.0) + r for r in range(SIZE))
    same(loss(x)[1], 2 * total)


def compiled() -> None:
    @mx.compile
    def exchange(v):
        a = dist.all_sum(v) + dist.all_sum(v)  # not merged: each is one for all processes
        b = dist.recv_like(v, (RANK - 1) % SIZE) if RANK else dist.send(v, 1)
        return mx.exp(a * 0) + a, b

    for k in range(3):
        x = mx.arange(3.0) + k
        found, passed = exchange(x)
        mx.eval(found, passed)
        if RANK and RANK < SIZE - 1:
            mx.eval(dist.send(passed, RANK + 1))
        same(found, 2 * SIZE * x + 1)
        same(passed, x)
    shapeless = mx.compile(lambda v: dist.all_gather(dist.all_sum(v)), shapeless=True)
    for n in (2, 5):
        same(shapeless(mx.ones((n, 2))), mx.full((n * SIZE, 2), float(SIZE)))
    fails(lambda: mx.export_function("/dev/null", dist.all_sum, mx.ones(1)), ValueError, "AllSum")


def layers() -> None:
    mx.random.seed(0)  # the same model in all processes
    first, second = nn.Linear(6, 4 * SIZE), nn.Linear(4 * SIZE, 4)
    x = mx.random.normal((3, 6))
    a = parts.shard_linear(first, "all-to-sharded")
    b = parts.shard_linear(second, "sharded-to-all")
    assert type(a).__name__ == "AllToShardedLinear" and a.weight.shape == (4, 6)

    def whole(v):
        return second(nn.relu(first(v))).square().sum()

    def divided(v):
        return b(nn.relu(a(v))).square().sum()

    wanted, wanted_gradient = mx.value_and_grad(whole)(x)
    found, gradient = mx.value_and_grad(divided)(x)
    assert mx.allclose(found, wanted, rtol=1e-4)
    assert mx.allclose(gradient, wanted_gradient, rtol=1e-4, atol=1e-5)
    of_whole = nn.value_and_grad(first, lambda: whole(x))()[1]["weight"]
    of_part = nn.value_and_grad(a, lambda: divided(x))()[1]["weight"]
    assert mx.allclose(of_part, of_whole[4 * RANK : 4 * RANK + 4], rtol=1e-4, atol=1e-5)

    for size in (32 << 20, 100, 0):
        gradients = {"a": mx.arange(30.0) * (RANK + 1), "b": [mx.ones((2, 3), mx.float16) * RANK]}
        mean = average_gradients(gradients, all_reduce_size=size)
        assert mx.allclose(mean["a"], mx.arange(30.0) * (SIZE + 1) / 2)
        assert mx.allclose(mean["b"][0], mx.full((2, 3), (SIZE - 1) / 2), rtol=1e-3)
        assert mean["b"][0].dtype == mx.float16

    model = nn.fully_shard(nn.Linear(6, 2 * SIZE))
    copy = nn.Linear(6, 2 * SIZE)
    full = {k: dist.all_gather(v) for k, v in tree_flatten(model.module.parameters())}
    copy.update(full)
    assert mx.allclose(model(x), copy(x), atol=1e-5)
    gradient = nn.value_and_grad(model, lambda: model(x).square().sum())()[1]["module"]
    wanted = nn.value_and_grad(copy, lambda: copy(x).square().sum())()[1]
    assert mx.allclose(gradient["weight"], wanted["weight"][2 * RANK : 2 * RANK + 2], rtol=1e-4)


# ---- what goes wrong ----


def different_operations() -> None:
    x = mx.ones(3 + RANK) if RANK < 2 else mx.ones(3)
    fails(lambda: dist.all_sum(x), RuntimeError, "[ring]")
    fails(lambda: dist.all_sum(x), RuntimeError, "cannot be used any more")


def mismatch_names_both() -> None:
    operation = dist.all_sum if RANK else dist.all_max
    mine, others = ("all_sum", "all_max") if RANK else ("all_max", "all_sum")
    fails(
        lambda: operation(mx.ones(3)),
        RuntimeError,
        f"This process does {mine} of 3 elements of float32, but the process of rank {1 - RANK} "
        f"does {others} of 3 elements of float32",
    )


def killed() -> None:
    """A process vanishes while the others wait for it. All of them get an error."""
    mx.eval(dist.all_sum(mx.ones(3)))
    if RANK == SIZE - 1:
        time.sleep(0.3)
        print(f"killed:{RANK}", flush=True)
        os._exit(0)
    fails(lambda: dist.all_sum(mx.ones(1 << 20)), RuntimeError, "[ring] The connection with")


def interrupted() -> None:
    """Ctrl-C reaches a process that waits for another."""
    mx.eval(dist.all_sum(mx.ones(3)))
    if RANK == 1:
        fails(lambda: dist.recv((1,), mx.int8, 0), RuntimeError, "[ring] The connection with")
        return
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    try:
        mx.eval(dist.recv((1,), mx.int8, 1 - RANK))
        raise AssertionError("not interrupted")
    except KeyboardInterrupt:
        same(mx.array([1]) + 1, mx.array([2]))


def forked() -> None:
    """A child has no part in the ring, and does not keep its parent's connections open."""
    mx.eval(dist.all_sum(mx.ones(3)))
    child = os.fork()
    if child == 0:
        try:
            fails(lambda: dist.all_sum(mx.ones(3)), RuntimeError, "forked")
            os._exit(0)
        except BaseException:
            os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
    same(dist.all_sum(mx.ones(3)), mx.ones(3) * SIZE)


def threads() -> None:
    """Streams that threads clear are not the group's."""

    def once() -> None:
        same(dist.all_sum(mx.ones(2)), mx.ones(2) * SIZE)
        mx.clear_streams()

    for _ in range(2):
        thread = threading.Thread(target=once)
        thread.start()
        thread.join()
    once()


if __name__ == "__main__":
    for name in sys.argv[1].split(","):
        globals()[name]()
    if not (sys.argv[1] == "killed" and RANK == SIZE - 1):
        print(f"{sys.argv[1]}:{RANK}", flush=True)
