"""The plugin for pytest."""

import subprocess
import sys
import textwrap
from pathlib import Path

TESTS = """
    import mlx.core as mx

    kernel = mx.fast.metal_kernel(
        name="late", input_names=["x"], output_names=["y"],
        source="y[thread_position_in_grid.x + OFFSET] = x[0];",
    )

    def run(offset):
        (y,) = kernel(inputs=[mx.ones(16)], grid=(16, 1, 1), threadgroup=(16, 1, 1),
                      output_shapes=[(16,)], output_dtypes=[mx.float32],
                      template=[("OFFSET", offset)], init_value=0)
        mx.eval(y)

    def test_good():
        run(0)

    def test_bad():
        run(1)
"""


def run_pytest(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    (folder / "test_late.py").write_text(textwrap.dedent(TESTS))
    command = [sys.executable, "-m", "pytest", "-p", "mlx.pytest_plugin", "-q", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True)


def test_without_the_option_nothing_is_checked(tmp_path):
    assert "2 passed" in run_pytest(tmp_path).stdout


def test_a_test_whose_kernel_fails_a_check_fails(tmp_path):
    result = run_pytest(tmp_path, "--metal-check=all", "--junitxml=report.xml")
    assert "1 failed, 1 passed" in result.stdout
    assert 'late:1:1: bounds: writes element 16 of the buffer "y"' in result.stdout
    text = (tmp_path / "report.xml").read_text()
    assert text.count('<property name="metal_check"') == 1
    assert "late:1:1: bounds: writes element 16 of the buffer" in text


def test_unknown_checks_are_refused(tmp_path):
    result = run_pytest(tmp_path, "--metal-check=bound")
    assert result.returncode != 0
    assert 'Unknown check "bound"' in result.stdout + result.stderr
