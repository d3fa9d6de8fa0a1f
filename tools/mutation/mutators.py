"""Finds what can be mutated in the bodies of C++ functions: one small fault each."""

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import tree_sitter_cpp
from tree_sitter import Language, Node, Parser

from .areas import SPEED_ONLY_CONSTANTS, SPEED_ONLY_FUNCTIONS

COMPARISONS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}
ARITHMETIC = {"+": "-", "-": "+", "*": "+", "<<": ">>", ">>": "<<", "&": "|", "|": "&", "%": "/"}
CALLS = {"std::min": "std::max", "std::max": "std::min"}

# Messages and checks, where a fault changes no result, and constant expressions.
PASSED_OVER = {
    "throw_statement",
    "static_assert_declaration",
    "template_argument_list",
    "template_parameter_list",
    "string_literal",
    "concatenated_string",
    "array_declarator",
    "enumerator",
    "decltype",
    "sizeof_expression",
}
CONSTEXPR = {"constexpr", "type_qualifier", "storage_class_specifier"}
PASSED_OVER_CALLS = ("internal_", "verify", "show", "compiler::verify")

NUMBER = "$number"
PARSER = Parser(Language(tree_sitter_cpp.language()))


@dataclass(frozen=True)
class Mutation:
    path: str
    line: int
    start: int  # bytes
    end: int
    kind: str
    before: str
    after: str
    # The same with a switch, whose number is NUMBER, which is asked only where the two differ.
    form: str = ""

    @property
    def last_line(self) -> int:
        return self.line + self.before.count("\n")

    def overlaps(self, other: "Mutation") -> bool:
        return self.path == other.path and self.start < other.end and other.start < self.end

    def apply(self, source: bytes) -> bytes:
        """The mutated source, on as many lines as before."""
        after = " ".join(self.after.split()) + "\n" * self.before.count("\n")
        return source[: self.start] + after.encode() + source[self.end :]

    def switch(self, source: bytes, number: int) -> bytes:
        """The source with this mutation behind a switch, on as many lines as before."""
        assert source[self.start : self.end].decode() == self.before
        if self.form:
            text = self.form.replace(NUMBER, f"{number}")
            text += "\n" * (self.before.count("\n") - text.count("\n"))
        else:
            form = "bool({})" if self.kind in ("flag", "guard") else "({})"
            after = form.format(" ".join(self.after.split()))
            text = f"(mutated({number}) ? {after} : {form.format(self.before)})"
        return source[: self.start] + text.encode() + source[self.end :]


def text_of(node: Node) -> str:
    return node.text.decode()


def changed_number(text: str) -> str | None:
    """Another integer in the same notation; None for floats."""
    digits = text.rstrip("uUlL")
    try:
        number = int(digits, 0)
    except ValueError:
        return None
    return str(1 - number if number < 2 else number + 1) + text[len(digits) :]


def is_pointer_star(node: Node) -> bool:
    """Whether this "multiplication" may be a declaration: `a * b;`."""
    return node.parent is not None and node.parent.type == "expression_statement"


def with_part(node: Node, part: Node, text: str) -> str:
    """The text of a node with one part replaced."""
    start, end = part.start_byte - node.start_byte, part.end_byte - node.start_byte
    return (node.text[:start] + text.encode() + node.text[end:]).decode()


def mentions_speed(node: Node) -> bool:
    if node.type == "identifier":
        return text_of(node) in SPEED_ONLY_CONSTANTS
    return any(mentions_speed(child) for child in node.children)


def is_of_speed(node: Node) -> bool:
    """Whether this compares something with a constant that decides about speed only."""
    operator = node.child_by_field_name("operator")
    is_comparison = operator is not None and text_of(operator) in COMPARISONS
    return node.type == "binary_expression" and is_comparison and mentions_speed(node)


# kind, node, its new text, and the form of Mutation
Found = tuple[str, Node, str, str]


def mutate_guard(node: Node, sign: str, left: Node, right: Node) -> Iterator[Found]:
    """Leaves one side out; the switch is asked where that side decides."""
    a, b, on = text_of(left), text_of(right), f"mutated({NUMBER})"
    if not is_of_speed(right):
        form = f"({a}) && (({b}) || {on})" if sign == "&&" else f"({a}) || (({b}) && !{on})"
        yield "guard", node, a, f"({form})"
    if not is_of_speed(left):
        form = f"(({a}) || {on}) && ({b})" if sign == "&&" else f"(({a}) && !{on}) || ({b})"
        yield "guard", node, b, f"({form})"


def compared(node: Node, sign: str, after: str) -> str:
    """A comparison before and after, each a lambda, so that both sides are evaluated once."""
    left, right = (text_of(node.child_by_field_name(side)) for side in ("left", "right"))
    form = "[](const auto& a, const auto& b) {{ return {}; }}"
    functions = f"{form.format(f'a {sign} b')}, {form.format(after)}"
    return f"mutated_comparison({NUMBER}, {left}, {right}, {functions})"


def mutate_binary(node: Node) -> Iterator[Found]:
    operator = node.child_by_field_name("operator")
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if operator is None or left is None or right is None or is_pointer_star(node):
        return
    sign = text_of(operator)
    if sign in ("&&", "||"):
        yield from mutate_guard(node, sign, left, right)
    if sign in COMPARISONS:
        after = COMPARISONS[sign]
        form = compared(node, sign, f"a {after} b")
        yield "comparison", node, with_part(node, operator, after), form
    elif sign in ARITHMETIC and '"' not in text_of(node):  # strings have one sum only
        yield "operand", node, with_part(node, operator, ARITHMETIC[sign]), ""
    if sign in ("-", "<"):
        form = compared(node, sign, "b < a") if sign == "<" else ""
        yield "operand", node, f"{text_of(right)} {sign} {text_of(left)}", form


def leaves_early(node: Node) -> bool:
    statement = node.child_by_field_name("consequence")
    return statement is not None and statement.type in (
        "return_statement",
        "continue_statement",
        "break_statement",
    )


def mutate_node(node: Node) -> Iterator[Found]:
    if node.type == "binary_expression":
        yield from mutate_binary(node)
    elif node.type == "number_literal":
        if (number := changed_number(text_of(node))) is not None:
            yield "constant", node, number, ""
    elif node.type in ("true", "false"):
        yield "flag", node, "false" if node.type == "true" else "true", ""
    elif node.type == "unary_expression" and text_of(node).startswith("!"):
        yield "flag", node, text_of(node)[1:], ""
    elif node.type == "if_statement" and leaves_early(node):
        # Removes the guard, as if its condition were false; declarations in conditions must stay.
        condition = node.child_by_field_name("condition")
        if condition is not None and condition.child_by_field_name("initializer") is None:
            value = condition.child_by_field_name("value")
            if value is not None and value.type != "declaration":
                form = f"(bool({text_of(value)}) && !mutated({NUMBER}))"
                yield "guard", value, "false", form
    elif node.type == "call_expression":
        function = node.child_by_field_name("function")
        if function is not None and text_of(function) in CALLS:
            yield "operand", node, with_part(node, function, CALLS[text_of(function)]), ""


def is_passed_over(node: Node) -> bool:
    if is_of_speed(node):
        return True
    words = (child for child in node.children if child.type in CONSTEXPR)
    if node.type in PASSED_OVER or any(text_of(word) == "constexpr" for word in words):
        return True
    return node.type == "call_expression" and text_of(node).startswith(PASSED_OVER_CALLS)


def is_mutated_function(node: Node) -> bool:
    if node.type != "function_definition":
        return False
    name = node.child_by_field_name("declarator")
    while (inner := name and name.child_by_field_name("declarator")) is not None:
        name = inner
    return name is None or text_of(name) not in SPEED_ONLY_FUNCTIONS


def walk(node: Node, in_body: bool) -> Iterator[Found]:
    if is_passed_over(node):
        return
    if in_body:
        yield from mutate_node(node)
    for child in node.children:
        if node.type == "case_statement" and child == node.child_by_field_name("value"):
            continue
        is_body = child.type == "compound_statement" and is_mutated_function(node)
        yield from walk(child, in_body or is_body)


def find_mutations(root: Path, path: str) -> list[Mutation]:
    tree = PARSER.parse((root / path).read_bytes())
    return [
        Mutation(path, node.start_point[0] + 1, node.start_byte, node.end_byte, kind,
                 text_of(node), after, form)
        for kind, node, after, form in walk(tree.root_node, False)
        if b"//" not in node.text
    ]  # fmt: skip


def choose(mutations: list[Mutation], random_numbers: random.Random) -> Iterator[Mutation]:
    """All mutations in a random order that alternates between their kinds."""
    by_kind: dict[str, list[Mutation]] = {}
    for mutation in mutations:
        by_kind.setdefault(mutation.kind, []).append(mutation)
    for group in by_kind.values():
        random_numbers.shuffle(group)
    while by_kind:
        for kind in sorted(by_kind):
            yield by_kind[kind].pop()
            if not by_kind[kind]:
                del by_kind[kind]
