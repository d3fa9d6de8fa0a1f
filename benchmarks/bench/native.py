"""Compiles the benchmarks' C++ sources for this machine."""

import ctypes
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def library(source: Path) -> ctypes.CDLL:
    """The source as a shared library, compiled again if it or a header beside it is newer."""
    target = ROOT / "build" / "benchmarks" / f"lib{source.stem}.so"
    changed = max(file.stat().st_mtime for file in [source, *source.parent.glob("*.h")])
    if not target.exists() or target.stat().st_mtime < changed:
        target.parent.mkdir(parents=True, exist_ok=True)
        options = ["-O3", "-march=native", "-ffp-contract=fast", "-shared", "-fPIC", "-pthread"]
        subprocess.run(["c++", "-std=c++20", *options, source, "-o", target], check=True)
    return ctypes.CDLL(str(target))
