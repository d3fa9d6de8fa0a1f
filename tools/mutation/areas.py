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
# Constants that decide between forms of code with the same results: where one is compared with something, a fault
# only changes how fast code is.
SPEED_ONLY_CONSTANTS = {
    "kCheapBlock",  # linearize: a branch around a block, or none
    "kUnlikely",  # linearize: the same
    "kLongestLoop",  # loop_tails: a copy of a loop, or none
    "kDeepest",  # matrix_layout: how far to look for a better layout
    "kManyAlike",  # widen_offsets: a function, or the same code in each place
    "kWidestStride",  # widen_memory: one block, or a gather
    "kMaxUnrolledIterations",  # unroll_private
    "kMaxUnrolledInstructions",  # unroll_private
    "kTokensBetweenChecks",  # limits: how often the time is looked at
    "kLongRow",  # gather: a thread for each element, or SIMD-groups for rows
    "kMaxTasksInFlight",  # eval: when the caller waits
    "kOperationsPerCommit",  # eval: operations that are launched together
    "kWasteLimit",  # utils: when the memory of an input is used again
    "kManyVectors",  # quantized_matmul: a product of matrices, or of vectors
    "kShortLine",  # sort: a library's code, or ours
    "kLargeMatrix",  # decompositions: how many threads
    "kLargeProduct",  # matmul: how many threads
}
# Functions that estimate what such a form costs, or that only give hints to the processor.
SPEED_ONLY_FUNCTIONS = {
    "cost_of",  # matrix_layout: changes of layout
    "is_worth_it",  # matrix_layout
    "unlikely_target",  # linearize: what the author marked as unlikely
    "unrolled_size",  # unroll_private
    "prefetch_next",  # wide_entry: what the next threadgroup reads
    "MemoryWidener::prefetch",  # widen_offsets
    "hold",  # block_product: sums stay in registers
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
