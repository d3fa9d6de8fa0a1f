"""os_log and printf in kernels: what they print, with the thread's position, in every form of code."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import mlx.core as mx
import pytest

pytestmark = pytest.mark.cpu_kernels

METALC = Path(mx.__file__).resolve().parent / "bin" / "metalc"
HEADER = '#include <metal_logging>\nconstant os_log logger("tests", "log");\n'


@pytest.fixture
def diagnostics(tmp_path: Path) -> Callable[[str], str]:
    """What the compiler says of a kernel with this body, in line 6."""

    def compile_body(body: str, *options: str) -> str:
        file = tmp_path / "k.metal"
        file.write_text(
            "#include <metal_stdlib>\nusing namespace metal;\n"
            + HEADER
            + "kernel void f(device float* x, uint i [[thread_position_in_grid]]) {\n"
            + body
            + "\n}\n"
        )
        command = [METALC, *options, file, "-o", tmp_path / "out"]
        return subprocess.run(command, text=True, capture_output=True).stderr

    return compile_body


def make(body: str, **options):
    return mx.fast.metal_kernel(
        name="talks",
        input_names=["x"],
        output_names=["o"],
        header=HEADER,
        source="uint i = thread_position_in_grid.x; o[i] = x[i];\n" + body,
        **options,
    )


def printed(capfd, body: str, *, threads=4, threadgroup=2, **options) -> list[str]:
    (o,) = make(body, **options)(
        inputs=[mx.arange(threads, dtype=mx.float32)],
        grid=(threads, 1, 1),
        threadgroup=(threadgroup, 1, 1),
        output_shapes=[(threads,)],
        output_dtypes=[mx.float32],
        stream=mx.cpu,
    )
    capfd.readouterr()
    assert o.tolist() == list(range(threads))
    return capfd.readouterr().err.splitlines()


def by_thread(lines: list[str]) -> list[str]:
    """Those of a thread stay in their order."""
    return sorted(lines, key=lambda line: int(line.partition("(")[2].partition(",")[0]))


def texts(lines: list[str]) -> list[str]:
    return [line.partition(": ")[2] for line in lines]


@pytest.mark.parametrize("reference", ["0", "1"])
@pytest.mark.parametrize("threadgroup", [1, 2, 32, 64])
def test_active_lanes_speak_in_their_order(capfd, monkeypatch, reference, threadgroup):
    monkeypatch.setenv("MLX_CPU_REFERENCE", reference)
    text = f'if (i % 3 == 1) logger.log("x is %g", x[i]);  // {reference}'
    lines = printed(capfd, text, threads=64, threadgroup=threadgroup)
    if threadgroup < 64:  # they may run on several cores
        lines = by_thread(lines)
    assert lines == [f"[talks] thread ({i}, 0, 0) tests/log: x is {i}" for i in range(1, 64, 3)]


@pytest.mark.parametrize("reference", ["0", "1"])
def test_positions_have_three_dimensions(capfd, monkeypatch, reference):
    monkeypatch.setenv("MLX_CPU_REFERENCE", reference)
    kernel = mx.fast.metal_kernel(
        name="deep",
        input_names=[],
        output_names=["o"],
        header=HEADER,
        source=f"""uint3 t = thread_position_in_grid; o[0] = {reference};
            os_log_default.log("%v3u", t);""",
    )
    (o,) = kernel(
        inputs=[], grid=(3, 2, 2), threadgroup=(2, 2, 1),
        output_shapes=[(1,)], output_dtypes=[mx.float32], stream=mx.cpu,
    )  # fmt: skip
    capfd.readouterr()
    mx.eval(o)
    expected = [
        f"[deep] thread ({x}, {y}, {z}): {x},{y},{z}"
        for x in range(3) for y in range(2) for z in range(2)
    ]  # fmt: skip
    assert sorted(capfd.readouterr().err.splitlines()) == sorted(expected)


FORMATS = {
    '"%d %i %u", -3, 7, 4u': "-3 7 4",
    '"%x %X %#x %o", 255u, 255u, 255u, 8u': "ff FF 0xff 10",
    '"%x", -1': "ffffffff",
    '"%hhd %hd %hu", char(-1), short(-2), ushort(65535)': "-1 -2 65535",
    '"%ld %lu %lx", long(-1) << 40, ulong(1) << 40, long(-1)': "-1099511627776 1099511627776 ffffffffffffffff",
    '"%f %e %g %a", 1.5f, 1.5f, 1.5f, 1.0f': "1.500000 1.500000e+00 1.5 0x1p+0",
    '"%5.2f|%-6d|%+d|%06.2f|% d", 1.5f, 3, 3, 1.5f, 3': " 1.50|3     |+3|001.50| 3",
    '"%f %f %F", half(0.5h), bfloat(0.25), INFINITY': "0.500000 0.250000 INF",
    '"%c%c %s %.2s %%", \'a\', 98, "text", "text"': "ab text te %",
    '"%d %d", true, log_type::error': "1 16",
    '"%v4f", float4(1, 2, 3, x[i])': "1.000000,2.000000,3.000000,1.000000",
    '"%v2d %v3hu %.1v2hlf", int2(4, -5), ushort3(1, 2, 3), half2(1, 2)': "4,-5 1,2,3 1.0,2.0",
    '"%.1v3f", packed_float3(1)': "1.0,1.0,1.0",
    '"no values"': "no values",
    '""': "",
}


@pytest.mark.parametrize("arguments", FORMATS)
def test_formats(capfd, diagnostics, arguments):
    body = f"if (i == 1) os_log_default.log({arguments});"
    assert texts(printed(capfd, body)) == [FORMATS[arguments]]
    assert "warning" not in diagnostics(body)


def test_pointers(capfd):
    (line,) = texts(printed(capfd, 'if (i == 0) logger.log("%p", x);'))
    assert int(line, 16) > 0


def test_types_of_messages(capfd):
    text = """if (i == 0) {
        logger.log_debug("a"); logger.log_info("b"); logger.log_error("c"); logger.log_fault("d");
        os_log_default.log_with_type(log_type::error, "e %d", 5);
        printf("f %d\\n", 6);
    }"""
    assert printed(capfd, text) == [
        "[talks] thread (0, 0, 0) tests/log debug: a",
        "[talks] thread (0, 0, 0) tests/log info: b",
        "[talks] thread (0, 0, 0) tests/log error: c",
        "[talks] thread (0, 0, 0) tests/log fault: d",
        "[talks] thread (0, 0, 0) error: e 5",
        "[talks] thread (0, 0, 0): f 6",
    ]


@pytest.mark.parametrize("check", ["", "bounds", "races", "all", "order", "all,order"])
def test_every_message_is_printed_once(capfd, check):
    text = """float s = simd_sum(x[i]);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int k = 0; k < 2; ++k)
          if (i % 32 == 2) logger.log("%d %g", k, s);"""
    options = {"check": check} if check else {}
    lines = printed(capfd, text, threads=64, threadgroup=32, **options)
    assert by_thread(lines) == [
        "[talks] thread (2, 0, 0) tests/log: 0 496",
        "[talks] thread (2, 0, 0) tests/log: 1 496",
        "[talks] thread (34, 0, 0) tests/log: 0 1520",
        "[talks] thread (34, 0, 0) tests/log: 1 1520",
    ]


def test_functions_of_the_user_speak(capfd):
    kernel = mx.fast.metal_kernel(
        name="talks",
        input_names=["x"],
        output_names=["o"],
        header=HEADER + 'template <typename T> void say(T v) { logger.log("v=%g", v); }',
        source="""uint i = thread_position_in_grid.x; o[i] = x[i];
            auto twice = [&](int n) { logger.log("n=%d", 2 * n); };
            if (i == 1) { say(x[i]); twice(i); }""",
    )
    (o,) = kernel(
        inputs=[mx.arange(4, dtype=mx.float32)], grid=(4, 1, 1), threadgroup=(4, 1, 1),
        output_shapes=[(4,)], output_dtypes=[mx.float32], stream=mx.cpu,
    )  # fmt: skip
    mx.eval(o)
    assert texts(capfd.readouterr().err.splitlines()) == ["v=1", "n=2"]


def test_many_messages_are_dropped(capfd):
    text = 'for (int k = 0; k < 100000; ++k) if (i == 1) logger.log("%d", k);'
    *lines, last = printed(capfd, text)
    assert texts(lines) == [str(k) for k in range(len(lines))]
    assert sum(len(line) + 1 for line in lines) <= 1 << 20
    assert last.startswith(f"[talks] {100000 - len(lines)} messages were dropped")


def test_messages_come_before_a_fault(capfd):
    kernel = make('logger.log("before"); if (i == 1) o[1l << 40] = 0;')
    (o,) = kernel(
        inputs=[mx.zeros(2)], grid=(2, 1, 1), threadgroup=(2, 1, 1),
        output_shapes=[(2,)], output_dtypes=[mx.float32], stream=mx.cpu,
    )  # fmt: skip
    with pytest.raises(RuntimeError, match="invalid memory access"):
        mx.eval(o)
    assert "before" in capfd.readouterr().err


def test_a_text_that_cannot_be_read_stops_the_kernel(capfd):
    kernel = make('logger.log("%s", (const constant char*)(1ul << 40));')
    (o,) = kernel(
        inputs=[mx.zeros(2)], grid=(2, 1, 1), threadgroup=(2, 1, 1),
        output_shapes=[(2,)], output_dtypes=[mx.float32], stream=mx.cpu,
    )  # fmt: skip
    with pytest.raises(RuntimeError, match="The kernel was stopped"):
        mx.eval(o)


MISTAKES = {
    '"%f", 1': "'%f' in a message needs a floating-point number, but its value has the type 'int'",
    '"%d", 1.0f': "'%d' in a message needs an integer, but its value has the type 'float'",
    '"%d", 1l': "'%d' in a message needs an integer of 32 bits",
    '"%ld", 1': "'%ld' in a message needs an integer of 64 bits",
    '"%d %d", 1': "no value for '%d' in a message",
    '"%d", 1, 2': "a message does not print all of its values",
    '"%f", float4(1)': "'%f' in a message needs a scalar: '%v4f' prints a vector",
    '"%v2f", float4(1)': "'%v2f' in a message needs a vector of 2 elements",
    '"%v4f", 1.0f': "'%v4f' in a message needs a vector of 4 elements",
    '"%k", 1': "'%k' in a message is no conversion",
    '"%s", 1': "'%s' in a message needs a string literal",
    '"%d", "a"': "'%d' in a message needs an integer",
    '"100%"': "'%' in a message is no conversion",
}


@pytest.mark.parametrize("arguments", MISTAKES)
def test_warnings(diagnostics, arguments):
    text = diagnostics(f"logger.log({arguments});")
    assert f"k.metal:6:1: warning: {MISTAKES[arguments]}" in text


def test_wrong_formats_still_print(capfd):
    body = 'if (i == 0) logger.log("%d %d %f", 1.5f, 2);'
    assert texts(printed(capfd, body)) == ["1.5 2 ?"]


def test_other_values_are_refused(diagnostics):
    text = diagnostics('struct S { int a; }; logger.log("%d", S());')
    assert "error: " in text
    assert "a message can have numbers, vectors of numbers, pointers and texts" in text


def test_the_check_apple_knows_that_metal_has_no_printf(diagnostics):
    assert "Metal has no 'printf'" in diagnostics('printf("a");')


def test_gpus_refuse(diagnostics):
    text = diagnostics('os_log_default.log("%f", x[0]);', "--emit", "ptx")
    assert "messages of kernels (os_log, printf) are printed on CPUs only" in text
