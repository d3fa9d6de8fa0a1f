"""The instructions that small kernels become: no form of code changes by accident.

Each line of vector_code.txt has checksums of the code in kernel form, with SSE4.2, AVX-512 and AVX2, and
counts of the instructions with AVX2. If it changes on purpose, look at the difference that this makes:

    .venv/bin/python tests/python/test_vector_code_forms.py > tests/python/golden/vector_code.txt
"""

import hashlib
import os
import platform
import re
import subprocess
from collections import Counter
from itertools import chain
from pathlib import Path

import mlx.core as mx
import pytest

GOLDEN = Path(__file__).parent / "golden"
METALC = Path(mx.__file__).resolve().parent / "bin" / "metalc"
TARGETS = ("x86-64-v2", "x86-64-v4", "x86-64-v3")
# Kernels that have code of their own for grids whose rows are multiples of a gang.
FORMS = {"rows_of_n": 2, "divided_position": 2, "images": 2}

NAMES = re.compile(r"%[\w.$-]+|(?<=[\w.])\.\d+\b|, ![\w.]+ !\d+| #\d+|\s*; preds.*$")
FORM = re.compile(r"^(?:% = )?(?:tail |musttail )?([a-z]+)(.*)$")


def modules(emit: str, target: str) -> list[str]:
    """The code of each kernel, in the order of the source."""
    command = [METALC, "-Wno-apple", "--emit", emit, GOLDEN / "vector_code.metal"]
    environment = os.environ | {"MLX_CPU_TARGET": target}
    run = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return run.stdout.split("; ModuleID")[1:]


def instructions(module: str) -> list[str]:
    """Without the names of values, which say nothing, and without metadata but its kind."""
    lines = (line for line in module.splitlines() if line.startswith("  ") and "switch" not in line)
    return [NAMES.sub(lambda m: "%" if m[0][0] == "%" else "", line).strip() for line in lines]


def name_of(kernel: str) -> str:
    return re.search(r"^define void @(\w+)", kernel, re.M)[1]


def form_of(instruction: str) -> str:
    """What an instruction is: its name, the type and alignment, and the function that is called."""
    match = FORM.match(instruction)
    if not match:
        return ""
    name, rest = match.groups()
    if name == "call":
        called = re.search(r"@([\w.]+)", rest)
        return called[1] if called else "asm"
    vector = re.search(r"<\d+ x \w+>", rest)
    align = re.search(r"align \d+", rest) if name in ("load", "store") else None
    return " ".join([name, *(m[0] for m in (vector, align) if m)])


def checksum(module: str) -> str:
    return hashlib.sha256("\n".join(instructions(module)).encode()).hexdigest()[:8]


def summaries() -> list[str]:
    """For each kernel, checksums of its code and the counts of what is vector code, or a call."""
    kernels = [[found] * FORMS.get(name_of(found), 1) for found in modules("llvm", TARGETS[0])]
    columns = [list(chain(*kernels)), *(modules("llvm-opt", target) for target in TARGETS)]
    lines = []
    for forms in zip(*columns, strict=True):
        counts = Counter(form_of(instruction) for instruction in instructions(forms[-1]))
        shown = [f"{n} {form}" for form, n in sorted(counts.items()) if "<" in form or "." in form]
        checksums = " ".join(checksum(form) for form in forms)
        lines.append(f"{name_of(forms[0])} [{checksums}] {', '.join(shown)}")
    return lines


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the code is for x86-64")
def test_every_kernel_has_its_form():
    wanted = (GOLDEN / "vector_code.txt").read_text().splitlines()
    for got, want in zip(summaries(), wanted, strict=True):
        assert got == want


if __name__ == "__main__":
    print("\n".join(summaries()))
