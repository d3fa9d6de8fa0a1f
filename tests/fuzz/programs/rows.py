"""Random statements that read rows of matrices: several loads share a part of their index."""

from __future__ import annotations

from . import tree
from .aggregates import Aggregates
from .scalars import INT, UINT, ULONG
from .scope import Scope
from .tree import Node, Variable, binary, block, constant, let

ROWS_OF_SLOTS = (32, 45, 64, 70, 128, 133)  # so long that threads share each other's rows
MOST_THREADS_WITH_ROWS = 2048
WIDTHS = (2, 3, 4, 5, 8, 8, 12, 16, 17, 32)


class Rows(Aggregates):
    """The part of `Statements` for rows of a matrix, and for tiles that a threadgroup shares."""

    def row(self, scope: Scope, depth: int) -> Node:
        """`if (row < rows) for (f = 0; f < width; ++f) acc += x[row * width + f] * ...;`"""
        arrays = [r for r in scope.arrays if r.space in ("device", "constant") and r.constant
                  and r.type.kind != "a" and r.size >= 8]  # fmt: skip
        known = [v for v in scope.variables if v.constant and v.type.name in ("int", "uint")]
        if not arrays or not known:
            return self.branch(scope, depth)
        array = max(self.rng.sample(arrays, min(2, len(arrays))), key=lambda r: r.size)
        threads = [v for v in known if v.name in ("tid", "tix", "X", "lane")]
        row = tree.var(self.rng.choice(threads if threads and self.chance(0.7) else known))
        width = self.rng.choice([w for w in WIDTHS if w <= array.size])
        stride = self.limit(width, row.type, scope)
        width = stride.value.value if stride.op == "var" else width
        rows = array.size // width
        low, high = scope.at.facts.range(row)
        inside = 0 <= low and high < rows
        condition = None if inside and self.chance(0.7) else self.guard(row, rows, scope)
        inner = self.where(scope, condition, True) if condition else scope
        statements: list[Node] = []
        start = binary("*", row, stride)
        if not self.is_inside(start, array.size - width + 1, inner):
            return self.changed(scope, depth)
        if self.chance(0.5):
            start = self.named(start, statements, inner)
        statements += self.of_row(array, start, width, inner, depth)
        body = block(*statements)
        return Node("if", None, (condition, body)) if condition else body

    @staticmethod
    def long_rows(scope: Scope) -> list[Variable]:
        return [r for r in scope.arrays if r.space == "slots" and r.size in ROWS_OF_SLOTS]

    def row_written(self, scope: Scope, depth: int) -> Node:
        """`for (f = 0; f < width; ++f) o[f] = ...;`, of the thread's own slots."""
        row = self.long_rows(scope)[0]
        high = constant(self.rng.choice((UINT, INT, ULONG)), row.size)

        def fill(inner: Scope, variable: Variable) -> Node:
            index, operator = tree.var(variable), self.operator(row) if self.chance(0.3) else ""
            return block(Node("store", None, (index, self.value_for(row, inner)), (row, operator)))

        low, form = constant(high.type, 0), self.rng.choice(("up", "up", "while"))
        return self.loop_over(scope, depth, low, high, form, fill, most=max(ROWS_OF_SLOTS))

    def window(self, scope: Scope, depth: int) -> Node:
        """`if (y + 1 < rows && x - 1 >= 0) acc += a[(y + 1) * width + x - 1];`, several times."""
        arrays = [r for r in scope.arrays if r.space == "device" and r.constant
                  and r.type.kind != "a" and r.size >= 64]  # fmt: skip
        known = [v for v in scope.variables if v.constant and v.type.name in ("int", "uint")]
        threads = [v for v in known if v.name in ("tid", "tix", "X", "lane")]
        if not arrays or not threads:
            return self.row(scope, depth)
        array = self.rng.choice(arrays)
        width = self.rng.choice((8, 32, 64, 64, 48))
        place = [tree.var(self.rng.choice(known)), tree.var(self.rng.choice(threads))]
        statements: list[Node] = []
        outer = scope.inner()
        for _ in range(self.rng.randint(4, 7)):
            at = []
            for start in place:
                step = constant(start.type, self.rng.choice((0, 1, 1, 2)))
                moved = binary(self.rng.choice("+-"), start, step)
                at.append(self.named(moved, statements, outer))
            y, x = at
            guards = [self.guard(y, array.size // width, outer), self.guard(x, width, outer)]
            self.rng.shuffle(guards)
            condition = tree.both(*guards)
            inner = self.where(outer, condition, True)
            element = binary("+", binary("*", y, constant(y.type, width)), x)
            if self.is_inside(element, array.size, inner):
                used = self.use(tree.load(array, element), inner)
                statements.append(Node("if", None, (condition, block(used))))
        return block(*statements)

    def named(self, value: Node, statements: list[Node], scope: Scope) -> Node:
        """A constant with this value."""
        type = self.rng.choice((value.type, value.type, UINT, INT, ULONG))
        variable = Variable(self.name("c"), type, varies=value.varies)
        statements.append(let(variable, value))
        scope.variables.append(variable)
        self.note(statements[-1], scope)
        return tree.var(variable)

    def of_row(
        self, array: Variable, start: Node, width: int, scope: Scope, depth: int
    ) -> list[Node]:
        """Statements that read some columns of a row, most often in a loop over them."""
        if width < 2 or not self.has("loops") or self.chance(0.2):
            return [self.product(array, start, width, [], scope) for _ in range(2)]
        extra = self.rng.choice([n for n in (0, 0, 1, 2, 3) if n < width])
        last = width - extra
        high = constant(self.rng.choice((UINT, INT)), last)
        if last > 8 and self.chance(0.3):
            high = self.iterations(high.type, scope)  # never more than eight
        elif last > 8 and self.chance(0.3):  # rows of different lengths
            high = binary("-", high, self.iterations(high.type, scope))
        form = self.rng.choice(("up", "up", "up", "twos", "fours", "threes", "while"))

        def fill(inner: Scope, variable: Variable) -> Node:
            columns = [tree.var(variable)]
            columns += [binary("+", columns[0], constant(UINT, k + 1)) for k in range(extra)]
            made = []
            for _ in range(self.rng.randint(1, 3)):
                made.append(self.product(array, start, width, columns, inner))
            if self.chance(0.4):
                made.append(self.block(inner, depth + 1))
            return block(*made)

        return [self.loop_over(scope, depth, constant(high.type, 0), high, form, fill)]

    def product(
        self, array: Variable, start: Node, width: int, columns: list[Node], scope: Scope
    ) -> Node:
        """A statement that combines two elements of a row."""
        operator = self.rng.choice("+-**")
        a, b = (self.element(array, start, width, columns, scope) for _ in range(2))
        value = binary(operator, a, b) if self.chance(0.8) else a
        return self.use(value, scope)

    def element(
        self, array: Variable, start: Node, width: int, columns: list[Node], scope: Scope
    ) -> Node:
        others = self.variables_inside(width, scope)
        if columns and self.chance(0.7):
            column = self.rng.choice(columns)
        elif others and self.chance(0.6):
            column = tree.var(self.rng.choice(others))
        else:
            column = constant(UINT, self.rng.randrange(width))
        order = (start, column) if self.chance(0.7) else (column, start)
        return tree.load(array, binary("+", *order))

    def tile(self, array: Variable, scope: Scope, depth: int) -> Node:
        """`for (k = 0; k < side; ++k) acc += tile[y * side + k] * tile[k * side + x];`"""
        sides = [n for n in (2, 4, 5, 8, 16) if array.size % n == 0]
        thread = [v for v in scope.variables if v.name == "tix"]
        if not sides or not thread or not self.has("loops"):
            return self.changed(scope, depth)
        side = self.rng.choice(sides)
        length = constant(UINT, side)
        y, x = (binary(operator, tree.var(thread[0]), length) for operator in "/%")
        statements: list[Node] = []
        if self.chance(0.5):
            y, x = (self.named(part, statements, scope) for part in (y, x))
        rows = array.size // side
        by_columns = self.chance(0.7)

        def fill(inner: Scope, variable: Variable) -> Node:
            k = tree.var(variable)
            of_row = binary("+", binary("*", y, length), k)
            of_column = binary("+", binary("*", k, length), x)
            a = tree.load(array, of_row)
            b = tree.load(array, of_column if by_columns else of_row)
            return block(self.use(binary(self.rng.choice("+-*"), a, b), inner))

        high = constant(self.rng.choice((UINT, INT)), min(side, rows) if by_columns else side)
        form = self.rng.choice(("up", "up", "twos", "while"))
        statements.append(self.loop_over(scope, depth, constant(high.type, 0), high, form, fill))
        return block(*statements)
