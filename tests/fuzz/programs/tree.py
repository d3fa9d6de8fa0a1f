"""Programs as trees of nodes that are never changed: expressions, which print as text, and statements."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from .scalars import BOOL, FLOAT, INT, Aggregate, Scalar, common, promote

# SIMD-group functions: their values depend on which threads are active.
LANE_FUNCTIONS = frozenset(
    "simd_sum simd_min simd_max simd_product simd_and simd_or simd_xor simd_prefix_inclusive_sum "
    "simd_prefix_exclusive_sum simd_prefix_inclusive_product simd_prefix_exclusive_product "
    "simd_shuffle simd_shuffle_up simd_shuffle_down simd_shuffle_xor simd_shuffle_rotate_up "
    "simd_shuffle_rotate_down simd_broadcast simd_broadcast_first simd_any simd_all simd_is_first "
    "simd_ballot simd_shuffle_and_fill_up simd_shuffle_and_fill_down".split()
)


# Those that read another lane's value: that lane must be active.
SHUFFLES = frozenset(f for f in LANE_FUNCTIONS if "shuffle" in f) | {"simd_broadcast"}


@dataclass(eq=False, slots=True)
class Variable:
    """The variable of a name. `size` is the length of an array, 0 for a single value."""

    name: str
    type: Scalar
    constant: bool = True
    size: int = 0
    space: str = "thread"  # of an array: thread, threadgroup, device, constant
    range: tuple[int, int] | None = None  # of its values, if smaller than the type's
    varies: int = 2  # 0: the same in a threadgroup, 1: in a SIMD-group
    value: int | None = None  # of a scalar argument
    moved: bool = False  # a pointer to slots that was moved to the thread's own


class Node:
    """An operation with child nodes. `type` is an expression's type, None for statements."""

    __slots__ = ("op", "type", "kids", "value", "text", "stable", "varies")

    def __init__(
        self, op: str, type: Scalar | Aggregate | None, kids: tuple = (), value: object = None
    ):
        self.op, self.type, self.kids, self.value = op, type, tuple(kids), value
        self.text: str | None = None
        if type is not None:
            self.stable = _is_stable(self)
            self.varies = _varies(self)

    def with_kids(self, kids: tuple) -> Node:
        return Node(self.op, self.type, kids, self.value)

    def walk(self) -> Iterator[Node]:
        """This node and all nodes below it."""
        stack = [self]
        while stack:
            node = stack.pop()
            yield node
            stack.extend(node.kids)

    def __str__(self) -> str:
        if self.text is None:
            self.text = print_expression(self)
        return self.text


def _is_stable(node: Node) -> bool:
    """Whether every evaluation gives the same value."""
    if node.op == "var" and not node.value.constant:
        return False
    if node.op == "load" and (not node.value.constant or node.value.space == "threadgroup"):
        return False
    if node.op == "call" and (node.value in LANE_FUNCTIONS or isinstance(node.value, Function)):
        return False
    return all(kid.stable for kid in node.kids)


def _varies(node: Node) -> int:
    """The variability of the value, as in `Variable`."""
    if node.op == "var" and not node.value.constant:
        return 2
    if node.op == "load" and not node.value.constant:
        return 2
    if node.op == "call" and (node.value in LANE_FUNCTIONS or isinstance(node.value, Function)):
        return 2
    own = node.value.varies if node.op == "var" else 0
    return max((own, *(kid.varies for kid in node.kids)))


@dataclass(eq=False, slots=True)
class Function:
    """A function that the kernel calls. Arrays are passed as pointers."""

    name: str
    type: Scalar
    parameters: list[Variable]
    body: Node


# ---- expressions ----

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def constant(type: Scalar, value: int | float) -> Node:
    return Node("const", type, (), value)


def var(variable: Variable) -> Node:
    return Node("var", variable.type, (), variable)


def cast(type: Scalar, a: Node) -> Node:
    return a if a.type == type else Node("cast", type, (a,))


def binary(op: str, a: Node, b: Node) -> Node:
    """Arithmetic; a shift has the type of what is shifted."""
    type = promote(a.type) if op in ("<<", ">>") else common(a.type, b.type)
    return Node("bin", type, (a, b), op)


def compare(op: str, a: Node, b: Node) -> Node:
    return Node("cmp", BOOL, (a, b), op)


def both(a: Node, b: Node) -> Node:
    return Node("and", BOOL, (a, b))


def either(a: Node, b: Node) -> Node:
    return Node("or", BOOL, (a, b))


def negate(a: Node) -> Node:
    return Node("not", BOOL, (a,))


def choose(condition: Node, a: Node, b: Node) -> Node:
    return Node("cond", a.type, (condition, a, cast(a.type, b)))


def load(array: Variable, index: Node) -> Node:
    return Node("load", array.type, (index,), array)


def part(of: Node, name: str) -> Node:
    """A component of a vector, or a member of a struct."""
    return Node("part", of.type.part(name), (of,), name)


def make(type: Aggregate, *parts: Node) -> Node:
    return Node("make", type, parts)


def call(name: str | Function, type: Scalar, *arguments: Node) -> Node:
    return Node("call", type, arguments, name)


# ---- statements ----


def block(*statements: Node) -> Node:
    return Node("block", None, statements)


def let(variable: Variable, value: Node) -> Node:
    return Node("let", None, (value,), variable)


def print_constant(type: Scalar, value: int | float) -> str:
    """A literal, or one that is converted."""
    if type == BOOL:
        return "true" if value else "false"
    if type.is_float:
        digits = repr(float(value))
        return f"{digits}f" if type == FLOAT else f"{type}({digits}f)"
    if type == INT:
        return (
            f"({value})"
            if value < 0 and value != -(1 << 31)
            else (str(value) if value >= 0 else "int(0x80000000u)")
        )
    if type.name == "uint":
        return f"{value}u"
    if type.name == "long":
        if value == -(1 << 63):
            return "long(0x8000000000000000ul)"
        return f"{value}l" if value >= 0 else f"({value}l)"
    if type.name == "ulong":
        return f"{value}ul"
    return f"{type}({value})"


def print_expression(node: Node) -> str:
    op, kids = node.op, node.kids
    if op == "const":
        return print_constant(node.type, node.value)
    if op == "var":
        return node.value.name
    if op == "cast":
        return f"{node.type}({_bare(kids[0])})"
    if op in ("bin", "cmp", "vector"):
        return f"({kids[0]} {node.value} {kids[1]})"
    if op in ("and", "or"):
        return f"({kids[0]} {'&&' if op == 'and' else '||'} {kids[1]})"
    if op == "not":
        return f"!{kids[0]}"
    if op == "unary":
        return f"({node.value}{kids[0]})"
    if op == "cond":
        return f"({kids[0]} ? {kids[1]} : {kids[2]})"
    if op == "load":
        return place(node.value, kids[0])
    if op == "array":
        return node.value.name
    if op == "part":
        return f"{kids[0]}.{node.value}"
    if op == "make":
        parts = ", ".join(_bare(kid) for kid in kids)
        return f"{node.type}({parts})" if node.type.is_vector else f"{node.type}{{{parts}}}"
    if op == "splat":
        return f"{node.type}({_bare(kids[0])})"
    if op == "call":
        name = node.value.name if isinstance(node.value, Function) else node.value
        arguments = ", ".join(_bare(kid) for kid in kids)
        if name == "simd_ballot":
            return f"uint(ulong(simd_ballot({arguments})))"
        return f"{name}({arguments})"
    raise ValueError(op)


def place(array: Variable, index: Node) -> str:
    """An element; the slots of the output belong to the thread."""
    if array.space == "slots" and not array.moved:
        return f"{array.name}[tid * {array.size}u + {index}]"
    return f"{array.name}[{_bare(index)}]"


def _bare(node: Node) -> str:
    """The text without the parentheses around it."""
    text = str(node)
    if node.op in ("bin", "cmp", "vector", "and", "or", "cond") and text.startswith("("):
        return text[1:-1]
    return text
