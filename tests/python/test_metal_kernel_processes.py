"""Kernels in several processes at once: they share the cache on disk."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

WORK = """
import sys
import mlx.core as mx

x = mx.arange(100, dtype=mx.float32)
for factor in range(1, 5):
    kernel = mx.fast.metal_kernel(
        "scale", ["x"], ["y"], f"uint i = thread_position_in_grid.x; y[i] = x[i] * {factor};")
    (y,) = kernel(inputs=[x], grid=(100, 1, 1), threadgroup=(32, 1, 1),
                  output_shapes=[(100,)], output_dtypes=[mx.float32])
    assert mx.array_equal(y, x * factor).item()
print("done")
"""


def start(cache: Path) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", WORK],
        env=os.environ | {"MLX_CACHE_DIR": str(cache)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(processes: list[subprocess.Popen]) -> None:
    for process in processes:
        out, err = process.communicate(timeout=300)
        assert process.returncode == 0 and out == "done\n", err


def test_a_cold_cache_for_all(tmp_path):
    finish([start(tmp_path) for _ in range(4)])


def test_a_warm_cache(tmp_path):
    finish([start(tmp_path)])
    finish([start(tmp_path) for _ in range(2)])


@pytest.mark.parametrize("damage", ["truncate", "overwrite", "empty"])
def test_damaged_entries_are_rebuilt(tmp_path, damage):
    finish([start(tmp_path)])
    entries = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert entries
    for path in entries:
        content = path.read_bytes()
        path.write_bytes(
            {
                "truncate": content[: len(content) // 2],
                "overwrite": b"\xa5" * len(content),
                "empty": b"",
            }[damage]
        )
    finish([start(tmp_path)])


def test_no_cache_at_all(tmp_path):
    process = subprocess.Popen(
        [sys.executable, "-c", WORK],
        env=os.environ | {"MLX_CACHE_DIR": ""},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    finish([process])


def test_children_of_a_process_that_has_run_kernels():
    code = WORK + (
        "import subprocess\n"
        "subprocess.run([sys.executable, '-c', sys.argv[1]], check=True, capture_output=True)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, WORK], capture_output=True, text=True, timeout=300
    )
    assert run.returncode == 0, run.stderr


DIVIDE = """
import sys
import mlx.core as mx

size = int(sys.argv[1])
kernel = mx.fast.metal_kernel(
    "divide", ["size"], ["y"],
    "uint i = thread_position_in_grid.x; y[i] = i / size * 1000 + i % size;")
(y,) = kernel(inputs=[mx.array(size, dtype=mx.uint32)], grid=(4096, 1, 1), threadgroup=(256, 1, 1),
              output_shapes=[(4096,)], output_dtypes=[mx.uint32])
i = mx.arange(4096, dtype=mx.uint32)
assert mx.array_equal(y, i // size * 1000 + i % size).item()
"""


@pytest.mark.cpu_kernels
def test_general_code_is_compiled_when_threads_part(tmp_path):
    """If rows are as long as threadgroups, gangs are always coherent."""
    environment = {k: v for k, v in os.environ.items() if k != "MLX_CPU_REFERENCE"}

    def general_codes_after(size: int) -> int:
        subprocess.run(
            [sys.executable, "-c", DIVIDE, str(size)],
            env=environment | {"MLX_CACHE_DIR": str(tmp_path)},
            check=True,
            timeout=300,
        )
        return len(list(tmp_path.rglob("*-general")))

    assert general_codes_after(256) == 0
    assert general_codes_after(3) == 1
    assert general_codes_after(3) == 1


ENDS_EARLY = """
import mlx.core as mx

x = mx.arange(100, dtype=mx.float32)
functions = [mx.compile(lambda x, i=i: mx.exp(x * i) + mx.sin(x) / (i + 2)) for i in range(4)]
mx.eval(functions[0](x), mx.sum(x))
for function in functions[1:]:
    mx.eval(function(x))
"""


def test_the_process_ends_while_kernels_are_compiled(tmp_path):
    """The compiling thread must end before static objects do: else a few in a hundred hang."""
    for i in range(12):
        subprocess.run(
            [sys.executable, "-c", ENDS_EARLY],
            env=os.environ | {"MLX_CACHE_DIR": str(tmp_path / str(i))},
            check=True,
            timeout=60,
        )
