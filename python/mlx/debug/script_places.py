"""Where a script has the texts of its kernels: editors show these lines, and set breakpoints there."""

import ast
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Text:
    """A literal that is the source or the header of a call of metal_kernel."""

    file: str  # as the compiler calls it
    first: int  # the script's line in which the literal begins
    last: int


class ScriptPlaces:
    """Of one script. What is not a literal there has no place."""

    def __init__(self, path: str) -> None:
        self.path = str(Path(path).resolve())
        self.texts: list[Text] = []
        try:
            tree = ast.parse(Path(path).read_text())
        except (OSError, SyntaxError):
            return
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                self._add(node)

    def _add(self, call: ast.Call) -> None:
        parts = {word.arg: word.value for word in call.keywords}
        name = parts.get("name")
        if not (isinstance(name, ast.Constant) and isinstance(name.value, str)):
            return
        for keyword, file in (("source", name.value), ("header", name.value + ".header")):
            text = parts.get(keyword)
            if isinstance(text, ast.Constant) and isinstance(text.value, str):
                self.texts.append(Text(file, text.lineno, text.end_lineno or text.lineno))

    def in_kernel(self, line: int) -> tuple[str, int] | None:
        """The file and line of a kernel for a line of the script."""
        for text in self.texts:
            if text.first <= line <= text.last:
                return text.file, line - text.first + 1
        return None

    def in_script(self, file: str, line: int) -> int | None:
        """The line of the script for a line of a kernel."""
        found = [text for text in self.texts if text.file == file]
        return found[0].first + line - 1 if len(found) == 1 else None
