"""Random phases: the threads of a threadgroup change a shared array, step by step, and wait in between.

In each phase a thread reads only elements that no other thread writes. Most phases have work for a part
of the threads, as in trees of sums and in prefix sums.
"""

from __future__ import annotations

from . import tree
from .rows import Rows
from .scalars import UINT
from .scope import Scope
from .tree import Node, block, cast, constant

PLACES = (
    "tix", "tix", "tix / 32u", "(tix + 5u)", "simdgroup_index_in_threadgroup",
    "thread_position_in_threadgroup.x", "thread_position_in_threadgroup.y",
)  # fmt: skip

# The same guard, as people write it. `n` is not 0.
BELOW = (
    "{t} < {n}", "{n} > {t}", "{t} <= {n} - 1u", "!({t} >= {n})", "int({t}) < int({n})",
    "ulong({t}) < {n}", "({t} < {n} && {t} + {n} < 4096u)",
)  # fmt: skip
FROM = ("{t} >= {n}", "{n} <= {t}", "!({t} < {n})", "int({t}) >= int({n})", "{t} > {n} - 1u")

# What a thread may do with its own element. `n` is any number; `w` is the thread's element.
OWN = (
    "if ({p} {c} {n}) {w}",
    "if (int({p}) {c} int({n})) {w}",
    "if ({p} {c} {n} && tix >= 3u) {w}",
    "if ({p} < {n} || tix == 40u) {w}",
    "if ({p} {c} {n}) {{ if (tix % 3u != 1u) {w} }}",
    "if ({p} {c} {n}) {w} else if (tix == {n} / 2u) {{ {w} {w} }}",
    "if ({n} > 7u) {{ if ({p} {c} {n} - 7u) {w} }}",
    "if (!({p} {c} {n})) {w} if (tix < 2u) {w}",
    "for (uint k = 0u; k < 3u; ++k) if ({p} {c} {n} + k) {w}",
    "if ({p} - {n} < 9u) {w}",
)

# The steps of threads that combine their element with another one, `s` further or `s` before.
STEPS = {
    "tree": (
        "for (uint s = clamp({n}, 1u, {half}); s > 0u; s >>= 1) {{",
        "  if ({below}) {a}[tix] {o}= {a}[tix + s];",
        "  {barrier}",
        "}}",
    ),
    "ends": (
        "for (uint s = clamp({n}, 1u, {half}); s > 0u; s /= 2u) {{",
        "  if (tix >= {size}u - s && tix < {size}u) {a}[tix] {o}= {a}[tix - s];",
        "  {barrier}",
        "}}",
    ),
    "strides": (
        "for (uint s = 1u; s <= min({n}, {half}); s *= 2u) {{",
        "  if (tix % (2u * s) == 0u && tix + s < {size}u) {a}[tix] {o}= {a}[tix + s];",
        "  {barrier}",
        "}}",
    ),
    "scan": (
        "for (uint s = 1u; s < min({n}, {size}u); s <<= 1) {{",
        "  {type} other = {from} ? {a}[tix - s] : {type}(0);",
        "  {barrier}",
        "  {a}[tix] {o}= other;",
        "  {barrier}",
        "}}",
    ),
    "guarded scan": (
        "for (uint s = 1u; s < min({n}, {size}u); s <<= 1) {{",
        "  {type} other = {type}(s);",
        "  if ({from}) other = {a}[tix - s];",
        "  {barrier}",
        "  if ({from}) {a}[tix] {o}= other;",
        "  {barrier}",
        "}}",
    ),
}  # fmt: skip


class Phases(Rows):
    """The part of `Statements` for phases of a threadgroup."""

    def phases(self, array: tree.Variable, scope: Scope) -> Node:
        """Phases that change elements of a threadgroup's array, before all may read it."""
        return block(*(self.phase(array, scope) for _ in range(self.rng.randint(1, 3))))

    def phase(self, array: tree.Variable, scope: Scope) -> Node:
        # Those that lose no bits, so that a mistake is seen.
        operator = self.rng.choice(("+", "-") if array.type.is_float else ("+", "+", "-", "^"))
        if array.size >= 2 and self.chance(0.6):
            form = self.rng.choice(tuple(STEPS))
            below, above = self.rng.choice(BELOW), self.rng.choice(FROM)
            lines = [
                line.replace("{below}", below.format(t="tix", n="s"))
                .replace("{from}", above.format(t="tix", n="s"))
                for line in STEPS[form]
            ]  # fmt: skip
            most = self.rng.choice((1, 2, 3)) if self.chance(0.1) else array.size
        else:
            place, compared = (
                self.rng.choice(PLACES),
                self.rng.choice(("<", "<", ">", "<=", ">=", "==")),
            )
            line = self.rng.choice(OWN)
            lines = [line.replace("{p}", place).replace("{c}", compared), "{barrier}"]
            most = self.rng.choice((1, 2, 5, 8, 16, 31, 32, 33, 64, array.size // 2))
        return Node("phase", None, (self.bound(most, scope),), (array, tuple(lines), operator))

    def bound(self, most: int, scope: Scope) -> Node:
        """A number that is the same for all threads."""
        known = [v for v in scope.variables if v.constant and v.varies == 0 and v.type.is_integer]
        if known and self.chance(0.4):
            return cast(UINT, tree.var(self.rng.choice(known)))
        return constant(UINT, most)
