"""Random expressions that have defined values at their position."""

from __future__ import annotations

import random

from . import tree
from .calls import Calls
from .scalars import (
    BOOL,
    FLOAT,
    FLOATS,
    INT,
    INTEGERS,
    LONG,
    UINT,
    ULONG,
    WIDE,
    Scalar,
    common,
    promote,
)
from .scope import Scope
from .tree import Node, Variable, binary, cast, compare, constant


class Expressions(Calls):
    """Makes expressions. Some features are off in a program, so that the others combine more often."""

    def __init__(self, rng: random.Random, features: frozenset[str]):
        self.rng, self.features = rng, features
        self.depth = rng.choice((1, 1, 2, 2, 3))
        self.types = [INT, UINT, INT, UINT]
        if "small" in features:
            self.types += [t for t in INTEGERS if t.bits < 32]
        if "wide" in features:
            self.types += [LONG, ULONG]
        self.floats = [FLOAT] if "floats" in features else []
        if "halves" in features:
            self.floats += [rng.choice(FLOATS)]

    def has(self, feature: str) -> bool:
        return feature in self.features

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def some_type(self) -> Scalar:
        if self.floats and self.chance(0.3):
            return self.rng.choice(self.floats)
        return self.rng.choice(self.types)

    # ---- values ----

    def value(self, type: Scalar, scope: Scope, depth: int | None = None) -> Node:
        """An expression of this type. Some programs have few long expressions, others many short ones."""
        if depth is None:
            depth = self.depth
        if depth <= 0 or self.chance(0.12):
            return self.leaf(type, scope)
        if type == BOOL:
            return self.condition(scope, depth)
        if type.is_float:
            return self.float_value(type, scope, depth)
        return self.integer(type, scope, depth)

    def leaf(self, type: Scalar, scope: Scope) -> Node:
        fitting = [v for v in scope.variables if v.type == type]
        if fitting and self.chance(0.75):
            return tree.var(self.rng.choice(fitting))
        if type.is_float:
            if scope.variables and self.chance(0.5):
                return self.small_float(type, tree.var(self.rng.choice(scope.variables)))
            inexact = (0.1, 1.7, -3.3) if self.has("contraction") else ()
            return constant(type, self.rng.choice((0, 1, 2, 3, 0.5, -1, -2.5, 7, 16, *inexact)))
        if scope.variables and self.chance(0.5):
            chosen = self.rng.choice([v for v in scope.variables] or scope.variables)
            return cast(type, tree.var(chosen))
        return self.number(type)

    def number(self, type: Scalar) -> Node:
        """A constant: often small, or beside a power of two."""
        if type == BOOL:
            return constant(BOOL, self.rng.randrange(2))
        low, high = type.range
        if self.chance(0.5):
            value = self.rng.choice((0, 1, 2, 3, 4, 5, 7, 8, 31, 32))
        elif self.chance(0.8):
            value = (1 << self.rng.randrange(type.bits)) + self.rng.choice((-1, 0, 1))
        else:
            value = self.rng.randint(low, high)
        if low < 0 and self.chance(0.25):
            value = -value
        return constant(type, min(max(value, low), high))

    def small_float(self, type: Scalar, a: Node) -> Node:
        """An integer, or a remainder of one, as an exact float."""
        if a.type.is_float:
            return cast(type, a) if a.type == type or type == FLOAT else constant(type, 3)
        if a.type == BOOL or a.type.bits == 8:
            return cast(type, a)
        mask = constant(promote(a.type), 127)
        return cast(type, binary("&", a, mask))

    def integer(self, type: Scalar, scope: Scope, depth: int) -> Node:
        choices = [(4, self.arithmetic), (2, self.chosen), (2, self.converted), (3, self.loaded)]
        choices += [(1.5, self.library)]
        if self.has("vectors") or self.has("structs"):
            choices.append((2, self.part_of))
        if self.has("shifts"):
            choices.append((1, self.shift))
        if self.has("divisions"):
            choices.append((2, self.division))
        if self.has("lanes") and scope.at.function is None:
            choices.append((2.5, self.of_lanes))
        if scope.functions and scope.at.function is None:
            choices.append((1, self.called))
        make = self.pick(choices)
        return cast(type, make(type, scope, depth - 1))

    def pick(self, choices: list[tuple[float, object]]):
        weights = [weight for weight, _ in choices]
        return self.rng.choices([one for _, one in choices], weights)[0]

    def arithmetic(self, type: Scalar, scope: Scope, depth: int) -> Node:
        a = self.value(self.mate(type), scope, depth)
        b = self.value(self.mate(type), scope, depth)
        return binary(self.rng.choice("+-*+-&|^"), a, b)

    def mate(self, type: Scalar) -> Scalar:
        """Mostly the type itself; C++ converts others to it."""
        return type if self.chance(0.8) else self.rng.choice(self.types)

    def chosen(self, type: Scalar, scope: Scope, depth: int) -> Node:
        condition = self.condition(scope, depth)
        yes = self.value(type, self.where(scope, condition, True), depth)
        return tree.choose(
            condition, yes, self.value(type, self.where(scope, condition, False), depth)
        )

    def where(self, scope: Scope, condition: Node, truth: bool) -> Scope:
        inner = scope.inner(facts=scope.at.facts.assume(condition, truth))
        inner.at.part(condition.varies)
        return inner

    def converted(self, type: Scalar, scope: Scope, depth: int) -> Node:
        return self.value(self.some_type(), scope, depth)

    def shift(self, type: Scalar, scope: Scope, depth: int) -> Node:
        a = self.value(self.mate(type), scope, depth)
        amount = self.value(self.rng.choice((UINT, INT)), scope, depth)
        if self.chance(0.7):
            amount = binary("&", amount, constant(amount.type, promote(a.type).bits - 1))
        return binary(self.rng.choice(("<<", ">>")), a, amount)

    def division(self, type: Scalar, scope: Scope, depth: int) -> Node:
        """A division by a value that is not zero, or that a condition guards."""
        operator = self.rng.choice("/%")
        a = self.value(self.rng.choice((type, *self.types)), scope, depth)
        known = [v for v in scope.variables if v.constant and v.type.is_integer]
        safe = [v for v in known if scope.at.facts.is_nonzero(tree.var(v))]
        if safe and self.chance(0.5):
            return binary(operator, a, tree.var(self.rng.choice(safe)))
        if self.chance(0.3):
            b = self.number(self.rng.choice(self.types))
            if scope.at.facts.is_nonzero(b):
                return binary(operator, a, b)
        b = self.stable_value(scope, depth)
        if self.chance(0.2):
            return binary(operator, a, binary("|", b, constant(b.type, 1)))
        zero = constant(b.type, 0)
        tests = [compare("!=", b, zero), compare("!=", zero, b)]
        tests += [compare(">", b, zero)]
        test = self.rng.choice(tests)
        quotient = binary(operator, a, b)
        other = cast(quotient.type, self.leaf(type, scope))
        if self.chance(0.3):
            return tree.choose(compare("==", b, zero), other, quotient)
        return tree.choose(test, quotient, other)

    def stable_value(self, scope: Scope, depth: int = 1) -> Node:
        """An integer expression with the same value at every evaluation."""
        known = [v for v in scope.variables if v.constant and v.type.is_integer]
        if not known:
            return constant(UINT, 3)
        a = tree.var(self.rng.choice(known))
        arrays = [r for r in scope.arrays if r.constant and r.type.is_integer]
        if arrays and self.chance(0.25):
            array = self.rng.choice(arrays)
            index = self.index(array.size, scope, 0)
            if index.stable:
                a = tree.load(array, index)
        if depth > 0 and self.chance(0.6):
            b = (
                self.stable_value(scope, depth - 1)
                if self.chance(0.4)
                else self.number(promote(a.type))
            )
            a = binary(self.rng.choice("+-*&%&" if scope.at.facts.is_nonzero(b) else "+-*&"), a, b)
        return a

    # ---- memory ----

    def loaded(self, type: Scalar, scope: Scope, depth: int) -> Node:
        arrays = [r for r in scope.arrays if self.may_read(r, scope) and r.type.kind != "a"]
        if not arrays:
            return self.leaf(type, scope)
        same = [r for r in arrays if r.type == type]
        array = self.rng.choice(same if same and self.chance(0.6) else arrays)
        if self.chance(0.5):
            return self.as_integer(tree.load(array, self.index(array.size, scope, depth)), type)
        index = self.wild_index(scope)
        guard = self.guard(index, array.size, scope)
        inside = self.where(scope, guard, True)
        if not self.is_inside(index, array.size, inside):
            return self.as_integer(tree.load(array, self.index(array.size, scope, depth)), type)
        element = self.as_integer(tree.load(array, index), type)
        return tree.choose(guard, element, cast(element.type, self.value(type, scope, depth - 1)))

    def as_integer(self, a: Node, type: Scalar) -> Node:
        return cast(type, a) if a.type.is_float and not type.is_float else a

    def may_read(self, array: Variable, scope: Scope) -> bool:
        if array.space == "threadgroup":
            return array.constant or array.name in scope.at.readable
        return (
            array.space != "device" or array.constant
        )  # other arrays are changed by atomic counters

    def is_inside(self, index: Node, size: int, scope: Scope) -> bool:
        low, high = scope.at.facts.range(index)
        return 0 <= low and high < size

    def variables_inside(self, size: int, scope: Scope) -> list[Variable]:
        """The constants that are known to be indices of an array."""
        known = [v for v in scope.variables if v.constant and v.type.is_integer]
        return [v for v in known if self.is_inside(tree.var(v), size, scope)]

    def index(self, size: int, scope: Scope, depth: int) -> Node:
        """An index that is known to be inside an array."""
        inside = self.variables_inside(size, scope)
        if inside and self.chance(0.5):
            return tree.var(self.rng.choice(inside))
        if self.chance(0.2):
            return constant(UINT, self.rng.randrange(size))
        if self.chance(0.35):  # rows and columns
            node = self.two_dimensional(size, scope, inside)
            if node is not None:
                return node
        a = self.value(self.rng.choice((UINT, UINT, INT)), scope, min(depth, 1))
        if size & (size - 1) == 0 and self.chance(0.5):
            return binary("&", a, constant(a.type, size - 1))
        last = constant(a.type, size - 1)
        if a.type == INT:
            return tree.call("clamp", INT, a, constant(INT, 0), last)
        if self.chance(0.5):
            return tree.call("min", a.type, a, last)
        return binary("%", a, constant(a.type, size))

    def two_dimensional(self, size: int, scope: Scope, inside: list[Variable]) -> Node | None:
        if len(inside) < 2:
            return None
        row, column = (tree.var(self.rng.choice(inside)) for _ in range(2))
        width = constant(row.type, self.rng.choice((2, 3, 4, 8, 16, 32, 33, 64)))
        strides = [v for v in scope.variables if v.value is not None and 0 < v.value <= 64]
        if strides and self.chance(0.6):  # a stride that only the launch knows
            width = tree.var(self.rng.choice(strides))
        index = binary("+", binary("*", row, width), column)
        return index if self.is_inside(index, size, scope) else None

    def wild_index(self, scope: Scope) -> Node:
        """An index that is far outside for some threads."""
        known = [v for v in scope.variables if v.constant and v.type in WIDE]
        if not known:
            return constant(UINT, 1)
        v = tree.var(self.rng.choice(known))
        kind = self.rng.randrange(8)
        if kind <= 2:
            return binary(self.rng.choice("-+-"), v, self.small(v.type))
        if kind == 3:
            return binary("-", self.small(v.type), v)
        if kind == 4:
            return binary("*", v, constant(v.type, 65537))
        if kind == 5:
            other = tree.var(self.rng.choice(known))
            return binary(self.rng.choice("+-*"), v, other)
        if kind == 6:
            wide = binary(
                "-",
                binary("*", v, constant(v.type, self.rng.choice((2, 3, 8, 64)))),
                self.small(v.type),
            )
            return wide
        return self.stable_value(scope, 2)

    def small(self, type: Scalar) -> Node:
        return constant(type, self.rng.choice((1, 1, 1, 2, 3, 5, 8, 31, 32, 33)))

    def guard(self, index: Node, size: int, scope: Scope) -> Node:
        """A bounds check of an index, as people write it."""
        type = index.type
        limit = self.limit(size, type, scope)
        if type.kind == "u":
            forms = [compare("<", index, limit), compare(">", limit, index)]
            forms += [tree.negate(compare(">=", index, limit))]
            forms += [compare("<=", index, constant(type, size - 1))]
            return self.rng.choice(forms)
        zero = constant(type, 0)
        low = self.rng.choice(
            (
                compare(">=", index, zero),
                compare("<=", zero, index),
                compare(">", index, constant(type, -1)),
            )
        )
        high = self.rng.choice((compare("<", index, limit), compare(">", limit, index)))
        outside = tree.either(compare("<", index, zero), compare(">=", index, limit))
        as_unsigned = cast(ULONG if type.bits == 64 else UINT, index)
        forms = [tree.both(low, high), tree.both(low, high), tree.both(high, low)]
        forms += [tree.negate(outside)]
        if type.bits >= 32:
            forms += [compare("<", as_unsigned, constant(as_unsigned.type, size))]
        return self.rng.choice(forms)

    def limit(self, size: int, type: Scalar, scope: Scope) -> Node:
        """The size, as a constant or as an argument of the kernel that has this value."""
        named = [v for v in scope.variables if v.value is not None and 0 < v.value <= size]
        exact = [v for v in named if v.value == size]
        if named and self.chance(0.5):
            chosen = self.rng.choice(exact or named)
            if common(chosen.type, type) == promote(type):
                return tree.var(chosen)
        return constant(type, size)

    # ---- conditions ----

    def condition(self, scope: Scope, depth: int | None = None) -> Node:
        if depth is None:
            depth = min(self.depth, 2)
        kind = self.rng.random()
        if depth > 0 and self.has("shortcut") and kind < 0.3:
            a = self.condition(scope, depth - 1)
            if self.chance(0.5):
                return tree.both(a, self.condition(self.where(scope, a, True), depth - 1))
            return tree.either(a, self.condition(self.where(scope, a, False), depth - 1))
        if kind < 0.36:
            return (
                tree.negate(self.condition(scope, depth - 1))
                if depth > 0
                else self.leaf(BOOL, scope)
            )
        if kind < 0.45 and depth > 0 and self.has("lanes") and not scope.at.function:
            name = self.rng.choice(("simd_any", "simd_all"))
            return tree.call(name, BOOL, self.condition(scope, depth - 1))
        if kind < 0.52 and depth > 0 and self.has("vectors"):
            return self.tested(scope, depth - 1)
        type = self.some_type()
        a = self.value(type, scope, depth - 1)
        operator = self.rng.choice(tree.COMPARISONS)
        if not type.is_float and self.chance(0.4):
            return compare(operator, a, self.number(promote(a.type)))
        return compare(operator, a, self.value(type, scope, depth - 1))
