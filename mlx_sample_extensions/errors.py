"""Errors that name the function or class whose arguments are wrong."""

from typing import NoReturn


def refuse(owner: str, message: str) -> NoReturn:
    """Raises a ValueError whose message starts with the name of a function or class."""
    raise ValueError(f"[{owner}] {message}")
