"""A plugin of pytest: records which switches each test reaches, or runs only the chosen tests."""

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
        self.failed: set[str] = set()
        with switches.open("r+b") as file:
            self.reached = mmap.mmap(file.fileno(), 0)

    def take(self) -> list[int]:
        numbers = [number for number, byte in enumerate(self.reached[:]) if byte]
        self.reached[:] = bytes(len(self.reached))
        return numbers

    def pytest_collection_finish(self) -> None:
        self.tests[AT_IMPORT] = self.take()

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item):
        result = yield
        self.tests[item.nodeid] = self.take()
        return result

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.add(report.nodeid)

    def pytest_sessionfinish(self) -> None:
        passed = {test: reached for test, reached in self.tests.items() if test not in self.failed}
        self.output.write_text(json.dumps(passed))


class Selection:
    def __init__(self, tests: Path):
        self.tests = set(json.loads(tests.read_text()))

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.tests]


def pytest_configure(config: pytest.Config) -> None:
    if output := os.environ.get("MUTATION_RECORD"):
        switches = Path(os.environ["MUTATIONS_REACHED"])
        config.pluginmanager.register(Recorder(switches, Path(output)))
    if tests := os.environ.get("MUTATION_TESTS"):
        config.pluginmanager.register(Selection(Path(tests)))
        config.option.maxfail = 1
