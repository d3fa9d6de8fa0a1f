"""MLX_METAL_DEVICE chooses where kernels run, and says why it cannot."""

import os
import subprocess
import sys

import pytest

PROGRAM = "import mlx.core as mx; print((mx.array([1, 2]) + 1).tolist())"


def run(device: str, program: str = PROGRAM) -> subprocess.CompletedProcess:
    environment = os.environ | {"MLX_METAL_DEVICE": device, "LD_LIBRARY_PATH": ""}
    command = [sys.executable, "-c", program]
    return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)


@pytest.mark.parametrize("device", ["cpu", ""])
def test_the_cpu(device):
    assert run(device).stdout == "[2, 3]\n"


def test_a_device_that_is_none():
    done = run("tpu")
    assert done.returncode == 1
    assert "MLX_METAL_DEVICE is 'tpu': expected cpu or cuda" in done.stderr


def test_a_gpu_that_is_not_there():
    if os.path.exists("/dev/nvidiactl"):
        pytest.skip("there is an NVIDIA GPU")
    done = run("cuda")
    assert done.returncode == 1
    assert "No NVIDIA GPU can be used, which MLX_METAL_DEVICE=cuda asks for." in done.stderr
