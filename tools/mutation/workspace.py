"""A checkout and a build of its own, in which every chosen mutation is behind a switch."""

import json
import os
import re
import resource
import shlex
import signal
import subprocess
import sys
import tempfile
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from .mutators import Mutation

ROOT = Path(__file__).resolve().parents[2]
SWITCH = ROOT / "tools" / "mutation" / "switch.h"

MOST_SECONDS = 900  # of a command, if it waits
TIME_SIGNALS = (-signal.SIGXCPU, 128 + signal.SIGXCPU)


@dataclass
class Outcome:
    status: int | None  # None if it takes too long
    output: str


class Workspace:
    def __init__(self, folder: Path, jobs: int):
        self.folder = folder
        self.build = folder / "build" / "release"
        self.jobs = jobs
        self.head = self.git(ROOT, "rev-parse", "HEAD").strip()
        programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self.environment = os.environ | {
            "CCACHE_BASEDIR": str(folder),
            "PATH": programs,
            "PYTHONPATH": f"{folder / 'python'}:{ROOT / 'tools'}",
            "MLX_VERIFY_IR": "1",
        }  # fmt: skip

    def prepare(self, mutations: list[Mutation]) -> set[int]:
        """Builds HEAD with switches; returns the numbers of the mutations that compile."""
        if self.git(ROOT, "status", "--porcelain", "--untracked-files=no"):
            sys.exit("Commit or undo what has changed: mutations are of what is committed.")
        if not self.folder.exists():
            self.git(ROOT, "worktree", "add", "--detach", str(self.folder), "HEAD")
        self.git(self.folder, "checkout", "--quiet", "--force", "--detach", self.head)
        numbers = set(range(len(mutations)))
        self.write(mutations, numbers)
        configure = ["cmake", "--preset", "release", f"-DPython_EXECUTABLE={sys.executable}"]
        subprocess.run(
            configure, cwd=self.folder, env=self.environment, check=True, stdout=subprocess.DEVNULL
        )
        make = ["cmake", "--build", str(self.build), "--parallel", str(self.jobs), "--", "-k", "0"]
        while (built := self.run(make)).status != 0:
            refused = self.refused(mutations, numbers, built.output)
            if not refused:
                sys.exit(f"The build fails:\n{built.output[-4000:]}")
            numbers -= refused
            self.write(mutations, numbers)
        self.run(["cmake", "--install", str(self.build), "--prefix", "python/mlx"])
        return numbers

    @staticmethod
    def git(folder: Path, *arguments: str) -> str:
        command = ["git", "-C", str(folder), *arguments]
        return subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE).stdout

    def write(self, mutations: list[Mutation], numbers: set[int]) -> None:
        """Writes the sources with these switches; unchanged files are not touched."""
        of_path = defaultdict(list)
        for number, mutation in enumerate(mutations):
            of_path[mutation.path].append((number, mutation))
        for path, numbered in of_path.items():
            source = self.git(ROOT, "show", f"{self.head}:{path}").encode()
            for number, mutation in sorted(numbered, key=lambda pair: -pair[1].start):
                if number in numbers:
                    source = mutation.switch(source, number)
            target = self.folder / path
            text = f'#include "{SWITCH}"\n#line 1 "{target}"\n'.encode() + source
            if target.read_bytes() != text:
                target.write_bytes(text)

    def refused(self, mutations: list[Mutation], numbers: set[int], output: str) -> set[int]:
        """The mutations on lines with compiler errors, or all of such files."""
        places = {
            (os.path.relpath(path, self.folder), int(line))
            for path, line in re.findall(r"^(\S+?):(\d+):\d+: +(?:error|required)", output, re.M)
        }
        on_line = {
            number
            for number in numbers
            for path, line in places
            if mutations[number].path == path
            and mutations[number].line <= line <= mutations[number].last_line
        }
        explained = {mutations[number].path for number in on_line}
        others = {path for path, _ in places} - explained
        return on_line | {number for number in numbers if mutations[number].path in others}

    def is_equivalent(self, mutation: Mutation) -> bool:
        """Whether the compiler makes the same object code with and without a mutation."""
        source = self.git(ROOT, "show", f"{self.head}:{mutation.path}").encode()
        with tempfile.TemporaryDirectory(dir=self.build) as folder:
            objects = [Path(folder) / name for name in ("before", "after")]
            texts = source, mutation.apply(source)
            compiled = [self.compile(mutation.path, *pair) for pair in zip(texts, objects)]
            return all(compiled) and objects[0].read_bytes() == objects[1].read_bytes()

    def compile(self, path: str, text: bytes, output: Path) -> bool:
        """Compiles a text in the place of a source, alone, with the options of its build."""
        place = self.folder / path
        options = self.options_of(place)
        command = [*options, "-iquote", str(place.parent), "-o", str(output), "-xc++", "-c", "-"]
        text = f'#line 1 "{place}"\n'.encode() + text
        ended = subprocess.run(command, cwd=self.build, input=text, stderr=subprocess.DEVNULL)
        return ended.returncode == 0

    def options_of(self, source: Path) -> list[str]:
        """The command that compiles the group of a source, without the names of files."""
        name = f'"{source.relative_to(self.folder)}"'
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            group = Path(entry["file"])
            if group == source or group.stem.startswith("unity_") and name in group.read_text():
                words = shlex.split(entry["command"])
                words = words[: words.index("-o")]
                return words[1:] if Path(words[0]).name == "ccache" else words
        return ["false"]

    def run(self, command: list[str], limit: float | None = None, **environment: str) -> Outcome:
        """Runs a command in the checkout, for at most so many seconds of its processors' time."""
        process = subprocess.Popen(
            command,
            cwd=self.folder,
            env=self.environment | environment,
            text=True,
            errors="replace",
            start_new_session=True,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        try:
            if limit is not None:
                seconds = int(limit)
                resource.prlimit(process.pid, resource.RLIMIT_CPU, (seconds, seconds + 5))
            output, _ = process.communicate(timeout=limit and MOST_SECONDS)
            ended = None if process.returncode in TIME_SIGNALS else process.returncode
            return Outcome(ended, output)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, 9)
            process.communicate()
            return Outcome(None, "")
