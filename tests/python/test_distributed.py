"""mlx.core.distributed for one process, and the CUDA back end that is not here.

The folder `distributed` has tests with several processes.
"""

import mlx.core as mx
import pytest

dist = mx.distributed
COLLECTIVES = [dist.all_sum, dist.all_max, dist.all_min, dist.all_gather, dist.sum_scatter]


def test_the_group_of_one():
    assert not any(dist.is_available(name) for name in ("mpi", "nccl", "jaccl", "foo"))
    assert dist.is_available() and dist.is_available("ring")
    for backend in ("any", "mpi", "ring", "nccl", "jaccl"):
        group = dist.init(backend=backend)
        assert (group.rank(), group.size()) == (0, 1)
        with pytest.raises(RuntimeError, match=r"No backend is available|A ring needs"):
            dist.init(strict=True, backend=backend)
    assert isinstance(dist.init(all_gather_factory=None), dist.Group)
    with pytest.raises(RuntimeError, match=r"\[distributed\].*cannot be split"):
        dist.init().split(color=0, key=1)
    with pytest.raises(ValueError, match=r'\[distributed\] The backend must be .*not "foo"'):
        dist.init(backend="foo")
    with pytest.raises(TypeError):
        dist.Group()


@pytest.mark.parametrize("function", COLLECTIVES)
def test_collectives_are_identities(function):
    x = mx.array([[1.0, 2.0], [3.0, 4.0]])
    for group in (None, dist.init()):
        for stream in (None, mx.cpu, mx.gpu):
            assert function(x, group=group, stream=stream).tolist() == x.tolist()
    assert function(mx.array(2)).item() == function(2).item() == 2
    assert mx.grad(lambda a: (function(a) * a).sum())(x).tolist() == (2 * x).tolist()
    assert mx.jvp(function, [x], [x])[1][0].tolist() == x.tolist()
    assert mx.vmap(function)(x).tolist() == x.tolist()
    with pytest.raises(TypeError):
        function(x, group=3)
    with pytest.raises(TypeError):
        function(x, dist.init())


def test_a_group_of_one_cannot_send_or_receive():
    x = mx.ones(2)
    with pytest.raises(ValueError, match=r"\[send\] Rank 1 cannot be sent to"):
        dist.send(x, 1)
    with pytest.raises(ValueError, match=r"\[recv\] Rank 0 cannot be received from"):
        dist.recv((2,), mx.float32, 0)
    with pytest.raises(ValueError, match=r"\[recv\]"):
        dist.recv_like(x, 0, group=dist.init())


def test_cuda_is_not_here():
    assert mx.cuda.is_available() is False
    with pytest.raises(RuntimeError, match=r"\[cuda_kernel\] No CUDA back-end"):
        mx.fast.cuda_kernel(name="f", input_names=["x"], output_names=["y"], source="y[0] = x[0];")
    with pytest.raises(RuntimeError, match=r"\[precompiled_cuda_kernel\] No CUDA back-end"):
        mx.fast.precompiled_cuda_kernel(
            name="f",
            compiled_source=b"ptx",
            inputs=[mx.ones(1)],
            output_shapes=[(1,)],
            output_dtypes=[mx.float32],
            scalars=[1, 2.0, True],
            grid=(1, 1, 1),
            threadgroup=(1, 1, 1),
        )
