"""The compiler's diagnostics of a kernel point into the user's text, with hints below."""

import re

import mlx.core as mx
import pytest
from copy_kernel import SOURCE, X, call, create


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


class TestWarnings:
    """verbose=True prints the compiler's warnings about the user's text below the source."""

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
    """Hints about likely mistakes are below the compiler's diagnostics."""

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

    @pytest.mark.parametrize("name", ["thread_position_in_grid", "x_shape"])
    def test_names_that_only_the_header_has(self, name):
        (hint,) = self.hints("y[0] = USE;", header=f"#define USE {name}[0]")
        assert hint.startswith(f"hint: a kernel has '{name}' if its body names it")

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

    def test_errors_that_only_mention_atomic_outputs(self):
        for statement in ("y.none();", "int n = unknown(y);", "y[0].none();"):
            hints = self.hints(statement, atomic_outputs=True)
            assert not any("atomic_store_explicit" in hint for hint in hints), statement

    def test_braces(self):
        (hint,) = self.hints("if (x[0] > 0) {  // }\n  y[0] = 1;\n")
        assert hint == "hint: the '{' in line 1 of the body is not closed."
        (hint,) = self.hints("/* { */{ y[0] = 1;\n")
        assert hint == "hint: the '{' in line 1 of the body is not closed."
        (hint,) = self.hints("y[0] = 1;\n{ y[1] = 2; } }\n")
        assert (
            hint == "hint: the '}' in line 2 of the body closes nothing that the body has opened."
        )

    @pytest.mark.parametrize(
        "open_brace, closed_brace",
        [
            ("char c = '{';", "char c = '}';"),
            ("char c = '\\''; c = '{';", "char c = '\\''; c = '}';"),
            ('constant char* s = "{";', 'constant char* s = "}";'),
            ('constant char* s = "\\"{{";', 'constant char* s = "\\"}}";'),
            ('constant char* s = R"(\n"{)";', 'constant char* s = R"(\n"})";'),
            ("/* {\n{ */", "/* }\n} */"),
            ("// {{ \\\n{", "// }} \\\n}"),
            ("// {{ \\\r\n{", "// }} \\\r\n}"),
            ("// {{ \\\r\n", "// }} \\\r\n"),
        ],
    )
    def test_braces_in_literals_and_comments_do_not_count(self, open_brace, closed_brace):
        for text in (open_brace, closed_brace):
            assert self.hints(f"{text}\n{{ y[0] = 1 +; }}") == []
            line = text.count("\n") + 2
            (hint,) = self.hints(f"{text}\n{{ y[0] = 1;\n")
            assert hint == f"hint: the '{{' in line {line} of the body is not closed."
            (hint,) = self.hints(f"{text}\ny[0] = 1; }}\n")
            assert f"the '}}' in line {line} of the body closes nothing" in hint

    def test_other_errors_have_none(self):
        assert self.hints("y[0] = 1 +;") == []
        assert self.hints("int n = x;") == []
