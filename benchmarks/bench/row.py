"""A row of a benchmark: its inputs, the expected results, and how each peer computes them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

Arrays = dict[str, np.ndarray]


@dataclass
class Metal:
    """One launch through `mx.fast.metal_kernel`; `outputs` maps names to (shape, dtype)."""

    source: str
    inputs: Sequence[str]
    outputs: dict[str, tuple[tuple[int, ...], str]]
    grid: tuple[int, int, int]
    threadgroup: tuple[int, int, int]
    header: str = ""
    template: dict[str, object] = field(default_factory=dict)
    init_value: float | None = None
    atomic_outputs: bool = False
    ensure_row_contiguous: bool = True


@dataclass
class OpenCL:
    """One launch of an OpenCL kernel, whose parameters are the named buffers in order."""

    kernel: str
    buffers: Sequence[str]
    grid: tuple[int, ...]
    group: tuple[int, ...]
    clear: Sequence[str] = ()


@dataclass
class Row:
    """A measured computation. A peer without an entry is not run.

    The driver makes `inputs`; the peers first convert them to `dtypes`. `view` makes
    a strided view of an input, in NumPy's, PyTorch's and our arrays alike. `moved` and `flops` are
    the least that the computation needs. With `memory`, the peak memory is measured too; it is the
    largest share of a peer's peak memory that we may use.
    """

    name: str
    inputs: Callable[[], Arrays]
    outputs: dict[str, tuple[tuple[int, ...], str]]
    reference: Callable[[Arrays], Arrays]
    metal: Sequence[Metal] = ()
    array: Callable[..., object] | None = None
    opencl_source: str = ""
    opencl: Sequence[OpenCL] = ()
    opencl_margin: dict[str, int] = field(default_factory=dict)  # elements around a buffer
    torch: Callable[..., Sequence[Callable[[], object]]] | None = None
    scipy: Callable[..., Sequence[Callable[[], object]]] | None = None
    nanoflann: Callable[..., Sequence[Callable[[], object]]] | None = None
    dtypes: dict[str, str] = field(default_factory=dict)
    permuted: dict[str, tuple[int, ...]] = field(default_factory=dict)
    moved: int = 0
    flops: int = 0
    rtol: float = 1e-5
    atol: float = 1e-5
    wrong_share: float = 0.0
    targets: dict[str, float] = field(default_factory=dict)
    memory: float | None = None

    def check(self, got: Arrays, expected: Arrays) -> str:
        """Describes the error of a result; empty if it is right."""
        for name, want in expected.items():
            have = np.asarray(got[name], np.float64).reshape(want.shape)
            with np.errstate(invalid="ignore"):  # the difference of two infinities
                error = np.abs(have - want)
                near = np.isfinite(want) & (error <= self.atol + self.rtol * np.abs(want))
            wrong = ~(near | (have == want))
            share = float(np.mean(wrong))
            if share > self.wrong_share:
                first = np.unravel_index(np.argmax(wrong), want.shape)
                return (
                    f"{name}: {share:.2%} wrong, first at {tuple(map(int, first))}: "
                    f"{have[first]} instead of {want[first]}"
                )
        return ""
