"""Kernels that fail while they run: the error names the kernel and affects its arrays only."""

import os
import re
import subprocess
import sys

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import double, launch, outputs

pytestmark = pytest.mark.cpu_kernels

CONSUMERS = {
    "eval": mx.eval,
    "numpy": np.array,
    "memoryview": memoryview,
    "list": lambda a: a.tolist(),
    "item": lambda a: a[3].item(),
    "operation": lambda a: mx.eval(a + 1),
    "other stream": lambda a: mx.eval(mx.add(a, 1, stream=mx.cpu)),
    "text": repr,
}


@pytest.mark.parametrize("consume", CONSUMERS.values(), ids=CONSUMERS)
def test_the_error_stays_with_the_array(consume):
    kernel = mx.fast.metal_kernel(
        name="stops", input_names=[], output_names=["out"], source="__builtin_trap();"
    )
    out = kernel(
        inputs=[],
        grid=(8, 1, 1),
        threadgroup=(8, 1, 1),
        output_shapes=[(8,)],
        output_dtypes=[mx.int32],
    )[0]
    for _ in range(3):
        with pytest.raises(RuntimeError, match="stops.*trap"):
            consume(out)
    assert (mx.ones(3) + 1).tolist() == [2, 2, 2]


class TestFaults:
    """A kernel that faults names itself, and the next one runs."""

    HEADER = "float deep(int n) { return n < 0 ? 0 : deep(n + 1) * 2 + deep(n + 2); }"

    @pytest.mark.parametrize(
        "statement",
        [
            "y[0] = *(device float*)(ulong(x[0] + 1) << 44);",
            "*(device float*)ulong(x[0]) = 1;",
            "y[0] = deep(x[0]);",
            "float a[4000000]; for (int i = 0; i < 4000000; ++i) a[i] = i; y[0] = a[int(x[9])];",
        ],
    )
    def test_faults(self, statement):
        x = mx.arange(16, dtype=mx.float32)
        mx.eval(x)  # otherwise it is part of the failing evaluation
        kernel = mx.fast.metal_kernel("faulty", ["x"], ["y"], statement, header=self.HEADER)
        with pytest.raises(RuntimeError, match="faulty.*was stopped"):
            mx.eval(kernel(inputs=[x], **launch(16), **outputs(x)))
        (y,) = double()(inputs=[x], **launch(16), **outputs(x))
        assert y.tolist() == [2 * i for i in range(16)]

    @pytest.mark.parametrize("value", ["x[i]", "simd_sum(x[i])"])
    def test_traps_stop_the_launches_that_reach_them(self, value):
        source = f"""
            uint i = thread_position_in_grid.x;
            if (x[i] > 100) __builtin_trap();
            y[i] = {value};
        """
        kernel = mx.fast.metal_kernel("careful", ["x"], ["y"], source)
        x = np.arange(100, dtype=np.float32)

        def run(x: np.ndarray) -> np.ndarray:
            x = mx.array(x)
            return np.array(kernel(inputs=[x], **launch(100), **outputs(x))[0])

        sums = np.repeat(np.add.reduceat(x, [0, 32, 64, 96]), [32, 32, 32, 4])
        expected = x if value == "x[i]" else sums
        np.testing.assert_array_equal(run(x), expected)
        x[77] = 101
        with pytest.raises(RuntimeError, match="careful.*trap"):
            run(x)
        x[77] = 77
        np.testing.assert_array_equal(run(x), expected)


# Every way to leave the buffers. They are close together, so a read may be near either.
WILD = """
import mlx.core as mx

KERNEL = '''
    uint i = thread_position_in_grid.x;
    float value = x[i];
    %s
    if (i == 67) { %s }
    y[i] = value;
'''
BARRIER = '''
    threadgroup float values[64];
    values[thread_index_in_threadgroup] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = values[63 - thread_index_in_threadgroup];
'''
ACCESSES = [
    "y[i + 250000000] = value;",
    "value = x[i + 250000000];",
    "y[-(long(i) << 36)] = value;",
]
x = mx.arange(128, dtype=mx.float32)
mx.eval(x)
for barrier in ["", BARRIER]:
    for access in ACCESSES:
        kernel = mx.fast.metal_kernel("my kernel-2", ["x"], ["y"], KERNEL % (barrier, access))
        try:
            mx.eval(kernel(inputs=[x], grid=(128, 1, 1), threadgroup=(64, 1, 1),
                           output_shapes=[(128,)], output_dtypes=[mx.float32]))
        except RuntimeError as error:
            print(error)
"""


@pytest.mark.parametrize("reference", [False, True])
def test_what_is_said_of_a_wild_access(reference: bool):
    # In a process of its own, where little memory is in use.
    run = subprocess.run(
        [sys.executable, "-c", WILD],
        env=os.environ | {"MLX_CPU_REFERENCE": str(int(reference))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    start = r"\[my kernel-2\] The kernel was stopped: invalid memory access "
    address = "at address 0x[0-9a-f]+, "
    behind = rf"{4 * (67 + 250000000) - 512} bytes behind the end of "
    some_behind = r"\d+ bytes behind the end of "
    expected = [
        r"\(write\) " + address + behind + r'"y" \(512 bytes, its nearest writable buffer\)',
        r"\(read\) " + address + some_behind + r'"[xy]" \(512 bytes, its nearest buffer\)',
        r"\(write\) " + address + "near no buffer of the kernel",
    ]
    place = r", in threadgroup \(1, 0, 0\)"
    if reference:
        place += r", thread \(3, 0, 0\), which is thread \(67, 0, 0\) of the grid"
    else:
        place += "; MLX_CPU_REFERENCE=1 finds the thread"
    lines = run.stdout.splitlines()
    assert len(lines) == 6, run.stdout
    for line, middle in zip(lines, expected * 2, strict=True):
        assert re.fullmatch(start + middle + place, line), line
