"""What MLX has and this package lacks is named in the error."""

import mlx.core as mx
import pytest
from mlx._lacking import names_lacking

MODULES = ["mlx.core", "mlx.core.fast", "mlx.core.fft"]


def test_the_error_tells_what_mlx_has():
    with pytest.raises(AttributeError, match="mlx.core.conv1d is part of MLX, but this package"):
        mx.conv1d(mx.zeros((1, 4, 1)), mx.zeros((1, 2, 1)))
    with pytest.raises(AttributeError, match="mlx.core.fast.cross_entropy is part of MLX"):
        _ = mx.fast.cross_entropy
    with pytest.raises(AttributeError, match="module 'mlx.core' has no attribute 'no_such_name'"):
        _ = mx.no_such_name
    with pytest.raises(ImportError):
        from mlx.core import conv1d  # noqa: F401
    assert not hasattr(mx, "conv1d") and getattr(mx.random, "nothing", 3) == 3


@pytest.mark.parametrize("module", MODULES)
def test_nothing_that_is_there_counts_as_lacking(module: str):
    names = names_lacking(module)
    assert names
    owner = mx if module == "mlx.core" else getattr(mx, module.rpartition(".")[2])
    assert [name for name in names if hasattr(owner, name)] == []
