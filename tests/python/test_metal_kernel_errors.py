"""Errors of mx.fast.metal_kernel name the argument, what was given and what is allowed."""

import os
import re
import subprocess
import sys

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import double, launch, outputs

SOURCE = "y[thread_position_in_grid.x] = x[thread_position_in_grid.x];"
X = mx.ones(16)


def create(**changes):
    arguments = {"name": "copy", "input_names": ["x"], "output_names": ["y"], "source": SOURCE}
    return mx.fast.metal_kernel(**(arguments | changes))


def call(kernel=None, **changes):
    arguments = {
        "inputs": [X],
        "grid": (16, 1, 1),
        "threadgroup": (16, 1, 1),
        "output_shapes": [(16,)],
        "output_dtypes": [mx.float32],
    } | changes
    given = {k: v for k, v in arguments.items() if v is not None}
    return mx.eval((kernel or create())(**given))


class TestCreation:
    @pytest.mark.parametrize("name", ["", "1x", "a b", "kernel", "device", "float", "x-y"])
    def test_names_of_parameters(self, name):
        with pytest.raises(ValueError, match="input name"):
            create(input_names=[name])

    def test_duplicate_names(self):
        with pytest.raises(ValueError, match='more than one parameter called "x"'):
            create(input_names=["x", "x"])
        with pytest.raises(ValueError, match='more than one parameter called "x"'):
            create(output_names=["x"])

    def test_no_outputs(self):
        with pytest.raises(ValueError, match="no outputs"):
            create(output_names=[])

    def test_no_source(self):
        with pytest.raises(TypeError, match="source"):
            mx.fast.metal_kernel(name="copy")

    @pytest.mark.parametrize("names", ["x", [1], 5, {"x": 1}])
    def test_names_that_are_no_list_of_strings(self, names):
        with pytest.raises(TypeError, match="input_names"):
            create(input_names=names)

    def test_unknown_keyword(self):
        with pytest.raises(TypeError, match="gird.*allowed are"):
            create(gird=(1, 1, 1))

    @pytest.mark.parametrize(
        "options", [{"math_mode": "quick"}, {"mode": "fast"}, {"math_mode": 1}, {1: "fast"}]
    )
    def test_compile_options(self, options):
        with pytest.raises(ValueError, match="compile_options"):
            create(compile_options=options)

    def test_complete_kernel_with_names(self):
        with pytest.raises(ValueError, match="complete kernel"):
            create(source="kernel void f(device float* x) {}")


class TestCall:
    @pytest.mark.parametrize(
        "argument", ["inputs", "grid", "threadgroup", "output_shapes", "output_dtypes"]
    )
    def test_missing(self, argument):
        with pytest.raises(ValueError, match=f"needs {argument}"):
            call(**{argument: None})

    def test_missing_grid_of_each_form(self):
        with pytest.raises(ValueError, match="needs grid"):
            mx.fast.metal_kernel("copy", SOURCE)(
                inputs={"x": X}, output_shapes={"y": (1,)}, output_dtypes={"y": mx.float32}
            )
        with pytest.raises(ValueError, match="needs grid"):
            mx.fast.MetalKernel("copy", SOURCE, output_shapes={"y": (1,)})(x=X)
        whole = "kernel void f(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }"
        with pytest.raises(ValueError, match="needs a grid"):
            mx.fast.metal_kernel("f", whole)(X)
        with pytest.raises(ValueError, match="needs a threadgroup"):
            mx.fast.metal_kernel("f", whole)(X, grid=(1, 1, 1))

    def test_positional_arguments(self):
        with pytest.raises(TypeError, match="keyword arguments only"):
            create()(X)

    @pytest.mark.parametrize("count", [0, 2])
    def test_number_of_inputs(self, count):
        with pytest.raises(ValueError, match=rf"expects 1 inputs \(x\), got {count}"):
            call(inputs=[X] * count)

    def test_number_of_shapes_and_dtypes(self):
        with pytest.raises(ValueError, match=r"expects 1 output_shapes \(y\), got 2"):
            call(output_shapes=[(16,), (16,)])
        with pytest.raises(ValueError, match="expects 1 output_dtypes"):
            call(output_dtypes=[])

    @pytest.mark.parametrize("value", ["x", None, object(), {}, [[1]]])
    def test_inputs_that_are_no_arrays(self, value):
        with pytest.raises(TypeError, match='input "x"'):
            call(inputs=[value])

    @pytest.mark.parametrize("value", [X, {"x": X}, 1])
    def test_inputs_that_are_no_list(self, value):
        with pytest.raises(TypeError, match="inputs must be a list"):
            call(inputs=value)

    def test_lists_for_a_kernel_without_names(self):
        with pytest.raises(TypeError, match="inputs must be a dictionary|must be a dictionary"):
            call(mx.fast.metal_kernel("copy", SOURCE))

    def test_dictionaries_that_disagree(self):
        with pytest.raises(ValueError, match=r"same outputs.*\(y\) and \(z\)"):
            call(
                mx.fast.metal_kernel("copy", SOURCE),
                inputs={"x": X},
                output_shapes={"y": (16,)},
                output_dtypes={"z": mx.float32},
            )

    @pytest.mark.parametrize("argument", ["grid", "threadgroup"])
    @pytest.mark.parametrize("value", [(1, 1), (1, 1, 1, 1), ()])
    def test_length_of_sizes(self, argument, value):
        with pytest.raises(ValueError, match=f"{argument} must be three integers"):
            call(**{argument: value})

    @pytest.mark.parametrize("argument", ["grid", "threadgroup"])
    @pytest.mark.parametrize("value", [16, (1.0, 1, 1), ("1", 1, 1), "abc"])
    def test_type_of_sizes(self, argument, value):
        with pytest.raises(TypeError, match=argument):
            call(**{argument: value})

    def test_negative_grid(self):
        with pytest.raises(ValueError, match=r"grid.*\(16, -1, 1\).*negative"):
            call(grid=(16, -1, 1))

    def test_grid_beyond_32_bits(self):
        with pytest.raises(ValueError, match="grid.*32 bits"):
            call(grid=(2**31, 1, 1))

    @pytest.mark.parametrize("value", [(0, 1, 1), (16, 1, -2)])
    def test_threadgroup_without_threads(self, value):
        with pytest.raises(ValueError, match="threadgroup.*at least 1"):
            call(threadgroup=value)

    @pytest.mark.parametrize("value", [(1025, 1, 1), (32, 32, 2), (2**20, 2**20, 2**20)])
    def test_threadgroup_beyond_the_limit(self, value):
        with pytest.raises(ValueError, match="threadgroup.*at most 1024 threads"):
            call(threadgroup=value)

    def test_numpy_integers_are_integers(self):
        call(grid=(np.prod((4, 4)), 1, 1), threadgroup=(np.int32(8), np.uint8(1), 1))

    @pytest.mark.parametrize("value", [1.5, "float", float, None, np.float32(1), mx.array(1)])
    def test_template_values(self, value):
        with pytest.raises(ValueError, match='template parameter "T" must be a mlx.core.Dtype'):
            call(template=[("T", value)])

    def test_template_integer_beyond_32_bits(self):
        with pytest.raises(ValueError, match="32 bits"):
            call(template=[("N", 2**31)])

    @pytest.mark.parametrize("value", [5, ["T"], [("T",)], [(1, 2)], "T", {1: 2}])
    def test_template_form(self, value):
        with pytest.raises(TypeError, match="template"):
            call(template=value)

    def test_template_names(self):
        with pytest.raises(ValueError, match='more than one parameter called "x"'):
            call(template=[("x", 1)])
        with pytest.raises(ValueError, match="template parameter name"):
            call(template=[("2T", 1)])

    @pytest.mark.parametrize("value", ["0", [0], object(), 1j])
    def test_init_value(self, value):
        with pytest.raises(TypeError, match="init_value must be a number"):
            call(init_value=value)

    @pytest.mark.parametrize("value", [[4], ["ab"], [(1.5,)], (16,), [X]])
    def test_output_shapes(self, value):
        with pytest.raises(TypeError, match="output_shapes"):
            call(output_shapes=value)

    def test_negative_output_shape(self):
        with pytest.raises(ValueError, match='output "y" has the negative dimension -4'):
            call(output_shapes=[(-4,)])

    @pytest.mark.parametrize("value", [["float32"], mx.float32, [np.float32], [1]])
    def test_output_dtypes(self, value):
        with pytest.raises(TypeError, match="output_dtypes"):
            call(output_dtypes=value)

    def test_float64(self):
        with pytest.raises(ValueError, match='float64.*output "y"'):
            call(output_dtypes=[mx.float64])
        with pytest.raises(ValueError, match='float64.*template parameter "T"'):
            call(template=[("T", mx.float64)])

    def test_atomic_outputs(self):
        with pytest.raises(ValueError, match="no atomics"):
            call(create(atomic_outputs=True), output_dtypes=[mx.complex64])

    @pytest.mark.parametrize("value", ["gpu", 1])
    def test_stream(self, value):
        with pytest.raises(TypeError, match="stream"):
            call(stream=value)

    @pytest.mark.parametrize("value", ["yes", 3.5])
    def test_verbose(self, value):
        with pytest.raises(TypeError, match="verbose"):
            call(verbose=value)

    def test_unknown_keyword(self):
        with pytest.raises(TypeError, match="no argument 'gird'; allowed are"):
            call(gird=(1, 1, 1))

    def test_options_that_belong_to_the_creation(self):
        with pytest.raises(ValueError, match="creation"):
            call(atomic_outputs=True)

    def test_too_many_buffers(self):
        names = [f"x{i}" for i in range(31)]
        kernel = create(input_names=names, source="y[0] = x0[0];")
        with pytest.raises(ValueError, match="32 buffers.*at most 31"):
            call(kernel, inputs=[X] * 31)


class TestCompilation:
    def diagnostics(self, source: str, header: str = "") -> str:
        with pytest.raises(RuntimeError) as error:
            call(create(source=source, header=header))
        return str(error.value)

    def test_points_into_the_body(self):
        text = self.diagnostics("\n  float a = 1;\n  y[0] = a + missing;\n")
        assert re.search(r"copy:3:14: error: .*missing", text)
        assert "y[0] = a + missing;" in text and "^" in text

    def test_points_into_the_header(self):
        text = self.diagnostics(SOURCE, header="int fine() { return 1; }\nint broken( { }\n")
        assert "copy.header:2:" in text and "int broken( { }" in text

    def test_first_line(self):
        assert "copy:1:" in self.diagnostics("y[0] = nothing;")

    def test_unbalanced_brace(self):
        assert "error" in self.diagnostics("if (true) { y[0] = 1;")

    @pytest.mark.parametrize(
        "source",
        ["}", "{", "#error no", "'", '"', "/*", "#if 1", "y[0] = double(1);", "\0", "é"],
    )
    def test_malformed_sources_only_raise(self, source):
        self.diagnostics(source)

    def test_the_kernel_works_after_the_error_of_another(self):
        self.diagnostics("broken")
        call()

    def test_the_same_error_again(self):
        kernel = create(source="broken;")
        for _ in range(2):
            with pytest.raises(RuntimeError, match="broken"):
                call(kernel)


class TestCompleteKernels:
    SOURCE = """
        kernel void f(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                      constant int& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
          y[i] = x[i] + n;
        }
        kernel void g(device const float* x) {}
    """
    LAUNCH = {"grid": (16, 1, 1), "threadgroup": (16, 1, 1)}

    def call(self, *arguments, name="f", source=SOURCE, **more):
        kernel = mx.fast.metal_kernel(name=name, source=source)
        return mx.eval(kernel(*arguments, **(self.LAUNCH | more)))

    def test_works(self):
        self.call(X, X, 1)

    @pytest.mark.parametrize("count", [0, 1, 4])
    def test_number_of_arguments(self, count):
        with pytest.raises(ValueError, match=rf"3 buffers \(x, y, n\).*given {count} arguments"):
            self.call(*[X] * count)

    def test_no_function_of_that_name(self):
        with pytest.raises(ValueError, match="none of that name: f, g"):
            self.call(X, X, 1, name="h")

    def test_no_outputs(self):
        with pytest.raises(ValueError, match="no outputs"):
            self.call(X, name="g")

    def test_scalar_for_an_output(self):
        with pytest.raises(ValueError, match='"y", which must be an array'):
            self.call(X, 1.0, 1)

    def test_float_for_an_integer(self):
        with pytest.raises(ValueError, match='"n" as int, but was given a float'):
            self.call(X, X, 1.5)

    def test_elements_of_another_size(self):
        with pytest.raises(ValueError, match='"x" with elements of type float.*float16.*astype'):
            self.call(X.astype(mx.float16), X, 1)

    def test_shapes(self):
        self.call(
            X, X, 1, input_shapes=[(4, 4), (2, 8)], output_shape=(4, 4), output_dtype=mx.float32
        )
        with pytest.raises(ValueError, match="input_shapes"):
            self.call(X, X, 1, input_shapes=[(4, 5)])
        with pytest.raises(ValueError, match=r'output "y".*\(5,4\)'):
            self.call(X, X, 1, output_shape=(5, 4))
        with pytest.raises(ValueError, match="output dtype says is int32"):
            self.call(X, X, 1, output_dtype=mx.int32)
        with pytest.raises(ValueError, match="1 outputs, but output_shapes gives 2"):
            self.call(X, X, 1, output_shapes=[(16,), (16,)])

    def test_template(self):
        with pytest.raises(ValueError, match="instantiate its templates"):
            self.call(X, X, 1, template=[("T", mx.float32)])

    def test_does_not_compile(self):
        with pytest.raises(RuntimeError, match=r"f:2:\d+: error"):
            self.call(X, source="\nkernel void f(device float* x) { x[0] = missing; }")

    def test_threadgroup_memory_argument(self):
        source = (
            "kernel void f(device float* x, threadgroup float* t [[threadgroup(0)]]) { x[0] = *t; }"
        )
        with pytest.raises(ValueError, match="threadgroup memory"):
            self.call(X, source=source)


CONSUMERS = {
    "eval": mx.eval,
    "numpy": np.array,
    "memoryview": memoryview,
    "list": lambda a: a.tolist(),
    "item": lambda a: a[3].item(),
    "operation": lambda a: mx.eval(a + 1),
    "other stream": lambda a: mx.eval(mx.add(a, 1, stream=mx.cpu)),
    "text": repr,
}


@pytest.mark.parametrize("consume", CONSUMERS.values(), ids=CONSUMERS)
def test_the_error_stays_with_the_array(consume):
    kernel = mx.fast.metal_kernel(
        name="stops", input_names=[], output_names=["out"], source="__builtin_trap();"
    )
    out = kernel(
        inputs=[],
        grid=(8, 1, 1),
        threadgroup=(8, 1, 1),
        output_shapes=[(8,)],
        output_dtypes=[mx.int32],
    )[0]
    for _ in range(3):
        with pytest.raises(RuntimeError, match="stops.*trap"):
            consume(out)
    assert (mx.ones(3) + 1).tolist() == [2, 2, 2]


class TestFaults:
    """A kernel that faults names itself, and the next one runs."""

    HEADER = "float deep(int n) { return n < 0 ? 0 : deep(n + 1) * 2 + deep(n + 2); }"

    @pytest.mark.parametrize(
        "statement",
        [
            "y[0] = *(device float*)(ulong(x[0] + 1) << 44);",
            "*(device float*)ulong(x[0]) = 1;",
            "y[0] = deep(x[0]);",
            "float a[4000000]; for (int i = 0; i < 4000000; ++i) a[i] = i; y[0] = a[int(x[9])];",
        ],
    )
    def test_faults(self, statement):
        x = mx.arange(16, dtype=mx.float32)
        mx.eval(x)  # else it is part of what fails
        kernel = mx.fast.metal_kernel("faulty", ["x"], ["y"], statement, header=self.HEADER)
        with pytest.raises(RuntimeError, match="faulty.*was stopped"):
            mx.eval(kernel(inputs=[x], **launch(16), **outputs(x)))
        (y,) = double()(inputs=[x], **launch(16), **outputs(x))
        assert y.tolist() == [2 * i for i in range(16)]

    @pytest.mark.parametrize("value", ["x[i]", "simd_sum(x[i])"])
    def test_traps_stop_the_launches_that_reach_them(self, value):
        source = f"""
            uint i = thread_position_in_grid.x;
            if (x[i] > 100) __builtin_trap();
            y[i] = {value};
        """
        kernel = mx.fast.metal_kernel("careful", ["x"], ["y"], source)
        x = np.arange(100, dtype=np.float32)

        def run(x: np.ndarray) -> np.ndarray:
            x = mx.array(x)
            return np.array(kernel(inputs=[x], **launch(100), **outputs(x))[0])

        sums = np.repeat(np.add.reduceat(x, [0, 32, 64, 96]), [32, 32, 32, 4])
        expected = x if value == "x[i]" else sums
        np.testing.assert_array_equal(run(x), expected)
        x[77] = 101
        with pytest.raises(RuntimeError, match="careful.*trap"):
            run(x)
        x[77] = 77
        np.testing.assert_array_equal(run(x), expected)


# Every way to leave the buffers, which lie close together: a read may be near either.
WILD = """
import mlx.core as mx

KERNEL = '''
    uint i = thread_position_in_grid.x;
    float value = x[i];
    %s
    if (i == 67) { %s }
    y[i] = value;
'''
BARRIER = '''
    threadgroup float values[64];
    values[thread_index_in_threadgroup] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    value = values[63 - thread_index_in_threadgroup];
'''
ACCESSES = [
    "y[i + 250000000] = value;",
    "value = x[i + 250000000];",
    "y[-(long(i) << 36)] = value;",
]
x = mx.arange(128, dtype=mx.float32)
mx.eval(x)
for barrier in ["", BARRIER]:
    for access in ACCESSES:
        kernel = mx.fast.metal_kernel("my kernel-2", ["x"], ["y"], KERNEL % (barrier, access))
        try:
            mx.eval(kernel(inputs=[x], grid=(128, 1, 1), threadgroup=(64, 1, 1),
                           output_shapes=[(128,)], output_dtypes=[mx.float32]))
        except RuntimeError as error:
            print(error)
"""


@pytest.mark.parametrize("reference", [False, True])
def test_what_is_said_of_a_wild_access(reference: bool):
    # In a process of its own, where little memory is in use.
    run = subprocess.run(
        [sys.executable, "-c", WILD],
        env=os.environ | {"MLX_CPU_REFERENCE": str(int(reference))},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert run.returncode == 0, run.stderr
    start = r"\[my kernel-2\] The kernel was stopped: invalid memory access "
    address = "at address 0x[0-9a-f]+, "
    behind = rf"{4 * (67 + 250000000) - 512} bytes behind the end of "
    some_behind = r"\d+ bytes behind the end of "
    expected = [
        r"\(write\) " + address + behind + r'"y" \(512 bytes, its nearest writable buffer\)',
        r"\(read\) " + address + some_behind + r'"[xy]" \(512 bytes, its nearest buffer\)',
        r"\(write\) " + address + "near no buffer of the kernel",
    ]
    place = r", in threadgroup \(1, 0, 0\)"
    if reference:
        place += r", thread \(3, 0, 0\), which is thread \(67, 0, 0\) of the grid"
    else:
        place += "; MLX_CPU_REFERENCE=1 finds the thread"
    lines = run.stdout.splitlines()
    assert len(lines) == 6, run.stdout
    for line, middle in zip(lines, expected * 2, strict=True):
        assert re.fullmatch(start + middle + place, line), line


class TestWarnings:
    """What the compiler warns of in the user's text stands below the source that verbose=True prints."""

    @staticmethod
    def printed(capsys, source, **options) -> str:
        call(create(source=source, **options), verbose=True)
        return capsys.readouterr().out.partition("Warnings of the compiler for `copy`:\n")[2]

    def test_of_the_body(self, capsys):
        text = self.printed(capsys, "int i = 0;\n  int n = 2.5;\n  y[i] = n;\n")
        assert re.match(r"copy:2:11: warning: implicit conversion from '\w+' to 'int'.*2\.5", text)
        assert "  int n = 2.5;" in text and "^" in text and text.count("warning:") == 1

    def test_of_the_header(self, capsys):
        text = self.printed(capsys, SOURCE, header="\n\nint broken() { }\n")
        assert text.startswith("copy.header:3:")

    def test_of_templates(self, capsys):
        kernel = create(source="T a = 1;\nint n = 2.5;\ny[0] = a + n;")
        call(kernel, verbose=True, template=[("T", mx.float32)])
        assert "\ncopy:2:9: warning:" in capsys.readouterr().out

    def test_of_kernels_given_whole(self, capsys):
        source = "kernel void f(device float* y) {\n  int n = 2.5;\n  y[0] = n;\n}"
        kernel = mx.fast.metal_kernel("f", source)
        mx.eval(kernel(X, grid=(1, 1, 1), threadgroup=(1, 1, 1), verbose=True))
        assert "\nf:2:11: warning:" in capsys.readouterr().out

    def test_each_time(self, capsys):
        for _ in range(2):
            assert "warning:" in self.printed(capsys, "int n = 3.5; y[0] = n;")

    def test_not_otherwise(self, capfd):
        call(create(), verbose=True)
        assert "arning" not in capfd.readouterr().out
        call(create(source="int n = 4.5; y[0] = n;"))
        captured = capfd.readouterr()
        assert captured.out == "" and captured.err == ""

    def test_not_of_what_does_not_compile(self, capsys):
        with pytest.raises(RuntimeError, match=r"(?s)warning: implicit.*error: .*missing"):
            call(create(source="int n = 5.5; y[0] = missing;"), verbose=True)
        assert "Warnings" not in capsys.readouterr().out


class TestHints:
    """What the author of a body may have overlooked stands below the compiler's diagnostics."""

    @staticmethod
    def hints(source, inputs=None, **changes):
        kernel = create(source=source, **changes)
        with pytest.raises(RuntimeError, match="does not compile") as error:
            call(kernel, inputs=inputs or [X])
        return [line for line in str(error.value).splitlines() if line.startswith("hint: ")]

    @pytest.mark.parametrize(
        "written, meant",
        [
            ("thread_position_in_gird", "thread_position_in_grid"),
            ("thread_posiiton_in_grid", "thread_position_in_grid"),
            ("threads_per_simd_group", "threads_per_simdgroup"),
            ("simdgroup_index_in_treadgroup", "simdgroup_index_in_threadgroup"),
        ],
    )
    def test_attributes_that_are_misspelt(self, written, meant):
        (hint,) = self.hints(f"y[uint({written})] = 1;")
        assert hint == f"hint: did you mean '{meant}' instead of '{written}'?"

    def test_names_that_nothing_declares(self):
        (hint,) = self.hints("out[0] = x[0]; result[0] = x[1];")
        assert "inputs x; outputs y; and Metal's attributes" in hint

    def test_types_that_nothing_declares(self):
        (hint,) = self.hints("T a = x[0]; y[0] = a;")
        assert "inputs x; outputs y" in hint

    def test_small_inputs_are_constant(self):
        (hint,) = self.hints("const device float* p = x; y[0] = p[0];", [mx.zeros(4)])
        assert "fewer than 8 elements" in hint and "(here x)" in hint

    def test_atomic_functions_on_plain_outputs(self):
        (hint,) = self.hints("atomic_fetch_add_explicit(&y[0], 1.0f, memory_order_relaxed);")
        assert "atomic_outputs=True" in hint

    @pytest.mark.parametrize("statement", ["y[0] = 1.0f;", "y[0] += 1.0f;", "float f = y[0];"])
    def test_plain_access_to_atomic_outputs(self, statement):
        (hint,) = self.hints(statement, atomic_outputs=True)
        assert "atomic_store_explicit(&y[i]" in hint

    def test_braces(self):
        (hint,) = self.hints("if (x[0] > 0) {  // }\n  y[0] = 1;\n")
        assert hint == "hint: the '{' in line 1 of the body is not closed."
        (hint,) = self.hints("y[0] = 1;\n{ y[1] = 2; } }\n")
        assert (
            hint == "hint: the '}' in line 2 of the body closes nothing that the body has opened."
        )

    def test_other_errors_have_none(self):
        assert self.hints("y[0] = 1 +;") == []
        assert self.hints("int n = x;") == []
