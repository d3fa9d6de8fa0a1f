"""The tests, in the order in which they are tried, and which mutations each reaches."""

import json
import re
import tempfile
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
    "test_vector_code_listing.py",
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
# These compile little, so many of them share a process.
FILES_TOGETHER = 8


@dataclass
class Tests:
    """A suite of GoogleTest or files of pytest, which run in one process."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    of_kernels: bool = True
    of_arrays: bool = True

    def suit(self, area: Area) -> bool:
        return self.of_kernels if area.makes_code else self.of_arrays

    def run(self, workspace: Workspace, kernels: Path, limit: float, **environment: str):
        environment |= self.environment | {"MLX_CACHE_DIR": str(kernels)}
        return workspace.run(self.command, limit, **environment)

    def reach(self, workspace: Workspace) -> dict[str, list[int]]:
        """The tests that pass, and the switches that each reaches."""
        with tempfile.TemporaryDirectory(dir=workspace.build) as folder:
            switches, record = Path(folder) / "switches", Path(folder) / "record"
            switches.write_bytes(bytes(SWITCHES))
            files = {"MUTATIONS_REACHED": str(switches), "MUTATION_RECORD": str(record)}
            # Kernels that are compiled already reach no switch of the compiler.
            kernels = Path(folder) if self.of_kernels else workspace.build / "kernels"
            outcome = self.run(workspace, kernels, 1800, **files)
            if record.exists():
                return json.loads(record.read_text())
            if outcome.status != 0:
                return {}
            return {self.name: [n for n, byte in enumerate(switches.read_bytes()) if byte]}

    def failure(self, workspace: Workspace, number: int, makes_code: bool, chosen: list[str]):
        """The first of the chosen tests that notices a mutation, or None."""
        with tempfile.TemporaryDirectory(dir=workspace.build) as folder:
            kernels = Path(folder) if makes_code else workspace.build / "kernels"
            tests = Path(folder) / "tests"
            tests.write_text(json.dumps(chosen))
            switch = {"MUTATION": str(number), "MUTATION_TESTS": str(tests)}
            outcome = self.run(workspace, kernels, 600, **switch)
        if outcome.status == 0:
            return None
        if outcome.status is None:
            return f"{self.name}: takes too long"
        found = FAILURE.search(outcome.output)
        return found[1] if found else f"{self.name}: ends with {outcome.status}"


def reaching(reached: dict[str, list[int]], number: int, makes_code: bool) -> list[str]:
    """The tests that may notice a mutation."""
    found = [test for test, numbers in reached.items() if number in numbers]
    # A test finds the kernels that an earlier test has compiled.
    return list(reached) if found and (makes_code or AT_IMPORT in found) else found


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
            yield Tests(name, command, environment, not of_arrays, of_arrays)


def is_one_of(path: str, globs: tuple[str, ...]) -> bool:
    return any(Path(path).match(glob) for glob in globs)


def python_tests(workspace: Workspace) -> Iterator[Tests]:
    found = sorted((workspace.folder / "tests" / "python").rglob("test_*.py"))
    paths = [str(path.relative_to(workspace.folder)) for path in found]
    paths = [path for path in paths if not is_one_of(path, NOT_RUN)]
    others = [path for path in paths if not is_one_of(path, OF_KERNELS + OF_BOTH)]
    for i in range(0, len(others), FILES_TOGETHER):
        files = others[i : i + FILES_TOGETHER]
        yield Tests(" ".join(files), [*PYTEST, *files], of_kernels=False)
    for of_arrays, globs in ((True, OF_BOTH), (False, OF_KERNELS)):
        for path in (path for path in paths if is_one_of(path, globs)):
            yield Tests(path, [*PYTEST, path], of_arrays=of_arrays)
