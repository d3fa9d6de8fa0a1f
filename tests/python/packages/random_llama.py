"""A folder with a small Llama of random weights and a tokenizer, in the layout of the hub.

The file imports neither `mlx` nor anything that does: both libraries load the same numbers.
"""

import json
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

TEXTS = [
    "The quick brown fox jumps over the lazy dog, and the dog sleeps on.",
    "Kernels run on machines of every kind; what they compute is the same everywhere.",
    "user assistant system question answer one two three four five six seven eight nine ten",
]
SPECIAL = ["<|end|>", "<|user|>", "<|assistant|>"]
CHAT = (
    "{% for m in messages %}<|{{ m['role'] }}|>{{ m['content'] }}<|end|>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
CONFIG = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 256,
    "num_hidden_layers": 4,
    "intermediate_size": 512,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 512,
    "rms_norm_eps": 1e-5,
    "rope_theta": 10000.0,
    "max_position_embeddings": 2048,
    "tie_word_embeddings": False,
    "torch_dtype": "float32",
}


def tokenizer() -> Tokenizer:
    """A tokenizer of bytes, so that every text has tokens."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=480, initial_alphabet=alphabet, show_progress=False)
    made.train_from_iterator(TEXTS * 3, trainer)
    made.add_special_tokens(SPECIAL)
    return made


def shapes(config: dict) -> dict[str, tuple[int, ...]]:
    """The shapes of all weights, by Llama's names."""
    hidden, inner, words = (config[k] for k in ("hidden_size", "intermediate_size", "vocab_size"))
    head = hidden // config["num_attention_heads"]
    keys = head * config["num_key_value_heads"]
    found: dict[str, tuple[int, ...]] = {
        "model.embed_tokens.weight": (words, hidden),
        "lm_head.weight": (words, hidden),
        "model.norm.weight": (hidden,),
    }
    for layer in range(config["num_hidden_layers"]):
        found |= {
            f"model.layers.{layer}.{name}.weight": shape
            for name, shape in {
                "self_attn.q_proj": (hidden, hidden),
                "self_attn.k_proj": (keys, hidden),
                "self_attn.v_proj": (keys, hidden),
                "self_attn.o_proj": (hidden, hidden),
                "mlp.gate_proj": (inner, hidden),
                "mlp.up_proj": (inner, hidden),
                "mlp.down_proj": (hidden, inner),
                "input_layernorm": (hidden,),
                "post_attention_layernorm": (hidden,),
            }.items()
        }
    return found


def weights(config: dict) -> dict[str, np.ndarray]:
    """Random weights, large enough that consecutive tokens differ."""
    rng = np.random.default_rng(0)
    return {
        name: np.ones(shape, np.float32)
        if len(shape) == 1
        else (rng.standard_normal(shape) * 2 / np.sqrt(shape[-1])).astype(np.float32)
        for name, shape in shapes(config).items()
    }


def write_llama(folder: Path, **changes: object) -> Path:
    """Writes the model, whose configuration may be changed, and returns its folder."""
    folder.mkdir(parents=True, exist_ok=True)
    words = tokenizer()
    end = words.token_to_id(SPECIAL[0])
    config = CONFIG | {"eos_token_id": end, "bos_token_id": end} | changes
    (folder / "config.json").write_text(json.dumps(config))
    words.save(str(folder / "tokenizer.json"))
    names = {"tokenizer_class": "PreTrainedTokenizerFast", "chat_template": CHAT}
    names |= {"eos_token": SPECIAL[0], "pad_token": SPECIAL[0]}
    (folder / "tokenizer_config.json").write_text(json.dumps(names))
    save_file(weights(config), folder / "model.safetensors", {"format": "mlx"})
    return folder
