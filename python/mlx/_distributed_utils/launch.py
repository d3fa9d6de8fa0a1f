"""``mlx.launch``: starts a program in several processes that are connected in a ring.

mlx.launch -n 4 script.py arguments
"""

import argparse
import contextlib
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from mlx._distributed_utils.hosts import (
    Host,
    HostFile,
    UsageError,
    check_is_here,
    named_hosts,
    read_host_file,
    reserve_port,
)
from mlx._distributed_utils.processes import Processes


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns the code of the first process that fails, or 0."""
    parser = _parser()
    options = parser.parse_args(arguments)
    if options.print_python:
        print(sys.executable)
        return 0
    try:
        return _launch(options)
    except UsageError as error:
        parser.error(str(error))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mlx.launch",
        description="Starts a program in several processes of this machine, connected in a ring.",
    )
    add = parser.add_argument
    add("--print-python", action="store_true", help="print this Python's path, and exit")
    add("--verbose", action="store_true", help="tell about processes and connections")
    add("--hosts", help="hosts, separated by commas: addresses of this machine (127.0.0.1)")
    add("--repeat-hosts", "-n", type=_count, default=1, help="so many processes on each host")
    add("--hostfile", help="a file of hosts, as mlx.distributed_config writes it")
    add("--backend", help="how the processes are connected: ring")
    add("--env", action="append", default=[], help="NAME=VALUE, a variable of the processes")
    add("--connections-per-ip", type=_count, default=1, help="between two neighbours, by address")
    add(
        "--starting-port",
        "-p",
        type=_count,
        help="the first port to listen on, instead of free ones",
    )
    add("--cwd", help="the folder in which the processes start")
    add("--python", default=sys.executable, help="the Python that runs scripts")
    add("command", nargs=argparse.REMAINDER, help="a script or a program, and its arguments")
    return parser


def _count(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"must be at least 1, not {value}")
    return value


def _launch(options: argparse.Namespace) -> int:
    described = _described(options)
    backend = options.backend or described.backend or "ring"
    if backend not in ("ring", "any"):
        raise UsageError(f"The backend {backend!r} is not available: use ring.")
    if options.cwd is not None and not Path(options.cwd).is_dir():
        raise UsageError(f"--cwd {options.cwd} is no folder.")
    command = _command(options)
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    if options.verbose:
        environment["MLX_RING_VERBOSE"] = "1"
    environment |= dict(_variable(text) for text in described.envs + options.env)
    with _ports(described.hosts, options) as addresses, _file(addresses) as hosts:
        processes = Processes(options.verbose)
        for rank in range(len(addresses)):
            own = {"MLX_RANK": str(rank), "MLX_HOSTFILE": hosts}
            processes.start(command, environment | own, options.cwd)
        return processes.run()


def _described(options: argparse.Namespace) -> HostFile:
    """The hosts of the options or of the file, all of which are this machine."""
    if options.hostfile and options.hosts:
        raise UsageError("--hosts and --hostfile exclude each other.")
    if options.hostfile:
        described = read_host_file(options.hostfile)
        described.hosts = [host for host in described.hosts for _ in range(options.repeat_hosts)]
    else:
        described = HostFile(named_hosts(options.hosts or "127.0.0.1", options.repeat_hosts))
    for address in {address for host in described.hosts for address in host.ips}:
        check_is_here(address)
    return described


def _variable(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise UsageError(f"--env {text!r} must be NAME=VALUE.")
    return name, value


def _command(options: argparse.Namespace) -> list[str]:
    """What each process runs: scripts by Python, programs as they are."""
    words = options.command[1:] if options.command[:1] == ["--"] else options.command
    if not words:
        raise UsageError("There is no script or program to start.")
    file = Path(options.cwd or ".", words[0]).resolve()
    if not file.is_file():
        file = Path(words[0]).resolve()
    if file.is_file():
        runs_itself = file.suffix != ".py" and os.access(file, os.X_OK)
        return ([] if runs_itself else [options.python]) + [str(file), *words[1:]]
    if not shutil.which(words[0]):
        raise UsageError(f"There is no script or program {words[0]!r}.")
    return words


@contextlib.contextmanager
def _ports(hosts: list[Host], options: argparse.Namespace) -> Iterator[list[list[str]]]:
    """The addresses of each process. Free ports are held until the end, so that no other uses them."""
    with contextlib.ExitStack() as stack:
        used = 0

        def address(ip: str) -> str:
            nonlocal used
            port = options.starting_port and options.starting_port + used
            used += 1
            if not port:
                port = stack.enter_context(reserve_port(ip)).getsockname()[1]
            elif port > 65535:
                raise UsageError(f"--starting-port {options.starting_port} leaves too few ports.")
            return f"[{ip}]:{port}" if ":" in ip else f"{ip}:{port}"

        repeat = range(options.connections_per_ip)
        yield [[address(ip) for ip in host.ips for _ in repeat] for host in hosts]


@contextlib.contextmanager
def _file(addresses: list[list[str]]) -> Iterator[str]:
    """A file for MLX_HOSTFILE."""
    with tempfile.NamedTemporaryFile("w", prefix="mlx-hosts-", suffix=".json") as file:
        json.dump(addresses, file)
        file.flush()
        yield file.name


if __name__ == "__main__":
    sys.exit(main())
