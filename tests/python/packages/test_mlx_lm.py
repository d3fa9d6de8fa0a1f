"""mlx-lm runs as it is published: it loads, generates, serves, trains, fuses, converts and quantises.

The model is a small Llama with random weights. The results of the published MLX are in the
folder ``golden``. Where ``MLX_PUBLISHED_PYTHON`` is the path of a Python whose environment has it
(``pip install "mlx[cpu]==0.32.4" mlx-lm``), that finds the tokens again.
"""

import contextlib
import importlib
import io
import json
import os
import re
import runpy
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import pytest

# The libraries read this when they are imported.
OFFLINE = {"HF_HUB_OFFLINE": "1", "TOKENIZERS_PARALLELISM": "false"}
os.environ.update(OFFLINE)

pytest.importorskip("mlx_lm", reason="mlx-lm is not installed")

import greedy_tokens  # noqa: E402
import mlx.core as mx  # noqa: E402
from mlx_lm import generate  # noqa: E402
from mlx_lm.utils import load  # noqa: E402
from random_llama import SPECIAL, TEXTS, tokenizer, write_llama  # noqa: E402

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "golden" / "greedy_tokens.json"
PUBLISHED = os.environ.get("MLX_PUBLISHED_PYTHON")
EXAMPLE = HERE.parents[2] / "examples" / "generate.py"


@pytest.fixture(scope="module")
def llama(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_llama(tmp_path_factory.mktemp("llama"))


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    lines = "".join(json.dumps({"text": text}) + "\n" for text in TEXTS * 2)
    for part in ("train", "valid", "test"):
        (folder / f"{part}.jsonl").write_text(lines)
    return folder


@contextlib.contextmanager
def called_with(*arguments: object) -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """What the program of this process writes: its output and its messages."""
    output, messages = io.StringIO(), io.StringIO()
    with (
        mock.patch.object(sys, "argv", [*map(str, arguments)]),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(messages),
    ):
        yield output, messages


def run(command: str, *arguments: object) -> str:
    """The output of a command of mlx-lm, in this process: a new one would import for seconds."""
    with called_with(command, *arguments) as (output, _):
        importlib.import_module(f"mlx_lm.{command}").main()
    return output.getvalue()


def started(*command: object) -> str:
    """The output of Python with these arguments, in a process of its own."""
    done = subprocess.run(
        [sys.executable, *map(str, command)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_greedy_tokens(tmp_path: Path):
    found = greedy_tokens.tokens(tmp_path)
    assert found == json.loads(GOLDEN.read_text())
    # Constant tokens would prove little.
    assert all(len(set(tokens)) > 20 for tokens in found.values())


@pytest.mark.skipif(
    PUBLISHED is None, reason="MLX_PUBLISHED_PYTHON does not name a Python with the published mlx"
)
def test_greedy_tokens_of_the_published_mlx(tmp_path: Path):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    command = [PUBLISHED, str(HERE / "greedy_tokens.py"), str(tmp_path)]
    done = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    assert json.loads(done.stdout.splitlines()[-1]) == json.loads(GOLDEN.read_text())


def test_generate(llama: Path):
    arguments = ("--model", llama, "--prompt", "The quick brown", "--max-tokens", 8)
    greedy = started("-m", "mlx_lm", "generate", *arguments, "--temp", 0)
    assert "Generation: 8 tokens" in greedy
    text = greedy.split("=" * 10)[1]
    model, words = load(str(llama))
    prompt = [{"role": "user", "content": "The quick brown"}]
    tokens = words.apply_chat_template(prompt, add_generation_prompt=True)
    assert text.strip("\n") == generate(model, words, tokens, max_tokens=8).strip("\n")
    for cache in (("--max-kv-size", 8), ("--kv-bits", 4, "--quantized-kv-start", 0)):
        assert "Generation: 8 tokens" in run("generate", *arguments, *cache)
    sampled = ("--temp", 1, "--top-p", 0.9, "--top-k", 20, "--min-p", 0.01, "--seed", 3)
    first, second = (run("generate", *arguments, *sampled).split("=" * 10)[1] for _ in range(2))
    assert first == second


def test_speculative_decoding_finds_the_same_tokens(llama: Path, tmp_path: Path):
    small = write_llama(tmp_path / "draft", num_hidden_layers=1)
    arguments = ("--model", llama, "--prompt", "dogs", "--max-tokens", 12, "--temp", 0)
    plain, drafted = (
        run("generate", *arguments, *draft).split("=" * 10)[1]
        for draft in ((), ("--draft-model", small))
    )
    assert plain == drafted


@pytest.fixture
def server(llama: Path, tmp_path: Path) -> Iterator[str]:
    """The address of a server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlx_lm", "server", "--model", llama, "--port", port]
    with (tmp_path / "log").open("w") as log:
        process = subprocess.Popen(list(map(str, command)), stdout=log, stderr=log)
    address = f"http://127.0.0.1:{port}"
    try:
        for _ in range(600):
            try:
                urllib.request.urlopen(f"{address}/health", timeout=5).read()
                break
            except OSError:
                assert process.poll() is None, (tmp_path / "log").read_text()
                time.sleep(0.1)
        yield address
    finally:
        process.terminate()
        process.wait(timeout=30)


def answer(address: str, **request: object) -> dict:
    call = urllib.request.Request(
        address, json.dumps(request).encode(), {"Content-Type": "application/json"}
    )
    return json.load(urllib.request.urlopen(call, timeout=120))


def test_server(server: str, llama: Path):
    request = {"prompt": greedy_tokens.PROMPT, "max_tokens": 8, "temperature": 0}
    completion = answer(f"{server}/v1/completions", **request)
    assert completion["usage"]["completion_tokens"] == 8
    model, words = load(str(llama))
    text = generate(model, words, greedy_tokens.PROMPT, max_tokens=8)
    assert completion["choices"][0]["text"] == text
    messages = [{"role": "user", "content": "one two"}]
    chat = answer(f"{server}/v1/chat/completions", messages=messages, max_tokens=4)
    assert chat["choices"][0]["message"]["role"] == "assistant"
    assert chat["usage"]["prompt_tokens"] == 3 + len(tokenizer().encode("one two").ids)


def plain(text: str) -> str:
    """Removes colour codes."""
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def training_losses(text: str) -> list[float]:
    """The rows of the table: iteration, loss, tokens per second, tokens."""
    rows = re.findall(r"^ +\d+ +([\d.]+)(?: [▼▲])? +[\d,]+ +", plain(text), re.MULTILINE)
    return [float(loss) for loss in rows]


def loss_of_test(text: str) -> float:
    return float(re.search(r"Test loss ([\d.]+)", plain(text)).group(1))


@pytest.mark.parametrize("kind, bits", [("lora", 4), ("full", None)])
def test_training_and_fusing(llama: Path, data: Path, tmp_path: Path, kind: str, bits: int | None):
    model = llama
    if bits:
        model = tmp_path / "quantised"
        run("convert", "--model", llama, "--mlx-path", model, "-q", "--q-bits", bits)
    adapter, fused = tmp_path / "adapter", tmp_path / "fused"
    arguments = ("--model", model, "--data", data, "--adapter-path", adapter)
    training = run(
        "lora", *arguments, "--train", "--fine-tune-type", kind, "--iters", 12, "--batch-size", 2,
        "--num-layers", 2, "--learning-rate", 1e-3, "--steps-per-report", 4, "--seed", 1,
        *(("--grad-checkpoint",) if kind == "lora" else ()),
    )  # fmt: skip
    falling = training_losses(training)
    assert len(falling) == 3 and falling[-1] < falling[0]
    assert loss_of_test(run("lora", *arguments, "--test")) < falling[0]
    run("fuse", "--model", model, "--adapter-path", adapter, "--save-path", fused)
    tokens = mx.array([tokenizer().encode(TEXTS[0]).ids])
    wanted = load(str(model), adapter_path=str(adapter))[0](tokens)
    difference = mx.abs(load(str(fused))[0](tokens) - wanted).max() / mx.abs(wanted).max()
    # Fusing quantises weights again.
    assert difference.item() < (0.3 if bits else 1e-4)


@pytest.mark.parametrize(
    "options, kept",
    [
        (("--q-bits", 8, "--q-group-size", 32), {"bits": 8, "group_size": 32, "mode": "affine"}),
        (("--q-mode", "nvfp4"), {"bits": 4, "group_size": 16, "mode": "nvfp4"}),
    ],
    ids=str,
)
def test_conversion(llama: Path, tmp_path: Path, options: tuple, kept: dict):
    quantised, whole = tmp_path / "quantised", tmp_path / "whole"
    run("convert", "--model", llama, "--mlx-path", quantised, "-q", *options)
    config = json.loads((quantised / "config.json").read_text())["quantization"]
    assert {key: config[key] for key in kept} == kept
    run("convert", "--model", quantised, "--mlx-path", whole, "-d", "--dtype", "float16")
    assert "quantization" not in json.loads((whole / "config.json").read_text())
    for folder in (quantised, whole):
        model, words = load(str(folder))
        assert generate(model, words, "dog", max_tokens=4)


def example(*arguments: object) -> tuple[str, str]:
    """What the example writes, in this process: its output and its messages."""
    with called_with(EXAMPLE, *arguments) as (output, messages):
        runpy.run_path(str(EXAMPLE), run_name="__main__")
    return output.getvalue(), messages.getvalue()


def test_the_example(llama: Path, tmp_path: Path):
    model, words = load(str(llama))
    output, messages = example(llama, "The quick brown", "--tokens", 8)
    assert output == generate(model, words, "The quick brown", max_tokens=8) + "\n"
    assert re.search(r"^8 tokens, [\d.]+ a second; prompt: \d+ tokens", messages, re.MULTILINE)
    chosen = (llama, "one two", "--chat", "--tokens", 3, "--temperature", 0.5, "--seed", 2)
    answer, messages = example(*chosen)
    assert "3 tokens" in messages
    assert started(EXAMPLE, *chosen) == answer
    with (
        pytest.raises(SystemExit, match="2"),
        called_with(EXAMPLE, tmp_path, "one") as (_, refused),
    ):
        runpy.run_path(str(EXAMPLE), run_name="__main__")
    assert "holds no config.json" in refused.getvalue()


def test_the_tokenizer_keeps_texts(llama: Path):
    _, words = load(str(llama))
    for text in (*TEXTS, "Grüße, 你好"):
        assert words.decode(words.encode(text)) == text
    assert words.eos_token == SPECIAL[0]


@pytest.mark.parametrize("classes", [100, 5000])
def test_losses_of_distillation(rng, classes):
    """Kernels that overwrite threadgroup memory before other SIMD-groups have read it."""
    from mlx_lm.tuner.losses import js_div_loss, kl_div_loss

    q, p = (rng.standard_normal((2, 3, classes)).astype(np.float32) for _ in range(2))

    def log_softmax(x):
        x = x.astype(np.float64)
        return x - np.log(np.exp(x).sum(-1, keepdims=True))

    def divergence(a, b):
        return (np.exp(a) * (a - b)).sum(-1)

    log_q, log_p = log_softmax(q), log_softmax(p)
    middle = np.logaddexp(log_q, log_p) - np.log(2)
    jensen_shannon = (divergence(log_p, middle) + divergence(log_q, middle)) / 2
    arrays = mx.array(q), mx.array(p)
    np.testing.assert_allclose(kl_div_loss(*arrays), divergence(log_p, log_q), 1e-4)
    np.testing.assert_allclose(js_div_loss(*arrays), jensen_shannon, 1e-4)
    gradient = mx.grad(lambda x: kl_div_loss(x, arrays[1]).sum())(arrays[0])
    np.testing.assert_allclose(gradient, np.exp(log_q) - np.exp(log_p), 1e-3, 1e-7)
