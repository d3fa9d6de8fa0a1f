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
