"""Statements, functions and kernels as text."""

from __future__ import annotations

from .tree import Function, Node, Variable, _bare, place

ATOMIC = {"+": "add", "-": "sub", "|": "or", "&": "and", "^": "xor", "min": "min", "max": "max"}
STEPS = {"twos": 2, "threes": 3, "fours": 4}  # forms of loops
BARRIER = "threadgroup_barrier(mem_flags::mem_threadgroup);"


def lines_of(node: Node, indent: int) -> list[str]:
    """A statement as lines."""
    pad = "  " * indent
    op, kids, value = node.op, node.kids, node.value
    if op == "block":
        return [line for kid in kids for line in lines_of(kid, indent)]
    if op == "scope":
        return [pad + "{", *lines_of(kids[0], indent + 1), pad + "}"]
    if op == "let":
        const = "const " if value.constant else ""
        return [f"{pad}{const}{value.type} {value.name} = {_bare(kids[0])};"]
    if op == "array":
        if value.space == "threadgroup":
            return [f"{pad}threadgroup {value.type} {value.name}[{value.size}];"]
        const = "const " if value.constant else ""
        items = ", ".join(_bare(kid) for kid in kids)
        return [f"{pad}{const}{value.type} {value.name}[{value.size}] = {{{items}}};"]
    if op == "set":
        variable, operator = value
        return [f"{pad}{variable.name} {operator}= {_bare(kids[0])};"]
    if op == "set_part":
        variable, operator, name = value
        return [f"{pad}{variable.name}.{name} {operator}= {_bare(kids[0])};"]
    if op == "pointer":
        return [pad + _pointer(*value, kids[0])]
    if op == "tally":
        return _tally(node, indent)
    if op == "store":
        array, operator = value
        return [f"{pad}{place(array, kids[0])} {operator}= {_bare(kids[1])};"]
    if op == "atomic":
        array, operator = value
        name = f"atomic_fetch_{ATOMIC[operator]}_explicit"
        space = array.space
        return [
            f"{pad}{name}(({space} atomic<{array.type}>*)&{array.name}[{_bare(kids[0])}], "
            f"{array.type}({_bare(kids[1])}), memory_order_relaxed);"
        ]
    if op == "if":
        lines = [f"{pad}if ({_bare(kids[0])}) {{", *lines_of(kids[1], indent + 1)]
        if len(kids) > 2:
            lines += [pad + "} else {", *lines_of(kids[2], indent + 1)]
        return [*lines, pad + "}"]
    if op == "for":
        return _loop(node, indent)
    if op == "switch":
        return _switch(node, indent)
    if op == "exchange":
        write = f"{pad}{value.name}[tix] = {_bare(kids[0])};"
        phases = [line for kid in kids[2:] for line in lines_of(kid, indent)]
        return [write, pad + BARRIER, *phases, *lines_of(kids[1], indent), pad + BARRIER]
    if op == "phase":
        return [pad + line for line in _phase(node)]
    if op == "return":
        return [f"{pad}return {_bare(kids[0])};" if kids else f"{pad}return;"]
    if op in ("break", "continue"):
        return [f"{pad}{op};"]
    if op == "barrier":
        return [pad + (value or BARRIER)]
    raise ValueError(op)


def _pointer(pointer: Variable, source: Variable, offset: Node) -> str:
    """A store to an array element, perhaps as another type."""
    type = f"{'const ' if pointer.constant else ''}{pointer.space} {pointer.type}*"
    start = f"{source.name} + {offset}"
    if pointer.type != source.type:
        start = f"({type}){source.name} + {offset}"
    return f"{type} {pointer.name} = {start};"


def _phase(node: Node) -> list[str]:
    """What threads do between barriers with the elements of a threadgroup's array."""
    array, lines, operator = node.value
    number = node.kids[0]
    own = f"{array.name}[tix] {operator}= {array.type}({number} | 1u);"
    names = {"n": f"uint({number})", "w": own, "a": array.name, "o": operator, "barrier": BARRIER}
    names |= {"type": array.type, "size": array.size, "half": f"{array.size // 2}u"}
    return [line.format(**names) for line in lines]


def _tally(node: Node, indent: int) -> list[str]:
    """Atomic operations on a threadgroup's array, then reads of it."""
    pad, array = "  " * indent, node.value
    return [
        f"{pad}for (uint k = tix; k < {array.size}u; k += group_size) {array.name}[k] = {array.type}(k);",
        pad + BARRIER,
        *lines_of(node.kids[0], indent),
        pad + BARRIER,
        *lines_of(node.kids[1], indent),
        pad + BARRIER,
    ]


def _loop(node: Node, indent: int) -> list[str]:
    pad = "  " * indent
    variable, form = node.value
    v, t = variable.name, variable.type
    low, high = node.kids[:2]
    body = lines_of(node.kids[-1], indent + 1)
    condition = f" && {node.kids[2]}" if len(node.kids) > 3 else ""
    heads = {
        "up": f"for ({t} {v} = {low}; {v} < {high}{condition}; ++{v}) {{",
        "through": f"for ({t} {v} = {low}; {v} <= {high}{condition}; ++{v}) {{",
        "down": f"for ({t} {v} = {high}; {v} >= {low}{condition}; --{v}) {{",
        "halve": f"for ({t} {v} = {high}; {v} > {low}{condition}; {v} >>= 1) {{",
    }
    for name, step in STEPS.items():
        heads[name] = f"for ({t} {v} = {low}; {v} < {high}{condition}; {v} += {step}) {{"
    if form in heads:
        return [pad + heads[form], *body, pad + "}"]
    inner = ["  " + line for line in body]
    start = f"{pad}{{ {t} {v} = {low};"
    if form == "while":
        step = f"{pad}  {'  '}++{v};"
        return [
            start,
            f"{pad}  while ({v} < {high}{condition}) {{",
            *inner,
            step,
            pad + "  }",
            pad + "}",
        ]
    if form == "do":
        return [
            start,
            pad + "  do {",
            *inner,
            f"{pad}  }} while (++{v} < {high}{condition});",
            pad + "}",
        ]
    raise ValueError(form)


def _switch(node: Node, indent: int) -> list[str]:
    """`value` has, for each case, its labels and whether it ends in a break."""
    pad = "  " * indent
    lines = [f"{pad}switch ({_bare(node.kids[0])}) {{"]
    for (labels, ends), body in zip(node.value, node.kids[1:]):
        heads = " ".join("default:" if k is None else f"case {k}:" for k in labels)
        lines += [f"{pad}{heads} {{", *lines_of(body, indent + 1)]
        lines.append(pad + ("} break;" if ends else "}"))
    return [*lines, pad + "}"]


def parameter_of(variable: Variable) -> str:
    if variable.size:
        const = "const " if variable.constant else ""
        return f"{const}{variable.space} {variable.type}* {variable.name}"
    return f"{variable.type} {variable.name}"


def print_function(function: Function) -> str:
    parameters = ", ".join(parameter_of(one) for one in function.parameters)
    head = f"{function.type} {function.name}({parameters}) {{"
    return "\n".join([head, *lines_of(function.body, 1), "}"]) + "\n"
