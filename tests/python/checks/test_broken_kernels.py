"""examples/broken_kernels: every mistake is found, where it is."""

import runpy
from pathlib import Path

import mlx.core as mx
import pytest

EXAMPLES = Path(__file__).resolve().parents[3] / "examples" / "broken_kernels"

# kind of the finding, its object, and the line (of two accesses either one)
MISTAKES = {
    "right_neighbour": ("bounds", "x", 3),
    "left_neighbour": ("bounds", "x", 3),
    "last_vector": ("bounds", "y", 3),
    "small_threadgroup_array": ("bounds", "shared", 4),
    "window": ("bounds", "window", 4),
    "skipped_barrier": ("barriers", "threadgroup_barrier", 6),
    "missing_barrier": ("races", "shared", 5),
    "overwritten_too_early": ("races", "shared", 8),
    "counter": ("races", "y", 3),
    "ambiguous_max": ("apple", "", 3),
    "helper_with_threadgroup_array": ("apple", "", 3),
    "grid_of_threadgroups": ("apple", "y", 4),
    "sum_without_start": ("uninitialised", "y", 5),
    "forgotten_results": ("uninitialised", "y", 0),
    "unfilled_tile": ("uninitialised", "y", 7),
    "histogram_without_zeros": ("uninitialised", "y", 3),
    "masked_row": ("numbers", "y", 5),
    "large_halves": ("numbers", "y", 4),
    "far_row": ("numbers", "x", 5),
    "first_come": ("order", "y", 5),
}


def test_every_example_is_tried():
    assert {path.stem for path in EXAMPLES.glob("*.py")} == set(MISTAKES)


@pytest.mark.parametrize("name", MISTAKES)
def test_mistake_is_found(name):
    kind, object_, line = MISTAKES[name]
    with pytest.raises(mx.metal.KernelCheckError) as caught:
        runpy.run_path(str(EXAMPLES / f"{name}.py"))
    found = [(r.kind, r.object, r.line) for r in caught.value.reports]
    found += [(r.kind, r.object, r.note_line) for r in caught.value.reports]
    assert (kind, object_, line) in found
    assert all(report.kernel == name for report in caught.value.reports)
