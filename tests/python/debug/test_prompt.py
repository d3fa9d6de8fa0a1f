"""`python -m mlx.debug`: the prompt, with commands from a pipe."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parent / "debugged.py"


def run(*commands: str, script: Path = SCRIPT, arguments: tuple[str, ...] = ()) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "mlx.debug", script, *arguments],
        input="".join(command + "\n" for command in commands),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.replace("(mlx) ", "")


def at_line(line: int, *commands: str) -> list[str]:
    """What the commands print where thread 5 stops, before line `line`."""
    text = run(f"break {line}", "thread 5", "run", *commands, "quit")
    assert "Breakpoint in thread (5, 0, 0) of scale\n" in text
    return text.split(f"{line:5}  ", 1)[1].splitlines()[1:]


VALUES = {
    "i": "5",
    "x[3]": "3",
    "x[i + 1]": "6",
    "x[0:3]": "(0, 1, 2)",
    "n": "4",
    "t": "(5, 0, 0)",
    "v": "(5, 1, 2, 3)",
    "v.zw": "(2, 3)",
    "v.x + 1": "6.0",
    "v[1]": "1",
    "h": "1.25",
    "g": "5",
    "p": "{a = 5, b = [5, -6], color = green}",
    "p.b[1]": "-6",
    "p.color == 2": "true",
    "m": "[[1, 2, 3], [4, 5, 6]]",
    "m[1][2]": "6",
    "*q": "2",
    "q[1]": "3",
    "flag": "true",
    "!flag || i > 100": "false",
    "flags": "(true, false, true)",
    "packed": "(1, 2, 3)",
    "wide": str(5 << 40),
    "small": "-1",
    "shared[5]": "25",
    "table": "[1, 2, 3]",
    "-7 / 2": "-3",
    "i % 3 * 2.5f": "5.0",
}


def test_values():
    shown = at_line(19, *(f"print {expression}" for expression in VALUES))
    assert dict(zip(VALUES, shown, strict=True)) == VALUES


MISTAKES = {
    "print nothing": "there is no variable 'nothing' here",
    "print s": "there is no variable 's' here",
    "print v.q": "float4 has no member 'q'",
    "print i[0]": "a value of type uint has no elements",
    "print m[2]": "index 2 is outside of int[2][3]",
    "print i / 0": "by zero",
    "print f(i)": "cannot evaluate 'f(i)'",
    "print 1 +": "cannot understand '1 +'",
    "print x[1 << 50]": "cannot read 4 bytes at",
    "print v + 1": "a value of type float4 is no number",
    "break": None,
    "break x": "break needs a line",
    "delete 7": "there is no breakpoint 7",
    "thread a": "thread needs a position in the grid",
    "up": "this is the outermost function",
    "run": "the script runs already",
    "jump": "There is no command 'jump'",
}


def test_mistakes():
    shown = at_line(19, *MISTAKES)
    expected = [text or "1  line 19" for text in MISTAKES.values()]
    assert len(shown) == len(expected)
    for line, text in zip(shown, expected, strict=True):
        assert text in line


def test_locals_have_types():
    shown = at_line(21, "locals")
    assert "uint i = 5" in shown
    assert "float4 v = (5, 1, 2, 3)" in shown
    assert "half h = 1.25" in shown
    assert "bfloat g = 5" in shown
    assert "int[2][3] m = [[1, 2, 3], [4, 5, 6]]" in shown
    assert "int k = 0" in shown
    assert "float s = 0" in shown
    assert any(line.startswith("float * q = 0x") for line in shown)


def test_steps():
    shown = at_line(
        17, "step", "where", "print v", "up", "print v.x", "down", "finish", "next", "next", "next"
    )
    places = [line for line in shown if line.startswith("scale")]
    assert shown[1].startswith("scale.header:5 in square")
    assert shown[3] == "*0  square at scale.header:5"
    assert shown[4] == " 1  scale at scale:17"
    assert shown[5] == "5"
    assert [place.split(" ")[0] for place in places] == [
        "scale.header:5", "scale:17", "scale.header:5", "scale:18", "scale:19", "scale:20", "scale:21",
    ]  # fmt: skip


def test_next_stays_in_its_function():
    shown = at_line(17, "next")
    assert shown[1].startswith("scale:18 in scale")


def test_list_marks_the_line():
    shown = at_line(20, "list")
    assert "->  20        float s = shared[k];" in shown
    assert "    18      threadgroup_barrier(mem_flags::mem_threadgroup);" in shown


def test_the_first_thread_at_a_breakpoint_is_chosen():
    text = run(
        "break scale:21", "run", "print k", "continue", "print k", "thread any", "thread", "quit"
    )
    assert text.count("Breakpoint in thread (0, 0, 0) of scale") == 2
    assert "\n0\n" in text and "\n1\n" in text
    assert "The first thread at a breakpoint" in text


def test_another_thread_can_be_chosen():
    text = run("break 19", "run", "thread 17", "continue", "print i", "delete", "continue")
    assert "Breakpoint in thread (17, 0, 0) of scale" in text
    assert "\n17\n" in text
    assert "y[0] is" in text


def test_a_breakpoint_of_another_kernel_does_not_stop():
    assert "Breakpoint in" not in run("break other:19", "run")


def test_the_script_runs_to_its_end():
    text = run("run")
    assert text == "y[0] is 23.0\n"


def test_quit_where_interrupts_are_ignored():
    """As in commands that a shell starts in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        assert at_line(19, "print i") == ["5"]
    finally:
        signal.signal(signal.SIGINT, before)


def test_quit_before_the_script_runs():
    assert run("quit") == ""
    assert run() == ""


def test_arguments_and_status(tmp_path: Path):
    script = tmp_path / "s.py"
    script.write_text("import sys\nprint(sys.argv[1:], __name__)\nsys.exit(3)\n")
    done = subprocess.run(
        [sys.executable, "-m", "mlx.debug", script, "-a", "b"],
        input="run\n", capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 3
    assert done.stdout == "(mlx) ['-a', 'b'] __main__\n"


@pytest.mark.parametrize("script", [["--dap", "--port"], ["--port", "1", "x.py"], []])
def test_wrong_arguments(script: list[str]):
    done = subprocess.run(
        [sys.executable, "-m", "mlx.debug", *script], capture_output=True, text=True
    )
    assert done.returncode == 2


def test_the_session_of_the_guide(tmp_path: Path):
    guide = (Path(__file__).resolve().parents[3] / "docs" / "debugging.md").read_text()
    guide = guide[guide.index("## Stopping at a line") :]
    code, session = re.findall(r"```(?:python|none)\n(.*?)```", guide, re.DOTALL)[:2]
    script = tmp_path / "norm.py"
    script.write_text(code)
    commands = re.findall(r"^\(mlx\) (.*)$", session, re.MULTILINE)
    shown = re.sub(r"^\(mlx\) .*\n", "", session, flags=re.MULTILINE)
    hidden = re.compile(r"0x[0-9a-f]+")  # addresses differ from run to run
    assert hidden.sub("0x", run(*commands, script=script)) == hidden.sub("0x", shown)
