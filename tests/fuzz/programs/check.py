"""Whether a program is defined: every index in its array, no divisor zero, barriers reached by all threads."""

from __future__ import annotations

from dataclasses import dataclass, replace

from .facts import Facts
from .tree import COMPARISONS, LANE_FUNCTIONS, SHUFFLES, Function, Node, Variable

MOST_ITERATIONS = 140  # of one loop
MOST_WORK = 4000  # iterations of nested loops in all


ADDING = frozenset(f for f in LANE_FUNCTIONS if "sum" in f or "product" in f)


class Undefined(Exception):
    """A program has undefined behaviour: the message says why."""


@dataclass
class Place:
    """The facts at a position in a program."""

    facts: Facts
    uniform: bool = True  # all threads of the threadgroup that have not exited come here
    converged: bool = True  # all such threads of a SIMD-group come here
    in_loop: bool = False
    in_switch: bool = False
    work: int = 1  # the most times that this position is reached
    function: Function | None = None
    readable: frozenset = frozenset()  # threadgroup arrays
    counting: frozenset = frozenset()  # threadgroup arrays that all threads may change atomically
    whole: bool = False  # if converged: no thread of a SIMD-group has exited

    def part(self, varies: int) -> None:
        """Only threads with the same value come here."""
        self.uniform = self.uniform and varies == 0
        self.converged = self.converged and varies < 2

    @property
    def apart(self) -> int:
        """The variability of the conditions for this position, as in `Variable`."""
        return 0 if self.uniform else 1 if self.converged else 2

    def leave(self, statement: Node) -> None:
        """Updates the facts behind a statement that threads may have left."""
        self.part(exits_apart(statement, self.apart, ("continue", "break")))
        self.whole = self.whole and exits_apart(statement, self.apart, ("return",)) < 2


class Checker:
    """Checks a program in the order in which it runs."""

    def __init__(self) -> None:
        self.known: set[str] = set()
        self.calls: dict[str, bool] = {}

    def require(self, condition: bool, why: str) -> None:
        if not condition:
            raise Undefined(why)

    # ---- expressions ----

    def expression(self, node: Node, at: Place) -> None:
        op, kids = node.op, node.kids
        if op == "var":
            self.require(node.value.name in self.known, f"{node} is not declared")
            return
        if op in ("and", "or", "cond"):
            self.expression(kids[0], at)
            inner = replace(at, facts=at.facts.assume(kids[0], op != "or"))
            inner.part(kids[0].varies)
            self.expression(kids[1], inner)
            if op == "cond":
                inner = replace(inner, facts=at.facts.assume(kids[0], False))
                self.expression(kids[2], inner)
            return
        for kid in kids:
            if kid.op != "array":
                self.expression(kid, at)
        if op == "load":
            self.access(node.value, kids[0], at)
        elif op == "bin":
            self.arithmetic(node, at)
        elif op == "make":
            types = [type for _, type in node.type.parts]
            self.require([kid.type for kid in kids] == types, "parts of other types")
        elif op == "vector":
            self.of_vectors(node)
        elif op == "call":
            self.called(node, at)

    def access(self, array: Variable, index: Node, at: Place) -> None:
        self.require(array.name in self.known, f"{array.name} is not declared")
        low, high = at.facts.range(index)
        self.require(0 <= low and high < array.size, f"{array.name}[{index}] may be outside")
        if array.space == "threadgroup" and not array.constant:
            self.require(array.name in at.readable, f"{array.name} may be written meanwhile")
        if array.space == "device":
            self.require(array.constant, f"{array.name} is changed by others")

    def arithmetic(self, node: Node, at: Place) -> None:
        self.require(node.type == _type_of(node), f"{node} has another type")
        if node.value in "/%" and node.type.is_integer:
            self.require(at.facts.is_nonzero(node.kids[1]), f"{node} may divide by zero")
        if node.value == "%":
            self.require(node.type.is_integer, "remainders are of integers")
        if node.value == "/" and node.type.is_float:
            b = node.kids[1]
            known = b.value != 0 if b.op == "const" else str(b) in at.facts.nonzero
            self.require(known, "a zero's sign may show")

    def of_vectors(self, node: Node) -> None:
        a, b = node.kids
        self.require(b.type in (a.type, a.type.element), "operands of other types")
        flags = node.type.element.kind == "b"
        self.require(flags == (node.value in COMPARISONS), "flags")
        self.require(flags or node.type == a.type, "another result")
        if node.value in "/%":
            self.require(b.op == "const" and b.value not in (0, -1), "divided by what may be zero")

    def called(self, node: Node, at: Place) -> None:
        if isinstance(node.value, Function):
            self.require(node.value.name in self.known, f"{node.value.name} is not declared")
            for kid, parameter in zip(node.kids, node.value.parameters):
                if kid.op == "array":
                    self.require(kid.value.name in self.known, f"{kid} is not declared")
                    self.require(kid.value.size >= parameter.size, f"{kid} is too short")
                    if kid.value.space == "threadgroup":
                        self.require(kid.value.name in at.readable, f"{kid} may be written")
                else:
                    self.require(kid.type == parameter.type, "an argument of another type")
        elif node.value in LANE_FUNCTIONS:
            self.require(at.function is None, f"{node.value} in a thread's own code")
            whole = at.whole and at.converged
            self.require(whole or node.value not in SHUFFLES, f"{node} reads absent lanes")
            if node.type.is_float and node.value in ADDING:
                self.require(is_small_integer(node.kids[0], at.facts), "sums that are rounded")
        elif node.value in ("extract_bits", "insert_bits"):
            numbers = [kid.value for kid in node.kids[-2:] if kid.op == "const"]
            inside = len(numbers) == 2 and sum(numbers) <= node.type.bits and numbers[1] > 0
            self.require(inside, "bits beyond a number")
        elif node.value == "clamp" and node.type.kind != "a":
            self.require(
                at.facts.range(node.kids[1])[1] <= at.facts.range(node.kids[2])[0]
                if node.type.is_integer
                else all(kid.op == "const" for kid in node.kids[1:])
                and node.kids[1].value <= node.kids[2].value,
                "clamp's bounds cross",
            )

    # ---- statements ----

    def block(self, node: Node, at: Place) -> None:
        """Checks a block's statements in order; conditions of exits do not hold behind the block."""
        before = set(self.known)
        self.statements(node, at)
        self.known = before

    def statements(self, node: Node, at: Place) -> Facts:
        at = replace(at)
        for statement in node.kids:
            if statement.op == "block":
                at.facts = self.statements(statement, at)
            else:
                self.statement(statement, at)
            at.facts = facts_after(statement, at.facts)
            at.leave(statement)
        return at.facts

    def statement(self, node: Node, at: Place) -> None:
        getattr(self, "on_" + node.op)(node, at)

    def on_scope(self, node: Node, at: Place) -> None:
        self.block(node.kids[0], at)

    def on_let(self, node: Node, at: Place) -> None:
        self.expression(node.kids[0], at)
        variable = node.value
        if variable.range and variable.constant:
            low, high = at.facts.range(node.kids[0])
            inside = variable.range[0] <= low and high <= variable.range[1]
            self.require(inside, f"{variable.name} may leave its range")
        self.require(node.kids[0].varies <= variable.varies, f"{variable.name} varies")
        self.known.add(variable.name)

    def on_array(self, node: Node, at: Place) -> None:
        for kid in node.kids:
            self.expression(kid, at)
            self.require(kid.type == node.value.type, "a value of another type")
        self.require(len(node.kids) <= node.value.size, "too many values")
        self.known.add(node.value.name)

    def on_set(self, node: Node, at: Place) -> None:
        variable, operator = node.value
        self.require(variable.name in self.known and not variable.constant, "no variable")
        self.assignment(operator, variable, node.kids[0], at)

    def on_set_part(self, node: Node, at: Place) -> None:
        variable, operator, name = node.value
        self.require(variable.name in self.known and not variable.constant, "no variable")
        part = Variable("", variable.type.part(name), constant=False)
        self.assignment(operator, part, node.kids[0], at)

    def on_pointer(self, node: Node, at: Place) -> None:
        pointer, source = node.value
        offset = node.kids[0]
        self.require(source.name in self.known, f"{source.name} is not declared")
        self.expression(offset, at)
        low, high = at.facts.range(offset)
        self.require(low >= 0, "a pointer before its array")
        size = size_of(source.type) * source.size
        self.require((pointer.size + high) * size_of(pointer.type) <= size, "too long a pointer")
        self.require(pointer.constant or not source.constant, "constants are changed")
        if source.name in at.readable:
            at.readable |= {pointer.name}
        self.known.add(pointer.name)

    def on_tally(self, node: Node, at: Place) -> None:
        array = node.value
        self.require(at.uniform, "a barrier that not all threads come to")
        self.require(array.name in self.known, "no such array")
        self.require(array.name not in at.readable | at.counting, "in use")
        for body in node.kids:
            self.require(not exits(body, ("break", "continue", "return")), "left early")
        self.block(node.kids[0], replace(at, counting=at.counting | {array.name}))
        self.block(node.kids[1], replace(at, readable=at.readable | {array.name}))

    def on_store(self, node: Node, at: Place) -> None:
        array, operator = node.value
        self.require(not array.constant, "a constant array")
        self.require(array.space in ("thread", "slots"), "others' memory")
        self.expression(node.kids[0], at)
        self.access(array, node.kids[0], at)
        self.assignment(operator, array, node.kids[1], at)

    def assignment(self, operator: str, to: Variable, value: Node, at: Place) -> None:
        self.expression(value, at)
        if operator and operator in "/%" and to.type.is_integer:
            self.require(at.facts.is_nonzero(value), "may divide by zero")
        if to.type.kind == "a":
            same = value.type == to.type or value.type == getattr(to.type, "element", None)
            self.require(same and (not operator or operator in "+-*"), "other operands")
            self.require(not operator or to.type.is_vector, "arithmetic of a struct")
            return
        self.require(value.type.kind != "a", "a whole vector")
        if operator in ("%", "&", "|", "^", "<<", ">>"):
            self.require(to.type.is_integer and not value.type.is_float, "bits of a float")
        self.require(not (operator and to.type.kind == "b"), "arithmetic of a bool")

    def on_atomic(self, node: Node, at: Place) -> None:
        array, operator = node.value
        self.require(array.name in self.known, "no such array")
        shared = array.space == "device" or array.name in at.counting
        self.require(shared and array.value is not None, "not for atomic operations")
        self.expression(node.kids[0], at)
        self.expression(node.kids[1], at)
        low, high = at.facts.range(node.kids[0])
        self.require(0 <= low and high < array.size, "may be outside")
        if array.type.is_float:
            self.require(is_small_integer(node.kids[1], at.facts), "sums that are rounded")

    def on_if(self, node: Node, at: Place) -> None:
        condition = node.kids[0]
        self.expression(condition, at)
        for body, truth in zip(node.kids[1:], (True, False)):
            inner = replace(at, facts=at.facts.assume(condition, truth))
            inner.part(condition.varies)
            self.block(body, inner)

    def on_for(self, node: Node, at: Place) -> None:
        variable, form = node.value
        low, high = node.kids[0], node.kids[1]
        self.expression(low, at)
        self.expression(high, at)
        iterations, bounds = loop_bounds(variable, form, at.facts.range(low), at.facts.range(high))
        self.require(
            iterations <= MOST_ITERATIONS and iterations * at.work <= MOST_WORK,
            "too many iterations",
        )
        self.require(low.stable and high.stable, "bounds change")
        self.require(
            variable.range is not None
            and variable.range[0] <= bounds[0]
            and bounds[1] <= variable.range[1],
            f"{variable.name} may leave its range",
        )
        varies = max(low.varies, high.varies)
        self.require(varies <= variable.varies, f"{variable.name} varies")
        body = node.kids[-1]
        inner = replace(at, in_loop=True, in_switch=False, work=at.work * max(iterations, 1))
        enter_loop(inner, varies, body)
        before = set(self.known)
        self.known.add(variable.name)
        if len(node.kids) > 3:
            self.expression(node.kids[2], inner)
            inner.part(node.kids[2].varies)
            if form != "do":
                inner.facts = at.facts.assume(node.kids[2], True)
        if form == "while":
            self.require(not exits(body, ("continue",)), "the step is left out")
        self.block(body, inner)
        self.known = before

    def on_switch(self, node: Node, at: Place) -> None:
        self.expression(node.kids[0], at)
        self.require(not node.kids[0].type.is_float, "a switch over floats")
        inner = replace(at, in_switch=True)
        inner.part(node.kids[0].varies)
        for body in node.kids[1:]:
            self.block(body, inner)

    def on_exchange(self, node: Node, at: Place) -> None:
        array = node.value
        self.require(at.uniform, "a barrier that not all threads come to")
        self.require(array.name in self.known and array.name not in at.readable, "in use")
        self.expression(node.kids[0], at)
        self.require(not exits(node.kids[1], ("break", "continue", "return")), "left early")
        for phases in node.kids[2:]:
            self.block(phases, at)
        self.block(node.kids[1], replace(at, readable=at.readable | {array.name}))

    def on_phase(self, node: Node, at: Place) -> None:
        """Phases touch no element that another thread may change, whatever their bound is."""
        self.require(at.uniform, "a barrier that not all threads come to")
        self.require(node.kids[0].varies == 0, "threads would take different paths to barriers")
        self.expression(node.kids[0], at)

    def on_barrier(self, node: Node, at: Place) -> None:
        self.require(at.uniform or "simdgroup" in (node.value or ""), "not all threads come")

    def on_break(self, node: Node, at: Place) -> None:
        self.require(at.in_loop or at.in_switch, "no loop")

    def on_continue(self, node: Node, at: Place) -> None:
        self.require(at.in_loop, "no loop")

    def on_return(self, node: Node, at: Place) -> None:
        self.require(bool(node.kids) == (at.function is not None), "what is returned")
        for kid in node.kids:
            self.expression(kid, at)


def size_of(type) -> int:
    """The size in bytes; a vector of three has that of four."""
    if type.kind != "a":
        return type.bytes
    return type.element.bytes * (4 if len(type.parts) == 3 else len(type.parts))


def is_small_integer(node: Node, facts: Facts) -> bool:
    """Whether sums over lanes of this float are exact in its type."""
    if node.op == "const":
        return abs(node.value) <= 8 and node.value == int(node.value)
    if node.op != "cast" or not node.kids[0].type.is_integer:
        return False
    low, high = facts.range(node.kids[0])
    most = {"float": 1 << 18, "half": 64, "bfloat": 8}[node.type.name]
    return -most <= low and high <= most


def _type_of(node: Node):
    from .tree import binary

    return binary(node.value, *node.kids).type


def enter_loop(at: Place, varies: int, body: Node) -> None:
    """The threads in a loop's body: an iteration may decide which threads run the next one."""
    at.part(varies)
    at.part(exits_apart(body, 0, ("break",)))
    at.whole = at.whole and exits_apart(body, at.apart, ("return",)) < 2


def loop_bounds(variable: Variable, form: str, low, high) -> tuple[int, tuple[int, int]]:
    """The most iterations of a loop, and the values of its variable in the body."""
    if form == "halve":
        return max(high[1], 1).bit_length(), (low[0] + 1, max(high[1], low[0] + 1))
    if form == "down":
        return max(high[1] - low[0] + 1, 0), (low[0], max(high[1], low[0]))
    last = high[1] if form == "through" else high[1] - 1
    last = max(last, low[0])
    if form == "do":
        last = max(last, low[1])
    return max(last - low[0] + 1, 1), (low[0], last)


def leaves_always(node: Node) -> bool:
    """Whether control never continues behind a statement."""
    if node.op in ("break", "continue", "return"):
        return True
    if node.op in ("block", "scope"):
        return any(leaves_always(kid) for kid in node.kids)
    return False


def facts_after(statement: Node, facts: Facts) -> Facts:
    """The facts behind `if (c) return;` and behind the definition of a constant."""
    if statement.op == "let" and statement.value.constant and statement.value.type.kind in "biu":
        value, variable = statement.kids[0], statement.value
        if not value.type.is_float:
            bounds = facts._as(value, variable.type)
            facts = Facts({**facts.intervals, variable.name: bounds}, facts.nonzero)
            if value.type == variable.type and facts.is_nonzero(value):
                facts = Facts(facts.intervals, facts.nonzero | {variable.name})
    if statement.op == "if" and len(statement.kids) == 2 and leaves_always(statement.kids[1]):
        return facts.assume(statement.kids[0], False)
    return facts


def exits(node: Node, kinds: tuple[str, ...]) -> bool:
    """Whether a statement may exit in one of these ways."""
    return exits_apart(node, 2, kinds) > 0


def exits_apart(node: Node, varies: int, kinds: tuple[str, ...]) -> int:
    """The variability of a statement's exits, as in `Variable`."""
    op = node.op
    if op in kinds:
        return varies
    if node.type is not None or not node.kids:
        return 0
    bodies = node.kids
    if op == "for":
        varies = max(varies, *(kid.varies for kid in node.kids[:-1]))
        if exits_apart(node.kids[-1], 0, ("break", "continue")):
            varies = 2
        bodies, kinds = node.kids[-1:], tuple(k for k in kinds if k == "return")
    elif op == "switch":
        varies = max(varies, node.kids[0].varies)
        bodies, kinds = node.kids[1:], tuple(k for k in kinds if k != "break")
    elif op == "if":
        varies = max(varies, node.kids[0].varies)
        bodies = node.kids[1:]
    return max((exits_apart(kid, varies, kinds) for kid in bodies), default=0)
