"""Checks every row of docs/coverage.md: supported names exist, the others do not."""

import importlib
import re
import subprocess
from pathlib import Path

import mlx.core as mx
import pytest
from mlx._lacking import names_lacking

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = Path(mx.__file__).resolve().parent
METALC = PACKAGE / "bin" / "metalc"
Row = list[str]


def read_tables() -> dict[str, list[Row]]:
    """The rows of the tables under each heading, without those that name the columns."""
    tables: dict[str, list[Row]] = {}
    heading = ""
    for line in (ROOT / "docs" / "coverage.md").read_text().splitlines():
        if line.startswith("#"):
            heading = line.lstrip("# ")
        elif line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            tables.setdefault(heading, []).append(cells)
    for heading, rows in tables.items():
        tables[heading] = [
            row
            for row, following in zip(rows, [*rows[1:], [""]])
            if "---" not in row and "---" not in following
        ]
    return tables


TABLES = read_tables()


def names(cell: str) -> list[str]:
    """The texts of code spans."""
    return " ".join(re.findall(r"`([^`]*)`", cell)).split()


def diagnostics(source: str, folder: Path) -> str:
    """The compiler's error for a source; empty if it compiles."""
    path = folder / "probe.metal"
    path.write_text(f"#include <metal_stdlib>\nusing namespace metal;\n{source}\n")
    command = [METALC, "-Wno-apple", "--emit", "llvm-opt", path]  # not all of it is Apple's
    return subprocess.run(command, capture_output=True, text=True).stderr


# ---- Metal Shading Language ----

# A kernel for each row of the table of the language.
LANGUAGE = {
    "templates": """template <typename T> kernel void f(device T* x) { x[0] = T(1); }
        template [[host_name("f_half")]] kernel void f<half>(device half*);""",
    "variadic templates": """template <typename... A> int s(A... a) { return (0 + ... + a); }
        kernel void f(device int* x) { x[0] = s(1, 2, 3); }""",
    "lambdas": "kernel void f(device int* x) { auto g = [&](int a) { return a + x[1]; }; x[0] = g(1); }",
    "constexpr": """constexpr int g(int n) { if constexpr (sizeof(int) == 4) return n; else return 0; }
        consteval int h() { return g(3); } kernel void f(device int* x) { x[0] = h(); }""",
    "concepts": """template <typename T> concept F = is_floating_point_v<T>; template <F T> T g(T a) { return a; }
        template <typename T> requires F<T> T h(T a) { return a; }
        kernel void f(device float* x) { x[0] = g(x[1]) + h(x[2]); }""",
    "structured bindings": """struct P { int a, b; };
        kernel void f(device int* x) { P p{1, 2}; auto [a, b] = p; x[0] = a + b; }""",
    "inheritance": """struct A { int a; int g() { return a; } }; struct B : A {};
        kernel void f(device int* x) { B b; b.a = x[1]; x[0] = b.g(); }""",
    "recursion": """int g(int n, int m) { return n < 2 ? m : g(n - 2, m * m) + n * g(n - 1, m); }
        kernel void f(device int* x) { x[0] = g(x[1], x[2]); }""",
    "pointers to functions": """int a(int v) { return v + 1; } int b(int v) { return v * 2; }
        kernel void f(device int* x) { int (*p)(int) = x[1] > 0 ? a : b; x[0] = p(x[2]); }""",
    "local threadgroup variables": """float g(device float* x, uint i) {
          threadgroup float s[32]; s[i] = x[i]; threadgroup_barrier(mem_flags::mem_threadgroup); return s[31 - i]; }
        kernel void f(device float* x, uint i [[thread_index_in_threadgroup]]) { x[i] = g(x, i); }""",
    "threadgroup arguments": "kernel void f(threadgroup float* s [[threadgroup(0)]]) { s[0] = 1; }",
    "function constants": """constant bool has_y [[function_constant(0)]];
        constant int n [[function_constant(1)]]; constant float4 v [[function_constant(2)]];
        constant bool given = is_function_constant_defined(n);
        kernel void f(device int* x, device int* y [[buffer(1), function_constant(has_y)]]) {
          x[0] = given ? n : v.x; if (has_y) y[0] = 1; }""",
    "structures in buffers": """struct S { float4 a; packed_float3 b; half c; array<int, 3> d; };
        kernel void f(device S* s, constant S& t) { s[0].a = t.a * s[1].b[0]; }""",
    "arrays of buffers": """kernel void f(array<const device float*, 3> a [[buffer(0)]], device float* x) {
          x[0] = a[0][1] + a[2][0]; }""",
    "pointers in structures": """struct A { device float* p [[id(0)]]; int n [[id(1)]]; };
        kernel void f(constant A& a [[buffer(0)]]) { a.p[0] = a.n; }""",
    "half and bfloat": "kernel void f(device half* x, device bfloat* y) { x[0] += 1.5h; y[0] += 1.5bf; }",
    "64-bit integers": "kernel void f(device long* x, device ulong* y) { x[0] *= x[1]; y[0] /= y[1]; }",
    "pragma METAL fp": """#pragma METAL fp math_mode(relaxed)
        kernel void f(device float* x) {
        #pragma METAL fp contract(off)
          x[0] = x[1] * x[2] + x[3]; }""",
    "language version": "static_assert(__METAL_VERSION__ == 320); kernel void f(device int* x) { x[0] = 1; }",
    "coherent(device)": "kernel void f(coherent(device) device int* x) { x[0] = 1; }",
    "visible and stitchable functions": """[[visible]] int g(int a) { return a; }
        [[stitchable]] int h(int a) { return a; } kernel void f(device int* x) { x[0] = g(1) + h(1); }""",
    "os_log": """#include <metal_logging>
        constant os_log logger("a", "b"); kernel void f(device int* x) { logger.log("%d", x[0]); }""",
    "assert": "kernel void f(device int* x) { assert(false); x[0] = 1; }",
    "double": "kernel void f(device double* x) { x[0] = 1; }",
    "virtual functions": "struct A { virtual int g() { return 1; } }; kernel void f(device int* x) { x[0] = A().g(); }",
    "exceptions": "kernel void f(device int* x) { throw 1; }",
    "new": "kernel void f(device int* x) { x[0] = *new int(3); }",
    "inline assembly": 'kernel void f(device int* x) { asm("nop"); }',
    "static variables that change": "kernel void f(device int* x) { static int n = 0; x[0] = n++; }",
    "function tables": "kernel void f(visible_function_table<int(int)> t [[buffer(0)]]) { t[0](1); }",
    "vertex functions": "vertex float4 v(uint i [[vertex_id]]) { return float4(0); }",
    "textures": "kernel void f(texture2d<float> t [[texture(0)]], device float* x) { x[0] = t.get_width(); }",
    "ray tracing": "#include <metal_raytracing>\nkernel void f(device int* x) { x[0] = 1; }",
    "imageblocks": "struct P { half4 c; }; kernel void f(imageblock<P> b) {}",
    "tensors": "#include <metal_tensor>\nkernel void f(device int* x) { x[0] = 1; }",
}


def test_the_table_of_the_language_is_whole():
    assert [row[0] for row in TABLES["Language"]] == list(LANGUAGE)


@pytest.mark.parametrize("feature, state, _", TABLES["Language"])
def test_language(feature: str, state: str, _: str, tmp_path: Path):
    assert state in ("yes", "ignored", "no")
    printed = diagnostics(LANGUAGE[feature], tmp_path)
    assert ("error: " in printed) == (state == "no"), printed
    assert "warning: " not in printed


def test_attributes(tmp_path: Path):
    table = {row[0]: names(row[1]) for row in TABLES["Attributes"]}
    kernels = "".join(
        f"kernel void f_{name}(device uint* x, uint a [[{name}]]) {{ x[0] = a; }}\n"
        for name in table["of a kernel's thread"]
    )
    assert diagnostics(kernels, tmp_path) == ""
    ignored = ", ".join(table["ignored"])
    assert (
        diagnostics(f"kernel void f(device int* x [[{ignored}]]) {{ x[0] = 1; }}", tmp_path) == ""
    )
    source = """
        constant int n [[function_constant(0)]];
        template <typename T> [[kernel, max_total_threads_per_threadgroup(64)]]
        void f(device T* x [[buffer(0)]], threadgroup T* y [[threadgroup(0)]]) { x[0] = n; }
        template [[host_name("g")]] [[kernel]] void f<int>(device int*, threadgroup int*);"""
    assert diagnostics(source, tmp_path) == ""
    assert all(f"{name}" in source for name in table["of functions and their arguments"])
    unknown = "kernel void f(device int* x [[no_such_attribute]]) { x[0] = 1; }"
    assert "unknown attribute 'no_such_attribute' ignored" in diagnostics(unknown, tmp_path)


def test_address_spaces_and_types(tmp_path: Path):
    for group, here, lacking in TABLES["Address spaces and types"]:
        form = "void g{0}({1} int* p);\n" if group == "address spaces" else "using T{0} = {1};\n"
        uses = "".join(form.format(i, name) for i, name in enumerate(names(here)))
        assert diagnostics("#include <metal_logging>\n" + uses, tmp_path) == ""
        for name in names(lacking):
            assert "error: " in diagnostics(form.format(0, name), tmp_path), name


def test_standard_library(tmp_path: Path):
    for _, header, here, lacking in TABLES["Standard library"]:
        include = "".join(f"#include <{name}>\n" for name in names(header))
        uses = "".join(f"{{ using metal::{name}; }}\n" for name in names(here))
        assert diagnostics(f"{include}void g() {{\n{uses}}}", tmp_path) == ""
        for name in names(lacking):
            printed = diagnostics(f"{include}void g() {{ using metal::{name}; }}", tmp_path)
            assert f"no member named '{name}'" in printed


def test_headers_of_kernels(tmp_path: Path):
    for kind, here, lacking in TABLES["Headers"]:
        folder = "".join(names(kind))
        includes = "".join(f"#include <{folder}{name}>\n" for name in names(here))
        assert diagnostics(includes, tmp_path) == ""
        for name in names(lacking):
            printed = diagnostics(f"#include <{folder}{name}>", tmp_path)
            assert f"'{folder}{name}' file not found" in printed


# ---- the interfaces in C++ ----


def class_text(name: str) -> str:
    """The declaration of a class of Metal's host API; nothing if there is none."""
    headers = (PACKAGE / "include" / "Metal").glob("*.hpp")
    text = "\n".join(header.read_text() for header in headers)
    found = re.search(rf"^(?:class|struct) {name}\b[^;]*?{{.*?^}};", text, re.MULTILINE | re.DOTALL)
    return found[0] if found else ""


def test_metals_host_api():
    for row in TABLES["Metal's host API"]:
        (scope,), here, lacking = names(row[0]), names(row[1]), names(row[2])
        if "::" not in scope:  # a namespace, whose members are classes
            assert [name for name in here if not class_text(name)] == []
            assert [name for name in lacking if class_text(name)] == []
            continue
        members = set(re.findall(r"\b(\w+)\(", class_text(scope.removeprefix("MTL::"))))
        assert members >= set(here) and not members & set(lacking), scope


def test_cpp_headers():
    for folder, here, lacking in TABLES["C++ headers"]:
        place = PACKAGE / "include" / names(folder)[0]
        assert [name for name in names(here) if not (place / name).is_file()] == []
        assert [name for name in names(lacking) if (place / name).exists()] == []


# ---- MLX ----


def public(owner: object) -> set[str]:
    return {name for name in dir(owner) if not name.startswith("_")}


def as_row(label: str, here: set[str], lacking: set[str]) -> Row:
    """A row as the page writes it, with names in alphabetic order."""

    def cell(found: set[str]) -> str:
        return (
            f"`{' '.join(sorted(found, key=lambda name: (name.lower(), name)))}`" if found else ""
        )

    return [label, cell(here), cell(lacking)]


def test_mlx_core():
    """Fails if a name belongs into the other column; the message has the right row."""
    here, lacking = public(mx), set(names_lacking("mlx.core"))
    modules = {row[0].strip("`").rpartition(".")[2] for row in TABLES["Modules"]} - {"array"}
    seen: set[str] = set()
    for row in TABLES["MLX: mlx.core"]:
        found = set(names(row[1]) + names(row[2]))
        assert not found & seen and found <= here | lacking, found & seen or found - here - lacking
        assert row == as_row(row[0], found & here, found & lacking)
        seen |= found
    assert (here | lacking) - modules == seen


def test_modules():
    for row in TABLES["Modules"]:
        (name,), here, lacking = names(row[0]), set(names(row[1])), set(names(row[2]))
        if row[2] == "the module":
            with pytest.raises((AttributeError, ImportError)):
                importlib.import_module(name)
            continue
        if name == "mlx.core.array":
            assert here == public(mx.array) and not any(hasattr(mx.array, n) for n in lacking)
            continue
        # Python modules also contain the names that they import.
        in_python = not name.startswith("mlx.core.")
        owner = importlib.import_module(name) if in_python else getattr(mx, name.rpartition(".")[2])
        wanted = set(getattr(owner, "__all__", here)) if in_python else public(owner)
        assert here <= public(owner)
        assert row == as_row(row[0], wanted, set(names_lacking(name)))


def test_every_table_is_tried():
    tried = {
        "Language",
        "Attributes",
        "Address spaces and types",
        "Standard library",
        "Headers",
        "Metal's host API",
        "MLX: mlx.core",
        "Modules",
        "Accepted without effect",
        "C++ headers",
    }
    assert set(TABLES) == tried


def test_accepted_without_effect():
    for row in TABLES["Accepted without effect"]:
        (name,) = names(row[0])
        owner = mx
        for part in name.split(".")[1:]:
            owner = getattr(owner, part)
