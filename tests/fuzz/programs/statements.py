"""Random statements: the parts of kernels, weighted by what people write."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from . import tree
from .check import enter_loop, exits, facts_after, leaves_always, loop_bounds, size_of
from .facts import fits
from .phases import Phases
from .scalars import BOOL, INT, SCALARS, UINT, Scalar, promote, vector
from .scope import Scope
from .tree import Node, Variable, binary, block, cast, compare, constant, let

MOST_NESTED = 3


class Statements(Phases):
    """Makes statements until a budget is spent."""

    def __init__(self, rng, features):
        super().__init__(rng, features)
        self.budget = rng.choice((3, 4, 5, 6, 7, 8, 10, 12, 16)) - self.depth
        self.counts: dict[str, int] = {}
        self.most_iterations = 48
        self.is_straight = False  # no branches, but those of guards around arrays
        self.structs = []

    def name(self, prefix: str) -> str:
        self.counts[prefix] = self.counts.get(prefix, -1) + 1
        return f"{prefix}{self.counts[prefix]}"

    # ---- blocks ----

    def block(self, scope: Scope, depth: int, least: int = 1) -> Node:
        """Some statements. The scope is the block's own, and grows."""
        statements: list[Node] = []
        count = self.rng.randint(least, least + 2)
        while len(statements) < count and self.budget > 0:
            statement = self.statement(scope, depth)
            statements.append(statement)
            self.note(statement, scope)
            if leaves_always(statement):
                break
        return block(*statements)

    def note(self, statement: Node, scope: Scope) -> None:
        """The facts behind a statement."""
        scope.at.facts = facts_after(statement, scope.at.facts)
        if statement.op == "block":
            for one in statement.kids:
                scope.at.facts = facts_after(one, scope.at.facts)
        scope.at.leave(statement)

    def statement(self, scope: Scope, depth: int) -> Node:
        self.budget -= 1
        choices = [(2, self.changed), (1, self.index_variable), (1, self.new_variable)]
        choices += [(1.5, self.stored)]
        if self.is_straight:
            return self.pick(choices)(scope, depth)
        choices += [(2 if depth < MOST_NESTED else 0, self.branch)]
        if depth < MOST_NESTED:
            choices.append((4, self.guarded))
            if self.has("rows"):
                choices += [(4, self.row), (2 if self.long_rows(scope) else 0, self.row_written)]
            if self.has("windows"):
                choices.append((2, self.window))
            if self.has("loops"):
                choices.append((2.5, self.loop))
            if self.has("switches"):
                choices.append((1.5, self.switch))
        if self.has("private"):
            choices += [(1, self.new_array), (2.5, self.array_stored)]
        if self.has("vectors") or self.has("structs"):
            choices += [(1, self.new_aggregate), (1.5, self.part_changed)]
        if self.has("pointers"):
            choices.append((1.5, self.pointer))
        if self.has("divisions") and depth < MOST_NESTED:
            choices.append((2.5, self.guarded_division))
        inside = scope.at.in_loop or (self.has("returns") and depth > 0)
        if inside and not scope.at.readable and not scope.at.counting:
            choices.append((3 if scope.at.in_loop else 1.5, self.leave))
        if scope.at.function is None:
            if self.has("lanes"):
                choices.append((2 if scope.at.converged else 0.7, self.of_lanes_kept))
                choices.append((1 if scope.at.whole and scope.at.converged else 0, self.folded))
            if self.has("exchange") and scope.at.uniform:
                choices.append((8 if self.has("phases") else 3, self.exchange))
            if self.has("tallies") and scope.at.uniform:
                choices.append((1.5, self.tally))
            if self.has("atomics") or scope.at.counting:
                choices.append((4 if scope.at.counting else 1.5, self.atomic))
        return self.pick(choices)(scope, depth)

    # ---- variables ----

    def changeable(self, scope: Scope) -> list[Variable]:
        return [v for v in scope.variables if not v.constant]

    def changed(self, scope: Scope, depth: int) -> Node:
        known = self.changeable(scope)
        if not known:
            return self.new_variable(scope, depth)
        variable = self.rng.choice(known)
        return Node(
            "set", None, (self.value_for(variable, scope),), (variable, self.operator(variable))
        )

    def value_for(self, variable: Variable, scope: Scope) -> Node:
        value = self.value(
            variable.type if self.chance(0.8) else self.rng.choice(self.types), scope
        )
        if variable.type.is_float and not value.type.is_float:
            return self.small_float(variable.type, value)
        return value

    def operator(self, variable: Variable) -> str:
        if variable.type == BOOL:
            return ""
        if variable.type.is_float:
            return self.rng.choice(("", "+", "+", "-"))
        return self.rng.choice(("", "", "+", "+", "+", "-", "^", "|", "&", "*"))

    def new_variable(self, scope: Scope, depth: int) -> Node:
        type = self.some_type()
        variable = Variable(self.name("v"), type, constant=self.chance(0.3))
        node = let(variable, self.value(type, scope))
        variable.varies = node.kids[0].varies if variable.constant else 2
        scope.variables.append(variable)
        return node

    def of_lanes_kept(self, scope: Scope, depth: int) -> Node:
        """A variable with the result of a SIMD-group function."""
        type = self.some_type()
        value = cast(type, self.of_lanes(type, scope, 2))
        variable = Variable(self.name("v"), type, constant=self.chance(0.5))
        scope.variables.append(variable)
        return let(variable, value)

    def folded(self, scope: Scope, depth: int) -> Node:
        """`for (uint d = 16; d > 0; d >>= 1) v += simd_shuffle_down(v, d);`"""
        known = [v for v in self.changeable(scope) if v.type.is_integer and v.type.bits >= 32]
        if not known or not (scope.at.whole and scope.at.converged) or scope.at.work > 4:
            return self.of_lanes_kept(scope, depth)
        variable = self.rng.choice(known)
        type = self.rng.choice((UINT, INT, SCALARS["ushort"], SCALARS["short"]))
        delta = Variable(self.name("i"), type, range=(1, 16), varies=0)
        name = self.rng.choice(("simd_shuffle_down", "simd_shuffle_xor", "simd_shuffle_up"))
        other = tree.call(name, variable.type, tree.var(variable), tree.var(delta))
        change = Node("set", None, (other,), (variable, self.rng.choice(("+", "^", "|", "+"))))
        ends = (constant(type, 0), constant(type, 16))
        return Node("for", None, (*ends, block(change)), (delta, "halve"))

    def index_variable(self, scope: Scope, depth: int) -> Node:
        """A value that needs a guard: an index beside the thread's own, a size, a divisor."""
        value = self.wild_index(scope) if self.chance(0.6) else self.stable_value(scope, 2)
        type = value.type
        if self.chance(0.4):
            type = self.rng.choice((INT, UINT, INT, UINT, *self.types))
        variable = Variable(self.name("c"), type, varies=value.varies)
        scope.variables.append(variable)
        return let(variable, value)

    # ---- memory ----

    def stored(self, scope: Scope, depth: int) -> Node:
        slots = [r for r in scope.arrays if r.space == "slots"]
        if not slots:
            return self.changed(scope, depth)
        return self.store_into(self.rng.choice(slots), scope)

    def store_into(self, array: Variable, scope: Scope) -> Node:
        index = self.index(array.size, scope, 1)
        operator = self.operator(array) if self.chance(0.4) else ""
        return Node("store", None, (index, self.value_for(array, scope)), (array, operator))

    def new_array(self, scope: Scope, depth: int) -> Node:
        type = self.some_type()
        size = self.rng.choice((1, 2, 3, 4, 5, 7, 8, 16, 33))
        array = Variable(self.name("b"), type, constant=False, size=size)
        count = self.rng.randint(0, min(size, 4))
        values = [tree.cast(type, self.value(type, scope, 1)) for _ in range(count)]
        scope.arrays.append(array)
        return Node("array", None, tuple(values), array)

    def array_stored(self, scope: Scope, depth: int) -> Node:
        own = [r for r in scope.arrays if r.space == "thread" and not r.constant
               and r.type.kind != "a"]  # fmt: skip
        if not own:
            return self.new_array(scope, depth)
        array = self.rng.choice(own)
        if self.chance(0.5):
            return self.store_into(array, scope)
        index = self.wild_index(scope) if self.chance(0.5) else self.plain(scope)
        condition = self.guard(index, array.size, scope)
        inner = self.where(scope, condition, True)
        if not self.is_inside(index, array.size, inner):
            return self.store_into(array, scope)
        if self.chance(0.5):
            body = Node(
                "store", None, (index, self.value_for(array, inner)), (array, self.operator(array))
            )
            return Node("if", None, (condition, block(body)))
        return Node("if", None, (condition, block(self.use(tree.load(array, index), inner))))

    def use(self, value: Node, scope: Scope) -> Node:
        """A statement that uses the value."""
        slots = [r for r in scope.arrays if r.space == "slots"]
        known = self.changeable(scope)
        if known and (not slots or self.chance(0.6)):
            variable = self.rng.choice(known)
            if variable.type.is_float and not value.type.is_float:
                value = self.small_float(variable.type, value)
            elif value.type.is_float and not variable.type.is_float:
                value = cast(variable.type, value)
            elif value.type != variable.type and value.type.is_float:
                value = cast(variable.type, value)
            return Node("set", None, (value,), (variable, self.operator(variable)))
        if slots:
            array = self.rng.choice(slots)
            if array.type.is_float and not value.type.is_float:
                value = self.small_float(array.type, value)
            elif value.type.is_float:
                value = cast(array.type, value)
            return Node("store", None, (self.index(array.size, scope, 0), value), (array, ""))
        return block()

    def plain(self, scope: Scope) -> Node:
        known = [v for v in scope.variables if v.constant and v.type.is_integer]
        return tree.var(self.rng.choice(known)) if known else constant(UINT, 0)

    def atomic(self, scope: Scope, depth: int) -> Node:
        counters = [
            r for r in scope.arrays
            if r.value is not None and (r.space == "device" or r.name in scope.at.counting)
        ]  # fmt: skip
        if not counters:
            return self.changed(scope, depth)
        array = self.rng.choice(counters)
        operator = ("+", "|", "&", "^", "min", "max")[array.value]
        value = self.counted(array, scope)
        node = Node("atomic", None, (self.index(array.size, scope, 1), value), (array, operator))
        if self.chance(0.6) and depth < MOST_NESTED:
            condition = self.some_lanes(scope) if self.chance(0.5) else self.condition(scope, 1)
            inner = self.where(scope, condition, True)
            value = self.counted(array, inner)
            node = Node(
                "atomic", None, (self.index(array.size, inner, 1), value), (array, operator)
            )
            return Node("if", None, (condition, block(node)))
        return node

    def counted(self, array: Variable, scope: Scope) -> Node:
        """Sums of floats are exact whatever their order."""
        if array.type.is_float:
            return cast(array.type, binary("&", self.value(INT, scope, 1), constant(INT, 63)))
        return self.value(array.type, scope, 1)

    def some_lanes(self, scope: Scope) -> Node:
        """A condition for half of the threads, one, or the even ones."""
        numbers = [v for v in scope.variables if v.name in ("lane", "tix", "tid")]
        lane = tree.var(self.rng.choice(numbers))
        forms = [
            compare("<", lane, constant(UINT, self.rng.choice((1, 8, 16, 31)))),
            compare("==", lane, constant(UINT, self.rng.choice((0, 5, 31)))),
            compare("==", binary("&", lane, constant(UINT, 1)), constant(UINT, 0)),
        ]
        return self.rng.choice(forms)

    def pointer(self, scope: Scope, depth: int) -> Node:
        """A pointer to a known element of an array, or to all of it as another type."""
        arrays = [r for r in scope.arrays if r.space != "slots" and self.may_read(r, scope)
                  and r.value is None and r.type.kind in "iu" and r.size > 1]  # fmt: skip
        if not arrays:
            return self.changed(scope, depth)
        source = self.rng.choice(arrays)
        type = source.type
        if (
            self.chance(0.4)
            and source.constant
            and source.space == "device"
            and "_" not in source.name
            and not source.name.startswith("p")  # GPUs want aligned elements; this may be none
        ):
            type = self.rng.choice(
                (SCALARS["uchar"], SCALARS["ushort"], UINT, vector(type, 2), vector(type, 4))
            )
        count = source.size * source.type.bytes // size_of(type)
        if count < 1:
            return self.changed(scope, depth)
        offset = constant(UINT, 0) if self.chance(0.3) else self.index(count, scope, 1)
        size = count - scope.at.facts.range(offset)[1]
        name = self.name("p")
        pointer = Variable(name, type, source.constant, size, source.space)
        if source.name in scope.at.readable:
            scope.at.readable |= {name}
        if type.kind == "a" and offset.op != "const":
            offset, pointer.size = constant(UINT, 0), count
        scope.arrays.append(pointer)
        return Node("pointer", None, (offset,), (pointer, source))

    # ---- branches ----

    def branch(self, scope: Scope, depth: int) -> Node:
        condition = self.condition(scope)
        kids = [condition, self.block(self.where(scope, condition, True), depth + 1)]
        if self.chance(0.4):
            kids.append(self.block(self.where(scope, condition, False), depth + 1))
        return Node("if", None, tuple(kids))

    def guarded(self, scope: Scope, depth: int) -> Node:
        """An index, its border test, and reads behind it."""
        arrays = [r for r in scope.arrays if r.space != "slots" and self.may_read(r, scope)
                  and r.value is None and r.type.kind != "a"]  # fmt: skip
        if not arrays:
            return self.branch(scope, depth)
        array = self.rng.choice(arrays)
        before: list[Node] = []
        if self.chance(0.6):
            before.append(self.index_variable(scope, depth))
            self.note(before[0], scope)
            index = tree.var(before[0].value)
        else:
            index = self.wild_index(scope) if self.chance(0.5) else self.plain(scope)
        size = array.size
        width = self.rng.choice((2, 4, 8, 16))
        rows = [v for v in scope.variables if v.constant and v.type.is_integer
                and 0 <= scope.at.facts.range(tree.var(v))[0]
                and (scope.at.facts.range(tree.var(v))[1] + 1) * width <= size]  # fmt: skip
        place = index
        if rows and self.chance(0.5):
            row = tree.var(self.rng.choice(rows))
            place = binary("+", binary("*", row, constant(row.type, width)), index)
            size = width
        condition = self.guard(index, size, scope)
        if self.chance(0.3):
            more = self.condition(scope, 1)
            condition = (
                tree.both(condition, more) if self.chance(0.6) else tree.both(more, condition)
            )
        inner = self.where(scope, condition, True)
        if not self.is_inside(place, array.size, inner):
            return block(*before, self.changed(scope, depth))
        used = self.use(tree.load(array, place), inner)
        away = self.way_out(scope, depth)
        if away is not None and self.chance(0.25):
            left = Node("if", None, (tree.negate(condition), block(away)))
            return block(*before, left, used)
        rest = self.block(inner, depth + 1, 0)
        body = block(used, rest) if self.chance(0.7) else block(rest, used)
        return block(*before, Node("if", None, (condition, body)))

    def guarded_division(self, scope: Scope, depth: int) -> Node:
        """`if (i < limit && n != 0) r = i / n;`"""
        divisor = self.stable_value(scope, 1)
        test = compare(self.rng.choice(("!=", "!=", ">")), divisor, constant(divisor.type, 0))
        if self.chance(0.5):
            other = self.condition(scope, 1)
            test = tree.both(other, test) if self.chance(0.6) else tree.both(test, other)
        inner = self.where(scope, test, True)
        if not inner.at.facts.is_nonzero(divisor):
            return self.changed(scope, depth)
        a = self.value(self.rng.choice(self.types), inner, 1)
        quotient = binary(self.rng.choice("/%"), a, divisor)
        return Node("if", None, (test, block(self.use(quotient, inner))))

    def way_out(self, scope: Scope, depth: int) -> Node | None:
        """A statement that leaves the loop or the function."""
        kinds = []
        if scope.at.readable or scope.at.counting:
            return None
        if scope.at.in_loop:
            kinds += ["break", "continue"] if not scope.at.in_switch else ["continue"]
        if self.has("returns") and (depth > 0 or scope.at.function):
            kinds.append("return")
        if not kinds:
            return None
        kind = self.rng.choice(kinds)
        if kind == "return" and scope.at.function:
            return Node("return", None, (self.value(scope.at.function.type, scope, 2),))
        return Node(kind, None)

    def leave(self, scope: Scope, depth: int) -> Node:
        condition = self.condition(scope)
        inner = self.where(scope, condition, True)
        away = self.way_out(inner, depth)
        if away is None:
            return self.changed(scope, depth)
        body = [self.changed(inner, depth), away] if self.chance(0.4) else [away]
        return Node("if", None, (condition, block(*body)))

    def switch(self, scope: Scope, depth: int) -> Node:
        value = self.value(self.rng.choice(self.types), scope, 2)
        count = self.rng.randint(2, 4)
        if self.chance(0.7):
            value = binary("&" if self.chance(0.5) or promote(value.type).kind == "i" else "%", value,
                           constant(promote(value.type), self.rng.choice((3, 1, 7))))  # fmt: skip
        labels: list[int | None] = list(range(count))
        if self.chance(0.3):
            labels = self.rng.sample((0, 1, 2, 3, 5, 31, 64, 100), count)
        if self.chance(0.5):
            labels[self.rng.randrange(count)] = None
        cases, bodies = [], []
        for label in labels:
            inner = scope.inner(in_switch=True)
            inner.at.part(value.varies)
            bodies.append(self.block(inner, depth + 1))
            cases.append(((label,), self.chance(0.75)))
        return Node("switch", None, (value, *bodies), tuple(cases))

    # ---- loops ----

    def loop(self, scope: Scope, depth: int) -> Node:
        form = self.rng.choice(
            ("up", "up", "up", "up", "through", "down", "halve", "threes", "while", "do")
        )
        type = self.rng.choice((UINT, INT, UINT, INT, *[t for t in self.types if t.is_integer]))
        if form == "halve":
            low, high = constant(type, 0), constant(type, self.rng.choice((16, 16, 8, 4)))
        elif form == "down":
            type = INT
            low, high = constant(INT, self.rng.choice((0, 0, -1))), self.iterations(INT, scope)
        elif form == "through" and type.kind == "i" and self.chance(0.6):
            low, high = constant(type, -1), constant(type, 1)
        else:
            low = constant(type, 0)
            if self.chance(0.2):
                low = self.iterations(type, scope)
            high = self.iterations(type, scope)

        def fill(inner: Scope, variable: Variable) -> Node:
            return self.block(inner, depth + 1)

        return self.loop_over(scope, depth, low, high, form, fill)

    def loop_over(
        self,
        scope: Scope,
        depth: int,
        low: Node,
        high: Node,
        form: str,
        fill: Callable[[Scope, Variable], Node],
        most: int | None = None,
    ) -> Node:
        """A loop with a body that `fill` makes, unless it would run too often."""
        facts, type = scope.at.facts, high.type
        iterations, bounds = loop_bounds(None, form, facts.range(low), facts.range(high))
        if iterations * scope.at.work > (most or self.most_iterations) or not fits(bounds, type):
            return self.changed(scope, depth)
        varies = max(low.varies, high.varies)
        variable = Variable(self.name("i"), type, range=bounds, varies=varies)
        inner = scope.inner(in_loop=True, in_switch=False, work=scope.at.work * iterations)
        # Either the loop is divergent, or the threads converge in it.
        meets = varies < 2 and self.chance(0.5)
        inner.at.part(varies if meets else 2)
        inner.at.whole = inner.at.whole and meets
        inner.variables.append(variable)
        kids = [low, high]
        if self.chance(0.15):
            condition = self.condition(inner, 1)
            if form != "do":
                inner = self.where(inner, condition, True)
            else:
                inner.at.part(condition.varies)
            kids.append(condition)
        start = replace(inner.at)
        body = fill(inner, variable)
        if self.chance(0.35) and not meets and not leaves_always(body):
            left = self.leave(inner, depth + 1)
            self.note(left, inner)
            body = block(*body.kids, left, self.changed(inner, depth + 1))
        found = replace(start)
        enter_loop(found, 0, body)
        if (found.uniform, found.converged, found.whole) != (
            start.uniform,
            start.converged,
            start.whole,
        ):
            return self.changed(scope, depth)
        if form == "while" and exits(body, ("continue",)):
            form = "up"
        return Node("for", None, (*kids, body), (variable, form))

    def iterations(self, type: Scalar, scope: Scope) -> Node:
        """A small number, often one that only the thread knows."""
        if self.chance(0.4):
            return constant(type, self.rng.choice((1, 2, 3, 4, 5, 8)))
        a = self.stable_value(scope, 1)
        if a.type.kind == "i" or self.chance(0.5):
            a = binary("&", a, constant(a.type, self.rng.choice((1, 3, 3, 7))))
        else:
            a = binary("%", a, constant(a.type, self.rng.choice((2, 3, 5, 6))))
        return cast(type, a)

    # ---- threadgroups ----

    def exchange(self, scope: Scope, depth: int) -> Node:
        """Every thread writes its element of a shared array; then all may read it, perhaps after phases."""
        used = scope.at.readable | scope.at.counting
        free = [r for r in scope.arrays if r.space == "threadgroup" and r.name not in used
                and r.value is None and r.name.startswith("sh")]  # fmt: skip
        if not free or scope.at.work > 8:
            return self.changed(scope, depth)
        array = self.rng.choice(free)
        value = self.value_for(array, scope)
        place = next(tree.var(v) for v in scope.variables if v.name == "tix")
        phases = [self.phases(array, scope)] if self.has("phases") and self.chance(0.7) else []
        if phases:  # elements that differ
            value = cast(array.type, binary("+", self.as_integer(value, UINT), place))
        inner = scope.inner(readable=scope.at.readable | {array.name}, in_loop=False)
        used = self.use(tree.load(array, self.index(array.size, inner, 1)), inner)
        statements = [used]
        if phases:
            statements.insert(0, self.use(tree.load(array, place), inner))
        if self.has("tiles") and self.chance(0.7):
            statements.append(self.tile(array, inner, depth))
            self.note(statements[-1], inner)
        body = self.block(inner, depth + 1)
        if exits(body, ("break", "continue", "return")):
            body = block()
        return Node("exchange", None, (value, block(*statements, body), *phases), array)

    def tally(self, scope: Scope, depth: int) -> Node:
        """Atomic operations on threadgroup memory, which all may read afterwards."""
        used = scope.at.readable | scope.at.counting
        free = [
            r
            for r in scope.arrays
            if r.space == "threadgroup" and r.value is not None and r.name not in used
        ]
        if not free or scope.at.work > 8:
            return self.changed(scope, depth)
        array = self.rng.choice(free)
        first = scope.inner(
            counting=scope.at.counting | {array.name}, in_loop=False, in_switch=False
        )
        counted = self.atomic(first, depth)
        before = block(counted, self.block(first, depth + 1, 0))
        second = scope.inner(
            readable=scope.at.readable | {array.name}, in_loop=False, in_switch=False
        )
        after = block(self.use(tree.load(array, self.index(array.size, second, 1)), second))
        if exits(before, ("break", "continue", "return")):
            before = block(counted)
        return Node("tally", None, (before, after), array)
