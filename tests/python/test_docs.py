"""Every code block of the README and the guide is run, or checked if it would repeat the build."""

import json
import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import mlx.core as mx
import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
INCLUDED = re.compile(r"^```\{literalinclude\} (\S+)$", re.MULTILINE)

# The folders in which the shell blocks of a page run. The blocks of "README" and "building" would
# build everything again, so only the names in them are checked.
SHELL_BLOCKS = {
    "README": "test_commands_name_what_exists",
    "building": "test_commands_name_what_exists",
    "quick_start": "package/conftest.py",
    "running_packages": "packages/test_mlx_lm.py",
    "several_processes": "distributed/test_launch.py",
    "writing_extensions": "extensions/test_projects.py",
    "porting": "extensions/test_projects.py",
    "CONTRIBUTING": "test_metalc_commands_run",
    "vector_code": "test_metalc_commands_run",
}
# Blocks that test_projects.py compiles.
COMPILED = ("examples/extension/", "examples/cpp/", "examples/metal_cpp/")


def blocks(page: Path) -> list[tuple[str, str]]:
    """The kind and the text of each block."""
    return BLOCK.findall(page.read_text())


def shell_blocks(name: str) -> list[str]:
    """The blocks of a page."""
    page = next(page for page in PAGES if page.stem == name)
    return [code for kind, code in blocks(page) if kind == "shell"]


CHECKING = {"debugging"}  # pages whose kernels are checked, which the CPU's driver does


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=[pytest.mark.cpu_kernels] if page.stem in CHECKING else [])
        for page in PAGES
        if any(kind == "python" for kind, _ in blocks(page))
    ],
    ids=lambda p: p.stem,
)
def test_python_blocks_run(page: Path, capfd: pytest.CaptureFixture[str]):
    """A block of text is what the block before it prints, to standard output or, if nothing, error."""
    namespace = {}
    for number, (kind, code) in enumerate(blocks(page)):
        if kind == "python":
            capfd.readouterr()
            exec(compile(code, f"{page.name}, block {number}", "exec"), namespace)
        elif kind == "text":
            printed = capfd.readouterr()
            assert (printed.out or printed.err) == code


def test_readme_prints_what_it_says(capsys: pytest.CaptureFixture[str]):
    (kind, code), (_, printed) = blocks(ROOT / "README.md")[:2]
    assert kind == "python"
    exec(code, {})
    assert capsys.readouterr().out == printed


def test_no_block_is_forgotten():
    kinds = {page.stem: {kind for kind, _ in blocks(page)} for page in PAGES}
    assert {page for page, found in kinds.items() if "shell" in found} == set(SHELL_BLOCKS)
    # Sphinx checks its own directives. Blocks without a kind are the output of the README's
    # example, and the files of the example project. What differs from run to run is of kind "none".
    directives = {"{toctree}", "{literalinclude}", "{eval-rst}"}
    assert set().union(*kinds.values()) <= {"python", "shell", "text", "none", ""} | directives
    assert {page for page, found in kinds.items() if "" in found} == {
        "README",
        "writing_extensions",
    }


def test_included_files_are_compiled_or_run():
    examples = (ROOT / "tests" / "python" / "test_examples.py").read_text()
    included = [
        (page.parent / name).resolve()
        for page in PAGES
        for name in INCLUDED.findall(page.read_text())
    ]
    assert included
    for path in included:
        if path.parent.name == "listings":  # tests of their own compare these
            continue
        compiled = str(path.relative_to(ROOT)).startswith(COMPILED)
        assert path.is_file() and (compiled or f'run("{path.name}")' in examples), path


# ---- shell blocks ----


def named_presets(kind: str) -> set[str]:
    presets = json.loads((ROOT / "CMakePresets.json").read_text())
    return {preset["name"] for preset in presets[kind] if not preset.get("hidden")}


def make_targets() -> set[str]:
    rules = re.findall(r"^([a-z][a-z0-9 -]*):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE)
    return {target for rule in rules for target in rule.split()}


def commands(name: str) -> Iterator[list[str]]:
    for block in shell_blocks(name):
        for line in block.splitlines():
            words = shlex.split(line, comments=True)
            while words and re.match(r"[A-Z_]+=", words[0]):  # environment variables
                words.pop(0)
            if words:
                yield words


@pytest.mark.parametrize("page", ["README", "building"])
def test_commands_name_what_exists(page: str):
    presets = {"cmake": "configurePresets", "cmake --build": "buildPresets", "ctest": "testPresets"}
    for words in commands(page):
        if words[0] == "make":
            assert set(words[1:]) <= make_targets(), words
            continue
        if words[0].startswith("tools/"):
            assert (ROOT / words[0]).is_file(), words
            continue
        program = "cmake --build" if words[:2] == ["cmake", "--build"] else words[0]
        assert words[words.index("--preset") + 1] in named_presets(presets[program]), words


def test_make_targets_of_the_text_exist():
    targets = make_targets()
    for page in PAGES:
        for target in re.findall(r"`make ([a-z][a-z0-9-]*)`", page.read_text()):
            assert target in targets, (page.name, target)


KERNEL = """
#include <metal_stdlib>
kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }
"""


@pytest.mark.parametrize("page", ["CONTRIBUTING", "vector_code"])
def test_metalc_commands_run(page: str, tmp_path: Path):
    metalc = Path(mx.__file__).resolve().parent / "bin" / "metalc"
    # The folder where the pages expect it: in the build, and on the environment's path.
    folder = tmp_path / "build" / "release" / "bin"
    folder.mkdir(parents=True)
    (folder / "metalc").write_text(f'#!/bin/sh\nexec "{metalc}" "$@"\n')
    (folder / "metalc").chmod(0o755)
    for name in ("file.metal", "kernel.metal"):
        (tmp_path / name).write_text(KERNEL)
    for block in shell_blocks(page):
        done = subprocess.run(
            ["/bin/bash", "-euc", block],  # the environment may have no PATH
            cwd=tmp_path,
            env=os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        # IR, or assembly
        assert "define" in done.stdout or ".globl" in done.stdout
