"""Random calls: of the standard library, of SIMD-group functions, of the program's own."""

from __future__ import annotations

import random

from . import tree
from .scalars import BFLOAT, FLOAT, INT, SCALARS, UINT, Scalar, promote
from .scope import Scope
from .tree import Node, binary, cast, compare, constant

OF_ONE = ("abs", "popcount", "clz", "ctz", "reverse_bits")
OF_TWO = ("min", "max", "mulhi", "rotate", "absdiff", "addsat", "subsat", "hadd", "rhadd")
OF_THREE = ("madhi", "clamp", "select", "extract_bits", "insert_bits")
FLOAT_SUMS = {"simd_sum", "simd_prefix_inclusive_sum", "simd_prefix_exclusive_sum"}
NOT_NUMBERS = {"simd_any", "simd_all", "simd_is_first", "simd_ballot"}
LANE_TYPES = (UINT, INT, SCALARS["ushort"], SCALARS["short"])


class Calls:
    """The part of `Expressions` for calls."""

    rng: random.Random

    # ---- the standard library ----

    def library(self, type: Scalar, scope: Scope, depth: int) -> Node:
        """A function of integers."""
        name = self.rng.choice((*OF_ONE, *OF_TWO, *OF_THREE))
        a = self.value(type, scope, depth)
        if name in OF_ONE:
            return tree.call(name, type, a)
        if name in OF_TWO:
            result = type.unsigned if name == "absdiff" else type
            return cast(type, tree.call(name, result, a, self.value(type, scope, depth)))
        if name == "clamp":
            bounds = sorted((self.number(type).value, self.number(type).value))
            return tree.call(name, type, a, *(constant(type, b) for b in bounds))
        if name == "select":
            b = self.value(type, scope, depth)
            return tree.call(name, type, a, b, self.condition(scope, depth))
        if name == "madhi":
            b, c = (self.value(type, scope, depth) for _ in range(2))
            return tree.call(name, type, a, b, c)
        return self.of_bits(name, a, scope, depth)

    def of_bits(self, name: str, a: Node, scope: Scope, depth: int) -> Node:
        """A bit field, all of it inside the integer."""
        offset = self.rng.randrange(a.type.bits)
        count = self.rng.randint(1, a.type.bits - offset)
        place = (constant(UINT, offset), constant(UINT, count))
        if name == "insert_bits":
            return tree.call(name, a.type, a, self.value(a.type, scope, depth), *place)
        return tree.call(name, a.type, a, *place)

    # ---- SIMD-groups ----

    def of_lanes(self, type: Scalar, scope: Scope, depth: int) -> Node:
        """A SIMD-group function."""
        if not type.is_float and self.chance(0.1):
            return tree.call("simd_ballot", UINT, self.condition(scope, depth))
        names = tree.LANE_FUNCTIONS - NOT_NUMBERS
        if not (scope.at.whole and scope.at.converged):
            names -= tree.SHUFFLES
        elif self.chance(0.5):
            names = tree.SHUFFLES
        if type.is_float:
            names &= tree.SHUFFLES | {"simd_min", "simd_max", "simd_broadcast_first"} | FLOAT_SUMS
        name = self.rng.choice(sorted(names))
        a = self.value(type, scope, depth)
        if name in tree.SHUFFLES:
            return tree.call(name, type, a, *self.lanes_of(name, a, scope, depth))
        if type.is_float and name in FLOAT_SUMS:
            most = {"float": 63, "half": 31, "bfloat": 7}[type.name]
            a = cast(type, binary("&", self.value(INT, scope, depth), constant(INT, most)))
        return tree.call(name, type, a)

    def lanes_of(self, name: str, a: Node, scope: Scope, depth: int) -> list[Node]:
        """The second argument of a shuffle."""
        if name == "simd_broadcast":
            return [constant(SCALARS["ushort"], self.rng.randrange(32))]
        lane = self.value(self.rng.choice(LANE_TYPES), scope, min(depth, 1))
        lane = binary("&", lane, constant(promote(lane.type), 31))
        if "fill" in name:
            return [cast(a.type, self.leaf(a.type, scope)), lane]
        return [lane if self.chance(0.6) else cast(SCALARS["ushort"], lane)]

    # ---- the program's own ----

    def called(self, type: Scalar, scope: Scope, depth: int) -> Node:
        function = self.rng.choice(scope.functions)
        arguments = []
        for parameter in function.parameters:
            if not parameter.size:
                arguments.append(cast(parameter.type, self.value(parameter.type, scope, depth - 1)))
                continue
            fitting = [
                r for r in scope.arrays
                if r.type == parameter.type and r.space == parameter.space and r.size >= parameter.size
                and (r.constant or r.space == "thread") and self.may_read(r, scope)
            ]  # fmt: skip
            if not fitting:
                return self.leaf(type, scope)
            array = self.rng.choice(fitting)
            arguments.append(Node("array", array.type, (), array))
        return self.as_integer(tree.call(function, function.type, *arguments), type)

    # ---- floats ----

    def float_value(self, type: Scalar, scope: Scope, depth: int) -> Node:
        kinds = [(3, self.float_arithmetic), (1, self.chosen), (1.5, self.of_floats)]
        kinds += [(1.5, self.float_loaded), (1, self.float_divided), (1.5, self.float_of_integer)]
        if self.has("lanes") and scope.at.function is None:
            kinds.append((1, self.of_lanes))
        return self.pick(kinds)(type, scope, depth - 1)

    def float_arithmetic(self, type: Scalar, scope: Scope, depth: int) -> Node:
        a, b = (self.value(type, scope, depth) for _ in range(2))
        if self.has("contraction") and self.chance(0.5):
            operands = [binary("*", a, b), self.value(type, scope, depth)]
            self.rng.shuffle(operands)
            return binary(self.rng.choice("+-"), *operands)
        return binary(self.rng.choice("+-*"), a, b)

    def of_floats(self, type: Scalar, scope: Scope, depth: int) -> Node:
        """Functions whose results are exact."""
        names = ("min", "max", "abs", "fabs", "floor", "ceil", "trunc", "rint", "round")
        name = self.rng.choice((*names, "sqrt") if type == FLOAT else names)
        count = 2 if name in ("min", "max") else 1
        return tree.call(name, type, *(self.value(type, scope, depth) for _ in range(count)))

    def float_divided(self, type: Scalar, scope: Scope, depth: int) -> Node:
        """Divides by a value other than zero, whose sign would show in the result."""
        known = [v for v in scope.variables if v.type == type and v.constant]
        a = self.value(type, scope, depth)
        if not known or type == BFLOAT:
            return binary("/", a, constant(type, self.rng.choice((2, 3, 7, -0.5))))
        b = tree.var(self.rng.choice(known))
        zero = constant(type, 0)
        return tree.choose(compare("!=", b, zero), binary("/", a, b), zero)

    def float_loaded(self, type: Scalar, scope: Scope, depth: int) -> Node:
        arrays = [r for r in scope.arrays if r.type == type and self.may_read(r, scope)]
        if not arrays:
            return self.float_of_integer(type, scope, depth)
        array = self.rng.choice(arrays)
        index = self.wild_index(scope)
        guard = self.guard(index, array.size, scope)
        if self.is_inside(index, array.size, self.where(scope, guard, True)):
            return tree.choose(guard, tree.load(array, index), constant(type, 0))
        return tree.load(array, self.index(array.size, scope, depth))

    def float_of_integer(self, type: Scalar, scope: Scope, depth: int) -> Node:
        return self.small_float(type, self.value(self.rng.choice(self.types), scope, depth))
