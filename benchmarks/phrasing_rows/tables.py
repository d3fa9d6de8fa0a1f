"""Codes of four bits, two of them a byte, and what they stand for: a table of 16 values, with a scale
for each 64."""

import numpy as np

from .phrasing import Computation, Limit

VALUES = np.linspace(-1, 1, 16).astype(np.float32) ** 3
HEADER = f"constant float table[16] = {{{', '.join(map(str, VALUES.tolist()))}}};"
BYTE = """
    uint i = thread_position_in_grid.x;
    uchar byte = q[i];
    float scale = scales[i / 32];
    o[2 * i] = T[byte & 15] * scale;
    o[2 * i + 1] = T[byte >> 4] * scale;
"""
THREADGROUP = """
    threadgroup float shared[16];
    if (thread_index_in_threadgroup < 16) shared[thread_index_in_threadgroup] = t[thread_index_in_threadgroup];
    threadgroup_barrier(mem_flags::mem_threadgroup);
"""
PRIVATE = "float values[16]; for (int k = 0; k < 16; ++k) values[k] = table[k];"
# How many codes a thread has, and its source.
SOURCES = {
    "byte a thread": (2, BYTE.replace("T[", "table[")),
    "byte a thread, table in a buffer": (2, BYTE.replace("T[", "t[")),
    "byte a thread, table in threadgroup memory": (2, THREADGROUP + BYTE.replace("T[", "shared[")),
    "byte a thread, table in a variable": (2, PRIVATE + BYTE.replace("T[", "values[")),
    "byte a thread, float2": (
        2,
        """
        uint i = thread_position_in_grid.x;
        uint byte = q[i];
        ((device float2*)o)[i] = float2(table[byte & 0xf], table[byte >> 4]) * scales[i / 32];""",
    ),
    "code a thread": (
        1,
        """
        uint i = thread_position_in_grid.x;
        uint code = (q[i / 2] >> (4 * (i % 2))) & 15;
        o[i] = table[code] * scales[i / 64];""",
    ),
    "code a thread, chosen": (
        1,
        """
        int i = thread_position_in_grid.x;
        if (i >= COUNT) return;
        uchar byte = q[i >> 1];
        o[i] = table[i & 1 ? byte >> 4 : byte & 15] * scales[i >> 6];""",
    ),
    "word a thread": (
        8,
        """
        uint i = thread_position_in_grid.x;
        uint word = ((const device uint*)q)[i];
        float scale = scales[i / 8];
        for (int k = 0; k < 8; ++k) o[8 * i + k] = table[(word >> (4 * k)) & 15] * scale;""",
    ),
    "word a thread, shifted, pointers moved": (
        8,
        """
        size_t i = thread_position_in_grid.x;
        uint word = ((const device uint*)q)[i];
        float scale = scales[i / 8];
        device float* to = o + 8 * i;
        for (int k = 0; k < 8; ++k, word >>= 4) *to++ = t[word & 15] * scale;""",
    ),
    "grid stride": (
        128,
        """
        for (uint i = thread_position_in_grid.x; i < COUNT / 2; i += threads_per_grid.x) {
            uchar byte = q[i];
            o[2 * i] = table[byte & 15] * scales[i / 32];
            o[2 * i + 1] = table[byte >> 4] * scales[i / 32];
        }""",
    ),
}


def reference(arrays: dict) -> dict:
    codes = np.stack([arrays["q"] & 15, arrays["q"] >> 4], 1).reshape(-1)
    return {"o": arrays["t"].astype(np.float64)[codes] * np.repeat(arrays["scales"], 64)}


def rows(size: str) -> list[Computation]:
    count = 1 << 16 if size == "small" else 1 << 23
    rng = np.random.default_rng(0)
    made = Computation(
        name="codes of four bits",
        inputs=lambda: {
            "q": rng.integers(0, 256, count // 2).astype(np.uint8),
            "t": VALUES,
            "scales": rng.standard_normal(count // 64).astype(np.float32),
        },
        outputs={"o": ((count,), "float32")},
        reference=reference,
        limit=Limit("images", "codes", ["q", "t", "scales"], [count]),
    )
    for name, (codes, source) in SOURCES.items():
        made.add(
            name,
            source,
            (count // codes,),
            (256,),
            ("q", "t", "scales"),
            header=HEADER,
            template={"COUNT": count},
        )
    return [made]
