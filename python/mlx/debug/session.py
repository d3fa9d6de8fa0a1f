"""What a debugger knows: breakpoints, and the thread that has stopped."""

import functools
import json
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import IntEnum
from pathlib import Path
from typing import Any

import mlx.core as mx
from mlx.debug.expressions import evaluate
from mlx.debug.values import MEMORY, Type, Unshowable, Value

_core: Any = mx.metal


class Resume(IntEnum):
    """What ends the next stop, besides breakpoints: see metal/debugger.h."""

    CONTINUE = 0
    STEP = 1
    NEXT = 2
    FINISH = 3


@dataclass(frozen=True)
class Breakpoint:
    number: int
    file: str  # or a kernel; "" is any
    line: int


@functools.cache
def parse_description(text: str) -> dict[str, Any]:
    return json.loads(text)


@dataclass
class Frame:
    """A function that the thread runs."""

    name: str
    function: dict[str, Any]
    site: int
    addresses: list[int]

    @property
    def file(self) -> str:
        return self.function["sites"][self.site]["file"]

    @property
    def line(self) -> int:
        return self.function["sites"][self.site]["line"]

    def variables(self) -> Iterator[tuple[str, Value]]:
        """Those that the line sees and that are declared, inner ones after outer ones."""
        for number in self.function["sites"][self.site]["variables"]:
            variable = self.function["variables"][number]
            address = self.addresses[number] if number < len(self.addresses) else 0
            if not address or not variable["name"]:
                continue
            if variable["indirect"]:
                address = int.from_bytes(MEMORY.read(address, 8), "little")
            yield variable["name"], Value(Type(self.function["types"], variable["type"]), address)

    def locals(self) -> dict[str, Value]:
        """By name; those that others hide are left out."""
        return dict(self.variables())

    def find(self, name: str) -> Value:
        found = self.locals()
        if name not in found:
            raise Unshowable(f"there is no variable {name!r} here")
        return found[name]

    def evaluate(self, text: str) -> Any:
        return evaluate(text, self.find)


@dataclass
class Stop:
    """A thread that has stopped."""

    kernel: str
    source: str
    position: tuple[int, int, int]
    breakpoint: bool
    frames: list[Frame] = field(default_factory=list)  # the innermost first

    def source_lines(self, file: str) -> dict[int, str]:
        """The lines of a file, or of what the compiler knows by this name."""
        path = Path(file if file.startswith("/") else "/" + file)
        if path.suffix in (".metal", ".h") and path.is_file():
            return dict(enumerate(path.read_text().splitlines(), 1))
        lines: dict[int, str] = {}
        current, number = "", 1
        for text in self.source.splitlines():
            if found := re.match(r'\s*#\s*line\s+(\d+)(?:\s+"(.*)")?', text):
                number = int(found[1])
                current = current if found[2] is None else found[2]
                continue
            if current == file:
                lines.setdefault(number, text)
            number += 1
        return lines


class Session:
    """Kernels that are called from now on can be stopped."""

    def __init__(self) -> None:
        _core._start_debugging()
        self.breakpoints: list[Breakpoint] = []
        self._next = 1
        self.stop: Stop | None = None
        self.ended = threading.Event()  # the script

    def add_breakpoint(self, file: str, line: int) -> Breakpoint:
        point = Breakpoint(self._next, file, line)
        self._next += 1
        self.set_breakpoints([*self.breakpoints, point])
        return point

    def set_breakpoints(self, points: list[Breakpoint]) -> None:
        self.breakpoints = points
        _core._set_breakpoints([(point.file, point.line) for point in points])

    def choose_thread(self, position: tuple[int, int, int] | None) -> None:
        _core._choose_thread(None if position is None else list(position))

    def chosen_thread(self) -> tuple[int, ...] | None:
        chosen = _core._chosen_thread()
        return None if chosen is None else tuple(chosen)

    def wait(self) -> Stop | None:
        """The next stop; None once the script has ended."""
        while not self.ended.is_set():
            if found := _core._wait_for_stop(0.05):
                self.stop = self._make(found)
                return self.stop
        return None

    def resume(self, how: Resume) -> None:
        self.stop = None
        _core._resume(int(how))

    def let_go(self) -> None:
        """Nothing stops any more."""
        self.set_breakpoints([])
        self.resume(Resume.CONTINUE)

    @staticmethod
    def _make(found: dict[str, Any]) -> Stop:
        frames = []
        for text, site, addresses in reversed(found["frames"]):
            function = parse_description(text)
            frames.append(Frame(function["name"], function, site, addresses))
        frames[-1].name = found["kernel"]  # the function may have a longer one
        return Stop(found["kernel"], found["source"], found["grid"], found["breakpoint"], frames)
