"""Environments in which packages require `mlx`: ours satisfies it, and the published one is refused."""

import subprocess
import venv
import zipfile
from pathlib import Path

import mlx.core as mx
import pytest
from commands import KERNEL, KERNEL_OUTPUT, run, succeed

pytestmark = [pytest.mark.package, pytest.mark.timeout(3000)]

PUBLISHED = (f"mlx=={mx.__version__}", f"mlx-cpu=={mx.__version__}")


class Pip:
    """An empty environment whose pip finds the wheels."""

    def __init__(self, folder: Path, wheels: Path):
        venv.create(folder, with_pip=True)
        self.python = folder / "bin" / "python"
        self.links = ("--find-links", wheels)
        self.wheels = wheels

    def __call__(self, *arguments: object) -> str:
        return succeed(self.python, "-m", "pip", *arguments, cwd=self.python.parent)

    def use(self) -> subprocess.CompletedProcess:
        return run(self.python, "-c", KERNEL, cwd=self.python.parent)

    def mend(self, message: str) -> None:
        """Runs the command that the message ends with."""
        command = message.partition("Mend it with:\n")[2].splitlines()[0]
        succeed("sh", "-c", command, cwd=self.python.parent, PIP_FIND_LINKS=str(self.wheels))


@pytest.fixture(scope="module")
def pip(wheels: Path, tmp_path_factory) -> Pip:
    return Pip(tmp_path_factory.mktemp("bare") / "env", wheels)


@pytest.fixture
def ours(pip: Pip) -> Pip:
    """An environment with our package only, and its distribution `mlx`."""
    pip("uninstall", "-y", "user", "mlx", "mlx-cpu", "mlx-anywhere")
    pip("install", *pip.links, "mlx-anywhere[mlx]")
    return pip


def package_that_requires(requirement: str, folder: Path) -> Path:
    wheel = folder / "user-1-py3-none-any.whl"
    about = "user-1.dist-info"
    with zipfile.ZipFile(wheel, "w") as file:
        file.writestr("user.py", "import mlx.core\n")
        file.writestr(
            f"{about}/METADATA",
            f"Metadata-Version: 2.1\nName: user\nVersion: 1\nRequires-Dist: {requirement}\n",
        )
        file.writestr(
            f"{about}/WHEEL",
            "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        )
        file.writestr(f"{about}/RECORD", f"user.py,,\n{about}/METADATA,,\n{about}/WHEEL,,\n")
    return wheel


@pytest.mark.parametrize("requirement", ["mlx", "mlx[cuda12]>=0.20", f"mlx=={mx.__version__}"])
def test_ours_satisfies_packages_that_require_mlx(ours: Pip, tmp_path: Path, requirement: str):
    ours("install", "--no-index", package_that_requires(requirement, tmp_path))
    assert "No broken requirements" in ours("check")
    assert KERNEL_OUTPUT in ours.use().stdout
    diagnosis = succeed(ours.python, "-m", "mlx", cwd=tmp_path)
    assert f"{mx.__version__}+anywhere" in diagnosis


def test_the_published_one_over_ours_is_refused(ours: Pip):
    ours("install", "--force-reinstall", "--no-deps", *PUBLISHED)
    refused = ours.use()
    assert "ImportError" in refused.stdout and PUBLISHED[0].replace("==", " ") in refused.stdout
    ours.mend(refused.stdout)
    assert KERNEL_OUTPUT in ours.use().stdout
    # The rest of the message restores our distribution of that name.
    advice = refused.stdout.splitlines()[-1].replace("FOLDER", str(ours.wheels))
    succeed("sh", "-c", advice, cwd=ours.python.parent)
    assert "mlx-anywhere" in ours("show", "mlx")


def test_ours_over_the_published_one_is_refused(ours: Pip):
    ours("uninstall", "-y", "mlx", "mlx-anywhere")
    ours("install", "--no-deps", *PUBLISHED)
    ours("install", *ours.links, "mlx-anywhere")
    refused = ours.use()
    assert "ImportError" in refused.stdout and PUBLISHED[1].replace("==", " ") in refused.stdout
    ours.mend(refused.stdout)
    assert KERNEL_OUTPUT in ours.use().stdout


def test_what_the_published_one_took_away_is_missed(ours: Pip):
    ours("install", "--force-reinstall", "--no-deps", *PUBLISHED)
    ours("uninstall", "-y", "mlx", "mlx-cpu")
    refused = ours.use()
    assert "ImportError" in refused.stdout and "lib/libmlx.so" in refused.stdout
    ours.mend(refused.stdout)
    assert KERNEL_OUTPUT in ours.use().stdout
