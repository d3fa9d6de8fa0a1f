"""Sums of products of indexed matrices and vectors."""

from bench.row import Row


def rows(small: bool) -> list[Row]:
    return []
