"""Settings of the documentation's build: `make docs`."""

import re
from pathlib import Path

_cmake = (Path(__file__).resolve().parent.parent / "CMakeLists.txt").read_text()

project = "mlx-anywhere"
author = "mlx-anywhere contributors"
release = re.search(r"project\(mlx_anywhere VERSION ([\d.]+)", _cmake).group(1)
extensions = ["myst_parser"]
html_theme = "furo"
html_title = f"{project} {release}"
exclude_patterns = ["_build"]
myst_heading_anchors = 3
