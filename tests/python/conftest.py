"""The fixtures of all tests: comparisons with PyTorch, and fixed random numbers."""

import importlib.util
import os

import numpy as np
import pytest

# LLVM verifies the code after every step of the compiler, also in processes that tests start.
os.environ.setdefault("MLX_VERIFY_IR", "1")

HAS_TORCH = importlib.util.find_spec("torch") is not None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skips the comparisons with PyTorch if it is not installed."""
    if HAS_TORCH:
        return
    leave_out = pytest.mark.skip(reason="PyTorch is not installed")
    for item in items:
        if item.get_closest_marker("torch"):
            item.add_marker(leave_out)


@pytest.fixture
def torch():
    """The module, for tests that are marked `torch`, with one thread.

    PyTorch uses MKL's functions. In a second thread they once gave cosines with only 13 right bits.
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
    """The same numbers of mx.random in every run; without a seed, it starts from the time."""
    import mlx.core as mx

    mx.random.seed(0)


@pytest.fixture
def fused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled functions wait for their fused kernels at the first call."""
    monkeypatch.setenv("MLX_COMPILE_BACKGROUND", "0")
