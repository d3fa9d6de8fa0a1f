"""Imports beside packages that contain an LLVM of their own, in either order."""

import importlib.util
import sys
from pathlib import Path

import pytest
from commands import KERNEL, KERNEL_OUTPUT, run

# Packages that contain an LLVM of their own, and code that uses it.
NEIGHBOURS = {
    "torch": "print('neighbour says', int(torch.ones(3).sum()))",
    "triton": "import triton._C.libtriton as t; t.llvm.init_targets(); print('neighbour says 3')",
    "llvmlite.binding": """
module = llvmlite.binding.parse_assembly("define i32 @three() { ret i32 3 }")
llvmlite.binding.initialize_native_target()
llvmlite.binding.initialize_native_asmprinter()
machine = llvmlite.binding.Target.from_default_triple().create_target_machine()
engine = llvmlite.binding.create_mcjit_compiler(module, machine)
engine.finalize_object()
import ctypes
three = ctypes.CFUNCTYPE(ctypes.c_int32)(engine.get_function_address("three"))
print("neighbour says", three())
""",
}


@pytest.mark.parametrize("neighbour", NEIGHBOURS)
@pytest.mark.parametrize("order", ["before", "after", "between"])
def test_import_order(neighbour: str, order: str, tmp_path: Path):
    package = neighbour.partition(".")[0]
    if importlib.util.find_spec(package) is None:
        pytest.skip(f"{package} is not installed")
    imports = {
        "before": f"import {neighbour}\nimport mlx.core",
        "after": f"import mlx.core\nimport {neighbour}",
        # Both compilers have run before the other package is imported.
        "between": f"{KERNEL}\nimport {neighbour}",
    }[order]
    program = f"{imports}\n{NEIGHBOURS[neighbour]}\n{KERNEL}\n{NEIGHBOURS[neighbour]}"
    result = run(sys.executable, "-c", program, cwd=tmp_path)
    assert result.returncode == 0, result.stdout
    assert KERNEL_OUTPUT in result.stdout and "neighbour says 3" in result.stdout, result.stdout
