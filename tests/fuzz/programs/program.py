"""Whole programs: a kernel with its functions, its arguments, and its launch."""

from __future__ import annotations

import random
import struct
from dataclasses import dataclass, field

from . import counts, fills, tree
from .check import Checker, Place, Undefined
from .facts import Facts
from .printing import BARRIER, lines_of, print_function
from .rows import MOST_THREADS_WITH_ROWS, ROWS_OF_SLOTS
from .runner import Buffer, Launch
from .scalars import BOOL, FLOAT, INT, UINT, ULONG, Aggregate, Scalar, wrap
from .scope import CORE, FEATURES, STRAIGHT, STRIDED, Scope
from .statements import Statements
from .tree import Function, Node, Variable, block, constant, let

FORMATS = {"bool": "?", "char": "b", "uchar": "B", "short": "h", "ushort": "H", "int": "i",
           "uint": "I", "long": "q", "ulong": "Q", "half": "e", "float": "f"}  # fmt: skip

CONSTANT_TYPES = ("bool", "char", "uchar", "short", "ushort", "int", "uint", "long", "ulong")

ATTRIBUTES = {
    "thread_position_in_grid": "uint3",
    "threads_per_grid": "uint3",
    "thread_position_in_threadgroup": "uint3",
    "threadgroup_position_in_grid": "uint3",
    "threads_per_threadgroup": "uint3",
    "thread_index_in_threadgroup": "uint",
    "thread_index_in_simdgroup": "uint",
    "simdgroup_index_in_threadgroup": "uint",
}


@dataclass
class Argument:
    """A buffer of the kernel: its variable and its contents."""

    variable: Variable
    values: list
    output: bool = False
    offset: int = 0  # bytes from the start of its memory

    def data(self) -> bytes:
        type = self.variable.type
        if type.name == "bfloat":
            return b"".join(struct.pack("<f", value)[2:] for value in self.values)
        return struct.pack(f"<{len(self.values)}{FORMATS[type.name]}", *self.values)

    @property
    def is_single(self) -> bool:
        return self.variable.size == 0

    def space(self) -> str:
        """As `metal_kernel` binds arrays of this length."""
        return "device" if self.output or len(self.values) >= 8 else "constant"

    def parameter(self, index: int) -> str:
        const = "" if self.output else "const "
        sign = "&" if self.is_single else "*"
        name = self.variable.name
        return f"{const}{self.space()} {self.variable.type}{sign} {name} [[buffer({index})]]"


@dataclass
class Program:
    """A whole program; `start` has the body's names for the thread's position."""

    seed: int
    grid: tuple[int, int, int]
    threadgroup: tuple[int, int, int]
    arguments: list[Argument]
    functions: list[Function]
    start: Node
    body: Node
    shared: list[Variable] = field(default_factory=list)
    structs: list[Aggregate] = field(default_factory=list)
    constants: list[Variable] = field(default_factory=list)  # function constants
    is_dynamic: bool = False  # the first shared array is an argument
    order: str = "xyz"  # in which its threads are numbered, the fastest axis first
    threads: int = 0  # that run for the positions of the grid in turns; 0 if each has a thread
    apart: int = (
        0  # positions a thread, as far apart as its threadgroup has threads; 0 if far apart
    )
    contraction: str = "OFF"
    fill: tuple[str, ...] = ()  # the lines that write a tile or counts, before all may read it

    # ---- text ----

    def header(self, first_constant: int | None = None) -> str:
        """The text before the kernel. Without numbers, function constants are plain constants."""
        lines = [struct.definition() for struct in self.structs]
        for i, one in enumerate(self.constants):
            if first_constant is None:
                lines.append(f"constant {one.type} {one.name} = {one.value};\n")
            else:
                attribute = f"[[function_constant({first_constant + i})]]"
                lines.append(f"constant {one.type} {one.name} {attribute};\n")
        return "".join(lines) + "\n".join(print_function(one) for one in self.functions)

    def body_text(self, declares: bool = True) -> str:
        """Without the declaration of the shared array that is an argument, unless asked for."""
        lines = [f"#pragma STDC FP_CONTRACT {self.contraction}"]
        if self.threads:
            return "\n".join(lines + self.grid_stride_loop()) + "\n"
        lines += lines_of(self.start, 0)
        lines += [
            f"{a.variable.name} += tid * {a.variable.size}u;"
            for a in self.arguments
            if a.variable.moved
        ]
        if self.shared:
            parts = " * ".join(f"threads_per_threadgroup.{axis}" for axis in "xyz")
            lines.append(f"const uint group_size = {parts};")
        for i, array in enumerate(self.shared):
            if declares or not self.is_dynamic or i > 0:
                lines.append(f"threadgroup {array.type} {array.name}[{array.size}];")
            # The part of a thread that has returned early is not filled again: it keeps its values.
            loop = f"for (uint k = tix; k < {array.size}u; k += group_size)"
            lines.append(f"{loop} {array.name}[k] = {array.type}(k);")
        if self.shared:
            lines.append(BARRIER)
        if any(array.name == fills.TILE for array in self.shared):
            lines += [*self.fill, BARRIER]
        return "\n".join(lines + lines_of(self.body, 0)) + "\n"

    def grid_stride_loop(self) -> list[str]:
        """The lines of a program whose threads run for several positions."""
        position = "thread_position_in_grid.x"
        inside = lines_of(self.start, 1) + lines_of(self.body, 1)
        type = "int" if self.seed % 2 else "uint"
        if self.apart:
            group, end = self.threadgroup[0], "break" if self.seed % 3 else "continue"
            first = f"threadgroup_position_in_grid.x * {group * self.apart} + thread_position_in_threadgroup.x"
            head = [
                f"for ({type} k = 0; k < {self.apart}; ++k) {{",
                f"    {type} at = {first} + k * {group};",
                f"    if (at >= {self.grid[0]}) {end};",
            ]
            return [*head, *(line.replace(position, "uint(at)") for line in inside), "}"]
        step = self.threads if self.seed % 3 else "threads_per_grid.x"
        head = f"for ({type} at = {position}; at < {self.grid[0]}; at += {step}) {{"
        return [head, *(line.replace(position, "uint(at)") for line in inside), "}"]

    @property
    def launched(self) -> tuple[int, int, int]:
        """The grid of the launch."""
        return (self.threads, 1, 1) if self.threads else self.grid

    def source(self, name: str, first_constant: int = 0) -> str:
        """The program in a namespace, so that many fit into one file."""
        return f"namespace {name}_ {{\n{self.kernel(name, first_constant)}}}\n"

    def kernel(self, name: str, first_constant: int = 0) -> str:
        """The whole kernel."""
        body = self.body_text(declares=False)
        parameters = [a.parameter(i) for i, a in enumerate(self.arguments)]
        if self.is_dynamic and self.shared:
            array = self.shared[0]
            parameters.append(f"threadgroup {array.type}* {array.name} [[threadgroup(0)]]")
        parameters += [f"{t} {a} [[{a}]]" for a, t in ATTRIBUTES.items() if a in body]
        head = f"kernel void {name}({', '.join(parameters)})"
        return f"{self.header(first_constant)}{head} {{\n{body}}}\n"

    def launch(self, name: str = "", place: int = 0) -> Launch:
        """`place` distinguishes the function constants of programs in one file."""
        name = name or f"k{self.seed}"
        first = place * 4
        source = self.source(name, first)
        launch = Launch(name, source, self.launched, self.threadgroup)
        for argument in self.arguments:
            type = argument.variable.type
            comparison = type.name if type.is_float else "bits"
            launch.buffers.append(Buffer(argument.data(), comparison, 0.0, argument.offset))
        if self.is_dynamic and self.shared:
            array = self.shared[0]
            launch.threadgroup_memory.append((array.size * array.type.bytes + 15) // 16 * 16)
        for i, one in enumerate(self.constants):
            bits = wrap(one.value, ULONG)
            launch.constants.append((first + i, CONSTANT_TYPES.index(one.type.name), bits))
        return launch

    def size(self) -> int:
        """The size of the program for a reader."""
        nodes = sum(1 for _ in self.body.walk()) + sum(1 for _ in self.start.walk())
        return nodes + sum(1 for f in self.functions for _ in f.body.walk())

    def weight(self) -> tuple:
        """The measure for shrinking: text first, then the launch and the data."""
        threads = self.grid[0] * self.grid[1] * self.grid[2]
        group = self.threadgroup[0] * self.threadgroup[1] * self.threadgroup[2]
        kinds = sum(len(set(a.values)) for a in self.arguments)
        arguments = len(self.arguments) + len(self.functions) + len(self.shared)
        arguments += len(self.structs) + len(self.constants) + self.is_dynamic
        arguments += sum(a.variable.moved + (a.offset > 0) for a in self.arguments)
        operators = len(self.body_text())
        return self.size() + arguments, threads + group, kinds, operators

    def check(self) -> None:
        """Raises Undefined for a program with undefined behaviour."""
        checker = Checker()
        for function in self.functions:
            before = set(checker.known)
            for parameter in function.parameters:
                checker.known.add(parameter.name)
            checker.block(function.body, Place(Facts(), function=function))
            last = function.body.kids[-1] if function.body.kids else None
            if last is None or last.op != "return":
                raise Undefined("a function without a value")
            checker.known = before | {function.name}
        for argument in self.arguments:
            checker.known.add(argument.variable.name)
        facts = Facts({a.variable.name: (a.values[0],) * 2 for a in self.arguments
                       if a.is_single and a.variable.type.is_integer})  # fmt: skip
        for array in self.shared:
            checker.known.add(array.name)
        for one in self.constants:
            checker.known.add(one.name)
            facts.intervals[one.name] = (one.value,) * 2
        facts = attribute_facts(facts, self.grid, self.threadgroup)
        checker.known |= set(ATTRIBUTE_VARIABLES)
        at = Place(facts, whole=is_whole(self.grid, self.threadgroup))
        at.facts = checker.statements(self.start, at)
        checker.statements(self.body, at)


# ---- the thread's position ----

# The parts of attributes that programs read, with the type of each.
PARTS = [
    *(f"thread_position_in_grid.{axis}" for axis in "xyz"),
    *(f"thread_position_in_threadgroup.{axis}" for axis in "xyz"),
    *(f"threadgroup_position_in_grid.{axis}" for axis in "xyz"),
    "thread_index_in_threadgroup",
    "thread_index_in_simdgroup",
    "simdgroup_index_in_threadgroup",
]
ATTRIBUTE_VARIABLES = {
    name: Variable(name, UINT, varies=0 if name.startswith("threadgroup_position") else 2)
    for name in PARTS
}
ATTRIBUTE_VARIABLES["simdgroup_index_in_threadgroup"].varies = 1


def attribute_facts(facts: Facts, grid, threadgroup) -> Facts:
    known = dict(facts.intervals)
    threads = threadgroup[0] * threadgroup[1] * threadgroup[2]
    for i, axis in enumerate("xyz"):
        known[f"thread_position_in_grid.{axis}"] = (0, grid[i] - 1)
        known[f"thread_position_in_threadgroup.{axis}"] = (0, min(threadgroup[i], grid[i]) - 1)
        known[f"threadgroup_position_in_grid.{axis}"] = (0, (grid[i] - 1) // threadgroup[i])
    known["thread_index_in_threadgroup"] = (0, threads - 1)
    known["thread_index_in_simdgroup"] = (0, min(threads, 32) - 1)
    known["simdgroup_index_in_threadgroup"] = (0, (threads - 1) // 32)
    return Facts(known, facts.nonzero)


def is_whole(grid, threadgroup) -> bool:
    """Whether all SIMD-groups have 32 threads."""
    threads = threadgroup[0] * threadgroup[1] * threadgroup[2]
    return threads % 32 == 0 and all(n % t == 0 for n, t in zip(grid, threadgroup))


def linear_position(grid, order: str = "xyz") -> Node:
    """The number of a thread in its grid, if they are counted along these axes, one after the other."""
    linear, threads = None, 1
    for axis in order:
        size = grid["xyz".index(axis)]
        if size > 1 or axis == "x":
            part = tree.var(ATTRIBUTE_VARIABLES[f"thread_position_in_grid.{axis}"])
            if threads > 1:
                part = tree.binary("*", part, constant(UINT, threads))
            linear = part if linear is None else tree.binary("+", part, linear)
            threads *= size
    return linear


# ---- making programs ----


class Maker(Statements):
    """Makes the program of a seed."""

    def __init__(self, seed: int, without: frozenset[str]):
        rng = random.Random(seed)
        share = rng.choice((0.15, 0.25, 0.4, 0.6))
        shares = {f: max(share, 0.5) if f in CORE else share for f in FEATURES}
        features = frozenset(f for f in FEATURES if rng.random() < shares[f]) - without
        if features & {"phases", "fills"} and rng.random() < 0.6:
            features -= {"atomics", "tallies"}  # code for one size of the threadgroup has none
        is_straight = "columns" in features and rng.random() < 0.7
        if "strides" in features:
            is_strided = rng.random() < 0.4
            is_straight &= not is_strided
            features = features & frozenset(STRIDED) if is_strided else features - {"strides"}
        self.is_apart = "strides" in features and rng.random() < 0.5
        is_straight |= self.is_apart
        if is_straight:
            features &= frozenset((*STRAIGHT, "strides"))
        super().__init__(rng, features)
        if is_straight:
            self.is_straight = True
            self.budget = rng.randint(0, 3)
        self.seed = seed
        self.order = rng.choice(("yxz", "yzx", "zxy", "zyx")) if self.has("columns") else "xyz"

    def program(self) -> Program:
        grid, threadgroup = self.sizes()
        arguments = self.arguments(grid)
        whole = is_whole(grid, threadgroup)
        scope = Scope(Place(attribute_facts(Facts(), grid, threadgroup), whole=whole))
        if self.has("structs"):
            self.structs.append(self.new_struct())
        constants = self.function_constants() if self.has("constants") else []
        for one in constants:
            scope.variables.append(one)
            scope.at.facts.intervals[one.name] = (one.value,) * 2
        functions = self.functions(arguments) if self.has("functions") else []
        for argument in arguments:
            (scope.variables if argument.is_single else scope.arrays).append(argument.variable)
            if argument.is_single and argument.variable.type.is_integer:
                scope.at.facts.intervals[argument.variable.name] = (argument.values[0],) * 2
        start = self.start(grid, scope)
        shared = self.shared(threadgroup)
        fill = ()
        if self.has("fills"):
            tile, fill = fills.fill(self.rng, self.some_type(), threadgroup, arguments)
            shared.append(tile)
        elif self.has("counts"):
            tile, fill = counts.count(self.rng, threadgroup, arguments)
            shared += [tile] if tile else []
        scope.arrays += shared
        scope.functions = functions
        body = self.body(scope)
        is_dynamic = bool(shared) and self.chance(0.3)
        threads = apart = 0
        if self.has("strides"):
            turns = self.rng.choice((1, 2, 3, 4, 8))
            threads = max(grid[0] // turns + self.rng.choice((0, 0, 1, -1)), 1)
        if self.is_apart:
            apart, group = self.rng.choice((2, 3, 4)), threadgroup[0]
            threads = -(-grid[0] // (group * apart)) * group
        parts = (arguments, functions, start, body, shared, self.structs, constants, is_dynamic,
                 self.order, threads, apart, "ON" if self.has("contraction") else "OFF", fill)  # fmt: skip
        return Program(self.seed, grid, threadgroup, *parts)

    def function_constants(self) -> list[Variable]:
        """Numbers that are known when the kernel is specialised."""
        made = []
        for _ in range(self.rng.randint(1, 2)):
            type = self.rng.choice((INT, UINT, BOOL, *self.types))
            value = self.rng.choice((0, 1, 3, 16, 64, 1 << 20)) & type.range[1]
            made.append(Variable(self.name("fc"), type, varies=0, value=value))
        return made

    def sizes(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """A grid of some hundred threads, often not a multiple of the threadgroup."""
        if self.has("columns"):
            return self.sizes_of_columns()
        if self.has("strides"):
            group = self.rng.choice((32, 64, 40, 33, 128, 256, 136))
            return (self.rng.randint(group, 900), 1, 1), (group, 1, 1)
        phases = self.has("exchange") and self.has("phases")
        if (phases or self.has("fills")) and self.chance(0.6):
            return self.sizes_of_phases()
        kind = self.rng.random()
        if kind < 0.6:
            group = self.rng.choice((32, 64, 64, 96, 128, 40, 50, 24, 8, 33, 7, 80, 1))
            grid = group * self.rng.randint(1, 3)
            if self.chance(0.3):
                grid += self.rng.randint(-group + 1, group)
            return (max(grid, 1), 1, 1), (min(group, max(grid, 1)), 1, 1)
        if kind < 0.9:
            group2 = self.rng.choice(
                ((32, 8), (8, 8), (16, 4), (32, 2), (64, 1), (5, 3), (16, 16), (4, 8), (33, 2))
            )
            grid2 = tuple(
                max(n * self.rng.randint(1, 2) + self.rng.choice((0, 0, 0, -1, 3)), n)
                for n in group2
            )
            return (*grid2, 1), (*group2, 1)
        group3 = self.rng.choice(((8, 4, 2), (4, 4, 4), (32, 2, 2), (3, 5, 2)))
        grid3 = tuple(n * self.rng.randint(1, 2) for n in group3)
        return grid3, group3

    def sizes_of_phases(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Threadgroups of several gangs, or many short ones, some of which run as one."""
        if self.chance(0.25):
            x, y = group = self.rng.choice(((8, 8), (8, 4), (8, 2), (8, 1), (8, 3)))
            return (x * self.rng.choice((4, 5, 8)), y * self.rng.choice((4, 7, 8)), 1), (*group, 1)
        x, y = group = self.rng.choice(
            ((64, 1), (128, 1), (256, 1), (320, 1), (72, 1), (100, 1), (512, 1), (32, 4), (64, 3),
             (32, 8), (16, 8), (16, 16), (8, 8), (10, 20))
        )  # fmt: skip
        width = x * self.rng.randint(1, 2) + self.rng.choice((0, 0, 0, -1, 5))
        return (width, y * self.rng.randint(1, 2), 1), (*group, 1)

    def sizes_of_columns(self) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        """Grids whose columns, along y or z, have many threads."""
        group = self.rng.choice(
            ((32, 8), (8, 8), (16, 16), (32, 16), (40, 4), (33, 1), (16, 1), (8, 12))
        )
        grid = (group[0] * self.rng.choice((1, 1, 2)), self.rng.choice((8, 12, 16, 17, 32)))
        depth = self.rng.choice((1, 1, 3))
        if self.order[0] == "z":
            return (grid[0], depth, grid[1]), (group[0], 1, min(group[1], grid[1]))
        return (*grid, depth), (group[0], min(group[1], grid[1]), 1)

    def values(self, type: Scalar, count: int) -> list:
        """Random numbers with many zeros, ones and edges among them."""
        if type.is_float:
            return [
                self.rng.choice((0.0, 1.0, 2.0, -1.0, 0.5, float(self.rng.randint(-64, 64))))
                for _ in range(count)
            ]
        low, high = type.range
        edges = [0, 1, 2, 3, high, high // 2, low, high - 1]
        return [
            self.rng.choice(edges) if self.chance(0.25)
            else self.rng.randint(0, 9) if self.chance(0.3) else self.rng.randint(low, high)
            for _ in range(count)
        ]  # fmt: skip

    def arguments(self, grid) -> list[Argument]:
        threads = grid[0] * grid[1] * grid[2]
        arguments = []
        for name in ("a", "s")[: self.rng.randint(1, 2)]:
            size = self.rng.choice((64, 256, 1024)) if name == "a" else self.rng.choice((3, 8, 16))
            type = self.some_type()
            space = "device" if size >= 8 else "constant"
            variable = Variable(name, type, size=size, space=space)
            arguments.append(Argument(variable, self.values(type, size)))
        for name in ("n", "z", "w"):
            if not self.chance(0.5):
                continue
            type = self.rng.choice((INT, UINT))
            value = {"n": arguments[0].variable.size, "z": 0, "w": self.rng.choice((1, 3, 8, 64))}[
                name
            ]
            variable = Variable(name, type, varies=0, value=value)
            arguments.append(Argument(variable, [value]))
        if self.has("atomics"):
            size = self.rng.choice((1, 3, 8, 40))
            type = self.rng.choice((INT, UINT, INT, UINT, FLOAT))
            counters = Variable("t", type, constant=False, size=size, space="device")
            counters.value = 0 if type == FLOAT else self.rng.randrange(6)
            values = [float(k) for k in range(size)] if type == FLOAT else self.values(type, size)
            arguments.append(Argument(counters, values, output=True))
        type = self.rng.choice([t for t in (*self.types, *self.floats)])
        slots = self.rng.choice((1, 2, 3, 4))
        if self.has("rows") and threads <= MOST_THREADS_WITH_ROWS and self.chance(0.25):
            slots = self.rng.choice(ROWS_OF_SLOTS)
        output = Variable("o", type, False, slots, "slots", moved=self.has("moved"))
        arguments.append(
            Argument(
                output,
                [wrap(77, type) if type.is_integer else 77.0] * (slots * threads),
                output=True,
            )
        )
        if self.has("offsets"):
            for argument in arguments:
                argument.offset = self.rng.choice((0, 32, 64, 4096 + 32))
        return arguments

    def start(self, grid, scope: Scope) -> Node:
        """Names for the thread's position, signed or unsigned."""

        def part(name: str) -> Node:
            return tree.var(ATTRIBUTE_VARIABLES[name])

        statements = []

        def define(name: str, type: Scalar, value: Node) -> None:
            variable = Variable(name, type, varies=value.varies)
            variable.range = scope.at.facts.range(value)
            scope.variables.append(variable)
            statements.append(let(variable, value))

        x, y, z = (part(f"thread_position_in_grid.{axis}") for axis in "xyz")
        define("tid", UINT, linear_position(grid, self.order))
        define("tix", UINT, part("thread_index_in_threadgroup"))
        signed = INT if self.has("signed") else UINT
        if grid[1] > 1 or self.chance(0.5):
            define("X", signed, x)
        if grid[1] > 1:
            define("Y", signed, y)
        if grid[2] > 1:
            define("Z", signed, z)
        if self.has("lanes") or self.chance(0.4):
            define("lane", UINT, part("thread_index_in_simdgroup"))
        if self.chance(0.3):
            define("sg", UINT, part("simdgroup_index_in_threadgroup"))
        if self.chance(0.3):
            define("g", self.rng.choice((INT, UINT)), part("threadgroup_position_in_grid.x"))
        return block(*statements)

    def shared(self, threadgroup) -> list[Variable]:
        threads = threadgroup[0] * threadgroup[1] * threadgroup[2]
        arrays = []
        if self.has("exchange"):
            arrays.append(Variable("sh", self.some_type(), False, threads, "threadgroup"))
        if self.has("tallies"):
            type, size = self.rng.choice((INT, UINT)), self.rng.choice((1, 4, 33))
            counters = Variable("tally", type, False, size, "threadgroup")
            counters.value = self.rng.randrange(6)
            arrays.append(counters)
        return arrays

    def body(self, scope: Scope) -> Node:
        statements = []
        for _ in range(self.rng.randint(1, 2)):
            variable = Variable(self.name("acc"), self.some_type(), constant=False)
            statements.append(let(variable, self.value(variable.type, scope, 1)))
            scope.variables.append(variable)
        if self.has("private"):
            statements.append(self.new_array(scope, 0))
        while self.budget > 0:
            made = self.block(scope, 0)
            statements += made.kids
        if self.long_rows(scope) and self.has("loops"):
            statements.append(self.row_written(scope, 0))
        slots = [r for r in scope.arrays if r.space == "slots"][0]
        for i, variable in enumerate(v for v in scope.variables if not v.constant):
            value = tree.var(variable)
            if slots.type.is_float and not variable.type.is_float:
                value = self.small_float(slots.type, value)
            elif variable.type.is_float:
                value = tree.cast(slots.type, value)
            index = constant(UINT, i % slots.size)
            operator = "" if i < slots.size else "+"
            statements.append(Node("store", None, (index, value), (slots, operator)))
        return block(*statements)

    def functions(self, arguments: list[Argument]) -> list[Function]:
        """Functions of numbers and pointers, with returns in them."""
        made = []
        for _ in range(self.rng.randint(1, 2)):
            name = self.name("f")
            parameters = [
                Variable(f"{name}_{k}", self.some_type()) for k in range(self.rng.randint(1, 2))
            ]
            scope = Scope(Place(Facts(), uniform=False, converged=False))
            scope.variables += parameters
            if self.chance(0.4):
                source = arguments[0].variable
                pointer = Variable(f"{name}_p", source.type, True, source.size, source.space)
                if self.chance(0.4):  # to the caller's own array
                    size = self.rng.choice((2, 3, 8))
                    pointer = Variable(f"{name}_p", self.some_type(), True, size, "thread")
                parameters.append(pointer)
                scope.arrays.append(pointer)
            function = Function(name, self.rng.choice(self.types), parameters, block())
            scope.at.function = function
            budget, self.budget = self.budget, self.rng.randint(1, 4)
            result = Variable(self.name("r"), function.type, constant=False)
            first = let(result, self.value(function.type, scope, 2))
            scope.variables.append(result)
            body = self.block(scope, 1)
            last = Node("return", None, (tree.cast(function.type, tree.var(result)),))
            function.body = block(first, *body.kids, last)
            self.budget = budget
            made.append(function)
        return made


def make_program(seed: int, without: frozenset[str] = frozenset()) -> Program:
    """The program of a seed, always the same. Raises Undefined if the generator broke a rule."""
    program = Maker(seed, without).program()
    program.check()
    return program
