"""The options that every benchmark has."""

import argparse


def add_size(parser: argparse.ArgumentParser) -> None:
    """`small` ends in seconds and only shows that the program works: times mean nothing there."""
    parser.add_argument("--size", choices=["small", "full"], default="full")


def add_calls(parser: argparse.ArgumentParser, what: str = "timed calls of each peer") -> None:
    parser.add_argument("--calls", type=int, help=what)


def calls_of(options: argparse.Namespace, full: int, small: int = 2) -> int:
    """As given, or what suits the size."""
    return options.calls or (small if options.size == "small" else full)
