"""The tests, in the order in which they are tried, and which mutations each reaches."""

import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .areas import Area
from .recorder import AT_IMPORT
from .workspace import Workspace

SWITCHES = 4096  # as in switch.h
FAILURE = re.compile(r"^(?:\[  FAILED  \]|FAILED|ERROR) ([^\s,]+)", re.M)  # GoogleTest, pytest
PYTEST = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "mutation.recorder"]

# They test the generated code; the others would compile it once more.
OF_KERNELS = (
    "msl/test_*.py",
    "kernels/test_*.py",
    "test_random_programs.py",
    "test_kernels_in_the_wild_*.py",
    "test_seed_pages.py",
    "test_vector_code_*.py",
    "test_compiler_messages.py",
    "test_processors.py",
    "test_diagnosis.py",
    "test_metalc.py",
    "test_ptx.py",
)
OF_BOTH = ("test_metal_kernel*.py",)
# They run other tests again, or read texts.
NOT_RUN = (
    "package/*",
    "packages/*",
    "test_reference_mode.py",
    "test_docs.py",
    "test_examples.py",
    "test_projects.py",
    "test_code_version.py",
    "test_coverage_page.py",
)
# They notice most faults, and soon.
FIRST = ("test_vector_code_*.py", "test_compiler_messages.py")
# These compile little, so many of them share a process.
FILES_TOGETHER = 8


@dataclass
class Reached:
    """What tests do without mutations."""

    tests: dict[str, list[int]] = field(default_factory=dict)  # the switches that each reaches
    kernels: dict[str, list[str]] = field(default_factory=dict)  # what each adds to the cache
    seconds: float = 0

    def by(self, number: int, makes_code: bool) -> list[str]:
        """The tests that may notice a mutation, the likeliest first."""
        found = [test for test, numbers in self.tests.items() if number in numbers]
        if not found or not (makes_code or AT_IMPORT in found):
            return found
        # A test finds the kernels that an earlier test has compiled.
        return found + [test for test in self.tests if test not in found]

    def unchanged_kernels(self, number: int) -> list[str]:
        """What a mutation does not change in the cache of compiled kernels.

        What was compiled in the background may be there only after the next test.
        """
        found, after = [], False
        for test, kernels in self.kernels.items():
            reaches = test not in self.tests or number in self.tests[test]
            found += [] if reaches or after else kernels
            after = reaches
        return found


@dataclass
class Tests:
    """A suite of GoogleTest or files of pytest, which run in one process."""

    name: str
    command: list[str]
    files: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    of_kernels: bool = True
    of_arrays: bool = True

    def suit(self, area: Area) -> bool:
        return self.of_kernels if area.makes_code else self.of_arrays

    def kernels(self, workspace: Workspace) -> Path:
        """Kernels that are compiled already reach no switch of the compiler."""
        folder = re.sub(r"[^\w.]+", "_", self.name) if self.of_kernels else "kernels"
        return workspace.build / "reached" / folder

    def run(
        self, workspace: Workspace, files: list[str], kernels: Path, limit: float, **switch: str
    ):
        environment = switch | self.environment | {"MLX_CACHE_DIR": str(kernels)}
        return workspace.run([*self.command, *files], limit, **environment)

    def reach(self, workspace: Workspace) -> Reached:
        """What the tests that pass reach."""
        with tempfile.TemporaryDirectory(dir=workspace.build) as folder:
            switches, record = Path(folder) / "switches", Path(folder) / "record"
            switches.write_bytes(bytes(SWITCHES))
            files = {"MUTATIONS_REACHED": str(switches), "MUTATION_RECORD": str(record)}
            if self.of_kernels:
                shutil.rmtree(self.kernels(workspace), ignore_errors=True)
            start = time.monotonic()
            outcome = self.run(workspace, self.files, self.kernels(workspace), 1800, **files)
            seconds = time.monotonic() - start
            if record.exists():
                return Reached(**json.loads(record.read_text()), seconds=seconds)
            if outcome.status != 0:
                return Reached()
            numbers = [n for n, byte in enumerate(switches.read_bytes()) if byte]
            return Reached({self.name: numbers}, seconds=seconds)

    def failure(self, workspace: Workspace, number: int, makes_code: bool, reached: Reached):
        """The first test that notices a mutation, or None."""
        chosen = reached.by(number, makes_code)
        with tempfile.TemporaryDirectory(dir=workspace.build) as folder:
            kernels = self.kernels(workspace)
            if makes_code:
                kernels = Path(folder) / "kernels"
                kernels.mkdir()
                for name in reached.unchanged_kernels(number):
                    if (source := self.kernels(workspace) / name).exists():
                        os.link(source, kernels / name)
            tests = Path(folder) / "tests"
            tests.write_text(json.dumps(chosen))
            switch = {"MUTATION": str(number), "MUTATION_TESTS": str(tests)}
            used = {test.split("::")[0] for test in chosen}
            files = [file for file in self.files if file in used or AT_IMPORT in chosen]
            # Loops without end are stopped, and slow machines are not mistaken for them.
            outcome = self.run(workspace, files, kernels, 30 + 3 * reached.seconds, **switch)
        if outcome.status == 0:
            return None
        if outcome.status is None:
            return f"{self.name}: takes too long"
        found = FAILURE.search(outcome.output)
        return found[1] if found else f"{self.name}: ends with {outcome.status}"


def cpp_tests(workspace: Workspace) -> Iterator[Tests]:
    """The tests that ctest lists."""
    listing = ["ctest", "--test-dir", str(workspace.build), "--show-only=json-v1"]
    names = set()
    for test in json.loads(workspace.run(listing).output)["tests"]:
        name, command = test["name"], test["command"]
        properties = {each["name"]: each["value"] for each in test["properties"]}
        environment = dict(each.split("=", 1) for each in properties.get("ENVIRONMENT", []))
        if command[1].startswith("--gtest_filter"):
            suite = command[1].split(".")[0]
            command = [command[0], f"{suite}.*", "--gtest_fail_fast", "--gtest_brief=1"]
            name = name if environment else name.split(".")[0]
        if name not in names:
            names.add(name)
            of_arrays = command[0].endswith("/mlx_tests")
            yield Tests(name, command, [], environment, not of_arrays, of_arrays)


def is_one_of(path: str, globs: tuple[str, ...]) -> bool:
    return any(Path(path).match(glob) for glob in globs)


def python_tests(workspace: Workspace) -> Iterator[Tests]:
    found = sorted((workspace.folder / "tests" / "python").rglob("test_*.py"))
    paths = [str(path.relative_to(workspace.folder)) for path in found]
    paths = [path for path in paths if not is_one_of(path, NOT_RUN)]
    paths.sort(key=lambda path: not is_one_of(path, FIRST))
    others = [path for path in paths if not is_one_of(path, OF_KERNELS + OF_BOTH)]
    for i in range(0, len(others), FILES_TOGETHER):
        files = others[i : i + FILES_TOGETHER]
        yield Tests(" ".join(files), PYTEST, files, of_kernels=False)
    for of_arrays, globs in ((True, OF_BOTH), (False, OF_KERNELS)):
        for path in (path for path in paths if is_one_of(path, globs)):
            yield Tests(path, PYTEST, [path], of_arrays=of_arrays)
