"""A checkout and a build of its own, in which one mutation at a time is built and tested."""

import os
import re
import subprocess
import sys
from pathlib import Path

from .mutators import Mutation
from .reach import Stage

ROOT = Path(__file__).resolve().parents[2]
FAILURES = (
    re.compile(r"^\[  FAILED  \] ([\w./]+)", re.M),  # GoogleTest
    re.compile(r"^(?:FAILED|ERROR) (\S+)", re.M),  # pytest
    re.compile(r"^\s*\d+ - (\S+) \(", re.M),  # ctest
)


class DoesNotCompile(Exception):
    pass


class Workspace:
    def __init__(self, folder: Path, jobs: int, build_limit: int = 3600, test_limit: int = 1200):
        self.folder = folder
        self.build = folder / "build" / "release"
        self.jobs = jobs
        self.build_limit = build_limit
        self.test_limit = test_limit
        caches = {"MLX_CACHE_DIR": str(folder / "build" / "kernels"), "CCACHE_BASEDIR": str(folder)}
        programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.environment = os.environ | caches | {
            "PATH": programs,
            "PYTHONPATH": str(folder / "python"),
            "MLX_VERIFY_IR": "1",
        }  # fmt: skip

    def prepare(self) -> None:
        """HEAD as it is committed, with everything built."""
        if not self.folder.exists():
            self.git(ROOT, "worktree", "add", "--detach", str(self.folder), "HEAD")
        head = self.git(ROOT, "rev-parse", "HEAD").strip()
        self.git(self.folder, "checkout", "--quiet", "--force", "--detach", head)
        # One source at a time changes: each is compiled by itself.
        options = ["-DCMAKE_UNITY_BUILD=OFF", f"-DPython_EXECUTABLE={sys.executable}"]
        configure = ["cmake", "--preset", "release", *options]
        subprocess.run(
            configure, cwd=self.folder, env=self.environment, check=True, stdout=subprocess.DEVNULL
        )
        self.make(("all",))

    @staticmethod
    def git(folder: Path, *arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout

    def make(self, targets: tuple[str, ...]) -> None:
        command = ["cmake", "--build", str(self.build), "--parallel", str(self.jobs), "--target"]
        if self.run([*command, *targets], self.build_limit)[0] != 0:
            raise DoesNotCompile
        if targets in (("package_files",), ("all",)):
            install = ["cmake", "--install", str(self.build), "--prefix", "python/mlx"]
            self.run(install, self.build_limit)

    def run(self, command: list[str], limit: int) -> tuple[int | None, str]:
        """The exit status, none if it takes too long, and what it printed."""
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment,
            text=True,
            errors="replace",
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            output, _ = process.communicate(timeout=limit)
            return process.returncode, output
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return None, ""

    def failure_of(self, stage: Stage) -> str | None:
        """The test that fails, or none."""
        tests = [part for part in stage.command if part.startswith("tests/")]
        if tests and not any((self.folder / test).exists() for test in tests):
            return None
        self.make(stage.targets)
        command = [
            part.format(python=sys.executable, build=self.build)
            for part in stage.command
            if not part.startswith("tests/") or (self.folder / part).exists()
        ]
        status, output = self.run(command, self.test_limit)
        if status is None:
            return f"{command[-1]}: takes too long"
        if status == 0:
            return None
        for pattern in FAILURES:
            if found := pattern.search(output):
                return found[1]
        return f"{' '.join(command[-2:])}: ends with {status}"

    def outcome_of(self, mutation: Mutation, stages: tuple[Stage, ...]) -> str | None:
        """The test that notices, or none; DoesNotCompile where there is nothing to test."""
        path = self.folder / mutation.path
        source = path.read_bytes()
        path.write_bytes(mutation.apply(source))
        try:
            failures = (self.failure_of(stage) for stage in stages)
            return next((failure for failure in failures if failure), None)
        finally:
            path.write_bytes(source)
