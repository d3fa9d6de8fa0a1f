"""A language model with 4-bit weights through mlx-lm: prefill and decoding, beside the published mlx.

    python benchmarks/llm.py [--size small] [--dtype float32] [--published PYTHON] [--threads 2] [--json]

The model is a Llama of random weights, 1.1 billion of them at full size. Each runtime is a process
of its own, and they run alternately, on the same cores. PYTHON is that of an environment with the
published mlx and mlx-lm; without it, ours runs alone. Ratios above 1 mean that ours is faster; the
goal is 1. The type is that of the activations: the published mlx for CPUs is many times slower in
16 bits than in float32, so only ratios in float32 are meaningful.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time

CONFIGS = {
    "small": dict(layers=2, hidden=256, inner=512, heads=4, key_heads=2, words=512),
    "full": dict(layers=22, hidden=2048, inner=5632, heads=32, key_heads=4, words=32000),
}
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


def child(size: str, dtype: str) -> None:
    """Answers each line with the seconds of a prefill and of the tokens after it."""
    import mlx.core as mx
    from mlx_lm.generate import generate_step

    model = make_model(size, dtype)
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
        print(json.dumps(times), flush=True)


class Runtime:
    def __init__(self, python: str, size: str, dtype: str, threads: int) -> None:
        cores = sorted(os.sched_getaffinity(0))[:threads]
        counts = {f"{name}_NUM_THREADS": str(threads) for name in ("OMP", "OPENBLAS")}
        environment = os.environ | counts
        if python != sys.executable:
            environment.pop("PYTHONPATH", None)
        self.process = subprocess.Popen(
            [python, __file__, "--child", "--size", size, "--dtype", dtype],
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


def measure(runtimes: dict[str, Runtime], calls: int) -> dict[str, dict[str, float]]:
    """The median times of alternating calls, after one warm-up call."""
    found: dict[str, list[dict[str, float]]] = {name: [] for name in runtimes}
    for call in range(calls + 1):
        for name, runtime in runtimes.items():
            times = runtime.times()
            if call > 0:
                found[name].append(times)
    return {
        name: {part: statistics.median(t[part] for t in times) for part in times[0]}
        for name, times in found.items()
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=["small", "full"], default="full")
    parser.add_argument("--dtype", choices=["float32", "float16", "bfloat16"], default="float32")
    parser.add_argument("--published", metavar="PYTHON")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--calls", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        return child(options.size, options.dtype)
    pythons = {"ours": sys.executable}
    if options.published:
        pythons["published"] = options.published
    runtimes = {
        name: Runtime(python, options.size, options.dtype, options.threads)
        for name, python in pythons.items()
    }
    calls = 1 if options.size == "small" else options.calls
    medians = measure(runtimes, calls)
    for runtime in runtimes.values():
        runtime.process.stdin.close()
        runtime.process.wait()
    tokens = dict(zip(("prefill", "decoding"), TOKENS[options.size]))
    for part, count in tokens.items():
        rates = {name: count / times[part] for name, times in medians.items()}
        ratio = rates["ours"] / rates["published"] if "published" in rates else None
        if options.json:
            print(json.dumps({"name": part, "tokens_per_second": rates, "ratio": ratio}))
        else:
            texts = ", ".join(f"{name} {rate:.1f}" for name, rate in rates.items())
            beside = "" if ratio is None else f"  ratio {ratio:.2f}"
            print(f"{part:10} {count:4} tokens: {texts} tokens/s{beside}")


if __name__ == "__main__":
    main()
