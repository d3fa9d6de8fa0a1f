"""The fixtures of all tests: comparisons with PyTorch, and fixed random numbers."""

import importlib.util
import os
import zlib
from collections import Counter

import numpy as np
import pytest

# LLVM verifies the code after every step of the compiler, also in processes that tests start.
os.environ.setdefault("MLX_VERIFY_IR", "1")

CPU_FOLDERS = {"checks", "debug"}  # of tests of what only the CPU's driver does

HAS_TORCH = importlib.util.find_spec("torch") is not None


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--one-in",
        type=int,
        default=1,
        metavar="N",
        help="run the first test of each file, and each Nth after it",
    )


def one_in(n: int, items: list[pytest.Item]) -> list[pytest.Item]:
    number = Counter()
    taken = []
    for item in items:
        if number[item.path] % n == 0:
            taken.append(item)
        number[item.path] += 1
    return taken


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what --one-in says, and the comparisons with PyTorch if it is not installed."""
    items[:] = one_in(config.getoption("--one-in"), items)
    choose_device(config, items)
    if HAS_TORCH:
        return
    leave_out = pytest.mark.skip(reason="PyTorch is not installed")
    for item in items:
        if item.get_closest_marker("torch"):
            item.add_marker(leave_out)


def choose_device(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselects what cannot run where MLX_METAL_DEVICE runs kernels."""
    on_gpu = os.environ.get("MLX_METAL_DEVICE") == "cuda"

    def fits(item: pytest.Item) -> bool:
        for_cpu = item.get_closest_marker("cpu_kernels") or CPU_FOLDERS & set(item.path.parts)
        return not (for_cpu if on_gpu else item.get_closest_marker("gpu"))

    config.hook.pytest_deselected(items=[item for item in items if not fits(item)])
    items[:] = filter(fits, items)


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
def seeded(request: pytest.FixtureRequest) -> None:
    """The same random numbers in every run, whichever tests run before.

    Without a seed, mx.random starts from the time. Generators of modules go on from test to test.
    """
    import mlx.core as mx

    mx.random.seed(0)
    fresh = np.random.default_rng(zlib.crc32(request.node.name.encode())).bit_generator.state
    for value in vars(request.module).values():
        if isinstance(value, np.random.Generator):
            value.bit_generator.state = fresh


@pytest.fixture
def fused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compiled functions wait for their fused kernels at the first call."""
    monkeypatch.setenv("MLX_COMPILE_BACKGROUND", "0")
