"""Random numbers: keys, distributions, and the implicit sequence."""

import threading

import mlx.core as mx
import numpy as np
import pytest

N = 50_000


def test_keys_decide_the_numbers():
    k = mx.random.key(7)
    assert k.dtype == mx.uint32 and k.shape == (2,)
    a, b = mx.random.uniform(shape=(5,), key=k), mx.random.uniform(shape=(5,), key=k)
    assert mx.array_equal(a, b).item()
    x, y, z = mx.random.split(k, 3)
    numbers = [mx.random.normal((4,), key=s).tolist() for s in (x, y, z)]
    assert len({tuple(n) for n in numbers}) == 3
    assert mx.random.split(k).shape == (2, 2)
    assert mx.random.split(k, 0).shape == (0, 2)
    with pytest.raises(ValueError, match="number of keys must not be negative"):
        mx.random.split(k, -1)


def test_seed_restarts_the_implicit_sequence():
    mx.random.seed(3)
    first = [mx.random.uniform(shape=(3,)).tolist() for _ in range(3)]
    assert len({tuple(f) for f in first}) == 3
    mx.random.seed(3)
    assert [mx.random.uniform(shape=(3,)).tolist() for _ in range(3)] == first


def test_the_state_can_be_saved_and_put_back():
    mx.random.seed(1)
    saved = mx.random.state[0]
    a = mx.random.normal((3,)).tolist()
    mx.random.state[0] = saved
    assert mx.random.normal((3,)).tolist() == a
    mx.eval(mx.random.state)


def test_threads_draw_different_numbers():
    drawn = []

    def work():
        for _ in range(20):
            drawn.append(mx.random.randint(0, 2**30, (2,)).tolist())

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len({tuple(d) for d in drawn}) == 80


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
def test_uniform(dtype):
    x = np.array(mx.random.uniform(-1, 3, (N,), dtype, key=mx.random.key(0)).astype(mx.float32))
    assert x.min() >= -1 and x.max() <= 3
    assert abs(x.mean() - 1) < 0.03 and abs(x.std() - 4 / 12**0.5) < 0.03
    low = mx.array([0.0, 10.0])
    assert (mx.random.uniform(low, low + 1, (100, 2)).mean(0) > mx.array([0.2, 10.2])).all().item()


@pytest.mark.parametrize("dtype", [mx.float32, mx.float16, mx.bfloat16])
def test_normal(dtype):
    x = np.array(mx.random.normal((N,), dtype, 2.0, 3.0, key=mx.random.key(0)).astype(mx.float32))
    assert abs(x.mean() - 2) < 0.06 and abs(x.std() - 3) < 0.06
    assert mx.random.normal().shape == () and mx.random.normal((2, 3), dtype).dtype == dtype


def test_randint():
    x = np.array(mx.random.randint(-5, 5, (N,), key=mx.random.key(0)))
    assert x.dtype == np.int32 and set(x) == set(range(-5, 5))
    assert np.bincount(x + 5).min() > 0.8 * N / 10
    assert mx.random.randint(0, 200, (3,), mx.uint8).dtype == mx.uint8


def test_bernoulli():
    x = np.array(mx.random.bernoulli(0.25, (N,), key=mx.random.key(0)))
    assert x.dtype == bool and abs(x.mean() - 0.25) < 0.02
    assert mx.random.bernoulli().shape == () and mx.random.bernoulli(
        mx.array([0.1, 0.9])
    ).shape == (2,)


def test_truncated_normal():
    x = np.array(mx.random.truncated_normal(-1, 2, (N,), key=mx.random.key(0)))
    assert x.min() >= -1 and x.max() <= 2 and abs(x.mean() - 0.2296) < 0.03


def test_gumbel_and_laplace():
    assert (
        abs(np.array(mx.random.gumbel((N,), key=mx.random.key(0))).mean() - np.euler_gamma) < 0.03
    )
    x = np.array(mx.random.laplace((N,), loc=1.0, scale=2.0, key=mx.random.key(0)))
    assert abs(x.mean() - 1) < 0.08 and abs(x.std() - 2 * 2**0.5) < 0.1


def test_categorical():
    logits = mx.log(mx.array([[0.1, 0.2, 0.7], [0.5, 0.25, 0.25]]))
    x = np.array(mx.random.categorical(logits, num_samples=N // 5, key=mx.random.key(0)))
    assert x.shape == (2, N // 5)
    np.testing.assert_allclose(
        np.bincount(x[0], minlength=3) / x.shape[1], [0.1, 0.2, 0.7], atol=0.03
    )
    assert mx.random.categorical(logits).shape == (2,)
    assert mx.random.categorical(logits, shape=(4, 2)).shape == (4, 2)
    with pytest.raises(ValueError, match="At most one"):
        mx.random.categorical(logits, shape=(2,), num_samples=2)


def test_permutation():
    x = mx.random.permutation(100, key=mx.random.key(0)).tolist()
    assert sorted(x) == list(range(100)) and x != list(range(100))
    rows = mx.random.permutation(mx.arange(12).reshape(4, 3), axis=0)
    assert sorted(r[0] for r in rows.tolist()) == [0, 3, 6, 9]


def test_multivariate_normal():
    cov = mx.array([[2.0, 0.5], [0.5, 1.0]])
    x = np.array(
        mx.random.multivariate_normal(mx.array([1.0, -1.0]), cov, (N,), key=mx.random.key(0))
    )
    np.testing.assert_allclose(x.mean(0), [1, -1], atol=0.05)
    np.testing.assert_allclose(np.cov(x.T), np.array(cov), atol=0.06)
    many = mx.random.multivariate_normal(
        mx.zeros((3, 1, 2)), mx.stack([cov, 4 * cov]), key=mx.random.key(1)
    )
    assert many.shape == (3, 2, 2)
    for mean, covariance in [((), (2, 2)), ((2,), (2,)), ((2,), (2, 3)), ((3,), (2, 2))]:
        with pytest.raises(ValueError, match="a covariance of shape"):
            mx.random.multivariate_normal(mx.zeros(mean), mx.zeros(covariance))
