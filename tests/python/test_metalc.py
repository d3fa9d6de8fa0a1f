"""The command metalc: libraries, listings, generated code, and errors."""

import os
import re
import subprocess
from pathlib import Path

import mlx.core as mx
import pytest

METALC = Path(mx.__file__).resolve().parent / "bin" / "metalc"
SOURCE = """\
#include <metal_stdlib>
#include "scale.h"
using namespace metal;

template <typename T>
[[kernel]] void scale(const device T* x [[buffer(0)]], device T* y [[buffer(1)]],
                      uint i [[thread_position_in_grid]]) {
  y[i] = T(SCALE) * x[i];
}
template [[host_name("scale_float")]] [[kernel]] decltype(scale<float>) scale<float>;
template [[host_name("scale_half")]] [[kernel]] decltype(scale<half>) scale<half>;
"""


def metalc(*arguments: object, **environment: str) -> subprocess.CompletedProcess:
    """Runs the command; returns its output."""
    return subprocess.run(
        [METALC, *map(str, arguments)],
        env=os.environ | environment,
        capture_output=True,
        text=True,
    )


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A file of kernels that includes a header beside it."""
    (tmp_path / "scale.h").write_text("#ifndef SCALE\n#define SCALE 2\n#endif\n")
    (tmp_path / "scale.metal").write_text(SOURCE)
    return tmp_path / "scale.metal"


def test_builds_a_library(source: Path):
    library = source.with_suffix(".metallib")
    built = metalc("-MD", source, "-o", library)
    assert (built.returncode, built.stdout, built.stderr) == (0, "", "")
    assert str(source.with_name("scale.h")) in (source.parent / "scale.metallib.d").read_text()
    listed = metalc("--list", library).stdout
    assert listed == "".join(
        f"scale_{name}(x [[buffer(0)]], y [[buffer(1)]], i [[thread_position_in_grid]])\n"
        for name in ("float", "half")
    )


@pytest.mark.parametrize("form, text", [("llvm", "define"), ("llvm-opt", "define"), ("asm", "ret")])
def test_prints_what_a_kernel_becomes(form: str, text: str, source: Path):
    printed = metalc("--emit", form, "-DSCALE=3", source)
    assert printed.returncode == 0, printed.stderr
    assert text in printed.stdout


def test_prints_chosen_functions_of_a_library(source: Path):
    library = source.with_suffix(".metallib")
    metalc(source, "-o", library)
    printed = metalc("--emit", "llvm", "--function", "scale_half", library).stdout
    assert "@scale_half(" in printed and "@scale_float(" not in printed
    missing = metalc("--emit", "llvm", "--function", "scale_int", library)
    assert missing.returncode == 1 and 'no kernel named "scale_int"' in missing.stderr


def test_prints_several_files_into_one(source: Path, tmp_path: Path):
    other = tmp_path / "other.metal"
    other.write_text("kernel void other(device float* x) { x[0] = 1; }\n")
    done = metalc("--emit", "ptx", source, other, "-o", tmp_path / "all.ptx")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    text = (tmp_path / "all.ptx").read_text()
    assert text.count(".version") == 1
    assert re.findall(r"\.entry (\w+)", text) == ["scale_float", "scale_half", "other"]


def test_line_tables(source: Path):
    """With -g, and only then, code has line tables."""
    line = next(n for n, text in enumerate(SOURCE.splitlines(), 1) if "y[i] = " in text)
    for form in ("llvm", "llvm-opt"):
        plain = metalc("--emit", form, source).stdout
        located = metalc("--emit", form, "-g", source).stdout
        assert "DILocation" not in plain and f"DILocation(line: {line}," in located
    for form in ("asm", "ptx"):
        text = metalc("--emit", form, "-g", source).stdout
        assert "scale.metal" in text
        assert re.search(rf"^\s*\.loc\s+\d+ {line} ", text, re.MULTILINE)
        assert ".loc" not in metalc("--emit", form, source).stdout
    library = source.with_suffix(".metallib")
    metalc("-g", source, "-o", library)
    assert f"DILocation(line: {line}," in metalc("--emit", "llvm", library).stdout


def test_errors(source: Path, tmp_path: Path):
    bad = tmp_path / "bad.metal"
    bad.write_text("kernel void f(device float* x) {\n  x[0] = nothing;\n}\n")
    result = metalc(bad, "-o", tmp_path / "bad.metallib")
    assert result.returncode == 1
    assert f"{bad}:2:10: error: use of undeclared identifier 'nothing'" in result.stderr
    assert not (tmp_path / "bad.metallib").exists()

    foreign = metalc("--list", source)
    assert foreign.returncode == 1 and "not a .metallib" in foreign.stderr
    folder = metalc("--emit", "llvm", tmp_path)
    assert folder.returncode == 1 and f"cannot read {tmp_path}" in folder.stderr
    missing = metalc("--list", tmp_path / "none.metallib")
    assert missing.returncode == 1 and "none.metallib" in missing.stderr
    wrong_arch = ["--emit", "ptx", "--arch", "sm_10", source]
    for arguments in ([], ["--wrong"], [source], ["-std=c++20", source], wrong_arch):
        result = metalc(*arguments)
        assert result.returncode == 2 and "usage: metalc" in result.stderr, arguments


def test_a_missing_standard_library(source: Path, tmp_path: Path):
    for command in (("--emit", "llvm", source), (source, "-o", tmp_path / "x.metallib")):
        result = metalc(*command, MLX_METAL_RESOURCES=str(tmp_path / "gone"), MLX_CACHE_DIR="")
        assert result.returncode == 1
        assert "headers of Metal's standard library are missing" in result.stderr
        assert str(tmp_path / "gone" / "stdlib" / "metal_stdlib") in result.stderr


@pytest.mark.parametrize("beside", [True, False], ids=["beside the source", "in a folder of -I"])
def test_helpers_of_mlx_that_a_project_brings_along(beside: bool, tmp_path: Path):
    project = tmp_path if beside else tmp_path / "headers"
    kernels = project / "mlx" / "backend" / "metal" / "kernels"
    kernels.mkdir(parents=True)
    (kernels / "utils.h").write_text(
        "#pragma once\n#include <metal_stdlib>\nstruct complex64_t { float parts[2]; };\n"
        "inline int ceildiv(int a, int b) { return -1234; }\n"
    )
    source = tmp_path / "first.metal"
    source.write_text(
        '#include "mlx/backend/metal/kernels/utils.h"\n'
        "kernel void first(device int* y [[buffer(0)]]) { y[0] = ceildiv(6, 3); }\n"
    )
    printed = metalc("--emit", "llvm-opt", *(() if beside else ("-I", project)), source)
    assert printed.returncode == 0, printed.stderr
    assert "-1234" in printed.stdout
