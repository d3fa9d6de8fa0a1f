"""Recorded functions with inputs of other shapes: they reject those that do not fit."""

from collections.abc import Callable

import mlx.core as mx
import numpy as np
import pytest
from exported_functions import CASES, SHAPELESS, check_same

FUNCTIONS = {name: case for name, case in CASES.items() if len(case) > 1 and name != "kernel"}
FUNCTIONS |= {f"{name} of all shapes": case[:2] for name, case in SHAPELESS.items()}
# These reject other lengths of an axis that they slice, even if the slice stays the same.
OF_PARTS = {"Slice", "SliceUpdate", "Split"}
# Inputs that the function's own checks reject, but the recorded operations accept.
WIDER_THAN_THE_FUNCTION = {"addmm", "conv", "gather_qmm", "one half", "vmap"}
FAILS = (ValueError, IndexError, RuntimeError)


def plain(value: object) -> object:
    """The same for equal arrays, which are of many types."""
    if isinstance(value, mx.array):
        return str(value.dtype), value.shape, value.tolist()
    return [plain(each) for each in value] if isinstance(value, (list, tuple)) else value


def graph(fun: Callable, inputs: list[mx.array]) -> list:
    """The recorded graph without its shapes."""
    events: list[dict] = []
    mx.export_function(events.append, fun, *inputs, shapeless=True)
    found = []
    for event in events:
        if event["type"] == "constants":
            found.append(["constants", plain(event["constants"])])
        elif event["type"] == "primitive":
            names = [[value[0] for value in event[side]] for side in ("inputs", "outputs")]
            found.append([event["name"], plain(event["arguments"]), *names])
    return found


def other_shapes(inputs: list[mx.array]) -> list[list[tuple[int, ...]]]:
    """One axis of another length, or all axes of one length."""
    shapes = [x.shape for x in inputs]
    found = []
    for length in sorted({n for shape in shapes for n in shape}):
        for other in {1, length - 1, length + 1, 2 * length} - {0, length}:
            change = {length: other}
            found.append([tuple(change.get(n, n) for n in shape) for shape in shapes])
            for i, shape in enumerate(shapes):
                for axis in (axis for axis, n in enumerate(shape) if n == length):
                    changed = (*shape[:axis], other, *shape[axis + 1 :])
                    found.append([*shapes[:i], changed, *shapes[i + 1 :]])
    return found


@pytest.mark.parametrize("name", FUNCTIONS)
def test_other_shapes_work_or_are_refused(name: str, tmp_path):
    fun, *inputs = FUNCTIONS[name]
    path = str(tmp_path / "function.mlxfn")
    mx.export_function(path, fun, *inputs, shapeless=True)
    imported = mx.import_function(path)
    recorded = graph(fun, inputs)
    for shapes in other_shapes(inputs):
        others = [mx.array(np.resize(np.array(x), shape)) for x, shape in zip(inputs, shapes)]
        same = works = accepted = False
        try:
            same = graph(fun, others) == recorded
            want = fun(*others)
            mx.eval(want)
            works = True
        except FAILS:
            pass
        try:
            got = imported(*others)
            mx.eval(got)
            accepted = True
        except FAILS:
            pass
        if same and works and accepted:
            check_same(got, want)
        elif same and works:
            assert {step[0] for step in recorded} & OF_PARTS, shapes
        elif accepted and not works:
            assert name in WIDER_THAN_THE_FUNCTION, shapes
