"""The command-line options of all benchmarks."""

import argparse


def add_size(parser: argparse.ArgumentParser) -> None:
    """`small` runs for seconds and only shows that the program works: its times mean nothing."""
    parser.add_argument("--size", choices=["small", "full"], default="full")


def add_calls(parser: argparse.ArgumentParser, what: str = "timed calls of each peer") -> None:
    parser.add_argument("--calls", type=int, help=what)


def calls_of(options: argparse.Namespace, full: int, small: int = 2) -> int:
    """The given number of calls, or a default for the size."""
    return options.calls or (small if options.size == "small" else full)
