"""Random expressions and statements with vectors and structs."""

from __future__ import annotations

from . import tree
from .expressions import Expressions
from .scalars import BOOL, Aggregate, Scalar, vector
from .scope import Scope
from .tree import Node, Variable, cast, constant, let


class Aggregates(Expressions):
    """The part of `Expressions` for vectors and structs."""

    structs: list[Aggregate]

    def some_aggregate(self) -> Aggregate:
        if self.structs and self.chance(0.4):
            return self.rng.choice(self.structs)
        element = self.rng.choice((*self.types, *self.floats))
        return vector(element, self.rng.choice((2, 3, 4)))

    def new_struct(self) -> Aggregate:
        names = [f"m{k}" for k in range(self.rng.randint(1, 3))]
        return Aggregate(self.name("S"), tuple((name, self.some_type()) for name in names))

    def whole(self, type: Aggregate, scope: Scope, depth: int) -> Node:
        """A vector or a struct."""
        known = [v for v in scope.aggregates if v.type == type]
        if known and self.chance(0.4):
            return tree.var(self.rng.choice(known))
        arrays = [r for r in scope.arrays if r.type == type and self.may_read(r, scope)]
        if arrays and self.chance(0.5):
            array = self.rng.choice(arrays)
            return tree.load(array, self.index(array.size, scope, 1))
        if type.is_vector and depth > 0 and self.chance(0.5):
            return self.vector_value(type, scope, depth)
        return tree.make(type, *(self.exact(part, scope, depth - 1) for _, part in type.parts))

    def exact(self, type: Scalar, scope: Scope, depth: int) -> Node:
        return cast(type, self.value(type, scope, depth))

    def vector_value(self, type: Aggregate, scope: Scope, depth: int) -> Node:
        element = type.element
        kind = self.rng.randrange(6)
        a = self.whole(type, scope, depth - 1)
        if kind <= 1:
            operators = "+-*" if element.is_float else "+-*&|^"
            b = self.whole(type, scope, depth - 1)
            if self.chance(0.3):
                b = self.exact(element, scope, depth - 1)
            if self.has("contraction") and element.is_float and self.chance(0.5):
                operands = [Node("vector", type, (a, b), "*"), self.whole(type, scope, depth - 1)]
                self.rng.shuffle(operands)
                return Node("vector", type, tuple(operands), self.rng.choice("+-"))
            return Node("vector", type, (a, b), self.rng.choice(operators))
        if kind == 2:
            return Node("splat", type, (self.exact(element, scope, depth - 1),))
        if kind == 3 and element.is_integer:
            divisor = constant(element, self.rng.choice((2, 3, 7, 64)))
            return Node("vector", type, (a, divisor), self.rng.choice("/%"))
        b = self.whole(type, scope, depth - 1)
        return tree.call(self.rng.choice(("min", "max")), type, a, b)

    def part_of(self, type: Scalar, scope: Scope, depth: int) -> Node:
        """A scalar member of a vector or a struct."""
        of = None
        if scope.aggregates and self.chance(0.6):
            of = tree.var(self.rng.choice(scope.aggregates))
        else:
            of = self.whole(self.some_aggregate(), scope, depth - 1)
        if of.op in ("vector", "splat"):
            of = tree.make(of.type, *(tree.part(of, name) for name, _ in of.type.parts))
        return self.as_integer(tree.part(of, self.rng.choice(of.type.parts)[0]), type)

    def tested(self, scope: Scope, depth: int) -> Node:
        """A condition on all parts of a vector."""
        element = self.rng.choice((*self.types, *self.floats))
        type = vector(element, self.rng.choice((2, 3, 4)))
        a, b = (self.whole(type, scope, depth - 1) for _ in range(2))
        operator = self.rng.choice(("<", "<=", ">", ">=", "==", "!="))
        flags = Node("vector", vector(BOOL, len(type.parts)), (a, b), operator)
        return tree.call(self.rng.choice(("any", "all")), BOOL, flags)

    # ---- statements ----

    def new_aggregate(self, scope: Scope, depth: int) -> Node:
        type = self.some_aggregate()
        variable = Variable(self.name("q"), type, constant=self.chance(0.3))
        node = let(variable, self.whole(type, scope, 2))
        scope.aggregates.append(variable)
        return node

    def part_changed(self, scope: Scope, depth: int) -> Node:
        known = [v for v in scope.aggregates if not v.constant]
        if not known:
            return self.new_aggregate(scope, depth)
        variable = self.rng.choice(known)
        type = variable.type
        if type.is_vector and self.chance(0.3):
            operator = self.rng.choice(("", "+", "-", "*"))
            return Node("set", None, (self.whole(type, scope, 2),), (variable, operator))
        name, part = self.rng.choice(type.parts)
        operator = self.rng.choice(("", "+"))
        return Node("set_part", None, (self.exact(part, scope, 2),), (variable, operator, name))
