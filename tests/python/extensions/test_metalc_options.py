"""Options of metalc that builds use: several files, macros, headers, dependencies, math modes."""

import subprocess
import sys
from pathlib import Path

import mlx.core as mx
import pytest

METALC = Path(mx.__file__).resolve().parent / "bin" / "metalc"


def metalc(*arguments: object, cwd: Path, fails: bool = False) -> str:
    done = subprocess.run(
        [METALC, *map(str, arguments)], cwd=cwd, capture_output=True, text=True, timeout=120
    )
    assert (done.returncode != 0) == fails, done.stderr
    return done.stdout + done.stderr


def kernel(name: str, body: str = "x[i] = 1;") -> str:
    return (
        f"kernel void {name}(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]])"
        f" {{ {body} }}\n"
    )


def test_several_files_become_one_library(tmp_path: Path):
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.metal").write_text(kernel(name))
    metalc("-o", "all.metallib", "one.metal", "two.metal", "three.metal", cwd=tmp_path)
    listed = metalc("--list", "all.metallib", cwd=tmp_path)
    assert [line.split("(")[0] for line in listed.splitlines()] == ["one", "two", "three"]


def test_a_function_in_two_files_is_an_error(tmp_path: Path):
    (tmp_path / "one.metal").write_text(kernel("same"))
    (tmp_path / "two.metal").write_text(kernel("same"))
    text = metalc("-o", "x.metallib", "one.metal", "two.metal", cwd=tmp_path, fails=True)
    assert "same" in text and "twice" in text
    assert not (tmp_path / "x.metallib").exists()


def test_macros_headers_and_dependencies(tmp_path: Path):
    (tmp_path / "some folder" / "parts").mkdir(parents=True)
    (tmp_path / "some folder" / "parts" / "a.h").write_text('#include "b.h"\n')
    (tmp_path / "some folder" / "parts" / "b.h").write_text("#define INNER 1\n")
    (tmp_path / "x.metal").write_text(
        '#include "parts/a.h"\n#include "mlx/backend/metal/kernels/utils.h"\n'
        "#if !INNER || !GIVEN || VALUE != 7\n#error wrong\n#endif\n" + kernel("f")
    )
    arguments = ("-Isome folder", "-DGIVEN", "-D", "VALUE=7", "-std=metal3.1", "x.metal")
    metalc(*arguments, "-MD", "-o", "x.metallib", cwd=tmp_path)
    for name, options in (("x.metallib.d", ("-MD",)), ("deps/x.d", ("-MD", "-MF", "deps/x.d"))):
        (tmp_path / "deps").mkdir(exist_ok=True)
        metalc(*arguments, *options, "-o", "x.metallib", cwd=tmp_path)
        text = (tmp_path / name).read_text()
        assert text.startswith("x.metallib:")
        assert "x.metal" in text and "some\\ folder/parts/a.h" in text and "parts/b.h" in text
        assert "metal_stdlib" not in text
    assert "wrong" in metalc("-Isome folder", "x.metal", "-o", "x", cwd=tmp_path, fails=True)


def test_math_modes(tmp_path: Path):
    body = """
    #ifdef __FAST_MATH__
    x[i] = FAST;
    #else
    x[i] = SAFE;
    #endif
    """.replace("\n", "\n")
    (tmp_path / "x.metal").write_text(
        "kernel void f(device float* x, uint i [[thread_position_in_grid]]) {" + body + "}\n"
    )
    fast = metalc("--emit", "llvm", "-ffast-math", "-DFAST=17.0f", "x.metal", cwd=tmp_path)
    safe = metalc("--emit", "llvm", "-fno-fast-math", "-DSAFE=19.0f", "x.metal", cwd=tmp_path)
    assert "1.7" in fast and "1.9" in safe


def test_warnings_are_printed_and_do_not_fail(tmp_path: Path):
    (tmp_path / "x.metal").write_text(kernel("f", "\n#warning look here\n x[i] = 0;"))
    text = metalc("-o", "x.metallib", "x.metal", cwd=tmp_path)
    assert "x.metal:2:2: warning: look here" in text
    assert (tmp_path / "x.metallib").exists()


def test_commands_for_apples_compiler_are_understood(tmp_path: Path):
    (tmp_path / "x.metal").write_text(kernel("f"))
    options = ("-Wall", "-Wextra", "-Wno-c++17-extensions", "-O3", "-gline-tables-only", "-c")
    metalc(
        *options,
        "-frecord-sources",
        "-std=macos-metal2.3",
        "x.metal",
        "-o",
        "x.metallib",
        cwd=tmp_path,
    )
    assert "f(" in metalc("--list", "x.metallib", cwd=tmp_path)


@pytest.mark.parametrize("damage", ["cut", "flipped", "empty", "foreign"])
def test_damaged_libraries(tmp_path: Path, damage: str):
    (tmp_path / "x.metal").write_text(kernel("f"))
    library = tmp_path / "x.metallib"
    metalc("-o", library, "x.metal", cwd=tmp_path)
    data = bytearray(library.read_bytes())
    if damage == "cut":
        data = data[: len(data) // 2]
    elif damage == "flipped":
        data[len(data) // 2] ^= 0x10
    elif damage == "empty":
        data = bytearray()
    else:
        data = bytearray(b"MTLB" + bytes(200))  # as Apple's tools write them
    library.write_bytes(data)
    text = metalc("--list", library, cwd=tmp_path, fails=True)
    assert ".metallib" in text and len(text.splitlines()) < 4


def test_the_command_is_on_the_path():
    command = Path(sys.executable).parent / "metalc"
    if not command.exists():  # the package is used where it was built, not installed
        command = [sys.executable, "-m", "mlx._metalc"]
    else:
        command = [command]
    done = subprocess.run([*command, "--help"], capture_output=True, text=True)
    assert "usage: metalc" in done.stdout + done.stderr
