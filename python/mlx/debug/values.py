"""Values of a kernel's variables, as they are in memory."""

import os
import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

MAX_ELEMENTS = 16  # of an array, in text
MAX_DEPTH = 6  # of structures in each other
VECTOR = re.compile(r"(packed_)?vec<(.+), (\d)>$")
COMPONENTS = {name: i for names in ("xyzw", "rgba") for i, name in enumerate(names)}
FORMATS = {
    ("float", 4): "f",
    ("float", 2): "e",
    ("float", 8): "d",
    ("bool", 1): "?",
    ("signed", 1): "b",
    ("signed", 2): "h",
    ("signed", 4): "i",
    ("signed", 8): "q",
    ("unsigned", 1): "B",
    ("unsigned", 2): "H",
    ("unsigned", 4): "I",
    ("unsigned", 8): "Q",
}


class Unshowable(Exception):
    """What cannot be shown, and why."""


class Memory:
    """The memory of this process. Reads of what is not mapped fail instead of ending it."""

    def __init__(self) -> None:
        self._file = os.open("/proc/self/mem", os.O_RDONLY)

    def read(self, address: int, size: int) -> bytes:
        try:
            data = os.pread(self._file, size, address) if size else b""
        except (OSError, OverflowError):
            data = b""
        if len(data) < size:
            raise Unshowable(f"cannot read {size} bytes at {address:#x}")
        return data


MEMORY = Memory()


@dataclass
class Type:
    """A type as the compiler describes it (compiler/type_descriptions.h)."""

    table: list[dict[str, Any]] = field(repr=False)
    number: int

    @property
    def entry(self) -> dict[str, Any]:
        return self.table[self.number]

    @property
    def kind(self) -> str:
        return self.entry["kind"]

    @property
    def size(self) -> int:
        return self.entry["bytes"]

    def other(self, key: str) -> "Type":
        return Type(self.table, self.entry[key])

    @property
    def name(self) -> str:
        kind = self.kind
        if kind in ("pointer", "reference"):
            return self.other("to").name + (" *" if kind == "pointer" else " &")
        if kind == "array":
            sizes = "".join(f"[{size}]" for size in self.entry["dimensions"])
            return f"{self.other('of').name}{sizes}"
        name = self.entry["name"]
        if vector := VECTOR.match(name):
            packed, element, count = vector.groups()
            return f"{packed or ''}{short_name(element)}{count}"
        return short_name(name)

    def elements(self) -> tuple["Type", int] | None:
        """Those of a vector or an array; None for other types."""
        if self.kind == "array":
            return self.other("of"), self.entry["count"]
        vector = VECTOR.match(self.entry["name"]) if self.kind == "struct" else None
        element = self.first_base() if vector else None
        if element and vector[2] == "bool":  # kept as bytes
            entry = {"kind": "base", "name": "bool", "bytes": 1, "encoding": "bool"}
            element = Type([entry], 0)
        return (element, int(vector[3])) if vector and element else None

    def first_base(self) -> "Type | None":
        if self.kind == "base":
            return self
        if self.kind == "array":
            return self.other("of").first_base()
        for _, number, _ in self.entry.get("members", []):
            if found := Type(self.table, number).first_base():
                return found
        return None


def short_name(name: str) -> str:
    names = {
        "unsigned int": "uint",
        "unsigned long": "ulong",
        "unsigned short": "ushort",
        "unsigned char": "uchar",
        "signed char": "char",
        "_Float16": "half",
        "__fp16": "half",
        "__bf16": "bfloat",
    }
    return names.get(name, name)


@dataclass
class Value:
    """A value at an address, or a number that an expression has computed."""

    type: Type
    address: int

    def resolve(self) -> "Value":
        """What a reference refers to; other values themselves."""
        if self.type.kind != "reference":
            return self
        return Value(self.type.other("to"), self.bits(8)).resolve()

    def bits(self, size: int) -> int:
        return int.from_bytes(MEMORY.read(self.address, size), "little")

    def number(self) -> int | float | bool:
        """The number that a scalar is. Pointers are their addresses."""
        value = self.resolve()
        kind = value.type.kind
        if kind == "pointer":
            return value.bits(8)
        if kind == "enum":
            return Value(value.type.other("of"), value.address).number()
        if kind != "base":
            raise Unshowable(f"a value of type {value.type.name} is no number")
        encoding, size = value.type.entry["encoding"], value.type.size
        if encoding == "float" and size == 2 and "bf" in value.type.entry["name"]:
            data = b"\0\0" + MEMORY.read(value.address, 2)
            return struct.unpack("<f", data)[0]
        if (encoding, size) not in FORMATS:
            raise Unshowable(f"values of type {value.type.name} are not known")
        data = MEMORY.read(value.address, size)
        return struct.unpack("<" + FORMATS[encoding, size], data)[0]

    def element(self, index: int) -> "Value":
        value = self.resolve()
        if value.type.kind == "pointer":
            to = value.type.other("to")
            return Value(to, value.bits(8) + index * to.size)
        if not (elements := value.type.elements()):
            raise Unshowable(f"a value of type {value.type.name} has no elements")
        element, count = elements
        several = value.type.kind == "array" and len(value.type.entry["dimensions"]) > 1
        if not 0 <= index < (value.type.entry["dimensions"][0] if several else count):
            raise Unshowable(f"index {index} is outside of {value.type.name}")
        if several:
            row = value.row_type()
            return Value(row, value.address + index * row.size)
        return Value(element, value.address + index * element.size)

    def row_type(self) -> Type:
        """Of an array with several dimensions."""
        entry = self.type.entry
        first, *rest = entry["dimensions"]
        row = {**entry, "dimensions": rest, "count": entry["count"] // first}
        row["bytes"] = entry["bytes"] // first
        return Type([*self.type.table, row], len(self.type.table))

    def member(self, name: str) -> "Value | list[Value]":
        value = self.resolve()
        if value.type.kind == "pointer":
            return value.element(0).member(name)
        if VECTOR.match(value.type.entry["name"]) and set(name) <= COMPONENTS.keys():
            parts = [value.element(COMPONENTS[letter]) for letter in name]
            return parts[0] if len(parts) == 1 else parts
        for known, part in value.members():
            if known == name:
                return part
        raise Unshowable(f"{value.type.name} has no member {name!r}")

    def members(self) -> Iterator[tuple[str, "Value"]]:
        """Of a structure, with those of its bases."""
        for name, number, offset in self.type.entry.get("members", []):
            part = Value(Type(self.type.table, number), self.address + offset)
            if name:
                yield name, part
            else:
                yield from part.members()

    def parts(self) -> list[tuple[str, "Value"]]:
        """The elements or members, for a tree of them."""
        value = self.resolve()
        if value.type.kind == "pointer":
            to = value.type.other("to")
            return [("*", value.element(0))] if to.size else []
        if elements := value.type.elements():
            vector = value.type.kind != "array"
            count = elements[1] if vector else value.type.entry["dimensions"][0]
            names = "xyzw" if vector else [f"[{i}]" for i in range(min(count, 256))]
            return [(name, value.element(i)) for name, i in zip(names, range(count), strict=False)]
        return list(value.members())

    def text(self, depth: int = 0) -> str:
        value = self.resolve()
        kind = value.type.kind
        if kind == "pointer":
            return f"{value.bits(8):#x}"
        if kind == "enum":
            number = value.number()
            return value.type.entry["values"].get(str(number), str(number))
        if kind == "base":
            return number_text(value.number(), value.type.size)
        if depth > MAX_DEPTH:
            return "..."
        parts = value.parts()
        if value.type.elements():
            shown = [part.text(depth + 1) for _, part in parts[:MAX_ELEMENTS]]
            vector = kind != "array"
            if not vector and len(shown) < value.type.entry["dimensions"][0]:
                shown.append("...")
            return ("({})" if vector else "[{}]").format(", ".join(shown))
        if kind == "struct":
            return "{" + ", ".join(f"{n} = {p.text(depth + 1)}" for n, p in parts) + "}"
        raise Unshowable(f"values of type {value.type.name} are not known")


def number_text(number: float | bool, size: int = 8) -> str:
    if isinstance(number, bool):
        return "true" if number else "false"
    if isinstance(number, float):
        return repr(number) if size == 8 else f"{number:.9g}" if size == 4 else f"{number:.5g}"
    return str(number)


def text_of(value: Any) -> str:
    """Of the result of an expression."""
    if isinstance(value, Value):
        return value.text()
    if isinstance(value, list):
        return "(" + ", ".join(text_of(part) for part in value) + ")"
    return number_text(value)
