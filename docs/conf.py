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
    """The module's docstrings are plain text, in which * and | mean themselves."""
    if name.startswith("mlx.core"):
        lines[:] = [line.replace("*", r"\*").replace("|", r"\|") for line in lines]


def setup(app) -> None:
    app.connect("autodoc-process-docstring", _escape)
