"""``mlx.distributed_config``: writes a file of hosts for ``mlx.launch``.

mlx.distributed_config --hosts 127.0.0.1,127.0.0.1 --output-hostfile hosts.json
"""

import argparse
import json
import sys
from dataclasses import asdict
from pathlib import Path

from mlx._distributed_utils.hosts import (
    HostFile,
    UsageError,
    check_is_here,
    named_hosts,
    read_host_file,
)


def main(arguments: list[str] | None = None) -> int:
    """Runs the command; returns 0."""
    parser = _parser()
    options = parser.parse_args(arguments)
    try:
        text = json.dumps(_configured(options), indent=2)
        if options.output_hostfile:
            Path(options.output_hostfile).write_text(text + "\n")
    except (UsageError, OSError) as error:
        parser.error(str(error))
    if not options.output_hostfile:
        print(text)
    elif options.verbose:
        print(f"Wrote {options.output_hostfile}.", file=sys.stderr)
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="mlx.distributed_config",
        description="Checks hosts, and writes the file that mlx.launch --hostfile reads.",
    )
    add = parser.add_argument
    add("--verbose", action="store_true", help="tell what is written")
    add("--hosts", help="hosts, separated by commas: addresses of this machine (127.0.0.1)")
    add("--hostfile", help="a file of hosts to check and complete")
    add("--over", choices=["ethernet"], default="ethernet", help="what connects the hosts")
    add("--backend", choices=["ring"], default="ring", help="how processes are connected")
    add("--env", action="append", default=[], help="NAME=VALUE, a variable of the processes")
    add("--output-hostfile", help="where to write; to the standard output by default")
    return parser


def _configured(options: argparse.Namespace) -> dict[str, object]:
    if options.hosts and options.hostfile:
        raise UsageError("--hosts and --hostfile exclude each other.")
    if options.hostfile:
        described = read_host_file(options.hostfile)
    else:
        described = HostFile(named_hosts(options.hosts or "127.0.0.1"))
    for address in {address for host in described.hosts for address in host.ips}:
        check_is_here(address)
    described.backend = options.backend
    described.envs += options.env
    return asdict(described)


if __name__ == "__main__":
    sys.exit(main())
