"""The model of llm.py as a gguf file: a Llama of random weights that llama.cpp can load.

Every matrix is Q4_0, the first and the last included, as in files made with llama-quantize's
`--pure`: blocks of 32 weights of 4 bits and one 16-bit scale, 4.5 bits a weight. Without `--pure`,
the last matrix would be Q6_K; ours has 4 bits there. The file has no vocabulary, only its size.
"""

from pathlib import Path

import gguf
import numpy as np
from llm import CONFIGS

BLOCK, SCALE = 32, np.float16(0.002)
Q4_0 = gguf.GGMLQuantizationType.Q4_0


def random_matrix(random: np.random.Generator, rows: int, columns: int) -> np.ndarray:
    """Packed rows: each block is its scale's two bytes, then sixteen with two weights each."""
    blocks = random.integers(0, 256, (rows * columns // BLOCK, 2 + BLOCK // 2), np.uint8)
    blocks[:, :2] = np.frombuffer(SCALE.tobytes(), np.uint8)
    return blocks.reshape(rows, -1)


def matrices(size: str) -> dict[str, tuple[int, int]]:
    """Names and shapes; a shape is the lengths of the result and of the vector it multiplies."""
    c = CONFIGS[size]
    hidden, inner = c["hidden"], c["inner"]
    keys = hidden // c["heads"] * c["key_heads"]
    layer = {
        "attn_q": (hidden, hidden),
        "attn_k": (keys, hidden),
        "attn_v": (keys, hidden),
        "attn_output": (hidden, hidden),
        "ffn_gate": (inner, hidden),
        "ffn_up": (inner, hidden),
        "ffn_down": (hidden, inner),
    }
    shapes = {"token_embd": (c["words"], hidden), "output": (c["words"], hidden)}
    for index in range(c["layers"]):
        shapes |= {f"blk.{index}.{name}": shape for name, shape in layer.items()}
    return shapes


def write_model(path: Path, size: str) -> None:
    c = CONFIGS[size]
    writer = gguf.GGUFWriter(path, "llama")
    writer.add_context_length(2048)
    writer.add_embedding_length(c["hidden"])
    writer.add_block_count(c["layers"])
    writer.add_feed_forward_length(c["inner"])
    writer.add_head_count(c["heads"])
    writer.add_head_count_kv(c["key_heads"])
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(c["hidden"] // c["heads"])
    writer.add_vocab_size(c["words"])
    writer.add_tokenizer_model("none")
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_Q4_0)
    random = np.random.default_rng(0)
    for name, shape in matrices(size).items():
        writer.add_tensor(f"{name}.weight", random_matrix(random, *shape), raw_dtype=Q4_0)
    norms = [f"blk.{i}.{part}_norm" for i in range(c["layers"]) for part in ("attn", "ffn")]
    for name in ["output_norm", *norms]:
        writer.add_tensor(f"{name}.weight", np.ones(c["hidden"], np.float32))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def decoding_bytes(size: str) -> int:
    """The bytes of the matrices that every decoded token reads: all but the table of tokens."""
    shapes = matrices(size)
    del shapes["token_embd"]
    return sum(rows * columns for rows, columns in shapes.values()) // BLOCK * (2 + BLOCK // 2)
