"""Runs the tests of packages made for MLX, with this package and with the published wheel.

    python tools/try_packages.py [--work build/packages] [NAME ...]

Prints a table: what passes and fails with each, and which tests fail only with this package. Tests
run without a network: those that download a model fail with both. This program needs a network, for
the packages that it installs into two virtual environments of its own.
"""

import argparse
import os
import subprocess
import sys
import tarfile
import venv
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]
PUBLISHED = "mlx[cpu]==0.32.4"
# The packages' and their tests' requirements. They are installed without dependencies, which may
# include `mlx`.
NEEDS = {
    "binade": "",
    "diffct-mlx": "torch==2.13.0 numba scipy",
    "metalsinglecell": "scipy pandas anndata igraph scikit-learn umap-learn scanpy leidenalg",
    "mhc-mlx": "",
    "mlx-arsenal": "",
    "mlx-boosting": "numba scikit-learn",
    "mlx-embeddings": "mlx-vlm mlx-lm transformers sentencepiece protobuf pyyaml jinja2 pillow requests "
    "psutil rich",
    "mlx-expm": "scipy",
    "mlx-gamma": "scipy",
    "mlx-hyp2f1": "scipy",
    "mlx-iqk": "",
    "mlx-kfac": "",
    "mlx-learn": "scikit-learn scipy packaging",
    "mlx-lm": "transformers sentencepiece protobuf pyyaml jinja2 datasets requests pillow lm-eval",
    "mlx-mhc": "",
    "mlx-recurrence": "",
    "mlx-scan": "",
    "mlx-signal-processing": "scipy hypothesis",
    "mlx-snn": "",
    "mlx-spectro": "scipy",
    "mlx-turboquant": "mlx-lm transformers sentencepiece protobuf pyyaml jinja2",
    "mlx3d": "pillow tqdm scipy",
    "rwkv-metal": "tokenizers",
    "turboquant-mlx": "",
    "turboquant-mlx-full": "mlx-lm transformers sentencepiece protobuf pyyaml jinja2 safetensors",
    "umap-metal": "scipy scikit-learn numba",
    "zmlx": "pyyaml",
}
OFFLINE = {"HF_HUB_OFFLINE": "1", "HF_DATASETS_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
TESTED = ("pytest", "pytest-timeout", "numpy")
SECONDS = 300  # a test at the most


@dataclass
class Outcome:
    """The results of a package's tests: a word for each."""

    tests: dict[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        counts = Counter(self.tests.values())
        return ", ".join(f"{counts[word]} {word}" for word in ("passed", "failed", "skipped"))


def run(*command: object, **options: object) -> None:
    subprocess.run([str(part) for part in command], check=True, **options)


def pip(python: Path, *arguments: str) -> None:
    run(python, "-m", "pip", "--quiet", "--disable-pip-version-check", *arguments)


def environment(folder: Path, ours: bool) -> Path:
    """The Python of a virtual environment that sees this tree's package, or has the published one."""
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        pip(python, "install", *TESTED, *([] if ours else [PUBLISHED]))
    if ours:
        # Packages may ask for the version of the distribution.
        pip(python, "install", "--no-deps", str(ROOT / "packaging" / "mlx"))
        site = next((folder / "lib").glob("python*/site-packages"))
        (site / "mlx_of_this_tree.pth").write_text(f"{ROOT / 'python'}\n")
        add_launcher(folder / "bin" / "mlx.launch", python)
    return python


def add_launcher(file: Path, python: Path) -> None:
    """Makes the command as pip does where the package is installed."""
    main = "from mlx._distributed_utils.launch import main"
    file.write_text(f"#!{python}\nimport sys\n{main}\nsys.exit(main())\n")
    file.chmod(0o755)


def source(python: Path, name: str, folder: Path) -> Path:
    """The unpacked source distribution, which has the tests."""
    folder.mkdir(parents=True, exist_ok=True)
    if not any(folder.glob("*.tar.gz")):
        pip(python, "download", "--no-deps", "--no-binary", name, "--dest", str(folder), name)
    archive = next(folder.glob("*.tar.gz"))
    unpacked = folder / archive.name.removesuffix(".tar.gz")
    if not unpacked.exists():
        with tarfile.open(archive) as files:
            files.extractall(folder, filter="data")
    return unpacked


def tests_of(unpacked: Path) -> list[Path]:
    return sorted(unpacked.rglob("test_*.py"))


def install(python: Path, name: str, version: str) -> None:
    # Packages made for MLX are installed without their dependencies.
    pip(python, "install", "--no-deps", f"{name}=={version}")
    needs = NEEDS.get(name, "").split()
    made_for_mlx = [need for need in needs if need.startswith("mlx")]
    if made_for_mlx:
        pip(python, "install", "--no-deps", *made_for_mlx)
    others = [need for need in needs if need not in made_for_mlx]
    if others:
        pip(python, "install", *others)


def outcomes(report: Path, prefix: str) -> dict[str, str]:
    found = {}
    for case in ElementTree.parse(report).iter("testcase"):
        kinds = {child.tag for child in case}
        word = "failed" if kinds & {"failure", "error"} else "skipped" if kinds else "passed"
        # "tests.test_file.TestClass", where only the class tells tests of a file apart
        classes = (case.get("classname") or "").partition(f"{prefix}.")[2]
        name = f"{classes}::{case.get('name')}" if classes else case.get("name")
        found[f"{prefix}::{name}"] = word
    return found


def test(python: Path, unpacked: Path, folder: Path) -> Outcome:
    """Runs each file in a process of its own, so that a crash ends no other file."""
    folder.mkdir(parents=True, exist_ok=True)
    home = {"HF_HOME": str(folder / "hub")}
    inherited = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    outcome = Outcome()
    for path in tests_of(unpacked):
        report = folder / f"{path.stem}.xml"
        report.unlink(missing_ok=True)
        command = [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", path.name]
        # The package's own options may need plugins.
        command += ["-o", "addopts=", f"--timeout={SECONDS}", f"--junitxml={report}"]
        with (folder / f"{path.stem}.log").open("w") as log:
            subprocess.run(
                [str(part) for part in command],
                cwd=path.parent,
                env=inherited | OFFLINE | home,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        if report.exists():
            outcome.tests |= outcomes(report, path.stem)
        else:
            outcome.tests[f"{path.stem}::(the process died)"] = "failed"
    return outcome


def only_ours(ours: Outcome, published: Outcome) -> list[str]:
    """The tests that fail only with this package. The published one skips tests that need Metal."""
    return [
        name
        for name, word in ours.tests.items()
        if word == "failed" and published.tests.get(name) != "failed"
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(NEEDS), metavar="NAME")
    parser.add_argument("--work", type=Path, default=ROOT / "build" / "packages")
    options = parser.parse_args()
    unknown = set(options.names) - set(NEEDS)
    if unknown:
        parser.error(f"it is not known what {', '.join(sorted(unknown))} needs: see NEEDS")
    work = options.work.resolve()
    pythons = {kind: environment(work / kind, kind == "ours") for kind in ("ours", "published")}
    print("| package | version | this package | published wheel | fails with this package only |")
    print("| --- | --- | --- | --- | --- |")
    for name in options.names:
        unpacked = source(pythons["published"], name, work / "sources" / name)
        version = unpacked.name.rsplit("-", 1)[1]
        found = {}
        for kind, python in pythons.items():
            install(python, name, version)
            found[kind] = test(python, unpacked, work / "reports" / kind / name)
        failing = ", ".join(only_ours(found["ours"], found["published"])) or "none"
        row = [name, version, found["ours"], found["published"], failing]
        print("| " + " | ".join(map(str, row)) + " |", flush=True)


if __name__ == "__main__":
    sys.exit(main())
