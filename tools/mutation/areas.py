"""Which sources are mutated, and what share of the mutations each area gets."""

from dataclasses import dataclass
from pathlib import Path

VECTORIZER = "cpp/metal/cpu/vectorizer"
# Files where a fault only changes how fast code is.
SPEED_ONLY = {
    f"{VECTORIZER}/{name}.cpp"
    for name in (
        "prefetch/prefetch_slice",
        "prefetch/prefetch_ahead",
        "prefetch/stride_in_loop",
        "memory/nontemporal_stores",
    )
}


@dataclass(frozen=True)
class Area:
    name: str
    share: int  # of ten mutations
    sources: str  # a glob
    # Whether the area generates kernels: then a kernel that was compiled without a mutation tests
    # nothing.
    makes_code: bool = False

    def paths(self, root: Path) -> list[str]:
        found = {str(path.relative_to(root)) for path in root.glob(self.sources)}
        return sorted(found - SPEED_ONLY)


AREAS = (
    Area("vectorizer", 3, f"{VECTORIZER}/**/*.cpp", makes_code=True),
    Area("compiler", 2, "cpp/metal/compiler/*.cpp", makes_code=True),
    Area("arrays", 4, "cpp/mlx/**/*.cpp"),
    Area("bindings", 1, "python/src/**/*.cpp"),
)
