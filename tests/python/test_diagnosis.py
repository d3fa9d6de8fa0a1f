"""`python -m mlx`, and the refusal to share an environment with another `mlx`."""

import os
import subprocess
import sys

import mlx
import pytest
from mlx import _conflicts

PACKAGE_PARENT = os.path.dirname(os.path.dirname(os.path.abspath(mlx.__file__)))


def run(*arguments: str, extra_path: str = "") -> subprocess.CompletedProcess:
    path = os.pathsep.join(p for p in (PACKAGE_PARENT, extra_path) if p)
    env = {**os.environ, "PYTHONPATH": path}
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, env=env, timeout=120
    )


def rival(folder, name: str = "mlx-0.32.0.dist-info") -> str:
    (folder / name).mkdir()
    return str(folder)


def test_the_diagnosis_names_versions_devices_cpu_and_cache():
    done = run("-m", "mlx")
    assert done.returncode == 0, done.stdout + done.stderr
    for heading in ("Versions", "Devices", "CPU", "Kernel cache", "Conflicts", "in order"):
        assert heading in done.stdout
    assert "nvidia" in done.stdout


def test_the_diagnosis_prints_the_cmake_folder():
    done = run("-m", "mlx", "--cmake-dir")
    assert done.stdout.strip().endswith(os.path.join("share", "cmake", "MLX"))


@pytest.mark.parametrize(
    "name",
    [
        "mlx-0.32.0.dist-info",
        "mlx-0.32.4.dist-info",
        "mlx_cpu-0.32.0.dist-info",
        "mlx_cuda_12-0.32.4.dist-info",
        "mlx_metal-0.30.egg-info",
        "mlx.egg-info",
    ],
)
def test_another_distribution_is_refused_with_the_command_that_mends_it(tmp_path, name):
    done = run("-c", "import mlx.core", extra_path=rival(tmp_path, name))
    assert done.returncode != 0
    assert "ImportError" in done.stderr
    assert "pip uninstall -y mlx" in done.stderr
    assert "--force-reinstall --no-deps mlx-anywhere" in done.stderr


def test_the_diagnosis_runs_despite_a_conflict(tmp_path):
    done = run("-m", "mlx", extra_path=rival(tmp_path))
    assert done.returncode == 1
    assert "pip uninstall -y mlx" in done.stdout


@pytest.mark.parametrize(
    "name",
    [
        "mlx-0.32.4+anywhere.dist-info",  # ours, which has no files
        "mlx_lm-0.1.dist-info",
        "mlx_anywhere-0.1.0.dist-info",
        "mlx_data-1.dist-info",
        "mlxtend-1.dist-info",
    ],
)
def test_packages_that_use_mlx_and_our_distribution_mlx_are_no_conflict(tmp_path, name):
    assert _conflicts.installed_rivals([rival(tmp_path, name)]) == []


def test_foreign_files_are_found(tmp_path):
    (tmp_path / "_reprlib_fix.py").touch()
    found = _conflicts.foreign_files(str(tmp_path))
    assert [c.what for c in found] == ["_reprlib_fix.py"]
    assert "mlx-anywhere" in _conflicts.describe([], found)


def test_missing_files_are_found(tmp_path):
    assert _conflicts.missing_files() == []
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "libmlx_metal.so").touch()
    missing = _conflicts.missing_files(str(tmp_path))
    assert [c.what.partition(".")[0] for c in missing] == [
        "core",
        "lib/libmlx",
        "lib/libmlx_metal_compiler",
    ]
    message = _conflicts.describe([], [], missing)
    assert "missing" in message and "--force-reinstall --no-deps mlx-anywhere" in message


def test_who_mends_a_conflict_with_mlx_is_told_of_ours(tmp_path):
    message = _conflicts.describe(_conflicts.installed_rivals([rival(tmp_path)]), [])
    assert message.splitlines()[-1].endswith("--find-links FOLDER 'mlx-anywhere[mlx]'")
