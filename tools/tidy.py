#!/usr/bin/env python3
"""Runs clang-tidy on the C++ sources that have changed since it last found nothing in them.

    make tidy [SECONDS=600]

A source has changed if its content, or that of the project's headers that it includes, has. Sources
that the last commit or the working tree change come first; if time runs out, the next run
continues. The build compiles sources in groups; clang-tidy looks at each by itself.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build" / "release"
WORK = ROOT / "build" / "tidy"
CONTENT = WORK / "content"  # an empty file for each source without findings, by its key
FOLDERS = ("cpp/", "mlx_sample_extensions/", "python/src/")
PROGRAM = shutil.which("clang-tidy-19") or "clang-tidy"


def run(*command: str | Path) -> subprocess.CompletedProcess:
    return subprocess.run([str(part) for part in command], cwd=ROOT, text=True, capture_output=True)


def sources() -> dict[str, dict]:
    """An entry of a compilation database for each source of ours."""
    entries = []
    for entry in json.loads((BUILD / "compile_commands.json").read_text()):
        group = Path(entry["file"])
        members = [group]
        # Clang has no such parameters.
        entry["command"] = re.sub(r" --param=\S+", "", entry["command"])
        if "/Unity/" in entry["file"]:
            members = re.findall(r'#include "(.+)"', group.read_text())
        for member in members:
            command = entry["command"].replace(entry["file"], str(member))
            entries.append(entry | {"file": str(member), "command": command})
    named = {os.path.relpath(entry["file"], ROOT): entry for entry in entries}
    return {name: entry for name, entry in sorted(named.items()) if name.startswith(FOLDERS)}


def included(path: Path, command: str, found: set[Path]) -> set[Path]:
    """The project's files that a source includes, under any conditions."""
    found.add(path)
    folders = [path.parent, *map(Path, re.findall(r"-I *(\S+)", command))]
    for name in re.findall(r'^\s*#\s*include\s+["<](.+)[">]', path.read_text(), re.M):
        candidates = (Path(os.path.normpath(folder / name)) for folder in folders)
        header = next((file for file in candidates if file.is_file()), None)
        if header and header.is_relative_to(ROOT) and header not in found:
            included(header, command, found)
    return found


def content_keys(entries: dict[str, dict]) -> dict[str, str]:
    """A hash of everything that the findings in a source depend on."""
    version = run(PROGRAM, "--version").stdout
    configuration = (ROOT / ".clang-tidy").read_text()
    keys = {}
    for name, entry in entries.items():
        digests = [
            hashlib.sha256(path.read_bytes()).hexdigest()
            for path in sorted(included(ROOT / name, entry["command"], set()))
        ]
        command = entry["command"].replace(str(ROOT), "")
        parts = [version, configuration, command, *digests]
        keys[name] = hashlib.sha256("\n".join(parts).encode()).hexdigest()
    return keys


def changed() -> set[str]:
    listed = run("git", "diff", "--name-only", "HEAD~1").stdout.split()
    return set(listed)


def findings(name: str) -> str:
    done = run(PROGRAM, "-p", WORK, "--quiet", ROOT / name)
    return "" if done.returncode == 0 else done.stdout + done.stderr


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=float("inf"), help="start none later")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    options = parser.parse_args()

    CONTENT.mkdir(parents=True, exist_ok=True)
    entries = sources()
    (WORK / "compile_commands.json").write_text(json.dumps(list(entries.values())))
    keys = content_keys(entries)
    first = changed()
    due = [name for name in keys if not (CONTENT / keys[name]).exists()]
    due.sort(key=lambda name: (name not in first, keys[name]))
    end = time.monotonic() + options.seconds
    failed, left = [], 0

    def check(name: str) -> tuple[str, str | None]:
        return name, findings(name) if time.monotonic() < end else None

    with ThreadPoolExecutor(options.jobs) as pool:
        for name, text in pool.map(check, due):
            if text is None:
                left += 1
            elif text:
                failed.append(name)
                print(text, flush=True)
            else:
                (CONTENT / keys[name]).touch()
    print(f"clang-tidy: {len(keys)} sources, {len(due) - left} looked at", end="")
    print(f", {left} left for the next run" if left else "")
    if failed:
        sys.exit("findings in " + " ".join(failed))


if __name__ == "__main__":
    main()
