"""Runs the rows of a benchmark: checks every peer, then times them alternately."""

import argparse
import json
import math
import os
import statistics
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from .machine import Machine
from .options import add_calls, add_size, calls_of
from .peers import INSTALL, Peers
from .row import Row

PAUSE = 0.05  # the last peer's threads may still spin: OpenMP's do so for 10 ms


@dataclass
class Result:
    row: Row
    medians: dict[str, float] = field(default_factory=dict)
    spread: dict[str, float] = field(default_factory=dict)
    wrong: dict[str, str] = field(default_factory=dict)
    first: float = 0.0  # milliseconds of our first launch, compilation included
    memory: dict[str, int] = field(default_factory=dict)  # peak bytes, by peer

    def ratio(self, peer: str) -> float | None:
        """The peer's time divided by ours."""
        if peer not in self.medians or "ours" not in self.medians:
            return None
        return self.medians[peer] / self.medians["ours"]

    def memory_share(self, peer: str) -> float | None:
        """Our peak memory divided by the peer's."""
        if not self.memory.get(peer) or "ours" not in self.memory:
            return None
        return self.memory["ours"] / self.memory[peer]


def takes_part(row: Row, peer: str) -> bool:
    ways = {
        "Intel": row.opencl,
        "PoCL": row.opencl,
        "PyTorch": row.torch,
        "kept": row.torch,
        "SciPy": row.scipy,
        "nanoflann": row.nanoflann,
    }
    return bool(ways.get(peer, True))


def run_row(row: Row, peers: Peers, calls: int) -> Result:
    result = Result(row)
    ready = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "inputs").mkdir()
        inputs = row.inputs()
        for key, value in inputs.items():
            np.save(folder / "inputs" / f"{key}.npy", value)
        expected = row.reference(inputs)
        for peer in (peer for peer in peers.names() if takes_part(row, peer)):
            reply = peers.get(peer).ask(do="prepare", row=row.name, folder=name)
            problem = reply.get("error", "")
            if not problem:
                got = {key: np.load(folder / f"{key}.npy") for key in expected}
                problem = row.check(got, expected)
            if problem:
                result.wrong[peer] = problem
            if "error" not in reply:
                ready.append(peer)
                if peer == "ours":
                    result.first = reply["first"]
    if row.memory:
        for peer in (peer for peer in ready if peer != "kept"):
            reply = peers.get(peer).ask(do="memory")
            if "bytes" in reply:
                result.memory[peer] = reply["bytes"]
    times: dict[str, list[float]] = {peer: [] for peer in ready}
    for call in range(calls + 1):
        for peer in ready:
            time.sleep(PAUSE)
            reply = peers.get(peer).ask(do="run")
            if call and "ms" in reply:
                times[peer].append(reply["ms"])
    for peer, values in times.items():
        if values:
            result.medians[peer] = statistics.median(values)
            low, _, high = statistics.quantiles(values, n=4) if len(values) > 1 else values * 3
            result.spread[peer] = (high - low) / result.medians[peer]
    return result


def share(result: Result, machine: Machine) -> str:
    """Our speed as a share of the machine's limit."""
    if "ours" not in result.medians:
        return "-"
    if result.row.flops:
        return f"{result.row.flops / result.medians['ours'] / machine.flops_per_ms:5.0%} of FMA"
    return f"{result.row.moved / result.medians['ours'] / machine.bytes_per_ms:5.0%} of copy"


def print_result(result: Result, names: list[str], machine: Machine) -> None:
    own = result.medians.get("ours")
    line = f"{result.row.name:30} " + (f"{own:9.3f}" if own else f"{'-':>9}")
    for peer in names[1:]:
        ratio = result.ratio(peer)
        line += f"{'-':>18}" if ratio is None else f"{result.medians[peer]:10.3f} {ratio:6.2f}x"
    noisy = max(result.spread.values(), default=0) > 0.3
    line += f"   {share(result, machine):14} {result.first:7.0f}{'  noisy' if noisy else ''}"
    misses = [
        f"{peer} {result.ratio(peer):.2f} < {least}"
        for peer, least in result.row.targets.items()
        if result.ratio(peer) is not None and result.ratio(peer) < least
    ]
    for peer in names[1:]:
        part = result.memory_share(peer)
        if part is not None:
            line += f"  memory {result.memory['ours'] / 1e6:.2f} MB, {part:.2f} of {peer}'s"
            if part > result.row.memory:
                misses.append(f"memory {part:.2f} > {result.row.memory} of {peer}'s")
    print(line + (f"  MISSED: {', '.join(misses)}" if misses else ""), flush=True)
    for peer, problem in result.wrong.items():
        print(f"    {peer}: {problem}", flush=True)


def geometric_mean(results: list[Result], peer: str) -> str:
    ratios = [r.ratio(peer) for r in results if r.ratio(peer) is not None]
    if not ratios:
        return f"{peer}: none"
    mean = math.exp(statistics.fmean(map(math.log, ratios)))
    return f"{peer} {mean:.2f}x over {len(ratios)} (least {min(ratios):.2f}x)"


def main(description: str, module: str, rows, stream: str = "gpu") -> None:
    """`stream` is the device whose stream we use unless an option names the other one."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--only", action="append", default=[], help="rows whose name has this")
    add_size(parser)
    add_calls(parser)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--stream", choices=["cpu", "gpu"], default=stream)
    parser.add_argument("--json", action="store_true", help="a line of JSON for each row")
    options = parser.parse_args()

    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: options.threads])
    machine = Machine(options.threads)
    for _ in range(5):
        machine.measure()
    chosen = [
        r for r in rows(options.size) if not options.only or any(o in r.name for o in options.only)
    ]
    peers = Peers(module, options.size, options.threads, options.stream)
    for name, why in peers.missing.items():
        if not options.json and any(takes_part(row, name) for row in chosen):
            print(f"without {name}: {why}; `{INSTALL}` installs it")
    names = [n for n in peers.names() if any(takes_part(row, n) for row in chosen)]
    if not options.json:
        print(
            f"{'kernel':30} {'ours ms':>9}"
            + "".join(f"{name + ' ms':>10}  ratio" + " " for name in names[1:])
            + "   of the machine  first ms"
        )
    results = []
    try:
        for row in chosen:
            machine.measure()
            result = run_row(row, peers, calls_of(options, 15))
            results.append(result)
            if options.json:
                ratios = {p: result.ratio(p) for p in result.medians if p != "ours"}
                fields = vars(result) | {"row": row.name, "ratios": ratios}
                print(json.dumps(fields | {"share": share(result, machine)}), flush=True)
            else:
                print_result(result, names, machine)
    finally:
        peers.close()
    if not options.json:
        print("geometric means: " + "; ".join(geometric_mean(results, n) for n in names[1:]))
        print(
            f"copy: {machine.bytes_per_ms / 1e6:.1f} GB/s read and written; "
            f"multiply-add: {machine.flops_per_ms / 1e6:.0f} GFLOP/s; {options.threads} threads; "
            f"ours on a stream of mx.{options.stream}"
        )
    if any("ours" in result.wrong for result in results):
        raise SystemExit("wrong results")
