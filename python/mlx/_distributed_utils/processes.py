"""Starts processes, forwards their output by lines, and ends all of them together."""

import ctypes
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
from typing import IO, Any

_PATIENCE = 5.0  # seconds between asking processes to end and killing them
_PR_SET_PDEATHSIG = 1
_ENDING_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_libc = ctypes.CDLL(None)


def _end_with_parent() -> None:
    """Called in a new process: the system kills it if the launcher is killed."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class _Output:
    """A stream of a process, of which whole lines are written to one of ours."""

    def __init__(self, source: IO[bytes], to: IO[bytes]) -> None:
        self.source, self.to = source, to
        self.rest = b""

    def forward(self) -> bool:
        """Forwards what has come; returns False at the end."""
        text = os.read(self.source.fileno(), 1 << 16)
        lines = self.rest + text
        # Bars of progress end with a carriage return.
        end = max(lines.rfind(b"\n"), lines.rfind(b"\r")) + 1 if text else len(lines)
        self.rest = lines[end:]
        if end:
            missing = b"" if text or lines.endswith(b"\n") else b"\n"
            self.to.write(lines[:end] + missing)
            self.to.flush()
        return bool(text)


class Processes:
    """The processes of one program. Each is the leader of a group, so that its children end, too."""

    def __init__(self, verbose: bool) -> None:
        self.verbose = verbose
        self.started: list[subprocess.Popen[bytes]] = []
        self.outputs = selectors.DefaultSelector()
        self.code = 0
        self.kill_at: float | None = None  # when those that were asked to end are killed
        self.signalled = 0
        # From the first start on, a signal must end all.
        self.handlers = {s: signal.signal(s, self._on_signal) for s in _ENDING_SIGNALS}

    def _on_signal(self, number: int, _: Any) -> None:
        self.signalled = number

    def start(self, command: list[str], environment: dict[str, str], cwd: str | None) -> None:
        """Starts the process of the next rank."""
        rank = len(self.started)
        try:
            process = subprocess.Popen(
                command,
                env=environment,
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                bufsize=0,
                start_new_session=True,
                preexec_fn=_end_with_parent,
            )
        except OSError as error:
            self._say(f"Rank {rank} cannot be started: {error}.")
            self._fail(127)
            return
        self.started.append(process)
        if self.verbose:
            self._say(f"Rank {rank} is process {process.pid}: {' '.join(command)}")
        for source, to in ((process.stdout, sys.stdout), (process.stderr, sys.stderr)):
            self.outputs.register(source, selectors.EVENT_READ, _Output(source, to.buffer))

    def run(self) -> int:
        """Waits for all; returns the code of the first that fails, or 0."""
        threading.Thread(target=self._forward_input, daemon=True).start()
        running = dict(enumerate(self.started))
        try:
            while running:
                self._forward_outputs(0.02)
                self._heed_signals()
                for rank, process in list(running.items()):
                    if self._has_ended(process):
                        del running[rank]
                        self._note_end(rank, process.wait())
                if self.kill_at is not None and time.monotonic() > self.kill_at:
                    self._signal_all(signal.SIGKILL)
            self._forward_outputs(0)
        finally:
            self._signal_all(signal.SIGKILL)
            for number, handler in self.handlers.items():
                signal.signal(number, handler)
        return self.code

    def _forward_outputs(self, seconds: float) -> None:
        while self.outputs.get_map():
            ready = self.outputs.select(seconds)
            for key, _ in ready:
                if not key.data.forward():
                    self.outputs.unregister(key.fileobj)
            if not ready or seconds:
                return
        time.sleep(seconds)

    def _forward_input(self) -> None:
        """Gives all processes the lines of the standard input, unless that is another's terminal."""
        source = sys.stdin
        if source is None or source.closed:
            return
        terminal = source.isatty() and os.tcgetpgrp(source.fileno()) != os.getpgrp()
        for line in () if terminal else source.buffer:
            for process in self.started:
                self._give(process, line)
        for process in self.started:
            self._give(process, None)

    @staticmethod
    def _give(process: "subprocess.Popen[bytes]", line: bytes | None) -> None:
        try:
            process.stdin.close() if line is None else process.stdin.write(line)
        except (OSError, ValueError):
            pass  # it has ended, or closed its input

    def _heed_signals(self) -> None:
        number, self.signalled = self.signalled, 0
        if not number:
            return
        again = self.kill_at is not None
        self._fail(128 + number)
        self._signal_all(signal.SIGKILL if again else number)

    @staticmethod
    def _has_ended(process: "subprocess.Popen[bytes]") -> bool:
        """Whether the process has ended. Then what is left of its group ends, before its number is free."""
        flags = os.WEXITED | os.WNOHANG | os.WNOWAIT
        if os.waitid(os.P_PID, process.pid, flags) is None:
            return False
        _signal_group(process.pid, signal.SIGKILL)
        return True

    def _note_end(self, rank: int, code: int) -> None:
        if code < 0:
            reason, code = f"was ended by {signal.Signals(-code).name}", 128 - code
        else:
            reason = f"has ended with code {code}"
        if self.verbose or (code and self.kill_at is None):
            self._say(f"Rank {rank} {reason}.")
        if code and self.kill_at is None:
            self._fail(code)
            self._signal_all(signal.SIGTERM)

    def _fail(self, code: int) -> None:
        if self.kill_at is None:
            self.code = code
            self.kill_at = time.monotonic() + _PATIENCE

    def _signal_all(self, number: int) -> None:
        for process in self.started:
            if process.returncode is None:
                _signal_group(process.pid, number)

    @staticmethod
    def _say(text: str) -> None:
        print(f"[mlx.launch] {text}", file=sys.stderr, flush=True)


def _signal_group(leader: int, number: int) -> None:
    try:
        os.killpg(leader, number)
    except ProcessLookupError:
        pass
