# Generated from the docstrings by tools/generate_stubs.py.
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

class MetalKernel:
    def __call__(self, *args: scalar | array, **kwargs: Any) -> Any: ...
    def __init__(self, name: str, source: str, grid: object = None, threadgroup: object = None, output_shapes: object = None, output_dtypes: object = None, ensure_row_contiguous: bool = True, header: str = '', atomic_outputs: bool = False, compile_options: dict[str, str] | None = None, **kwargs: Any) -> None: ...
    def __repr__(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def source(self) -> str: ...
    def template(self, **values: Dtype | int | bool) -> MetalKernel: ...

def metal_kernel(name: str, input_names: Sequence[str] | str | None = None, output_names: Sequence[str] | None = None, source: str | None = None, header: str = '', ensure_row_contiguous: bool = True, atomic_outputs: bool = False, compile_options: dict[str, str] | None = None, **kwargs: Any) -> MetalKernel: ...
