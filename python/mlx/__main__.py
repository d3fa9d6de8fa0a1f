"""``python -m mlx``: reports what is installed, which devices there are, and problems."""

import argparse
import ctypes
import importlib
import importlib.metadata
import os
import platform
import sys

from mlx import _conflicts

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_CPU_FEATURES = (
    "sse4_2 avx avx2 fma f16c avx512f avx512vl avx512bw avx512_bf16 avx512_fp16 amx_bf16 "
    "asimd fphp asimdhp bf16 sve sve2"
).split()


def main() -> int:
    """Runs the command; returns 0 if it finds no problem."""
    parser = argparse.ArgumentParser(prog="python -m mlx", description=__doc__)
    parser.add_argument(
        "--cmake-dir", action="store_true", help="print the folder for find_package(MLX CONFIG)"
    )
    if parser.parse_args().cmake_dir:
        print(cmake_dir())
        return 0
    problems = _print_versions()
    problems += _print_devices()
    _print_cpu()
    _print_cache()
    problems += _print_conflicts()
    print("\nEverything is in order." if not problems else f"\n{problems} problem(s), see above.")
    return 1 if problems else 0


def cmake_dir() -> str:
    """The folder that holds MLXConfig.cmake."""
    return os.path.join(_PACKAGE, "share", "cmake", "MLX")


def _line(label: str, value: object) -> None:
    print(f"  {label:<14} {value}")


def _version_of(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed as a package"


def _core() -> tuple[object | None, str]:
    """The compiled module, or None and the reason why it does not load."""
    try:
        return importlib.import_module("mlx.core"), ""
    except ImportError as error:
        return None, str(error)


def _print_versions() -> int:
    core, reason = _core()
    print("Versions")
    _line("mlx-anywhere", _version_of("mlx-anywhere"))
    _line("interface", getattr(core, "__version__", None) or f"mlx.core does not load: {reason}")
    _line("mlx", _version_of("mlx"))
    _line("package", _PACKAGE)
    _line("python", f"{platform.python_version()} ({sys.executable})")
    _line("numpy", _version_of("numpy"))
    _line("system", platform.platform())
    return int(core is None)


def _print_devices() -> int:
    core, _ = _core()
    print("\nDevices")
    if core is None:
        _line("none", "mlx.core does not load")
        return 0
    _line("default", core.default_device())
    for name, kind in (("gpu", core.gpu), ("cpu", core.cpu)):
        for number in range(core.device_count(kind)):
            facts = core.device_info(core.Device(kind, number))
            memory = facts.get("memory_size", 0) / 2**30
            _line(name, f"{facts.get('device_name', name)}, {memory:.1f} GiB of memory")
        if core.device_count(kind) == 0:
            _line(name, "not available")
    _line("nvidia", nvidia_status())
    return 0


def nvidia_status() -> str:
    """Whether an NVIDIA GPU can be used, and if not, why."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return "no GPU: the driver library libcuda.so.1 is not installed"
    code = cuda.cuInit(0)
    if code != 0:
        return f"no GPU: the driver does not start (cuInit returned {code})"
    count = ctypes.c_int()
    if cuda.cuDeviceGetCount(ctypes.byref(count)) != 0 or count.value == 0:
        return "no GPU: the driver sees no device (is CUDA_VISIBLE_DEVICES set?)"
    name = ctypes.create_string_buffer(256)
    cuda.cuDeviceGetName(name, 256, 0)
    return f"{count.value} GPU(s), the first is {name.value.decode(errors='replace')}"


def cpu_features() -> list[str]:
    """The vector extensions of this CPU that matter to compiled kernels."""
    flags: set[str] = set()
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith(("flags", "Features")):
                    flags = set(line.split(":", 1)[1].split())
                    break
    except OSError:
        pass
    return [feature for feature in _CPU_FEATURES if feature in flags]


def _cpu_name() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            names = [
                line.split(":", 1)[1].strip() for line in file if line.startswith("model name")
            ]
    except OSError:
        names = []
    return names[0] if names else platform.processor() or platform.machine()


def _print_cpu() -> None:
    print("\nCPU")
    _line("name", _cpu_name())
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    _line("cores", cores)
    _line("features", " ".join(cpu_features()) or "unknown")


def cache_folder() -> str:
    """The folder of compiled kernels; empty if caching is off."""
    if "MLX_CACHE_DIR" in os.environ:
        return os.environ["MLX_CACHE_DIR"]
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(base, "mlx-anywhere")


def _print_cache() -> None:
    print("\nKernel cache")
    folder = cache_folder()
    if not folder:
        _line("folder", "off (MLX_CACHE_DIR is empty)")
        return
    _line("folder", folder)
    sizes = []
    for path, _, names in os.walk(folder):
        for name in names:
            try:
                sizes.append(os.path.getsize(os.path.join(path, name)))
            except OSError:
                continue  # another process is compiling there
    _line("contents", f"{len(sizes)} kernels, {sum(sizes) / 2**20:.1f} MiB" if sizes else "empty")


def _print_conflicts() -> int:
    print("\nConflicts")
    rivals, foreign = _conflicts.installed_rivals(), _conflicts.foreign_files()
    missing = _conflicts.missing_files()
    if not rivals and not foreign and not missing:
        _line("none", "no other distribution installs into the package mlx")
        return 0
    print(_conflicts.describe(rivals, foreign, missing))
    return 1


if __name__ == "__main__":
    sys.exit(main())
