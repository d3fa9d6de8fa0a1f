"""Expressions over a kernel's variables, in the part of C++ that they share with Python."""

import ast
import operator
import re
from collections.abc import Callable
from typing import Any

from mlx.debug.values import Unshowable, Value

OPERATORS: dict[type, Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
UNARY: dict[type, Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
    ast.Not: operator.not_,
}


def evaluate(text: str, find: Callable[[str], Value]) -> Any:
    """The value: a Value, a number, or a list for several components. `find` gives variables.

    Numbers are computed as Python does, but integers are divided as C++ does."""
    text = text.strip()
    if text.startswith("*"):
        pointer = evaluate(text[1:], find)
        if not isinstance(pointer, Value):
            raise Unshowable("'*' needs a pointer")
        return pointer.element(0)
    text = text.replace("->", ".").replace("&&", " and ").replace("||", " or ")
    text = re.sub(r"!(?!=)", " not ", text)
    text = re.sub(r"(?<=[\d.])[fhuUlL]+\b", "", text)  # of literals
    try:
        tree = ast.parse(text.strip(), mode="eval")
    except SyntaxError:
        raise Unshowable(f"cannot understand {text.strip()!r}") from None
    try:
        return _Evaluator(find).visit(tree.body)
    except (ZeroDivisionError, TypeError, ValueError, OverflowError) as error:
        raise Unshowable(str(error)) from None


def number(value: Any) -> Any:
    if isinstance(value, Value):
        return value.number()
    if isinstance(value, list):
        raise Unshowable("several components are no number")
    return value


class _Evaluator:
    def __init__(self, find: Callable[[str], Value]) -> None:
        self.find = find

    def visit(self, node: ast.expr) -> Any:
        method = getattr(self, type(node).__name__, None)
        if method is None:
            raise Unshowable(f"cannot evaluate {ast.unparse(node)!r}")
        return method(node)

    def Name(self, node: ast.Name) -> Any:  # noqa: N802
        if node.id in ("true", "false"):
            return node.id == "true"
        return self.find(node.id)

    def Constant(self, node: ast.Constant) -> Any:  # noqa: N802
        if isinstance(node.value, int | float):
            return node.value
        raise Unshowable(f"cannot evaluate {ast.unparse(node)!r}")

    def Attribute(self, node: ast.Attribute) -> Any:  # noqa: N802
        value = self.visit(node.value)
        if not isinstance(value, Value):
            raise Unshowable(f"{ast.unparse(node.value)!r} has no members")
        return value.member(node.attr)

    def Subscript(self, node: ast.Subscript) -> Any:  # noqa: N802
        value = self.visit(node.value)
        if isinstance(node.slice, ast.Slice):  # x[2:5] shows three elements
            lower = number(self.visit(node.slice.lower)) if node.slice.lower else 0
            if node.slice.upper is None:
                raise Unshowable("a range of elements needs an end: x[0:4]")
            return [value.element(i) for i in range(lower, number(self.visit(node.slice.upper)))]
        if not isinstance(value, Value):
            raise Unshowable(f"{ast.unparse(node.value)!r} has no elements")
        return value.element(number(self.visit(node.slice)))

    def BinOp(self, node: ast.BinOp) -> Any:  # noqa: N802
        left, right = number(self.visit(node.left)), number(self.visit(node.right))
        if isinstance(node.op, ast.Div | ast.Mod):
            return divide(left, right, isinstance(node.op, ast.Mod))
        return self.operation(node.op)(left, right)

    def UnaryOp(self, node: ast.UnaryOp) -> Any:  # noqa: N802
        return UNARY[type(node.op)](number(self.visit(node.operand)))

    def Compare(self, node: ast.Compare) -> Any:  # noqa: N802
        left = number(self.visit(node.left))
        for op, operand in zip(node.ops, node.comparators, strict=True):
            right = number(self.visit(operand))
            if not self.operation(op)(left, right):
                return False
            left = right
        return True

    def BoolOp(self, node: ast.BoolOp) -> Any:  # noqa: N802
        results = (bool(number(self.visit(part))) for part in node.values)
        return all(results) if isinstance(node.op, ast.And) else any(results)

    @staticmethod
    def operation(op: ast.AST) -> Callable[[Any, Any], Any]:
        if type(op) not in OPERATORS:
            raise Unshowable(f"cannot evaluate {type(op).__name__}")
        return OPERATORS[type(op)]


def divide(left: Any, right: Any, rest: bool) -> Any:
    if isinstance(left, float) or isinstance(right, float):
        return left % right if rest else left / right
    quotient = abs(left) // abs(right)
    quotient = quotient if (left < 0) == (right < 0) else -quotient
    return left - quotient * right if rest else quotient
