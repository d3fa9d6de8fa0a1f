"""Runs the functions of a worker file in several processes."""

import os
import subprocess
import sys
from pathlib import Path

import mlx

HERE = Path(__file__).resolve().parent
PACKAGE = Path(next(iter(mlx.__path__))).parent
LAUNCH = [sys.executable, "-m", "mlx._distributed_utils.launch"]


def environment(**more: str) -> dict[str, str]:
    path = f"{os.environ.get('PATH', '')}:/usr/bin:/bin"  # there may be none
    return {**os.environ, "PATH": path, "PYTHONPATH": str(PACKAGE), **more}


def launch(*arguments: object, code: int = 0, **options: object) -> subprocess.CompletedProcess:
    """Runs mlx.launch, which has to end with the code."""
    command = LAUNCH + [str(argument) for argument in arguments]
    settings = {"env": environment(), "timeout": 120, "stdin": subprocess.DEVNULL}
    done = subprocess.run(command, capture_output=True, text=True, **{**settings, **options})
    assert done.returncode == code, done.stdout + done.stderr
    return done


def run_worker(name: str, processes: int, *options: object) -> None:
    """Calls a function of workers.py in each process."""
    done = launch("-n", processes, *options, HERE / "workers.py", name)
    assert sorted(done.stdout.split()) == sorted(f"{name}:{r}" for r in range(processes))
