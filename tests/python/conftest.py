"""What all tests share: the marked comparisons with PyTorch, and fixed random numbers."""

import importlib.util
import os

import numpy as np
import pytest

# The compiler checks its own work after every step. Processes that tests start do so, too.
os.environ.setdefault("MLX_VERIFY_IR", "1")

HAS_TORCH = importlib.util.find_spec("torch") is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leaves the comparisons with PyTorch out where PyTorch is not installed."""
    if HAS_TORCH:
        return
    leave_out = pytest.mark.skip(reason="PyTorch is not installed")
    for item in items:
        if item.get_closest_marker("torch"):
            item.add_marker(leave_out)


@pytest.fixture
def torch():
    """The module, for tests that are marked `torch`, with one thread.

    PyTorch's functions are MKL's. In a second thread they once gave cosines with 13 right bits only.
    """
    import torch

    torch.set_num_threads(1)
    return torch


@pytest.fixture
def rng() -> np.random.Generator:
    """The same random numbers in every run."""
    return np.random.default_rng(0)


@pytest.fixture(autouse=True)
def seeded() -> None:
    """mx.random, too, gives the same numbers in every run: by itself, it starts from the time."""
    import mlx.core as mx

    mx.random.seed(0)


@pytest.fixture
def fused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fused kernels run from the first call of a compiled function on."""
    monkeypatch.setenv("MLX_COMPILE_BACKGROUND", "0")
