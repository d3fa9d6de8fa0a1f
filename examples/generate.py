"""Continues a text with a language model in a local folder, through mlx-lm.

    python examples/generate.py FOLDER "Once upon a time"
    python examples/generate.py FOLDER "Who are you?" --chat --tokens 200 --temperature 0.7

The folder has a model's files from the hub: config.json, the weights as .safetensors, the
tokenizer. ``python -m mlx_lm convert --model FOLDER --mlx-path SMALLER -q`` rounds its weights to 4
bits. Needs mlx-lm: ``pip install --group packages``.
"""

import argparse
import sys
from pathlib import Path

import mlx.core as mx

try:
    from mlx_lm import load, stream_generate
    from mlx_lm.sample_utils import make_sampler
except ImportError as error:
    sys.exit(f"{error}. This example needs mlx-lm: pip install --group packages")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("folder", type=Path, help="where the model is")
    parser.add_argument("prompt", help="the text to continue, or with --chat to answer")
    parser.add_argument("--chat", action="store_true", help="use the model's template for chats")
    parser.add_argument("--tokens", type=int, default=100, help="how many at the most")
    parser.add_argument("--temperature", type=float, default=0.0, help="0: the likeliest tokens")
    parser.add_argument("--seed", type=int, help="of the random choices above temperature 0")
    options = parser.parse_args()
    if not (options.folder / "config.json").is_file():
        parser.error(f"{options.folder} holds no config.json: it is not the folder of a model")
    return options


def main() -> None:
    options = parse()
    if options.seed is not None:
        mx.random.seed(options.seed)
    model, tokenizer = load(str(options.folder))
    prompt = options.prompt
    if options.chat:
        messages = [{"role": "user", "content": prompt}]
        prompt = tokenizer.apply_chat_template(messages, add_generation_prompt=True)
    sampler = make_sampler(temp=options.temperature)
    for part in stream_generate(model, tokenizer, prompt, options.tokens, sampler=sampler):
        print(part.text, end="", flush=True)
    print()
    print(
        f"{part.generation_tokens} tokens, {part.generation_tps:.1f} a second; "
        f"prompt: {part.prompt_tokens} tokens, {part.prompt_tps:.1f} a second",
        file=sys.stderr,
    )


if __name__ == "__main__":
    main()
