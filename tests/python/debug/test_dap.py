"""`python -m mlx.debug --dap`: a client of the Debug Adapter Protocol."""

import json
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).resolve().parent / "debugged.py"
# The script's line in which line 1 of the kernel is.
FIRST = next(i for i, line in enumerate(SCRIPT.read_text().splitlines(), 1) if "source=" in line)


class Client:
    def __init__(self, reader: Any, writer: Any) -> None:
        self.reader, self.writer = reader, writer
        self.events: list[dict[str, Any]] = []
        self.number = 0

    def read(self) -> dict[str, Any]:
        length = 0
        while line := self.reader.readline().strip():
            length = int(re.match(rb"Content-Length: (\d+)", line)[1])
        return json.loads(self.reader.read(length))

    def send(self, command: str, **arguments: Any) -> dict[str, Any]:
        self.number += 1
        message = {"seq": self.number, "type": "request", "command": command}
        data = json.dumps({**message, "arguments": arguments}).encode()
        self.writer.write(b"Content-Length: %d\r\n\r\n" % len(data) + data)
        self.writer.flush()
        while True:
            answer = self.read()
            if answer["type"] == "response":
                assert (answer["request_seq"], answer["command"]) == (self.number, command)
                return answer
            self.events.append(answer)

    def ask(self, command: str, **arguments: Any) -> dict[str, Any]:
        answer = self.send(command, **arguments)
        assert answer["success"], answer
        return answer["body"]

    def event(self, name: str) -> dict[str, Any]:
        while True:
            for event in self.events:
                if event["event"] == name:
                    self.events.remove(event)
                    return event["body"]
            self.events.append(self.read())

    def begin(self, *lines: int, **launch: Any) -> list[dict[str, Any]]:
        assert self.ask("initialize", adapterID="mlx")["supportsConfigurationDoneRequest"]
        self.event("initialized")
        self.ask("launch", **launch)
        points = [{"line": FIRST - 1 + line} for line in lines]
        body = self.ask("setBreakpoints", source={"path": str(SCRIPT)}, breakpoints=points)
        self.ask("setExceptionBreakpoints", filters=[])
        self.ask("configurationDone")
        return body["breakpoints"]

    def top(self) -> tuple[str, int]:
        frame = self.ask("stackTrace", threadId=1)["stackFrames"][0]
        return frame["name"], frame["line"]

    def variables(self, reference: int) -> dict[str, dict[str, Any]]:
        body = self.ask("variables", variablesReference=reference)
        return {variable["name"]: variable for variable in body["variables"]}


@pytest.fixture
def client() -> Iterator[Client]:
    with subprocess.Popen(
        [sys.executable, "-m", "mlx.debug", "--dap"],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        yield Client(process.stdout, process.stdin)
        process.stdin.close()
        assert process.wait(30) == 0, process.stderr.read().decode()


def test_a_session(client: Client):
    assert client.begin(21, program=str(SCRIPT)) == [{"verified": True}]
    assert client.event("stopped")["reason"] == "breakpoint"
    assert client.ask("threads")["threads"] == [{"id": 1, "name": "thread (0, 0, 0) of scale"}]
    (frame,) = client.ask("stackTrace", threadId=1)["stackFrames"]
    assert (frame["name"], frame["line"]) == ("scale", FIRST - 1 + 21)
    assert frame["source"]["path"] == str(SCRIPT)
    (scope,) = client.ask("scopes", frameId=frame["id"])["scopes"]
    variables = client.variables(scope["variablesReference"])
    assert (variables["i"]["value"], variables["i"]["type"]) == ("0", "uint")
    assert variables["v"]["value"] == "(0, 1, 2, 3)"
    parts = client.variables(variables["v"]["variablesReference"])
    assert [parts[name]["value"] for name in "xyzw"] == ["0", "1", "2", "3"]
    rows = client.variables(variables["m"]["variablesReference"])
    assert client.variables(rows["[1]"]["variablesReference"])["[2]"]["value"] == "6"
    assert client.ask("evaluate", expression="x[3] + k", frameId=0)["result"] == "3.0"
    assert client.ask("evaluate", expression="p", frameId=0)["variablesReference"]
    client.ask("continue", threadId=1)
    client.event("stopped")
    assert client.ask("evaluate", expression="k", frameId=0)["result"] == "1"
    client.ask("setBreakpoints", source={"path": str(SCRIPT)}, breakpoints=[])
    client.ask("continue", threadId=1)
    assert client.event("output")["output"] == "y[0] is 23.0\n"
    assert client.event("exited") == {"exitCode": 0}
    client.event("terminated")
    client.ask("disconnect")


def test_steps(client: Client):
    client.begin(17, program=str(SCRIPT))
    client.event("stopped")
    client.ask("stepIn", threadId=1)
    assert client.event("stopped")["reason"] == "step"
    assert client.top()[0] == "square"
    assert len(client.ask("stackTrace", threadId=1)["stackFrames"]) == 2
    client.ask("stepOut", threadId=1)
    client.event("stopped")
    assert client.top() == ("scale", FIRST - 1 + 18)
    client.ask("next", threadId=1)
    client.event("stopped")
    assert client.top() == ("scale", FIRST - 1 + 19)
    client.ask("disconnect")


def test_mistakes(client: Client):
    assert not client.send("launch")["success"]
    (there, elsewhere) = client.begin(21, 2 - FIRST, program=str(SCRIPT))
    assert there["verified"]
    assert not elsewhere["verified"]
    client.event("stopped")
    answer = client.send("evaluate", expression="nothing", frameId=0)
    assert (answer["success"], answer["message"]) == (False, "there is no variable 'nothing' here")
    assert not client.send("variables", variablesReference=77)["success"]
    assert not client.send("scopes", frameId=5)["success"]
    assert client.send("attach")["message"] == "there is no request 'attach'"
    client.ask("terminate")


def test_at_a_port():
    command = [sys.executable, "-m", "mlx.debug", "--dap", "--port", "0", SCRIPT]
    with subprocess.Popen(command, stderr=subprocess.PIPE) as process:
        port = int(re.search(rb"at port (\d+)", process.stderr.readline())[1])
        with socket.create_connection(("127.0.0.1", port)) as connection:
            client = Client(connection.makefile("rb"), connection.makefile("wb"))
            client.begin(20)
            client.event("stopped")
            client.ask("disconnect")
        assert process.wait(30) == 0
