"""Scalar types of the language and how C++ combines them."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Scalar:
    """A type by its name, with its kind: b(ool), i(nteger), u(nsigned) or f(loat)."""

    name: str
    kind: str
    bits: int

    def __str__(self) -> str:
        return self.name

    @property
    def is_integer(self) -> bool:
        return self.kind in "iu"

    @property
    def is_float(self) -> bool:
        return self.kind == "f"

    @property
    def unsigned(self) -> Scalar:
        """The unsigned integer type of the same size as an integer type."""
        return next(t for t in INTEGERS if t.kind == "u" and t.bits == self.bits)

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest value of an integer or a bool."""
        if self.kind == "b":
            return 0, 1
        if self.kind == "u":
            return 0, (1 << self.bits) - 1
        return -(1 << (self.bits - 1)), (1 << (self.bits - 1)) - 1

    @property
    def bytes(self) -> int:
        return max(self.bits // 8, 1)


@dataclass(frozen=True)
class Aggregate:
    """A vector or a struct: its name and its parts, by what follows a dot."""

    name: str
    parts: tuple[tuple[str, Scalar], ...]
    is_vector: bool = False

    kind = "a"
    bits = 0
    is_integer = False
    is_float = False

    def __str__(self) -> str:
        return self.name

    @property
    def element(self) -> Scalar:
        """The members of a vector type."""
        return self.parts[0][1]

    def part(self, name: str) -> Scalar:
        return dict(self.parts)[name]

    def definition(self) -> str:
        """The members of a struct type."""
        members = " ".join(f"{type} {name};" for name, type in self.parts)
        return f"struct {self.name} {{ {members} }};\n"


BOOL = Scalar("bool", "b", 1)
CHAR, UCHAR = Scalar("char", "i", 8), Scalar("uchar", "u", 8)
SHORT, USHORT = Scalar("short", "i", 16), Scalar("ushort", "u", 16)
INT, UINT = Scalar("int", "i", 32), Scalar("uint", "u", 32)
LONG, ULONG = Scalar("long", "i", 64), Scalar("ulong", "u", 64)
HALF, BFLOAT, FLOAT = Scalar("half", "f", 16), Scalar("bfloat", "f", 16), Scalar("float", "f", 32)

INTEGERS = (CHAR, UCHAR, SHORT, USHORT, INT, UINT, LONG, ULONG)
WIDE = (INT, UINT, LONG, ULONG)  # the types in which arithmetic is done
FLOATS = (HALF, BFLOAT, FLOAT)
SCALARS = {t.name: t for t in (BOOL, *INTEGERS, *FLOATS)}


def promote(a: Scalar) -> Scalar:
    """The promoted type of an operand."""
    if a.is_float:
        return a
    return INT if a.bits < 32 else a


def common(a: Scalar, b: Scalar) -> Scalar:
    """The type in which C++ combines two operands; half and bfloat are never combined."""
    if a.is_float or b.is_float:
        floats = [t for t in (a, b) if t.is_float]
        return max(floats, key=lambda t: t.bits)
    a, b = promote(a), promote(b)
    if a.bits != b.bits:
        return a if a.bits > b.bits else b
    return a if a.kind == "u" else b


def wrap(value: int, to: Scalar) -> int:
    """An integer as a value of this type."""
    if to.kind == "b":
        return int(value != 0)
    value &= (1 << to.bits) - 1
    if to.kind == "i" and value >> (to.bits - 1):
        value -= 1 << to.bits
    return value


def vector(element: Scalar, size: int) -> Aggregate:
    """A vector type of two to four."""
    return Aggregate(f"{element}{size}", tuple((axis, element) for axis in "xyzw"[:size]), True)
