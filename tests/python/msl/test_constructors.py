"""Constructors with an address space, wherever their declarations may begin."""

import mlx.core as mx
import pytest
from kernel_runner import run_one

DECLARATIONS = {
    "first": "S(int v) SPACE : a(v) {} int a;",
    "behind a member": "int a; S(int v) SPACE : a(v) {}",
    "behind a body": "int a; int f() const { return a; } S(int v) SPACE : a(v) {}",
    "behind an access": "public: S(int v) SPACE : a(v) {} int a;",
    "behind an attribute": "int a; [[gnu::always_inline]] S(int v) SPACE : a(v) {}",
    "behind an older attribute": "int a; __attribute__((always_inline)) S(int v) SPACE : a(v) {}",
    "constant expression": "int a; constexpr S(int v) SPACE : a(v) {}",
    "inline": "int a; inline S(int v) SPACE : a(v) {}",
    "explicit": "int a; explicit S(int v) SPACE : a(v) {}",
    "template": "int a; template <typename T> S(T v) SPACE : a(v) {}",
}


@pytest.mark.parametrize("declaration", DECLARATIONS)
def test_constructors_of_all_address_spaces(declaration: str):
    members = DECLARATIONS[declaration]
    constructor = members[members.index("S(") :].replace(" int a;", "")
    prefix = "template <typename T> " if "template" in members else ""
    others = " ".join(
        f"{prefix}{constructor.replace('SPACE', space)}" for space in ("device", "thread")
    )
    header = f"struct S {{ {members.replace('SPACE', 'constant')} {others} }};"
    body = "S s(3); out[0] = s.a + S(4).a;"
    (got,) = run_one(body, {"x": mx.zeros(1)}, {"out": ((1,), mx.int32)}, 1, 1, header=header)
    assert got == 7


def test_a_constructor_of_the_constant_address_space():
    header = """
        struct S {
          int a;
          constexpr S(int v) : a(v) {}
          constexpr S(int v) constant : a(v + 1) {}
        };
        constant S there(5);
    """
    body = "S here(5); out[0] = there.a * 10 + here.a;"
    (got,) = run_one(body, {"x": mx.zeros(1)}, {"out": ((1,), mx.int32)}, 1, 1, header=header)
    assert got == 65


# Classes without a constructor of their own, whose members and bases have one.
IMPLICIT = {
    "initialized member": ("struct S { V v = V(2.0f); };", "s.v.a", 2),
    "converted member": ("struct S { V v = 2.0f; };", "s.v.a", 2),
    "member in braces": ("struct S { V v{2.0f}; };", "s.v.a", 2),
    "member": ("struct S { V v; };", "s.v.a", 3),
    "members": ("struct S { V v[3]; int b = 4; };", "s.v[0].a + s.v[2].a + s.b", 10),
    "initialized members": ("struct S { V v[2] = {V(2.0f), V(5.0f)}; };", "s.v[1].a", 5),
    "member of a member": ("struct M { V v = 2.0f; }; struct S { M m; };", "s.m.v.a", 2),
    "base": ("struct S : V { float b = 4; };", "s.a + s.b", 7),
    "base of a base": ("struct M : V {}; struct S : M {};", "s.a", 3),
    "template": ("template <typename T> struct M { T v = T(2.0f); }; using S = M<V>;", "s.v.a", 2),
    "matrix": (
        "struct S { simdgroup_float8x8 m[2] = {simdgroup_float8x8(2.0f), simdgroup_float8x8(5.0f)}; };",
        "simd_sum(s.m[1].thread_elements()[0] + s.m[1].thread_elements()[1])",  # a diagonal
        40,
    ),
}


@pytest.mark.parametrize("name", IMPLICIT)
@pytest.mark.parametrize("made", ("S s;", "S s{};", "S s = S();", "S all[2]; S s = all[1];"))
def test_implicit_constructors(name: str, made: str):
    classes, value, expected = IMPLICIT[name]
    header = "#include <metal_simdgroup_matrix>\nusing namespace metal;\n"
    header += f"struct V {{ float a; V(float x = 3) : a(x) {{}} }};\n{classes}"
    body = f"{made} out[thread_position_in_grid.x] = {value};"
    got = run_one(body, {"x": mx.zeros(1)}, {"out": ((32,), mx.float32)}, 32, 32, header=header)
    assert (got == expected).all()
