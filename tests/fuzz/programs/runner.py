"""Talks to the program `program_runner`, which compiles and runs kernels in all forms."""

import os
import struct
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

REFERENCE = "reference"
# The target processors of vector code, each with a CPU flag of machines that can run it.
PROCESSORS = {
    "x86-64-v2": "sse4_2",
    "x86-64-v3": "avx2",
    "x86-64-v4": "avx512vl",
    "cortex-a72": "asimd",
    "neoverse-n1": "asimdhp",
}
WITHOUT_FMA = "x86-64-v2"
NATIVE = "native"  # vector code for all that the processor has
BEYOND_PROCESSORS = "avx512_fp16"  # a flag of those that have more instructions than the ones above
MACHINE_FLAGS = frozenset(Path("/proc/cpuinfo").read_text().split())
CUDA = "cuda"  # on an NVIDIA GPU; only on request
CHECKED = "checked"  # vector code that checks itself, which must report nothing; only on request
FORMS = (
    REFERENCE,
    *(name for name, flag in PROCESSORS.items() if flag in MACHINE_FLAGS),
    *([NATIVE] if BEYOND_PROCESSORS in MACHINE_FLAGS else []),
)

ALL_FORMS = (REFERENCE, *PROCESSORS, NATIVE, CHECKED, CUDA)

ROOT = Path(__file__).resolve().parents[3]
PROGRAM_RUNNER = ROOT / "build" / "release" / "bin" / "program_runner"

OUTCOMES = ("same", "differs", "launch fails", "compiler fails", "crashes", "hangs")
COMPARISONS = {"bits": 0, "float": 1, "half": 2, "bfloat": 3}


@dataclass
class Buffer:
    """The contents of a buffer, and how its elements are compared afterwards."""

    data: bytes
    comparison: str = "bits"
    tolerance: float = 0.0
    offset: int = 0  # bytes from the start of its memory


@dataclass
class Launch:
    """A kernel and a launch of it."""

    name: str
    source: str
    grid: tuple[int, int, int]
    threadgroup: tuple[int, int, int]
    buffers: list[Buffer] = field(default_factory=list)
    threadgroup_memory: list[int] = field(default_factory=list)
    constants: list[tuple[int, int, int]] = field(default_factory=list)  # index, type, bits
    expected: bytes = b""  # what it leaves in memory, if that is known

    @property
    def contracts(self) -> bool:
        """Whether it rounds once for `a * b + c` where the processor can."""
        return "FP_CONTRACT ON" in self.source


@dataclass
class Result:
    """The result of a program in one form."""

    outcome: str
    message: str
    why_scalar: str


@dataclass
class Reply:
    """The results of a program: the front end's error, or a result by form."""

    front_end: str
    results: dict[str, Result]
    memory: bytes = b""  # what the first form leaves there, if that was asked for

    @property
    def failures(self) -> dict[str, str]:
        """The failures, by form."""
        if self.front_end:
            return {"front end": self.front_end}
        return {
            form: f"{result.outcome}: {result.message}"
            for form, result in self.results.items()
            if result.outcome != "same"
        }


def text(value: str | bytes) -> bytes:
    """A length and bytes."""
    data = value.encode() if isinstance(value, str) else value
    return struct.pack("<I", len(data)) + data


def pack(launch: Launch) -> bytes:
    """A launch in the format of `messages.h`."""
    parts = [text(launch.name), text(launch.source)]
    parts.append(struct.pack("<6I", *launch.grid, *launch.threadgroup))
    parts.append(struct.pack("<I", len(launch.buffers)))
    for buffer in launch.buffers:
        comparison = COMPARISONS[buffer.comparison]
        parts.append(struct.pack("<IdI", comparison, buffer.tolerance, buffer.offset))
        parts.append(text(buffer.data))
    parts.append(struct.pack("<I", len(launch.threadgroup_memory)))
    parts += [struct.pack("<I", size) for size in launch.threadgroup_memory]
    parts.append(struct.pack("<I", len(launch.constants)))
    parts += [struct.pack("<IIQ", *constant) for constant in launch.constants]
    parts.append(text(launch.expected))
    return b"".join(parts)


class Replies:
    """Reads what the runner answers."""

    def __init__(self, data: bytes):
        self.data, self.place = data, 0

    def number(self) -> int:
        (value,) = struct.unpack_from("<I", self.data, self.place)
        self.place += 4
        return value

    def bytes(self) -> bytes:
        size = self.number()
        self.place += size
        return self.data[self.place - size : self.place]

    def text(self) -> str:
        return self.bytes().decode(errors="replace")

    def result(self) -> Result:
        return Result(OUTCOMES[self.number()], self.text(), self.text())

    def reply(self, forms: Sequence[str]) -> Reply:
        front_end = self.text()
        count = self.number()
        results = {form: self.result() for form in forms[:count]}
        return Reply(front_end, results, self.bytes())


class Runner:
    """A running `program_runner`; it is started again if it has ended.

    `program` is a command. With `base`, all forms are compared with the reference form there.
    """

    def __init__(
        self,
        program: Sequence[str] = (str(PROGRAM_RUNNER),),
        forms: Sequence[str] = FORMS,
        base: Sequence[str] = (),
    ):
        self.program = tuple(program)
        self.forms = tuple(forms)
        self.base = Runner(base, [REFERENCE]) if base else None
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> subprocess.Popen[bytes]:
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen(
                self.program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=os.environ
            )
        return self.process

    def run(
        self,
        launches: Sequence[Launch],
        forms: Sequence[str] | None = None,
        wants_memory: bool = False,
    ) -> list[Reply]:
        """The results of all programs. If the runner dies, they run one by one."""
        forms = forms or self.forms
        if self.base:
            replies = self.base.run(launches, wants_memory=True)
            launches = [replace(one, expected=r.memory) for one, r in zip(launches, replies)]
        replies = self.run_here(launches, forms, wants_memory)
        for launch, reply in zip(launches, replies):
            if launch.contracts:
                reply.results.pop(WITHOUT_FMA, None)
        return replies

    def run_here(
        self, launches: Sequence[Launch], forms: Sequence[str], wants_memory: bool
    ) -> list[Reply]:
        body = struct.pack("<II", wants_memory, len(forms))
        body += b"".join(text(form) for form in forms)
        body += struct.pack("<I", len(launches)) + b"".join(pack(one) for one in launches)
        answer = self.ask(text(body))
        if answer is not None:
            replies = Replies(answer)
            return [replies.reply(forms) for _ in launches]
        if len(launches) == 1:
            return [Reply("the runner ended", {})]
        return [reply for one in launches for reply in self.run_here([one], forms, wants_memory)]

    def ask(self, request: bytes) -> bytes | None:
        process = self.start()
        try:
            process.stdin.write(request)
            process.stdin.flush()
            head = process.stdout.read(4)
            if len(head) == 4:
                (size,) = struct.unpack("<I", head)
                answer = process.stdout.read(size)
                if len(answer) == size:
                    return answer
        except BrokenPipeError:
            pass
        process.kill()
        process.wait()
        self.process = None
        return None

    def close(self) -> None:
        if self.process is not None:
            self.process.stdin.close()
            self.process.wait()
            self.process = None
