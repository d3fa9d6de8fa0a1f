"""The sample package's operations in float64, from array operations: so layers can be run in it."""

import mlx.core as mx
import mlx_sample_extensions.nn as points
import pytest

REDUCE = {"sum": mx.sum, "mean": mx.mean, "max": mx.max, "min": mx.min}


def mvmr(a, a_idx, b, b_idx, o_idx, n_o, check=True) -> mx.array:
    products = (a[a_idx] @ b[b_idx][..., None])[..., 0]
    return mx.zeros((n_o, *products.shape[1:]), a.dtype).at[o_idx].add(products)


def vvor(a, a_idx, b, b_idx, o_idx, n_o, check=True) -> mx.array:
    products = (a if a_idx is None else a[a_idx])[..., None] * b[b_idx][:, :, None]
    return mx.zeros((n_o, *products.shape[1:]), a.dtype).at[o_idx].add(products)


def scatter(src, index, dim, dim_size, reduce="sum", check=True) -> mx.array:
    rows = [[] for _ in range(dim_size)]
    for row, target in enumerate(index.tolist()):
        rows[target].append(row)
    empty = mx.zeros(src.shape[1:], src.dtype)
    return mx.stack([REDUCE[reduce](src[mx.array(r)], axis=0) if r else empty for r in rows])


def segment_reduce(x, lengths, operation="sum", check=True) -> mx.array:
    numbers = mx.array([i for i, n in enumerate(lengths.tolist()) for _ in range(n)])
    return scatter(x, numbers, 0, lengths.shape[0], operation)


def use(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here on the layers use the operations of this module."""
    monkeypatch.setattr(points.convolution, "mvmr", mvmr)
    monkeypatch.setattr(points.interpolation, "vvor", vvor)
    monkeypatch.setattr(points.levels, "scatter", scatter)
    for module in ("point_cnn", "interpolation"):
        monkeypatch.setattr(getattr(points, module), "segment_reduce", segment_reduce)
    monkeypatch.setattr("mlx_sample_extensions.point_clouds.segment_reduce", segment_reduce)
