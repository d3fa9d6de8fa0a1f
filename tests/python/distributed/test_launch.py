"""mlx.launch: what it starts, forwards and ends; and mlx.distributed_config."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from launched import LAUNCH, environment, launch

CONFIG = [sys.executable, "-m", "mlx._distributed_utils.config"]


def script(folder: Path, text: str) -> Path:
    file = folder / "script.py"
    file.write_text("import os, sys, time\nrank = os.environ['MLX_RANK']\n" + text)
    return file


def has_ended(pid: int) -> bool:
    """Whether the process ends within some seconds."""
    for _ in range(100):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except (FileNotFoundError, ProcessLookupError):
            return True
        if state == "Z":
            return True
        time.sleep(0.1)
    return False


def test_what_processes_get(tmp_path: Path):
    file = script(tmp_path, "print(rank, os.environ['A'], os.getcwd(), *sys.argv[1:])\n")
    hosts = "print(open(os.environ['MLX_HOSTFILE']).read())\n"
    done = launch("-n", 2, "--env", "A=b=c", "--cwd", tmp_path, "script.py", "--verbose", "x")
    assert sorted(done.stdout.splitlines()) == [f"{r} b=c {tmp_path} --verbose x" for r in "01"]
    file.write_text("import os\n" + hosts)
    done = launch("--hosts", "127.0.0.1,127.0.0.2", "-p", "20001", "--connections-per-ip", 2, file)
    assert json.loads(done.stdout.splitlines()[0]) == [
        ["127.0.0.1:20001", "127.0.0.1:20002"],
        ["127.0.0.2:20003", "127.0.0.2:20004"],
    ]


def test_programs_and_pythons(tmp_path: Path):
    assert launch("--print-python").stdout.strip() == sys.executable
    assert launch("-n", 2, "--", "sh", "-c", "echo $MLX_RANK").stdout.split() in (
        ["0", "1"],
        ["1", "0"],
    )
    own = tmp_path / "own"
    own.write_text('#!/bin/sh\necho own "$@"\n')
    own.chmod(0o755)
    assert launch("--python", own, script(tmp_path, "")).stdout == f"own {tmp_path / 'script.py'}\n"
    assert launch(own, "a b").stdout == "own a b\n"
    done = launch("--verbose", own)
    assert "[mlx.launch] Rank 0 is process" in done.stderr and "ended with code 0" in done.stderr


def test_lines_stay_whole_and_in_order(tmp_path: Path):
    text = """
for k in range(2000):
    for part in (rank, "-", str(k) + "x" * (k % 50), "\\n"):
        sys.stdout.write(part)
print("end", end="")
sys.stderr.write("error " + rank)
"""
    done = launch("-n", 3, script(tmp_path, text))
    lines = done.stdout.splitlines()
    for rank in range(3):
        mine = [line for line in lines if line.startswith(f"{rank}-")]
        assert mine == [f"{rank}-{k}" + "x" * (k % 50) for k in range(2000)]
    assert lines.count("end") == 3 and len(lines) == 6003
    assert sorted(done.stderr.splitlines()) == ["error 0", "error 1", "error 2"]


def test_input_goes_to_all(tmp_path: Path):
    file = script(tmp_path, "print(rank, sys.stdin.read().split())\n")
    done = launch("-n", 2, file, stdin=None, input="a\nb\n")
    assert sorted(done.stdout.splitlines()) == ["0 ['a', 'b']", "1 ['a', 'b']"]


@pytest.mark.parametrize(
    "end, code, message",
    [
        ("sys.exit(3)", 3, "Rank 1 has ended with code 3"),
        ("os.kill(os.getpid(), 9)", 137, "Rank 1 was ended by SIGKILL"),
    ],
)
def test_all_end_when_one_fails(tmp_path: Path, end: str, code: int, message: str):
    text = f"""
print("pid", os.getpid(), flush=True)
if rank == "1": time.sleep(0.2); {end}
time.sleep(600)
"""
    done = launch("-n", 3, script(tmp_path, text), code=code)
    assert done.stderr.count("[mlx.launch]") == 1 and message in done.stderr
    assert all(has_ended(int(line.split()[1])) for line in done.stdout.splitlines())


SLEEPS = """
import signal, subprocess
child = subprocess.Popen(["sleep", "600"])
if len(sys.argv) > 1: signal.signal(signal.SIGTERM, signal.SIG_IGN)
print(os.getpid(), child.pid, flush=True)
time.sleep(600)
"""


@pytest.mark.parametrize(
    "number, code",
    [(signal.SIGINT, 130), (signal.SIGTERM, 143), (signal.SIGHUP, 129), (signal.SIGKILL, -9)],
)
def test_all_end_with_the_launcher(tmp_path: Path, number: int, code: int):
    command = [*LAUNCH, "-n", "2", str(script(tmp_path, SLEEPS))]
    process = subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    lines = [process.stdout.readline().split() for _ in range(2)]
    process.send_signal(number)
    assert process.wait(60) == code
    process.communicate()
    for pid, child in lines:
        assert has_ended(int(pid))
        if number == signal.SIGKILL:
            os.kill(int(child), signal.SIGKILL)  # only its parent is ended by the system
        assert has_ended(int(child))


def test_what_a_finished_process_leaves_behind_ends(tmp_path: Path):
    text = "import subprocess\nprint(subprocess.Popen(['sleep', '600']).pid)\n"
    assert has_ended(int(launch(script(tmp_path, text)).stdout))


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "no script or program to start"),
        (["no-such-script.py"], "no script or program 'no-such-script.py'"),
        (["-n", "0", "true"], "must be at least 1, not 0"),
        (["--env", "A", "true"], "'A' must be NAME=VALUE"),
        (["--backend", "mpi", "true"], "'mpi' is not available: use ring"),
        (["--cwd", "/no/such", "true"], "--cwd /no/such is no folder"),
        (["--hosts", "127.0.0.1,", "true"], "has an empty name"),
        (["--hosts", "192.0.2.1", "true"], "192.0.2.1 is not this machine"),
        (["--hosts", "127.0.0.1", "--hostfile", "x", "true"], "exclude each other"),
        (["--hostfile", "/no/such", "true"], "/no/such cannot be read"),
        (["-p", "65535", "-n", "2", "true"], "leaves too few ports"),
    ],
)
def test_wrong_options(arguments: list[str], message: str):
    done = launch(*arguments, code=2)
    assert message in done.stderr and not done.stdout


def test_files_of_hosts(tmp_path: Path):
    file = tmp_path / "hosts.json"
    command = [*CONFIG, "--hosts", "127.0.0.1,127.0.0.1", "--env", "A=1", "--output-hostfile", file]
    subprocess.run(command, check=True, env=environment())
    host = {"ssh": "127.0.0.1", "ips": ["127.0.0.1"]}
    assert json.loads(file.read_text()) == {
        "hosts": [host, host],
        "backend": "ring",
        "envs": ["A=1"],
    }
    own = script(tmp_path, "print(rank, os.environ['A'])\n")
    assert sorted(launch("--hostfile", file, own).stdout.splitlines()) == ["0 1", "1 1"]
    file.write_text(json.dumps([host]))
    assert launch("--hostfile", file, "-n", 2, "--env", "A=2", own).stdout.split().count("2") == 2
    for content in ([], {"hosts": 3}, [{"ips": 3}], ["127.0.0.1"], [{}]):
        file.write_text(json.dumps(content))
        assert f"The file of hosts {file}" in launch("--hostfile", file, "true", code=2).stderr
    done = subprocess.run([*CONFIG, "--hosts", "192.0.2.1"], env=environment(), capture_output=True)
    assert done.returncode == 2 and b"is not this machine" in done.stderr


def test_the_page_and_its_example():
    """The command of the page, and the same example in one process."""
    root = Path(__file__).resolve().parents[3]
    page = (root / "docs" / "several_processes.md").read_text()
    (command,) = re.findall(r"^mlx\.launch (.*)$", page, re.MULTILINE)
    together = launch(*command.split(), cwd=root).stdout
    alone = launch(*command.split()[2:], cwd=root).stdout
    assert alone == together and alone.count("step") == 4
    assert float(alone.split()[-1]) < 0.01
