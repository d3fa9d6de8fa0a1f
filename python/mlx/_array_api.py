"""The information about a namespace that the array API standard requires."""

from __future__ import annotations

from typing import Any

import mlx.core as mx

# By the names that the standard gives them; float16 and bfloat16 are not among them.
_STANDARD = (
    ("bool", mx.bool_),
    ("int8", mx.int8),
    ("int16", mx.int16),
    ("int32", mx.int32),
    ("int64", mx.int64),
    ("uint8", mx.uint8),
    ("uint16", mx.uint16),
    ("uint32", mx.uint32),
    ("uint64", mx.uint64),
    ("float32", mx.float32),
    ("float64", mx.float64),
    ("complex64", mx.complex64),
)


def _checked(device: Any) -> mx.Device:
    if device is None:
        return mx.default_device()
    if isinstance(device, mx.DeviceType):
        return mx.Device(device)
    if not isinstance(device, mx.Device):
        raise TypeError(
            "[__array_namespace_info__] device must be a Device, a DeviceType or None, "
            f"not {type(device).__name__}."
        )
    return device


class ArrayNamespaceInfo:
    """What ``mlx.core.__array_namespace_info__`` returns."""

    def capabilities(self) -> dict[str, bool | int | None]:
        """Which of the standard's optional features are supported."""
        return {"boolean indexing": False, "data-dependent shapes": False, "max dimensions": 10}

    def default_device(self) -> mx.Device:
        """The device that operations run on by default."""
        return mx.default_device()

    def devices(self) -> tuple[mx.Device, ...]:
        """The devices of this machine."""
        return tuple(
            mx.Device(kind, number)
            for kind in (mx.cpu, mx.gpu)
            for number in range(mx.device_count(kind))
        )

    def default_dtypes(self, *, device: Any = None) -> dict[str, mx.Dtype]:
        """The types that functions use if none is given."""
        _checked(device)
        return {
            "real floating": mx.float32,
            "complex floating": mx.complex64,
            "integral": mx.int32,
            "indexing": mx.int32,
        }

    def dtypes(
        self, *, device: Any = None, kind: str | tuple[str, ...] | None = None
    ) -> dict[str, mx.Dtype]:
        """The standard's types that a device supports, all of them or those of a kind.

        Args:
            device: The device. None means the default one.
            kind: A kind as ``isdtype`` has it, or a tuple of them. None means all.
        """
        on_gpu = _checked(device).type == mx.gpu
        return {
            name: dtype
            for name, dtype in _STANDARD
            if not (on_gpu and dtype == mx.float64) and (kind is None or mx.isdtype(dtype, kind))
        }
