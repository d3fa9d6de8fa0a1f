"""A plugin of pytest: records what each test reaches, or runs only the chosen tests."""

import json
import mmap
import os
from pathlib import Path

import pytest

AT_IMPORT = ""


class Recorder:
    def __init__(self, switches: Path, output: Path):
        self.output = output
        self.tests: dict[str, list[int]] = {}
        self.kernels: dict[str, list[str]] = {}
        self.failed: set[str] = set()
        self.cache = Path(os.environ["MLX_CACHE_DIR"])
        self.known: set[str] = set()
        with switches.open("r+b") as file:
            self.reached = mmap.mmap(file.fileno(), 0)

    def take(self) -> list[int]:
        numbers = [number for number, byte in enumerate(self.reached[:]) if byte]
        self.reached[:] = bytes(len(self.reached))
        return numbers

    def record(self, test: str) -> None:
        self.tests[test] = self.take()
        now = {path.name for path in self.cache.iterdir()} if self.cache.exists() else set()
        self.kernels[test] = sorted(now - self.known)
        self.known = now

    def pytest_collection_finish(self) -> None:
        self.known = {path.name for path in self.cache.iterdir()} if self.cache.exists() else set()
        self.record(AT_IMPORT)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        result = yield
        self.record(item.nodeid)
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        passed = {test: reached for test, reached in self.tests.items() if test not in self.failed}
        self.output.write_text(json.dumps({"tests": passed, "kernels": self.kernels}))


class Selection:
    def __init__(self, tests: Path):
        self.order = {test: i for i, test in enumerate(json.loads(tests.read_text()))}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = (item for item in items if item.nodeid in self.order)
        items[:] = sorted(chosen, key=lambda item: self.order[item.nodeid])


def pytest_configure(config: pytest.Config) -> None:
    if output := os.environ.get("MUTATION_RECORD"):
        switches = Path(os.environ["MUTATIONS_REACHED"])
        config.pluginmanager.register(Recorder(switches, Path(output)))
    if tests := os.environ.get("MUTATION_TESTS"):
        config.pluginmanager.register(Selection(Path(tests)))
        config.option.maxfail = 1
