"""How checks are asked for, and how their findings reach the user."""

import os
import subprocess
import sys
import textwrap
import warnings

import mlx.core as mx
import numpy as np
import pytest
from check_runner import reports

SOURCE = """uint i = thread_position_in_grid.x;
    y[i + 16] = 2 * x[i];
"""


def make(**options):
    return mx.fast.metal_kernel(
        name="late", input_names=["x"], output_names=["y"], source=SOURCE, **options
    )


def call(kernel):
    return kernel(
        inputs=[mx.ones(16)],
        grid=(16, 1, 1),
        threadgroup=(16, 1, 1),
        output_shapes=[(16,)],
        output_dtypes=[mx.float32],
    )[0]


def test_unchecked_kernels_run_as_ever():
    mx.eval(call(make()))


def test_the_error_is_a_diagnostic():
    with pytest.raises(RuntimeError) as caught:
        mx.eval(call(make(check="bounds")))
    assert type(caught.value) is mx.metal.KernelCheckError
    assert str(caught.value) == textwrap.dedent("""\
        [late] The kernel failed its checks (1 report):
        late:2:5: bounds: writes element 16 of the buffer "y", which has 16 elements
              y[i + 16] = 2 * x[i];
              ^
          in thread (0, 0, 0) of threadgroup (0, 0, 0), and 15 times more""")


def test_the_report_has_all_that_the_text_says():
    with pytest.raises(mx.metal.KernelCheckError) as caught:
        mx.eval(call(make(check=["bounds"])))
    (report,) = caught.value.reports
    assert (report.kind, report.kernel, report.file) == ("bounds", "late", "late")
    assert (report.line, report.column, report.object) == (2, 5, "y")
    assert (report.index, report.size, report.count) == (16, 16, 16)
    assert (report.thread, report.threadgroup) == ((0, 0, 0), (0, 0, 0))
    assert report.message == 'writes element 16 of the buffer "y", which has 16 elements'
    assert repr(report) == "<CheckReport bounds in late, line 2>"


@pytest.mark.parametrize("evaluate_inside", [False, True])
def test_context_checks_calls_and_evaluations(evaluate_inside):
    kernel = make()
    with pytest.raises(mx.metal.KernelCheckError):
        if evaluate_inside:
            y = call(kernel)
            with mx.metal.check("bounds"):
                mx.eval(y)
        else:
            with mx.metal.check("bounds"):
                y = call(kernel)
            mx.eval(y)
    mx.eval(call(kernel))


def test_contexts_nest():
    with mx.metal.check("barriers"), mx.metal.check("bounds"):
        pass
    both = mx.metal.check()
    with both:
        with both:
            pass
        with pytest.raises(mx.metal.KernelCheckError):
            mx.eval(call(make()))


def test_the_line_is_that_of_the_header_too():
    header = "inline void put(device float* p, uint i) {\n  p[i] = 1;\n}\n"
    (report,) = reports("put(o, thread_position_in_grid.x + 1);", "bounds", header=header)
    assert (report.file, report.line) == ("under_check.header", 2)
    assert "p[i] = 1;" in str(report)


def test_complete_kernels_are_checked():
    kernel = mx.fast.metal_kernel(
        "whole",
        "[[kernel]] void whole(device float* out [[buffer(0)]],\n"
        "                      uint i [[thread_position_in_grid]]) {\n"
        "  out[i + 1] = 1;\n"
        "}\n",
        check="bounds",
    )
    with pytest.raises(mx.metal.KernelCheckError) as caught:
        mx.eval(
            kernel(
                grid=(8, 1, 1), threadgroup=(4, 1, 1), output_shape=(8,), output_dtype=mx.float32
            )
        )
    (report,) = caught.value.reports
    assert (report.line, report.object, report.index, report.count) == (3, "out", 8, 1)
    assert (report.thread, report.threadgroup) == ((3, 0, 0), (1, 0, 0))


def test_the_stream_goes_on_after_an_error():
    with pytest.raises(mx.metal.KernelCheckError):
        mx.eval(call(make(check="bounds")))
    assert (mx.ones(4) + 1).tolist() == [2.0] * 4


def test_warnings_instead_of_errors(monkeypatch):
    monkeypatch.setenv("MLX_CHECK_REPORT", "warn")
    with pytest.warns(
        RuntimeWarning, match='late:2:5: bounds: writes element 16 of the buffer "y"'
    ):
        mx.eval(call(make(check="bounds")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        mx.eval(call(make()))


@pytest.mark.parametrize("given", ["bound", "bounds,,races", ["bounds", "x"]])
def test_unknown_checks_are_refused(given):
    with pytest.raises(ValueError, match=r"\[metal_kernel\] Unknown check"):
        make(check=given)


def test_checks_of_wrong_types_are_refused():
    with pytest.raises(TypeError, match=r"\[metal_kernel\] check: Expected a str or a list of str"):
        make(check=1)
    with pytest.raises(TypeError, match=r"\[metal.check\] check: Expected"):
        mx.metal.check(1)


def run_python(program: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        env=os.environ | environment,
    )


PROGRAM = """
    import mlx.core as mx
    kernel = mx.fast.metal_kernel(name="k", input_names=["x"], output_names=["y"],
        source="y[thread_position_in_grid.x + 1] = x[0];")
    y = kernel(inputs=[mx.ones(16)], grid=(16, 1, 1), threadgroup=(16, 1, 1),
               output_shapes=[(16,)], output_dtypes=[mx.float32])[0]
    try:
        mx.eval(y)
    except mx.metal.KernelCheckError as error:
        print(error.reports[0].index)
"""


def test_the_environment_asks_for_checks():
    for value, printed in (("all", "16\n"), ("races", ""), ("barriers, bounds", "16\n"), ("0", "")):
        assert run_python(PROGRAM, MLX_CHECK=value).stdout == printed, value


def test_unknown_checks_of_the_environment_are_refused():
    result = run_python(PROGRAM, MLX_CHECK="everything")
    assert 'ValueError: [MLX_CHECK] Unknown check "everything"' in result.stderr


def test_array_operations_are_checked_without_findings():
    with mx.metal.check("all"):
        x = mx.random.normal((17, 33))
        y = mx.softmax(x @ x.T, axis=-1).sum(axis=0)
        z = mx.sort(y)[::-1].astype(mx.float16)
        mx.eval(z, mx.cumsum(y), x.T[::-1, ::2] + 1, mx.take(y, mx.array([1, 2])))


def test_evaluation_for_numpy_raises_the_same():
    with pytest.raises(mx.metal.KernelCheckError) as caught:
        np.array(call(make(check="bounds")))
    assert len(caught.value.reports) == 1
