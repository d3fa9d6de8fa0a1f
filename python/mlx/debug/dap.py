"""The debugger as a server of the Debug Adapter Protocol, for editors."""

import io
import json
import os
import socket
import sys
import threading
from collections.abc import Callable
from typing import IO, Any

from mlx.debug.script_places import ScriptPlaces
from mlx.debug.session import Breakpoint, Frame, Resume, Session, Stop
from mlx.debug.values import Unshowable, Value, text_of

THREAD = 1  # there is one: the one that has stopped
CAPABILITIES = {
    "supportsConfigurationDoneRequest": True,
    "supportsEvaluateForHovers": True,
    "supportsTerminateRequest": True,
}


class Channel:
    """Messages, each behind its length, from one stream and to another."""

    def __init__(self, reader: IO[bytes], writer: IO[bytes]) -> None:
        self._reader, self._writer = reader, writer
        self._lock = threading.Lock()
        self._next = 1

    def read(self) -> dict[str, Any] | None:
        """The next message; None where the stream ends."""
        length = 0
        while line := self._reader.readline().strip():
            name, _, value = line.decode("ascii", "replace").partition(":")
            if name.lower() == "content-length":
                length = int(value)
        data = self._reader.read(length) if length else b""
        return json.loads(data) if data else None

    def write(self, message: dict[str, Any]) -> None:
        with self._lock:
            data = json.dumps({"seq": self._next, **message}).encode()
            self._next += 1
            try:
                self._writer.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
                self._writer.flush()
            except (OSError, ValueError):
                pass  # the client has gone

    def event(self, name: str, body: dict[str, Any] | None = None) -> None:
        self.write({"type": "event", "event": name, "body": body or {}})


class Output(io.TextIOBase):
    """What the script prints, as events, one for each line."""

    def __init__(self, channel: Channel) -> None:
        self._channel = channel
        self._line = ""

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        self._line += text
        if "\n" in text:
            self.flush()
        return len(text)

    def flush(self) -> None:
        line, self._line = self._line, ""
        if line:
            self._channel.event("output", {"category": "stdout", "output": line})


class Server:
    """Answers one client."""

    def __init__(self, session: Session, channel: Channel) -> None:
        self.session, self.channel = session, channel
        self.quits = False
        self._command: list[str] = []
        self._texts: list[str] = []  # of sources that are no files, by reference - 1
        self._parts: list[Callable[[], list[dict[str, Any]]]] = []  # by reference - 1
        self._by_source: dict[str, list[tuple[str, int]]] = {}
        self._then: Resume | None = None
        self._reporter = threading.Thread(target=self._report_stops, daemon=True)
        self._launched = False
        self._configured = False

    @classmethod
    def at_stdio(cls, session: Session) -> "Server":
        """The script's own output goes to the client as events, or to stderr."""
        writer = os.fdopen(os.dup(1), "wb")
        os.dup2(2, 1)
        return cls(session, Channel(sys.stdin.buffer, writer))

    @classmethod
    def at_port(cls, session: Session, port: int) -> "Server":
        """Waits for a client. The port 0 is any that is free; it is printed."""
        with socket.create_server(("127.0.0.1", port)) as listener:
            print(f"Debug adapter at port {listener.getsockname()[1]}", file=sys.stderr, flush=True)
            connection, _ = listener.accept()
        return cls(session, Channel(connection.makefile("rb"), connection.makefile("wb")))

    def start(self, command: list[str]) -> list[str]:
        """Answers until the script may run; returns it with its arguments."""
        self._command = command
        while not (self._launched and self._configured) and not self.quits:
            self._answer_next()
        if self.quits:
            sys.exit(0)
        sys.stdout = Output(self.channel)
        return self._command

    def serve(self) -> None:
        """Answers while the script runs."""
        self._reporter.start()
        while not self.quits:
            self._answer_next()

    def end(self, status: int) -> None:
        """The script has ended."""
        sys.stdout.flush()
        self._reporter.join(timeout=5)
        self.channel.event("exited", {"exitCode": status})
        self.channel.event("terminated")

    def _report_stops(self) -> None:
        while stop := self.session.wait():
            self._parts = []
            body = {"reason": "breakpoint" if stop.breakpoint else "step", "threadId": THREAD}
            body["description"] = f"thread {stop.position} of {stop.kernel}"
            self.channel.event("stopped", {**body, "allThreadsStopped": True})
            while self.session.stop is stop and not self.session.ended.wait(0.01):
                pass

    # ---- requests ----

    def _answer_next(self) -> None:
        request = self.channel.read()
        if request is None:
            return self._quit()
        if request.get("type") != "request":
            return None
        name = request.get("command", "")
        method = getattr(self, "on_" + name, None)
        answer = {"type": "response", "request_seq": request.get("seq"), "command": name}
        try:
            if method is None:
                raise Unshowable(f"there is no request {name!r}")
            body = method(request.get("arguments") or {})
            self.channel.write({**answer, "success": True, "body": body or {}})
        except (Unshowable, KeyError, IndexError) as error:
            self.channel.write({**answer, "success": False, "message": str(error)})
        if name == "initialize":
            self.channel.event("initialized")
        # The answer comes before the next stop.
        then, self._then = self._then, None
        if then is not None:
            self.session.resume(then)
        return None

    def _quit(self) -> None:
        self.quits = True
        self.session.let_go()

    def on_initialize(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return CAPABILITIES

    def on_launch(self, arguments: dict[str, Any]) -> None:
        if program := arguments.get("program"):
            self._command = [program, *arguments.get("args", [])]
        if not self._command:
            raise Unshowable("launch needs a program")
        self._launched = True

    def on_configurationDone(self, arguments: dict[str, Any]) -> None:  # noqa: N802
        self._configured = True

    def on_disconnect(self, arguments: dict[str, Any]) -> None:
        self._quit()

    on_terminate = on_disconnect

    def on_setBreakpoints(self, arguments: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        source = arguments["source"]
        path = source.get("path") or source.get("name", "")
        places = [self._kernel_place(path, p["line"]) for p in arguments.get("breakpoints", [])]
        self._by_source[path] = [place for place in places if place]
        points = [place for some in self._by_source.values() for place in some]
        numbered = [Breakpoint(i, file, line) for i, (file, line) in enumerate(points, 1)]
        self.session.set_breakpoints(numbered)
        message = {"message": "there is no kernel at this line"}
        return {
            "breakpoints": [
                {"verified": bool(place), **({} if place else message)} for place in places
            ]
        }

    @staticmethod
    def _kernel_place(path: str, line: int) -> tuple[str, int] | None:
        """In a script, breakpoints are in the texts of kernels."""
        return ScriptPlaces(path).in_kernel(line) if path.endswith(".py") else (path, line)

    def on_setExceptionBreakpoints(self, arguments: dict[str, Any]) -> None:  # noqa: N802
        """There are none."""

    def on_threads(self, arguments: dict[str, Any]) -> dict[str, Any]:
        stop = self.session.stop
        name = f"thread {stop.position} of {stop.kernel}" if stop else "kernels"
        return {"threads": [{"id": THREAD, "name": name}]}

    def _stop(self) -> Stop:
        if self.session.stop is None:
            raise Unshowable("no thread has stopped")
        return self.session.stop

    def on_stackTrace(self, arguments: dict[str, Any]) -> dict[str, Any]:  # noqa: N802
        stop = self._stop()
        frames = [self._frame(stop, i, frame) for i, frame in enumerate(stop.frames)]
        return {"stackFrames": frames, "totalFrames": len(frames)}

    def _frame(self, stop: Stop, number: int, frame: Frame) -> dict[str, Any]:
        line = frame.line
        source: dict[str, Any]
        places = ScriptPlaces(self._command[0])
        if (there := places.in_script(frame.file, line)) is not None:
            source, line = {"name": os.path.basename(places.path), "path": places.path}, there
        elif os.path.isfile(path := os.path.join("/", frame.file)):
            source = {"name": os.path.basename(path), "path": path}
        else:
            lines = stop.source_lines(frame.file)
            text = "\n".join(lines.get(i, "") for i in range(1, max(lines, default=0) + 1))
            if text not in self._texts:
                self._texts.append(text)
            source = {"name": frame.file, "sourceReference": self._texts.index(text) + 1}
        return {"id": number, "name": frame.name, "line": line, "column": 1, "source": source}

    def on_source(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"content": self._texts[arguments["sourceReference"] - 1]}

    def on_scopes(self, arguments: dict[str, Any]) -> dict[str, Any]:
        frame = self._stop().frames[arguments["frameId"]]

        def parts() -> list[dict[str, Any]]:
            return [self._variable(name, value) for name, value in frame.locals().items()]

        reference = self._refer(parts)
        return {"scopes": [{"name": "Locals", "variablesReference": reference, "expensive": False}]}

    def on_variables(self, arguments: dict[str, Any]) -> dict[str, Any]:
        return {"variables": self._parts[arguments["variablesReference"] - 1]()}

    def _refer(self, parts: Callable[[], list[dict[str, Any]]]) -> int:
        self._parts.append(parts)
        return len(self._parts)

    def _variable(self, name: str, value: Any) -> dict[str, Any]:
        result: dict[str, Any] = {"name": name, "variablesReference": 0}
        try:
            result["value"] = text_of(value)
            if isinstance(value, Value):
                resolved = value.resolve()
                result["type"] = resolved.type.name
                if resolved.type.kind in ("struct", "array", "pointer"):
                    result["variablesReference"] = self._refer(
                        lambda: [self._variable(n, part) for n, part in resolved.parts()]
                    )
        except Unshowable as error:
            result["value"] = f"<{error}>"
        return result

    def on_evaluate(self, arguments: dict[str, Any]) -> dict[str, Any]:
        frame = self._stop().frames[arguments.get("frameId", 0)]
        shown = self._variable("", frame.evaluate(arguments["expression"]))
        shown["result"] = shown.pop("value")
        return shown

    def _resume(self, how: Resume) -> None:
        self._stop()
        self._then = how

    def on_continue(self, arguments: dict[str, Any]) -> dict[str, Any]:
        self._resume(Resume.CONTINUE)
        return {"allThreadsContinued": True}

    def on_next(self, arguments: dict[str, Any]) -> None:
        self._resume(Resume.NEXT)

    def on_stepIn(self, arguments: dict[str, Any]) -> None:  # noqa: N802
        self._resume(Resume.STEP)

    def on_stepOut(self, arguments: dict[str, Any]) -> None:  # noqa: N802
        self._resume(Resume.FINISH)
