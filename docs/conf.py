"""Settings of the documentation's build: `make docs`."""

import re
from pathlib import Path

_cmake = (Path(__file__).resolve().parent.parent / "CMakeLists.txt").read_text()

project = "mlx-anywhere"
author = "mlx-anywhere contributors"
release = re.search(r"project\(mlx_anywhere VERSION ([\d.]+)", _cmake).group(1)
extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
html_theme = "furo"
html_title = f"{project} {release}"
exclude_patterns = ["_build"]
myst_heading_anchors = 3


def _escape(app, what, name, obj, options, lines: list[str]) -> None:
    """The module's docstrings are plain text, in which * and | mean themselves; examples are code."""
    if not name.startswith("mlx.core"):
        return
    in_example = False
    for i, line in enumerate(lines):
        in_example = line.lstrip().startswith(">>>") or (in_example and bool(line.strip()))
        if not in_example:
            lines[i] = line.replace("`", "``").replace("*", r"\*").replace("|", r"\|")


def setup(app) -> None:
    # Before napoleon turns the sections into markup.
    app.connect("autodoc-process-docstring", _escape, priority=400)
