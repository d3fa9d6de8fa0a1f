"""A language model with 4-bit weights through mlx-lm: prefill and decoding, beside its peers.

    python benchmarks/llm.py [--size small] [--dtype float32] [--published PYTHON] [--llama PYTHON]
                             [--threads 2] [--calls 3] [--json]

The model is a Llama of random weights, 1.1 billion of them at full size. Each runtime is a process
of its own, and they run alternately, on the same cores. Each peer needs the PYTHON of an environment
with its packages, and is left out without one: the published mlx and mlx-lm, or llama-cpp-python
and gguf for llama.cpp (`make bench-peers` makes that one: build/benchmarks/llama/bin/python).
Ratios above 1 mean that ours is faster; the goal is 1. The type is that of the activations: the
published mlx for CPUs is many times slower in 16 bits than in float32, so only its ratios in
float32 are meaningful. llama.cpp always has float32 activations, which it rounds to 8 bits for
products.

Decoding reads all matrices for each token. The last line has their bytes a second, divided by
memcpy's bytes a second on the same number of threads, as in quantized.py; the goal is 0.8. Scales
count: with groups of 64, a weight has 4.5 bits if they have 16 bits, and 5 bits in float32.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from pathlib import Path

from bench.machine import Machine

CONFIGS = {
    "small": dict(layers=2, hidden=256, inner=512, heads=4, key_heads=2, words=512),
    "full": dict(layers=22, hidden=2048, inner=5632, heads=32, key_heads=4, words=32000),
}
PAUSE = 0.05  # threads of the last runtime may still spin
TOKENS = {"small": (32, 8), "full": (512, 128)}  # of the prompt, decoded


def make_model(size: str, dtype: str):
    """Random packed weights: they are not quantised from floats."""
    import mlx.core as mx
    import mlx.nn as nn
    from mlx.utils import tree_map
    from mlx_lm.models import llama

    c = CONFIGS[size]
    arguments = llama.ModelArgs(
        model_type="llama",
        hidden_size=c["hidden"],
        num_hidden_layers=c["layers"],
        intermediate_size=c["inner"],
        num_attention_heads=c["heads"],
        num_key_value_heads=c["key_heads"],
        vocab_size=c["words"],
        rms_norm_eps=1e-5,
        tie_word_embeddings=False,
    )
    model = llama.Model(arguments)
    nn.quantize(model, group_size=64, bits=4)

    def random(a: mx.array) -> mx.array:
        if a.dtype == mx.uint32:
            return mx.random.randint(0, 2**31 - 1, a.shape).astype(mx.uint32)
        values = mx.ones(a.shape) if a.ndim == 1 else mx.random.uniform(-1, 1, a.shape) * 0.01
        return values.astype(getattr(mx, dtype))

    model.update(tree_map(random, model.parameters()))
    mx.eval(model.parameters())
    return model


def decoding_bytes(model) -> int:
    """The bytes of the parameters that every decoded token reads: all but the table of tokens."""
    from mlx.utils import tree_flatten

    parameters = tree_flatten(model.parameters())
    return sum(a.nbytes for name, a in parameters if not name.startswith("model.embed_tokens"))


def child(size: str, dtype: str) -> None:
    """Answers each line with the seconds of a prefill and of the tokens after it."""
    import mlx.core as mx
    from mlx_lm.generate import generate_step

    model = make_model(size, dtype)
    weights = {"bytes": decoding_bytes(model)}
    prompt_tokens, decoded = TOKENS[size]
    prompt = mx.arange(1, prompt_tokens + 1)
    for _ in sys.stdin:
        start = time.perf_counter()
        steps = generate_step(prompt, model, max_tokens=decoded + 1)
        int(next(steps)[0])
        first = time.perf_counter()
        for token, _ in steps:
            int(token)
        times = {"prefill": first - start, "decoding": time.perf_counter() - first}
        print(json.dumps(times | weights), flush=True)


class Runtime:
    """A process that answers each line with the times of one run."""

    def __init__(self, python: str, script: str, options: list[str], threads: int) -> None:
        cores = sorted(os.sched_getaffinity(0))[:threads]
        counts = {f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "OPENBLAS")}
        environment = os.environ | counts
        if python != sys.executable:
            environment.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [python, Path(__file__).with_name(script), *options],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            preexec_fn=lambda: os.sched_setaffinity(0, cores),
        )

    def times(self) -> dict[str, float]:
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"{self.process.args[0]} ended: see what it printed above")
        return json.loads(line)

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def start(options: argparse.Namespace) -> dict[str, Runtime]:
    """Ours and the peers that have an environment."""
    threads = options.threads
    mlx = ["--child", "--size", options.size, "--dtype", options.dtype]
    runtimes = {"ours": Runtime(sys.executable, "llm.py", mlx, threads)}
    if options.published:
        runtimes["published"] = Runtime(options.published, "llm.py", mlx, threads)
    if options.llama:
        llama = ["--size", options.size, "--threads", str(threads)]
        runtimes["llama.cpp"] = Runtime(options.llama, "llm_llama_cpp.py", llama, threads)
    return runtimes


def measure(
    runtimes: dict[str, Runtime], machine: Machine, calls: int
) -> dict[str, dict[str, float]]:
    """The median times of alternating calls, after one warm-up call."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in runtimes}
    for call in range(calls + 1):
        for name, runtime in runtimes.items():
            times = runtime.times()
            time.sleep(PAUSE)
            if call > 0:
                found[name].append(times)
        machine.measure()
    return {
        name: {part: statistics.median(t[part] for t in times) for part in times[0]}
        for name, times in found.items()
    }


def print_rates(part: str, tokens: int, rates: dict[str, float], as_json: bool) -> None:
    ratios = {name: rates["ours"] / rate for name, rate in rates.items() if name != "ours"}
    if as_json:
        print(json.dumps({"name": part, "tokens_per_second": rates, "ratios": ratios}))
        return
    texts = ", ".join(f"{name} {rate:.1f}" for name, rate in rates.items())
    beside = "".join(f"  ratio to {name} {ratio:.2f}" for name, ratio in ratios.items())
    print(f"{part:10} {tokens:4} tokens: {texts} tokens/s{beside}")


def print_shares(medians: dict[str, dict[str, float]], decoded: int, copied: float, as_json: bool):
    """Bytes of weights a second in decoding, beside those that memcpy copies in a second."""
    rates = {name: decoded * m["bytes"] / m["decoding"] for name, m in medians.items()}
    shares = {name: rate / copied for name, rate in rates.items()}
    if as_json:
        print(json.dumps({"name": "weights", "bytes_per_second": rates, "share_of_copy": shares}))
        return
    texts = ", ".join(f"{n} {rates[n] / 1e9:.1f} GB/s, {shares[n]:.0%} of copy" for n in rates)
    print(f"weights read in decoding: {texts} ({copied / 1e9:.1f} GB/s)")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=["small", "full"], default="full")
    parser.add_argument("--dtype", choices=["float32", "float16", "bfloat16"], default="float32")
    parser.add_argument("--published", metavar="PYTHON")
    parser.add_argument("--llama", metavar="PYTHON")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.size, options.dtype)
    runtimes, machine = start(options), Machine(options.threads)
    medians = measure(runtimes, machine, 1 if options.size == "small" else options.calls)
    for runtime in runtimes.values():
        runtime.close()
    tokens = dict(zip(("prefill", "decoding"), TOKENS[options.size]))
    for part, count in tokens.items():
        rates = {name: count / times[part] for name, times in medians.items()}
        print_rates(part, count, rates, options.json)
    copied = machine.bytes_per_ms * 1e3 / 2  # it counts a byte twice: read, and written
    print_shares(medians, tokens["decoding"], copied, options.json)


if __name__ == "__main__":
    main()
