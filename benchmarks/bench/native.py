"""Compiles the benchmarks' C++ sources for this machine."""

import ctypes
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def library(source: Path) -> ctypes.CDLL:
    """The source as a shared library, compiled again if the source is newer."""
    target = ROOT / "build" / "benchmarks" / f"lib{source.stem}.so"
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        target.parent.mkdir(parents=True, exist_ok=True)
        options = ["-O3", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC", "-pthread"]
        subprocess.run(["c++", "-std=c++20", *options, source, "-o", target], check=True)
    return ctypes.CDLL(str(target))
