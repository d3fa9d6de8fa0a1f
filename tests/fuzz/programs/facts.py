"""Facts about values at a position in a program: intervals, narrowed by conditions."""

from __future__ import annotations

from .scalars import Scalar, common, promote
from .tree import Node

Interval = tuple[int, int]

NEGATED = {"<": ">=", "<=": ">", ">": "<=", ">=": "<", "==": "!=", "!=": "=="}
SWAPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "==", "!=": "!="}


def fits(a: Interval, type: Scalar) -> bool:
    low, high = type.range
    return low <= a[0] and a[1] <= high


def meet(a: Interval, b: Interval) -> Interval:
    """The intersection. If it is empty, the position is never reached, and any interval is right."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else b


class Facts:
    """Intervals of expressions by their text, and expressions that are not zero."""

    __slots__ = ("intervals", "nonzero")

    def __init__(
        self, intervals: dict[str, Interval] | None = None, nonzero: frozenset = frozenset()
    ):
        self.intervals = intervals or {}
        self.nonzero = nonzero

    # ---- queries ----

    def range(self, node: Node) -> Interval:
        """Bounds of an integer or a bool."""
        bounds = self._compute(node)
        known = self.intervals.get(str(node)) if node.stable else None
        return meet(bounds, known) if known else bounds

    def is_nonzero(self, node: Node) -> bool:
        low, high = self.range(node)
        if low > 0 or high < 0 or str(node) in self.nonzero:
            return True
        if node.op == "cast" and node.type.bits >= node.kids[0].type.bits > 1:
            return node.kids[0].type.is_integer and self.is_nonzero(node.kids[0])
        if node.op == "bin" and node.value == "|":
            return any(kid.type.is_integer and self.is_nonzero(kid) for kid in node.kids)
        return False

    def _as(self, node: Node, type: Scalar) -> Interval:
        """Bounds after a conversion."""
        if node.type.is_float:
            return type.range
        bounds = self.range(node)
        return bounds if fits(bounds, type) else type.range

    def _compute(self, node: Node) -> Interval:
        type, kids = node.type, node.kids
        if node.op == "const":
            return (int(node.value),) * 2
        if node.op == "var":
            return node.value.range or type.range
        if node.op == "cast":
            return self._as(kids[0], type)
        if node.op == "bin":
            bounds = self._arithmetic(node)
            return bounds if bounds and fits(bounds, type) else type.range
        if node.op == "cond":
            a, b = self.assume(kids[0], True)._as(kids[1], type), self._as(kids[2], type)
            return min(a[0], b[0]), max(a[1], b[1])
        if node.op == "call":
            return self._call(node)
        return type.range

    def _arithmetic(self, node: Node) -> Interval | None:
        op = node.value
        if op in ("<<", ">>"):
            return self._shift(node)
        (a, b), (c, d) = (self._as(kid, node.type) for kid in node.kids)
        if op == "+":
            return a + c, b + d
        if op == "-":
            return a - d, b - c
        if op == "*":
            products = (a * c, a * d, b * c, b * d)
            return min(products), max(products)
        if op == "&" and (a >= 0 or c >= 0):
            return 0, min(y for x, y in ((a, b), (c, d)) if x >= 0)
        if op in "|^" and a >= 0 and c >= 0:
            return 0, (1 << max(b.bit_length(), d.bit_length())) - 1
        if op == "%" and c > 0:
            return (0, min(b, d - 1)) if a >= 0 else (1 - d, d - 1)
        if op == "/" and c > 0 and a >= 0:
            return a // d, b // c
        return None

    def _shift(self, node: Node) -> Interval | None:
        a, b = self._as(node.kids[0], node.type)
        c, d = self.range(node.kids[1])
        # Where conditions contradict each other, a range is empty.
        if a < 0 or c < 0 or d < c or d >= node.type.bits:
            return None
        return (a >> d, b >> c) if node.value == ">>" else (a << c, b << d)

    def _call(self, node: Node) -> Interval:
        if node.type.is_float:
            return node.type.range if node.type.kind != "f" else (0, 0)
        if node.value in ("min", "max", "clamp"):
            ranges = [self._as(kid, node.type) for kid in node.kids]
            if node.value == "clamp":
                (a, b), (c, _), (_, f) = ranges
                return max(a, c), max(min(b, f), c)
            pick = min if node.value == "min" else max
            return pick(r[0] for r in ranges), pick(r[1] for r in ranges)
        if node.value in ("popcount", "clz", "ctz"):
            return 0, node.kids[0].type.bits
        return node.type.range

    # ---- conditions ----

    def assume(self, condition: Node, truth: bool) -> Facts:
        """The facts if a condition is true, or false."""
        op, kids = condition.op, condition.kids
        if op == "not":
            return self.assume(kids[0], not truth)
        if (op == "and") == truth and op in ("and", "or"):
            return self.assume(kids[0], truth).assume(kids[1], truth)
        if op != "cmp" or any(kid.type.kind == "a" for kid in kids):
            return self
        if any(kid.type.is_float for kid in kids):
            return self._of_floats(condition, truth)
        relation = condition.value if truth else NEGATED[condition.value]
        a, b = kids
        return self._relate(a, relation, b)._relate(b, SWAPPED[relation], a)

    def _of_floats(self, condition: Node, truth: bool) -> Facts:
        """For floats, only "is not zero" is a fact."""
        a, b = condition.kids
        differs = condition.value == ("!=" if truth else "==")
        if differs and b.op == "const" and b.value == 0 and a.stable:
            return self._with_nonzero(a)
        return self

    def _relate(self, a: Node, relation: str, b: Node) -> Facts:
        if not a.stable or a.op == "const":
            return self
        type = common(a.type, b.type)
        low, high = self._as(b, type)
        if relation == "!=":
            return self._with_nonzero(a) if low == high == 0 else self
        bounds = {
            "<": (type.range[0], high - 1),
            "<=": (type.range[0], high),
            ">": (low + 1, type.range[1]),
            ">=": (low, type.range[1]),
            "==": (low, high),
        }[relation]
        return self._narrow(a, type, bounds)

    def _narrow(self, a: Node, type: Scalar, bounds: Interval) -> Facts:
        """Adds the fact that `a`, converted to a type, is within bounds."""
        if bounds[0] > bounds[1]:
            return self
        own = self.range(a)
        if not fits(own, type):  # negative numbers became large, or bits were truncated
            if type.bits < a.type.bits or bounds[0] < 0 or not fits(bounds, promote(a.type)):
                return self
        known = dict(self.intervals)
        known[str(a)] = meet(own, bounds)
        facts = Facts(known, self.nonzero)
        if a.op == "cast" and a.kids[0].type.is_integer and a.kids[0].stable:
            return facts._narrow(a.kids[0], a.type, known[str(a)])
        return facts

    def _with_nonzero(self, a: Node) -> Facts:
        return Facts(self.intervals, self.nonzero | {str(a)})
