"""Compiles the benchmarks' C++ sources for this machine."""

import ctypes
import os
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
        # Benchmarks that run side by side must not load half a file.
        made = target.with_suffix(f".{os.getpid()}.so")
        subprocess.run(["c++", "-std=c++20", *options, source, "-o", made], check=True)
        made.replace(target)
    return ctypes.CDLL(str(target))
