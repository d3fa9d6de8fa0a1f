"""A plugin for pytest: `pytest -p mlx.pytest_plugin --metal-check=all` runs every test checked.

A test whose kernels fail a check fails with `mx.metal.KernelCheckError`. Each finding is also a
property of the test, `metal_check`, in files that `--junitxml` writes.
"""

from collections.abc import Iterator

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """Adds the option."""
    parser.addoption(
        "--metal-check",
        metavar="CHECKS",
        default="",
        help="check all Metal kernels: bounds, bounds=strict, barriers, races, uninitialised, "
        "numbers, numbers=float64, apple, order (a list), or all",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Refuses checks that there are not."""
    checks = config.getoption("--metal-check")
    if not checks:
        return
    import mlx.core as mx

    try:
        mx.metal.check(checks)
    except ValueError as error:
        raise pytest.UsageError(f"--metal-check: {error}") from None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Checks what a test and its fixtures run."""
    checks = item.config.getoption("--metal-check")
    if not checks:
        return (yield)
    import mlx.core as mx

    with mx.metal.check(checks):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo) -> Iterator[None]:
    """Keeps what was found with the test."""
    if call.excinfo and item.config.getoption("--metal-check"):
        import mlx.core as mx

        error = call.excinfo.value
        if isinstance(error, mx.metal.KernelCheckError):
            for found in error.reports:
                place = f"{found.file or found.kernel}:{found.line}:{found.column}"
                text = f"{place}: {found.kind}: {found.message}"
                item.user_properties.append(("metal_check", text))
    return (yield)
