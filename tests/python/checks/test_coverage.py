"""Coverage of kernels: counts of lines and branches, lanes, bytes and patterns of access."""

import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import mlx.core as mx
import mlx_sample_extensions
import numpy as np
import pytest
from check_runner import launch

METALC = Path(mx.__file__).resolve().parent / "bin" / "metalc"


@pytest.fixture(autouse=True)
def forget():
    mx.metal.reset_coverage()
    yield
    mx.metal.reset_coverage()


def run(source: str, *, threads: int = 64, threadgroup: int = 32, **options) -> np.ndarray:
    """A kernel with one input, of 256 floats, and one output of 64."""
    kernel = mx.fast.metal_kernel(
        name="covered",
        input_names=["x"],
        output_names=["y"],
        source=textwrap.dedent(source),
        coverage=True,
        **options,
    )
    x = mx.arange(256, dtype=mx.float32)
    y = launch(kernel, x, threads=threads, threadgroup=threadgroup, outputs=64, init_value=0)
    mx.eval(y)
    return np.array(y)


def file(name: str = "covered") -> mx.metal.FileCoverage:
    (found,) = [file for file in mx.metal.coverage() if file.file == name]
    return found


def counts(name: str = "covered") -> dict[int, int]:
    return {line.line: line.count for line in file(name).lines}


def line(number: int) -> mx.metal.LineCoverage:
    return next(line for line in file().lines if line.line == number)


def test_lines_are_counted():
    y = run("""\
        uint i = thread_position_in_grid.x;
        float sum = 0;
        for (uint k = 0; k < 4; ++k)
          sum += x[4 * i + k];
        if (i < 5)
          y[i] = sum;
        else if (i < 100)
          y[i] = -sum;
        else
          y[i] = 0;
    """)
    assert y[:6].tolist() == [6, 22, 38, 54, 70, -86]
    assert counts() == {1: 64, 2: 64, 3: 320, 4: 256, 5: 64, 6: 5, 7: 59, 8: 59, 10: 0}


def test_short_branches_stay():
    """A compiler would choose without a branch."""
    run("""\
        uint i = thread_position_in_grid.x;
        float v = 1;
        if (i == 3)
          v = 2;
        y[i] = i < 10
            ? v
            : 0;
        if (i == 70)
          y[i] = 5;
        switch (i) {
          case 1:
            return;
          case 99:
            y[i] = 7;
            break;
        }
    """)
    found = counts()
    assert (found[3], found[4], found[8], found[9]) == (64, 1, 64, 0)
    assert (found[12], found[14]) == (1, 0)
    branches = {branch.line: branch.taken for branch in file().branches}
    assert branches == {3: [1, 63], 5: [10, 54], 8: [0, 64], 10: [63 - 0, 1, 0]}


def test_each_part_of_a_condition_is_a_branch():
    run("uint i = thread_position_in_grid.x;\nif (i > 7 && i % 2 == 0)\n  y[i] = 1;")
    assert [branch.taken for branch in file().branches] == [[56, 8], [28, 28]] or [
        branch.taken for branch in file().branches
    ] == [[28, 28], [56, 8]]
    assert counts()[3] == 28


def test_functions_count_once_for_each_call():
    run(
        "uint i = thread_position_in_grid.x;\ny[i] = twice(x[i]) + (i < 4 ? twice(1.0f) : 0);",
        header="inline float twice(float v) {\n  return 2 * v;\n}\ninline float never() {\n  return 0;\n}\n",
    )
    found = counts("covered.header")
    assert found[2] == 68
    assert 5 not in found  # it is in no kernel


def test_the_standard_library_does_not_count():
    run("y[thread_position_in_grid.x] = metal::precise::sin(x[0]);")
    assert counts() == {1: 64}
    assert file().branches == []
    assert {file.file for file in mx.metal.coverage()} == {"covered"}


def test_lanes_are_those_that_run_a_line_together():
    run("""\
        uint i = thread_position_in_grid.x;
        if (i % 4 == 0)
          y[i] = 1;
        if (i >= 32)
          y[i] = 2;
        for (uint k = 0; k < i % 2; ++k)
          y[i] += k;
    """)
    assert [line(number).lanes for number in (1, 3, 5, 7)] == [32, 8, 32, 16]


def test_lanes_of_a_small_threadgroup():
    run("uint i = thread_position_in_grid.x;\ny[i] = 1;", threads=10, threadgroup=5)
    assert (line(2).lanes, line(2).count) == (5, 10)


def test_bytes_and_patterns():
    run("""\
        uint i = thread_position_in_grid.x, l = thread_position_in_threadgroup.x;
        threadgroup float t[32];
        t[l] = x[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float a = x[4 * i];
        float b = x[0];
        float c = x[(i * 37) % 64];
        float4 d = ((device const float4*)x)[i];
        y[63 - i] = a + b + c + d.x + t[31 - l];
    """)
    assert (line(3).bytes_read, line(3).bytes_written, line(3).access) == (
        256,
        256,
        "read coalesced",
    )
    assert (line(5).bytes_read, line(5).access) == (256, "read strided by 16 bytes")
    assert (line(6).bytes_read, line(6).access) == (256, "read uniform")
    assert line(7).access == "read gathered"
    assert (line(8).bytes_read, line(8).access) == (1024, "read coalesced")
    assert (line(9).bytes_read, line(9).bytes_written) == (256, 256)
    assert line(9).access == "write strided by -4 bytes"


def test_patterns_in_loops_with_barriers():
    run("""\
        uint i = thread_position_in_grid.x;
        for (uint k = 0; k < 4; ++k) {
          y[i] += x[64 * k + i];
          threadgroup_barrier(mem_flags::mem_device);
          y[i] += x[4 * i + k];
        }
    """)
    assert line(3).access == "read coalesced, write coalesced"
    assert line(5).access == "read strided by 16 bytes, read coalesced, write coalesced"
    assert (line(3).count, line(4).count) == (256, 256)


def test_launches_add_up_until_the_reset():
    source = "y[thread_position_in_grid.x] = 1;"
    run(source)
    run(source, threads=32)
    assert counts() == {1: 96}
    assert file().kernels == {"covered": 2}
    mx.metal.reset_coverage()
    assert mx.metal.coverage() == []


def test_template_parameters_share_the_lines():
    kernel = mx.fast.metal_kernel(
        name="covered",
        input_names=["x"],
        output_names=["y"],
        source="if (N == 1)\n  y[0] = T(1);\nelse\n  y[0] = T(2);",
        coverage=True,
    )
    for dtype, number in ((mx.float32, 1), (mx.int32, 2), (mx.int32, 3)):
        mx.eval(launch(kernel, mx.ones(1), dtype=dtype, template=[("T", dtype), ("N", number)]))
    found = counts()
    assert (found[2], found[4]) == (1, 2)


def test_other_kernels_do_not_count():
    kernel = mx.fast.metal_kernel(
        name="other", input_names=["x"], output_names=["y"], source="y[0] = x[0];"
    )
    mx.eval(launch(kernel, mx.ones(1)))
    assert mx.metal.coverage() == []


def test_coverage_with_checks():
    with pytest.raises(mx.metal.KernelCheckError):
        run("uint i = thread_position_in_grid.x;\ny[i + 1] = x[i];", check="all")
    assert counts() == {1: 64, 2: 64}
    assert file().branches == []
    run("uint i = thread_position_in_grid.x;\ny[i] = x[i];", check="all,order")


def records(path: Path) -> list[list[str]]:
    text = path.read_text()
    assert text.endswith("end_of_record\n")
    return [record.strip().splitlines() for record in text.split("end_of_record")[:-1]]


def test_lcov_files(tmp_path: Path):
    source = "uint i = thread_position_in_grid.x;\nif (i > 99)\n  y[0] = 1;\ny[i] = h(i);\n"
    run(source, header="inline uint h(uint i) {\n  return i;\n}\n")
    mx.metal.save_coverage(tmp_path / "k.info")
    first, second = records(tmp_path / "k.info")
    assert first[:6] == [
        "TN:",
        f"SF:{tmp_path / 'k_sources' / 'covered'}",
        "FN:1,covered",
        "FNDA:1,covered",
        "FNF:1",
        "FNH:1",
    ]
    assert first[6:] == [
        "BRDA:2,0,0,0",
        "BRDA:2,0,1,64",
        "BRF:2",
        "BRH:1",
        "DA:1,64",
        "DA:2,64",
        "DA:3,0",
        "DA:4,64",
        "LF:4",
        "LH:3",
    ]
    assert second[1] == f"SF:{tmp_path / 'k_sources' / 'covered.header'}"
    assert (tmp_path / "k_sources" / "covered").read_text().startswith(source)
    assert "DA:2,64" in second


def test_sources_with_one_name_are_two_files(tmp_path: Path):
    run("y[0] = 1;")
    run("y[0] = 2;")
    mx.metal.save_coverage(str(tmp_path / "k.info"))
    assert [record[1].rpartition("/")[2] for record in records(tmp_path / "k.info")] == [
        "covered",
        "covered.2",
    ]


def test_a_folder_that_does_not_exist(tmp_path: Path):
    run("y[0] = 1;")
    with pytest.raises(RuntimeError, match=r"\[coverage\] Cannot write .*nowhere"):
        mx.metal.save_coverage("/proc/nowhere/k.info")


def test_the_text_shows_the_source():
    run("uint i = thread_position_in_grid.x;\n\nif (i > 99)\n  y[i] = 3;\n")
    lines = str(file()).splitlines()
    assert lines[0].split()[:2] == ["count", "lanes"] and lines[0].endswith("source")
    assert lines[1].split()[:2] == ["64", "32.0"]
    assert lines[1].endswith("uint i = thread_position_in_grid.x;")
    assert lines[4].split()[:2] == ["0", "0.0"]
    assert repr(file()) == "<FileCoverage of covered>"
    assert repr(line(1)) == "<LineCoverage of line 1: 64>"
    assert repr(file().branches[0]) == "<BranchCoverage of line 3, column 5>"


def test_the_environment_covers_a_program(tmp_path: Path):
    program = """
        import mlx.core as mx
        kernel = mx.fast.metal_kernel(name="k", input_names=["x"], output_names=["y"],
            source="y[thread_position_in_grid.x] = x[0];")
        mx.eval(kernel(inputs=[mx.ones(16)], grid=(16, 1, 1), threadgroup=(16, 1, 1),
                       output_shapes=[(16,)], output_dtypes=[mx.float32]))
    """
    subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        check=True,
        env=os.environ | {"MLX_COVERAGE": str(tmp_path / "all.info")},
    )
    (record,) = records(tmp_path / "all.info")
    assert "DA:1,16" in record and record[1].endswith("/all_sources/k")


def test_libraries_of_metalc_cover_themselves(tmp_path: Path):
    """A program that runs such a library leaves the coverage of its files."""
    extension = Path(mlx_sample_extensions.__file__).resolve().parent
    shutil.copytree(extension, tmp_path / "mlx_sample_extensions")
    root = Path(__file__).resolve().parents[3]  # a wheel has no sources of kernels
    source = root / "mlx_sample_extensions" / "axpby" / "axpby.metal"
    library = tmp_path / "mlx_sample_extensions" / "mlx_ext.metallib"
    command = [METALC, "--coverage", "-I", root, source, "-o", library]
    subprocess.run(command, check=True)
    program = (
        "import mlx.core as mx, mlx_sample_extensions as e\n"
        f"assert e.__file__.startswith({str(tmp_path)!r})\n"
        "print(e.axpby(mx.ones(5), mx.ones(5), 2, 3).tolist())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        check=True,
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(tmp_path)},
    )
    assert done.stdout == "[5.0, 5.0, 5.0, 5.0, 5.0]\n"
    found = [r for r in records(tmp_path / "coverage.info") if r[1] == f"SF:{source}"]
    assert len(found) == 1
    assert any(word.startswith("DA:") and word.endswith(",5") for word in found[0])
