"""The tokens that mlx-lm finds most likely, one after the other: the published MLX must find the same.

Both run the file, each in a process of its own: ``python greedy_tokens.py FOLDER`` makes the model in the
folder and prints the tokens as JSON.
"""

import json
import sys
from pathlib import Path

import mlx.core as mx
from mlx_lm.convert import convert
from mlx_lm.generate import generate_step
from mlx_lm.utils import load
from random_llama import write_llama

PROMPT = "The quick brown dog sleeps, and the fox jumps over machines of every kind"
TOKENS = 48
# The rotating cache is full before the prompt ends.
CACHES = {
    "plain": {},
    "rotating": {"max_kv_size": 16},
    "4-bit": {"kv_bits": 4, "quantized_kv_start": 0},
    "8-bit, later": {"kv_bits": 8, "kv_group_size": 32, "quantized_kv_start": 20},
    "prompt in pieces": {"prefill_step_size": 5},
}
WEIGHTS = {
    "float32": None,
    "4-bit": {"q_bits": 4, "q_group_size": 64},
    "8-bit": {"q_bits": 8, "q_group_size": 32},
}


def tokens(folder: Path) -> dict[str, list[int]]:
    """The tokens after the prompt, for all weights and caches."""
    plain = write_llama(folder / "float32")
    found = {}
    for weights, options in WEIGHTS.items():
        path = folder / weights
        if options:
            convert(str(plain), mlx_path=str(path), quantize=True, **options)
        model, words = load(str(path))
        prompt = mx.array(words.encode(PROMPT))
        for cache, arguments in CACHES.items():
            steps = generate_step(prompt, model, max_tokens=TOKENS, **arguments)
            found[f"{weights} weights, {cache} cache"] = [int(token) for token, _ in steps]
    return found


if __name__ == "__main__":
    print(json.dumps(tokens(Path(sys.argv[1]))))
