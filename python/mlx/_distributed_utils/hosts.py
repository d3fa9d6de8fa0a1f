"""Hosts of a distributed program, on the command line and in files; all of them are this machine."""

import json
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


class UsageError(Exception):
    """Something that the user gave makes no sense; the message says what is allowed."""


@dataclass
class Host:
    """Where a process runs: a name, and the addresses that its neighbours reach it by."""

    ssh: str
    ips: list[str] = field(default_factory=list)


@dataclass
class HostFile:
    """What a file of hosts says."""

    hosts: list[Host]
    backend: str | None = None
    envs: list[str] = field(default_factory=list)


def named_hosts(text: str, repeat: int = 1) -> list[Host]:
    """The hosts of a list separated by commas, each repeated so many times."""
    names = [name.strip() for name in text.split(",")]
    if not all(names):
        raise UsageError(f"--hosts {text!r} has an empty name.")
    return [Host(name, [name]) for name in names for _ in range(repeat)]


def read_host_file(path: str) -> HostFile:
    """Reads a file: a list of hosts, or an object with ``hosts``, ``backend`` and ``envs``."""
    try:
        content = json.loads(Path(path).read_text())
    except (OSError, ValueError) as error:
        raise UsageError(f"The file of hosts {path} cannot be read: {error}") from None
    whole = content if isinstance(content, dict) else {"hosts": content}
    hosts, envs = whole.get("hosts"), whole.get("envs", [])
    if not isinstance(hosts, list) or not hosts or not isinstance(envs, list):
        raise UsageError(
            f'The file of hosts {path} must have a list such as [{{"ssh": "127.0.0.1", '
            '"ips": ["127.0.0.1"]}], or an object with it as "hosts".'
        )
    return HostFile([_host(entry, path) for entry in hosts], whole.get("backend"), envs)


def _host(entry: Any, path: str) -> Host:
    ips = entry.get("ips") or [entry.get("ssh")] if isinstance(entry, dict) else [None]
    if not isinstance(ips, list) or not all(isinstance(ip, str) for ip in ips):
        raise UsageError(
            f'The file of hosts {path} has {json.dumps(entry)} where {{"ssh": name, "ips": '
            "[address, ...]} is needed."
        )
    return Host(entry.get("ssh", ips[0]), ips)


def check_is_here(address: str) -> None:
    """Raises UsageError unless the address is one of this machine."""
    try:
        reserve_port(address).close()
    except OSError:
        raise UsageError(
            f"The host {address} is not this machine: processes are started on this one only"
            " (127.0.0.1, localhost, or an address of its own). On other machines, start each"
            " process with the variables MLX_RANK and MLX_HOSTFILE."
        ) from None


def reserve_port(host: str, port: int = 0) -> socket.socket:
    """A socket that holds a port, any free one by default, for a process that will listen there."""
    family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
    holder = socket.socket(family, kind)
    try:
        holder.bind(address)
    except OSError:
        holder.close()
        raise
    # From now on others may bind the port only if they also allow to share it, as the ring does.
    holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    return holder
