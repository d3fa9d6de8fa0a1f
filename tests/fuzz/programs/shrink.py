"""Makes a failing program small: it removes parts of the tree while the program fails as before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice

from . import tree
from .check import Undefined
from .program import Argument, Program, linear_position
from .runner import Reply, Runner
from .tree import Function, Node, block, constant, let

BATCH = 12
Test = Callable[[list[Program]], list[bool]]


# ---- smaller nodes ----


def smaller(node: Node) -> Iterator[Node]:
    """The nodes that may replace a node, the shortest first."""
    if node.type is not None:
        yield from smaller_expressions(node)
    elif node.op == "block":
        yield from smaller_blocks(node)
    else:
        yield from smaller_statements(node)


def smaller_expressions(node: Node) -> Iterator[Node]:
    if node.op in ("const", "array"):
        return
    if node.type.kind == "a":
        yield from (kid for kid in node.kids if kid.type == node.type)
        return
    if node.op != "var":
        for kid in node.kids:
            if kid.op != "array" and kid.type.kind != "a":
                yield tree.cast(node.type, kid)
    for value in (0, 1):
        yield constant(node.type, value)


def smaller_blocks(node: Node) -> Iterator[Node]:
    count = len(node.kids)
    size = count
    while size >= 1:
        for start in range(0, count, size):
            yield node.with_kids(node.kids[:start] + node.kids[start + size :])
        size //= 2
    for i, kid in enumerate(node.kids):
        if kid.op in ("block", "scope"):
            inner = kid.kids if kid.op == "block" else kid.kids[0].kids
            yield node.with_kids(node.kids[:i] + inner + node.kids[i + 1 :])


def smaller_statements(node: Node) -> Iterator[Node]:
    op, kids = node.op, node.kids
    if op == "if":
        yield from (Node("scope", None, (kid,)) for kid in kids[1:])
        if len(kids) > 2:
            yield node.with_kids(kids[:2])
            yield Node("if", None, (tree.negate(kids[0]), kids[2]))
    elif op == "for":
        variable, form = node.value
        yield Node("scope", None, (block(let(variable, kids[0]), *kids[-1].kids),))
        if len(kids) > 3:
            yield node.with_kids((*kids[:2], kids[-1]))
        if form != "up":
            yield Node("for", None, kids, (variable, "up"))
    elif op == "switch":
        for i, body in enumerate(kids[1:]):
            yield Node("scope", None, (body,))
            if len(kids) > 2:
                labels = node.value[:i] + node.value[i + 1 :]
                yield Node("switch", None, kids[: i + 1] + kids[i + 2 :], labels)
    elif op == "exchange":
        yield kids[1]
        if len(kids) > 2:
            yield node.with_kids(kids[:2])
    elif op == "tally":
        yield kids[0]
        yield kids[1]
    elif op in ("set", "store") and node.value[1] not in ("", "+"):
        yield Node(op, None, kids, (node.value[0], "+"))
    elif op == "array" and kids:
        yield node.with_kids(())
        yield node.with_kids(kids[:-1])


def variants(node: Node) -> Iterator[Node]:
    """The tree with one node made smaller, from the root down."""
    yield from smaller(node)
    for i, kid in enumerate(node.kids):
        for other in variants(kid):
            yield node.with_kids(node.kids[:i] + (other,) + node.kids[i + 1 :])


# ---- smaller programs ----


def smaller_programs(program: Program) -> Iterator[Program]:
    for body in variants(program.body):
        yield replace(program, body=body)
    for i in range(len(program.functions)):
        yield replace(program, functions=program.functions[:i] + program.functions[i + 1 :])
    for i, function in enumerate(program.functions):
        for body in variants(function.body):
            yield with_function(program, i, body)
    for start in smaller_blocks(program.start):
        yield replace(program, start=start)
    for name in ("structs", "constants"):
        values = getattr(program, name)
        for i in range(len(values)):
            yield replace(program, **{name: values[:i] + values[i + 1 :]})
    if program.is_dynamic:
        yield replace(program, is_dynamic=False)
    for i in range(len(program.shared)):
        yield replace(program, shared=program.shared[:i] + program.shared[i + 1 :])
    if program.fill:
        yield replace(program, fill=())
    yield from smaller_arguments(program)
    yield from smaller_launches(program)


def with_function(program: Program, index: int, body: Node) -> Program:
    """Nodes never change: if a function's body changes, the function and its calls are replaced."""
    old = program.functions[index]
    new = Function(old.name, old.type, old.parameters, body)

    def renewed(node: Node) -> Node:
        value = new if node.value is old else node.value
        return Node(node.op, node.type, tuple(renewed(kid) for kid in node.kids), value)

    functions = list(program.functions)
    functions[index] = new
    return replace(program, functions=functions, body=renewed(program.body))


def smaller_arguments(program: Program) -> Iterator[Program]:
    for i, argument in enumerate(program.arguments):
        rest = program.arguments[:i] + program.arguments[i + 1 :]
        yield replace(program, arguments=rest)
        if argument.offset:
            plain = Argument(argument.variable, argument.values, argument.output)
            yield replace(
                program, arguments=program.arguments[:i] + [plain] + program.arguments[i + 1 :]
            )
        if argument.is_single or argument.output:
            continue
        count = len(argument.values)
        for values in ([0] * count, [k % 8 for k in range(count)], [1] * count):
            if argument.values != values and len(set(argument.values)) > 8:
                changed = Argument(argument.variable, values)
                arguments = program.arguments[:i] + [changed] + program.arguments[i + 1 :]
                yield replace(program, arguments=arguments)


def smaller_launches(program: Program) -> Iterator[Program]:
    """Fewer threads: one threadgroup, fewer dimensions, half of each."""
    (x, y, z), (a, b, c) = program.grid, program.threadgroup
    for grid, group in (
        ((a, b, c), (a, b, c)),
        ((x, y, 1), (a, b, 1)),
        ((x, 1, 1), (a, 1, 1)),
        ((x // 2, y, z), (a // 2, b, c)),
        ((x, y // 2, z), (a, b // 2, c)),
        ((x // 2, y, z), (a, b, c)),
        ((x, y // 2, z), (a, b, c)),
        ((32, 1, 1), (32, 1, 1)),
    ):
        group = tuple(min(g, n) for g, n in zip(group, grid))
        if min(*grid, *group) < 1 or (grid, group) == (program.grid, program.threadgroup):
            continue
        if grid[0] * grid[1] * grid[2] < x * y * z or grid == program.grid:
            yield with_launch(program, grid, group)


def with_launch(program: Program, grid, threadgroup) -> Program:
    threads = grid[0] * grid[1] * grid[2]
    arguments = [
        Argument(a.variable, a.values[: threads * a.variable.size], True, a.offset)
        if a.variable.space == "slots" else a
        for a in program.arguments
    ]  # fmt: skip
    kids = [
        let(kid.value, linear_position(grid, program.order)) if kid.value.name == "tid" else kid
        for kid in program.start.kids
    ]
    return replace(
        program, grid=grid, threadgroup=threadgroup, arguments=arguments, start=block(*kids)
    )


# ---- the search ----


def kind_of(reply: Reply) -> dict[str, str]:
    """The failure in each form, in a few words."""
    if reply.front_end:
        return {"front end": reply.front_end.split("error:")[-1].split("\n")[0][:60]}
    return {f: r.outcome for f, r in reply.results.items() if r.outcome != "same"}


class Shrinker:
    """Shrinks programs with a runner, in the forms that failed."""

    def __init__(self, runner: Runner):
        self.runner = runner
        self.tried = 0

    def shrink(self, program: Program, reply: Reply, most: int = 3000) -> Program:
        """The smallest program found; it fails like the first, in the same form."""
        form, outcome = next(iter(kind_of(reply).items()))
        forms = [f for f in self.runner.forms if f in (self.runner.forms[0], form)]
        limit = self.tried + most

        def fails(candidate: Reply) -> bool:
            return kind_of(candidate).get(form) == outcome

        done = False
        while not done and self.tried < limit:
            done = True
            candidates = self.defined(program)
            while self.tried < limit:
                batch = list(islice(candidates, BATCH))
                if not batch:
                    break
                replies = self.run(batch, forms)
                failing = [p for p, r in zip(batch, replies) if fails(r)]
                if failing:
                    program = min(failing, key=Program.size)
                    candidates = self.defined(program)
                    done = False
        return program

    def defined(self, program: Program) -> Iterator[Program]:
        size = program.weight()
        for candidate in smaller_programs(program):
            if candidate.weight() >= size:
                continue
            try:
                candidate.check()
            except Undefined:
                continue
            yield candidate

    def run(self, programs: list[Program], forms: list[str]) -> list[Reply]:
        self.tried += len(programs)
        launches = []
        for i, program in enumerate(programs):
            launch = program.launch(f"k{i}", i)
            launches.append(launch)
        return self.runner.run(launches, forms)


def shrink(program: Program, reply: Reply, runner: Runner) -> tuple[Program, Reply]:
    """A small program that fails in the same way, and how. Programs that fail only sometimes stay."""
    small = Shrinker(runner).shrink(program, reply)
    (final,) = runner.run([small.launch()])
    return (small, final) if final.failures else (program, reply)
