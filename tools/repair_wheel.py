"""Copies the libraries that a wheel links to into it: ``repair_wheel.py WHEEL FOLDER``.

auditwheel does that for all but zlib, which it expects on every system.
"""

import hashlib
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ZLIB = "libz.so.1"


def main(wheel: str, folder: str) -> None:
    """Writes the repaired wheel into the folder."""
    with tempfile.TemporaryDirectory() as work:
        run("auditwheel", "repair", "--wheel-dir", work, wheel)
        (repaired,) = Path(work).glob("*.whl")
        run(sys.executable, "-m", "wheel", "unpack", "--dest", work, repaired)
        (libraries,) = Path(work).glob("*/*.libs")
        take_zlib(libraries)
        run(sys.executable, "-m", "wheel", "pack", "--dest-dir", folder, libraries.parent)


def take_zlib(libraries: Path) -> None:
    """Adds zlib under a name of its own, as auditwheel does with other libraries."""
    users = [
        file for file in libraries.iterdir() if ZLIB in run("patchelf", "--print-needed", file)
    ]
    if not users:
        return
    zlib = Path(re.search(rf"{ZLIB} => (\S+)", run("ldd", users[0]))[1])
    digest = hashlib.sha256(zlib.read_bytes()).hexdigest()[:8]
    ours = libraries / ZLIB.replace(".so", f"-{digest}.so")
    shutil.copy(zlib, ours)
    run("patchelf", "--set-soname", ours.name, ours)
    for user in users:
        run("patchelf", "--replace-needed", ZLIB, ours.name, user)


def run(*command: object) -> str:
    """The output of a command that must succeed; its messages are shown."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"{command[0]} failed:\n{done.stdout}")
    return done.stdout


if __name__ == "__main__":
    main(*sys.argv[1:])
