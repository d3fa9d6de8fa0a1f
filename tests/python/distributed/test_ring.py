"""mx.distributed among processes: `workers.py` has what each process does."""

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import pytest
from launched import environment, run_worker

dist = mx.distributed


@pytest.mark.parametrize("processes", [2, 3])
@pytest.mark.parametrize("name", ["reductions,gathers,layouts", "graphs,messages,compiled"])
def test_operations(name: str, processes: int):
    run_worker(name, processes)


def test_four_processes():
    run_worker("reductions,messages,layers", 4)


def test_transforms_layers_and_threads():
    run_worker("transforms,layers,threads", 2)


@pytest.mark.cpu_kernels  # the child of a fork cannot use its parent's GPU
def test_a_fork():
    run_worker("forked", 2)


def test_several_connections():
    run_worker("gathers,messages", 2, "--connections-per-ip", 3)


@pytest.mark.parametrize(
    "name, processes",
    [("different_operations", 3), ("mismatch_names_both", 2), ("killed", 3), ("interrupted", 2)],
)
def test_failures(name: str, processes: int):
    run_worker(name, processes)


# ---- starting ----


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Sets the variables of a ring, and returns the error of init."""

    def start(hosts: object, rank: str = "0", **variables: str) -> str:
        file = tmp_path / "hosts.json"
        file.write_text(hosts if isinstance(hosts, str) else json.dumps(hosts))
        settings = {"MLX_HOSTFILE": str(file), "MLX_RANK": rank, "MLX_RING_TIMEOUT": "0"}
        for name, value in {**settings, **variables}.items():
            monkeypatch.setenv(name, value)
        with pytest.raises(RuntimeError, match=r"^\[ring\]") as error:
            dist.init()
        return str(error.value)

    return start


@pytest.mark.parametrize(
    "hosts, message",
    [
        ("{", "must be JSON: a list"),
        ([], "must be JSON: a list"),
        ({"a": 1}, "must be JSON: a list"),
        (["127.0.0.1:4"], '"127.0.0.1:4" where a list of addresses'),
        ([["127.0.0.1:4"], []], "[] where a list of addresses"),
        ([["127.0.0.1:4"], [4]], "[4] where a list of addresses"),
        ([["127.0.0.1"]], '"127.0.0.1" where an address "host:port"'),
        ([["127.0.0.1:0"]], "port from 1 to 65535"),
        ([["127.0.0.1:70000"]], "port from 1 to 65535"),
        ([["127.0.0.1:x"]], "port from 1 to 65535"),
        ([[":80"]], 'an address "host:port"'),
        ([["no-such-host.invalid:9"], ["127.0.0.1:9"]], "no-such-host.invalid:9 is not known"),
        ([["192.0.2.1:9000"], ["127.0.0.1:9"]], "192.0.2.1:9000 of this process cannot be list"),
    ],
)
def test_bad_hosts(ring, hosts: object, message: str):
    assert message in ring(hosts)


@pytest.mark.parametrize("rank", ["2", "-1", "x", "1.5", "99999999999"])
def test_bad_ranks(ring, rank: str):
    text = ring([["127.0.0.1:4"], ["127.0.0.1:5"]], rank)
    assert f'MLX_RANK is "{rank}"' in text and "ranks from 0 to 1" in text


def test_variables_that_make_no_sense(ring, monkeypatch: pytest.MonkeyPatch):
    assert "cannot be read" in ring([], MLX_HOSTFILE="/no/such/file")
    assert "number of seconds" in ring([["h:1"], ["h:2"]], MLX_RING_TIMEOUT="soon")
    monkeypatch.delenv("MLX_RANK")
    assert dist.init().size() == 1
    with pytest.raises(RuntimeError, match="MLX_RANK and MLX_HOSTFILE"):
        dist.init(strict=True, backend="ring")
    with pytest.raises(RuntimeError, match="No backend is available"):
        dist.init(strict=True)


def test_a_ring_of_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    (tmp_path / "hosts").write_text('[["127.0.0.1:9"]]')
    monkeypatch.setenv("MLX_HOSTFILE", str(tmp_path / "hosts"))
    monkeypatch.setenv("MLX_RANK", "0")
    group = dist.init(strict=True, backend="ring")
    assert (group.rank(), group.size()) == (0, 1)


def free_ports(count: int) -> list[int]:
    sockets = [socket.create_server(("127.0.0.1", 0)) for _ in range(count)]
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def test_an_interruption_ends_the_wait_for_neighbours(tmp_path: Path):
    mine, other = free_ports(2)
    (tmp_path / "hosts").write_text(json.dumps([[f"127.0.0.1:{mine}"], [f"127.0.0.1:{other}"]]))
    variables = environment(
        MLX_HOSTFILE=str(tmp_path / "hosts"), MLX_RANK="0", MLX_RING_VERBOSE="1"
    )
    # A process that was started in the background of a shell ignores the signal.
    program = """import signal, mlx.core as mx
signal.signal(signal.SIGINT, signal.default_int_handler)
mx.distributed.init()"""
    command = [sys.executable, "-c", program]
    process = subprocess.Popen(command, env=variables, stderr=subprocess.PIPE, text=True)
    assert "[ring] Rank 0 listens" in process.stderr.readline()
    assert "[ring] Rank 0 connects" in process.stderr.readline()
    process.send_signal(signal.SIGINT)
    assert "KeyboardInterrupt" in process.communicate(timeout=30)[1]
    assert process.returncode != 0


def test_neighbours_that_do_not_come(ring):
    mine, other = free_ports(2)
    hosts = [[f"127.0.0.1:{mine}"], [f"127.0.0.1:{other}"]]
    text = ring(hosts)
    assert f"Nobody listens at 127.0.0.1:{other}, the address of the process of rank 1" in text
    # Somebody listens who is no process of a ring.
    with socket.create_server(("127.0.0.1", other)):
        text = ring(hosts)
    assert f"Nobody has connected to 127.0.0.1:{mine}" in text
    with socket.create_server(("127.0.0.1", mine)):
        assert f"127.0.0.1:{mine} of this process cannot be listened on" in ring(hosts)
