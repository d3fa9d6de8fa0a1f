"""Finds the peers that are installed, and starts each in a process of its own."""

import importlib.util
import json
import os
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
INSTALL = "make bench-peers"
POCL_VENDORS = Path("/etc/OpenCL/vendors")
NANOFLANN = Path("/usr/include/nanoflann.hpp")


def intel_environment(scratch: Path) -> dict[str, str] | str:
    """The environment in which Intel's runtime is found, or why it cannot be used."""
    folder = Path(sysconfig.get_path("data")) / "lib"
    driver = folder / "libintelocl.so"
    if not importlib.util.find_spec("pyopencl") or not driver.exists():
        return "pyopencl, intel-opencl-rt and intel-cmplr-lib-rt (PyPI) are not installed"
    vendors = scratch / "intel"
    vendors.mkdir()
    (vendors / "intel.icd").write_text(f"{driver}\n")
    paths = [str(folder), *os.environ.get("LD_LIBRARY_PATH", "").split(":")]
    return {
        "OCL_ICD_VENDORS": f"{vendors}/",
        "LD_LIBRARY_PATH": ":".join(filter(None, paths)),
        "CL_CACHE_DIR": str(scratch),
    }


def pocl_environment(scratch: Path, threads: int) -> dict[str, str] | str:
    if not importlib.util.find_spec("pyopencl"):
        return "pyopencl (PyPI) is not installed"
    icd = POCL_VENDORS / "pocl.icd"
    if not icd.exists():
        return "pocl-opencl-icd (Debian) is not installed"
    vendors = scratch / "pocl"
    vendors.mkdir()
    (vendors / "pocl.icd").write_text(icd.read_text())
    return {
        "OCL_ICD_VENDORS": f"{vendors}/",
        "POCL_MAX_PTHREAD_COUNT": str(threads),
        "POCL_CACHE_DIR": str(scratch / "pocl-cache"),
    }


def torch_environment(threads: int) -> dict[str, str] | str:
    if not importlib.util.find_spec("torch"):
        return "torch (PyPI) is not installed"
    return {"OMP_NUM_THREADS": str(threads), "MKL_NUM_THREADS": str(threads)}


def kept_environment(threads: int) -> dict[str, str] | str:
    """PyTorch as above, but the C library keeps freed memory.

    Otherwise the system maps and clears new pages for every large result, which takes most of the
    time of a short operation.
    """
    environment = torch_environment(threads)
    keep = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": str(1 << 40)}
    return environment if isinstance(environment, str) else environment | keep


def scipy_environment() -> dict[str, str] | str:
    return {} if importlib.util.find_spec("scipy") else "scipy (PyPI) is not installed"


def nanoflann_environment() -> dict[str, str] | str:
    return {} if NANOFLANN.exists() else "libnanoflann-dev (Debian) is not installed"


class Peer:
    """A process that computes the rows of one module."""

    def __init__(self, name: str, kind: str, environment: dict[str, str], arguments: list[str]):
        self.name = name
        self.process = subprocess.Popen(
            [sys.executable, "-m", "bench.child", kind, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=os.environ | environment | {"PYTHONWARNINGS": "ignore", "PYOPENCL_NO_CACHE": "1"},
            cwd=HERE,
            text=True,
        )

    def ask(self, **command: object) -> dict:
        try:
            print(json.dumps(command), file=self.process.stdin, flush=True)
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        return json.loads(line) if line else {"error": f"{self.name} ended unexpectedly"}

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait()


class Peers:
    """All peers, ours first; `missing` says which are not installed. With `gpu`, they use an NVIDIA
    GPU."""

    def __init__(
        self, module: str, size: str, threads: int, stream: str, gpu: bool = False
    ) -> None:
        self.folder = tempfile.TemporaryDirectory()
        scratch = Path(self.folder.name)
        arguments = [module, size, str(threads), stream]
        environments = {
            "ours": ("ours", {"MLX_METAL_DEVICE": "cuda"}),
            "PyTorch": ("torch_gpu", torch_environment(threads)),
        }
        if not gpu:
            environments = self.on_host(scratch, threads)
        self.missing = {n: e for n, (_, e) in environments.items() if isinstance(e, str)}
        self.processes: dict[str, Peer] = {}
        self._start = {
            name: lambda name=name, kind=kind, e=environment: Peer(name, kind, e, arguments)
            for name, (kind, environment) in environments.items()
            if isinstance(environment, dict)
        }

    @staticmethod
    def on_host(scratch: Path, threads: int) -> dict:
        return {
            "ours": ("ours", {"MLX_CACHE_DIR": ""}),
            "Intel": ("opencl", intel_environment(scratch)),
            "PoCL": ("opencl", pocl_environment(scratch, threads)),
            "PyTorch": ("torch", torch_environment(threads)),
            "kept": ("torch", kept_environment(threads)),
            "SciPy": ("scipy", scipy_environment()),
            "nanoflann": ("nanoflann", nanoflann_environment()),
        }

    def names(self) -> list[str]:
        return list(self._start)

    def get(self, name: str) -> Peer:
        """The peer's process; starts a new one if it has ended."""
        peer = self.processes.get(name)
        if peer is None or peer.process.poll() is not None:
            peer = self.processes[name] = self._start[name]()
        return peer

    def close(self) -> None:
        for peer in self.processes.values():
            peer.close()
        self.folder.cleanup()
