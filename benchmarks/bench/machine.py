"""The machine's copy bandwidth and its multiply-add peak, measured in the same run."""

import ctypes
from pathlib import Path

import numpy as np

from .native import library


def measuring_code() -> ctypes.CDLL:
    loaded = library(Path(__file__).with_name("machine.cpp"))
    loaded.copy_seconds.restype = loaded.fma_flops.restype = ctypes.c_double
    loaded.copy_seconds.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    loaded.fma_flops.argtypes = [ctypes.c_long, ctypes.c_int]
    return loaded


class Machine:
    """Measures briefly at every call, and keeps the best result."""

    def __init__(self, threads: int) -> None:
        self.threads, self.library = threads, measuring_code()
        self.source, self.target = (np.ones(1 << 24, np.float32) for _ in range(2))
        self.bytes_per_ms = self.flops_per_ms = 0.0

    def measure(self) -> None:
        """Bytes read and written in a plain copy, and float operations, a millisecond."""
        time = self.library.copy_seconds(
            self.target.ctypes.data, self.source.ctypes.data, self.source.nbytes, self.threads
        )
        self.bytes_per_ms = max(self.bytes_per_ms, 2 * self.source.nbytes / time / 1e3)
        flops = self.library.fma_flops(2_000_000, self.threads)
        self.flops_per_ms = max(self.flops_per_ms, flops / 1e3)
