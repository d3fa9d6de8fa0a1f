# Generated from the docstrings by tools/generate_stubs.py.
import enum
import os
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, Literal, ParamSpec, Protocol, TypeAlias, TypeVar, overload
from mlx.core import (
    DLPackCompatible,
    Device,
    DeviceType,
    Dtype,
    Stream,
    StreamOrDevice,
    array,
    scalar,
)

P = ParamSpec("P")
R = TypeVar("R")

def is_available() -> bool: ...
