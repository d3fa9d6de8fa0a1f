"""Every Python block of the README and the guide runs as it stands."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[str, str]]:
    return BLOCK.findall(page.read_text())


@pytest.mark.parametrize(
    "page",
    [page for page in PAGES if any(kind == "python" for kind, _ in blocks(page))],
    ids=lambda p: p.stem,
)
def test_python_blocks_run(page: Path):
    namespace = {}
    for number, (kind, code) in enumerate(blocks(page)):
        if kind == "python":
            exec(compile(code, f"{page.name}, block {number}", "exec"), namespace)


def test_readme_prints_what_it_says(capsys: pytest.CaptureFixture[str]):
    (kind, code), (_, printed) = blocks(ROOT / "README.md")[:2]
    assert kind == "python"
    exec(code, {})
    assert capsys.readouterr().out == printed
