"""Which sources are mutated, and which tests reach each mutation: every test is run once for that."""

import json
import re
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from .recorder import AT_IMPORT
from .workspace import Workspace

SWITCHES = 4096  # as in switch.h
FAILURE = re.compile(r"^(?:\[  FAILED  \]|FAILED|ERROR) ([^\s,]+)", re.M)  # GoogleTest, pytest


VECTORIZER = "cpp/metal/cpu/vectorizer"
# Where a fault changes how fast code is, and nothing else.
SPEED_ONLY = {
    f"{VECTORIZER}/{name}.cpp"
    for name in (
        "prefetch/prefetch_slice",
        "prefetch/prefetch_ahead",
        "prefetch/stride_in_loop",
        "memory/nontemporal_stores",
    )
}
# They test the code of kernels; the others would compile it once more.
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
# They run other tests again or look at texts.
NOT_RUN = (
    "package/*",
    "packages/*",
    "test_reference_mode.py",
    "test_docs.py",
    "test_examples.py",
    "test_projects.py",
    "test_stubs.py",
    "test_code_version.py",
    "test_coverage_page.py",
)


@dataclass(frozen=True)
class Area:
    name: str
    share: int  # of ten mutations
    sources: tuple[str, ...]  # globs
    # Whether it makes the code of kernels: what was compiled without a mutation serves no test of it.
    makes_code: bool = False


AREAS = (
    Area("vectorizer", 3, (f"{VECTORIZER}/**/*.cpp",), makes_code=True),
    Area("compiler", 2, ("cpp/metal/compiler/*.cpp",), makes_code=True),
    Area("arrays", 4, ("cpp/mlx/**/*.cpp",)),
    Area("bindings", 1, ("python/src/**/*.cpp",)),
)


def is_one_of(name: str, globs: tuple[str, ...]) -> bool:
    return any(Path(name).match(glob) for glob in globs)


@dataclass
class Tests:
    """Those of a Python file, or of a GoogleTest suite, which run in one process."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    reached: dict[str, list[int]] = field(default_factory=dict)  # of each test that passes
    seconds: float = 0

    @property
    def in_python(self) -> bool:
        return self.name.endswith(".py")

    @property
    def compiles(self) -> bool:
        return not self.in_python or is_one_of(self.name, OF_KERNELS + OF_BOTH)

    def record(self, workspace: Workspace) -> "Tests":
        with tempfile.TemporaryDirectory(dir=workspace.build) as folder:
            switches, record = Path(folder) / "switches", Path(folder) / "record"
            switches.write_bytes(bytes(SWITCHES))
            environment = self.environment | {
                "MUTATIONS_REACHED": str(switches),
                "MUTATION_RECORD": str(record),
                "MLX_CACHE_DIR": f"{folder if self.compiles else workspace.build}/kernels",
            }
            start = monotonic()
            outcome = workspace.run(self.command, limit=1800, **environment)
            self.seconds = monotonic() - start
            if record.exists():
                self.reached = json.loads(record.read_text())
            elif outcome.status == 0:
                numbers = [number for number, byte in enumerate(switches.read_bytes()) if byte]
                self.reached = {self.name: numbers}
        return self

    def failure(self, workspace: Workspace, number: int, area: Area, kernels: Path) -> str | None:
        """The test that notices a mutation, or none of those that reach it."""
        with tempfile.NamedTemporaryFile("w", dir=workspace.build) as chosen:
            json.dump(self.reaching(number, area), chosen)
            chosen.flush()
            environment = self.environment | {
                "MUTATION": str(number),
                "MUTATION_TESTS": chosen.name,
                "MLX_CACHE_DIR": str(kernels),
            }
            command = [*self.command, "-x"] if self.in_python else self.command
            outcome = workspace.run(command, 60 + 10 * self.seconds, **environment)
        if outcome.status == 0:
            return None
        if outcome.status is None:
            return f"{self.name}: takes too long"
        found = FAILURE.search(outcome.output)
        return found[1] if found else f"{self.name}: ends with {outcome.status}"

    def reaching(self, number: int, area: Area) -> list[str]:
        """The tests that may notice a mutation."""
        if self.in_python and not is_one_of(self.name, OF_BOTH):
            if is_one_of(self.name, OF_KERNELS) != area.makes_code:
                return []
        found = [test for test, numbers in self.reached.items() if number in numbers]
        # A kernel that one test compiles, the next finds compiled.
        if found and (area.makes_code or AT_IMPORT in found):
            return list(self.reached)
        return found


def cpp_tests(workspace: Workspace) -> Iterator[Tests]:
    """Those that ctest knows, a suite of GoogleTest in one process."""
    listing = ["ctest", "--test-dir", str(workspace.build), "--show-only=json-v1"]
    suites = set()
    for test in json.loads(workspace.run(listing).output)["tests"]:
        name, command = test["name"], test["command"]
        properties = {each["name"]: each["value"] for each in test["properties"]}
        environment = dict(each.split("=", 1) for each in properties.get("ENVIRONMENT", []))
        if command[1].startswith("--gtest_filter") and not environment:
            name = f"{Path(command[0]).name}:{name.split('.')[0]}"
            suite = command[1].split(".")[0]
            command = [command[0], f"{suite}.*", "--gtest_fail_fast", "--gtest_brief=1"]
        if name not in suites:
            suites.add(name)
            yield Tests(name, command, environment)


def python_tests(workspace: Workspace) -> Iterator[Tests]:
    pytest = ["python", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "mutation.recorder"]
    for path in sorted((workspace.folder / "tests" / "python").rglob("test_*.py")):
        name = str(path.relative_to(workspace.folder))
        if not is_one_of(name, NOT_RUN):
            yield Tests(name, [*pytest, name])


def all_tests(workspace: Workspace, record: Path) -> list[Tests]:
    """With what each reaches, quick ones first."""
    known = {}
    if record.exists():
        lines = map(json.loads, record.read_text().splitlines())
        known = {line["name"]: Tests(**line) for line in lines}
    found = [*cpp_tests(workspace), *python_tests(workspace)]
    missing = [tests for tests in found if tests.name not in known]
    with ThreadPoolExecutor(workspace.jobs) as pool, record.open("a") as file:
        for tests in pool.map(lambda tests: tests.record(workspace), missing):
            known[tests.name] = tests
            file.write(json.dumps(vars(tests)) + "\n")
            file.flush()
            counts = f"{len(tests.reached)} tests, {tests.seconds:.0f} s"
            print(f"{len(known)}/{len(found)} {tests.name}: {counts}", flush=True)
    return sorted(known.values(), key=lambda tests: tests.seconds)
