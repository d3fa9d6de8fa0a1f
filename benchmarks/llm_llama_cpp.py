"""llama.cpp as a peer of llm.py, which starts it: answers each line with the times of one run.

The model is that of llm_gguf.py. llama.cpp's own defaults hold for all else: keys and values are
kept in 16 bits, and matrices are repacked while they are loaded if the processor has instructions
for that layout.

Its threads spin while they wait for each other, so its times are several times longer while other
programs use the same cores: the machine must be idle otherwise.
"""

import argparse
import ctypes
import json
import sys
import tempfile
import time
from pathlib import Path

import llama_cpp as lib
from llama_cpp._logger import set_verbose
from llm import TOKENS
from llm_gguf import decoding_bytes, write_model


class Model:
    def __init__(self, size: str, threads: int) -> None:
        set_verbose(False)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "model.gguf")
            write_model(path, size)
            parameters = lib.llama_model_default_params()
            self.model = lib.llama_model_load_from_file(str(path).encode(), parameters)
        context = lib.llama_context_default_params()
        context.n_ctx = sum(TOKENS[size])
        context.n_threads = context.n_threads_batch = threads
        self.context = lib.llama_init_from_model(self.model, context)
        self.sampler = lib.llama_sampler_init_greedy()
        if not self.model or not self.context:
            sys.exit("llama.cpp did not load the model")

    def clear(self) -> None:
        lib.llama_memory_clear(lib.llama_get_memory(self.context), False)

    def next_token(self, tokens: list[int]) -> int:
        """The likeliest token after these, which follow those of earlier calls."""
        values = (ctypes.c_int32 * len(tokens))(*tokens)
        status = lib.llama_decode(self.context, lib.llama_batch_get_one(values, len(tokens)))
        if status != 0:
            sys.exit(f"llama_decode returned {status}")
        return lib.llama_sampler_sample(self.sampler, self.context, -1)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--size", choices=list(TOKENS), default="full")
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    model = Model(options.size, options.threads)
    print(lib.llama_print_system_info().decode(), file=sys.stderr)
    prompt_tokens, decoded = TOKENS[options.size]
    for _ in sys.stdin:
        model.clear()
        start = time.perf_counter()
        token = model.next_token(list(range(1, prompt_tokens + 1)))
        first = time.perf_counter()
        for _ in range(decoded):
            token = model.next_token([token])
        times = {"prefill": first - start, "decoding": time.perf_counter() - first}
        print(json.dumps(times | {"bytes": decoding_bytes(options.size)}), flush=True)


if __name__ == "__main__":
    main()
