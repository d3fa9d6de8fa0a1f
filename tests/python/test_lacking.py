"""The error for a name that MLX has and this package lacks says so."""

import mlx.core as mx
import pytest
from mlx import _lacking
from mlx._lacking import names_lacking


def test_the_error_tells_what_mlx_has(monkeypatch):
    lacking = "a_name_of_mlx"
    monkeypatch.setitem(_lacking._LACKING, "mlx.core", f"another_name {lacking}")
    assert names_lacking("mlx.core") == ["another_name", lacking]
    with pytest.raises(AttributeError, match=f"mlx.core.{lacking} is part of MLX, but this"):
        getattr(mx, lacking)
    with pytest.raises(AttributeError, match="module 'mlx.core.fast' has no attribute 'nothing'"):
        _ = mx.fast.nothing
    with pytest.raises(AttributeError, match="module 'mlx.core' has no attribute 'no_such_name'"):
        _ = mx.no_such_name
    with pytest.raises(ImportError):
        from mlx.core import no_such_name  # noqa: F401
    assert not hasattr(mx, lacking) and getattr(mx.random, "nothing", 3) == 3


def test_nothing_that_is_there_counts_as_lacking():
    for module in _lacking._LACKING:
        owner = mx if module == "mlx.core" else getattr(mx, module.rpartition(".")[2])
        assert [name for name in names_lacking(module) if hasattr(owner, name)] == []
