"""Products of half matrices with simdgroup_matrix, in tiles that a large GPU needs."""

import numpy as np
from bench.row import Metal, Row

# A threadgroup computes 128x128 results, each of its four SIMD-groups 64x64 of them. The next tiles
# are on their way while these are multiplied: those of B, and whole cache lines of two tiles of A.
# Threads copy in the order of an NVIDIA GPU's lanes (docs/nvidia_gpus.md).
METAL = """
    constexpr int AP = 40, BP = 136;
    threadgroup half a_tile[128 * AP], b_tile[32 * BP];
    uint thread_number = thread_index_in_threadgroup, simdgroup = simdgroup_index_in_threadgroup;
    uint item = (thread_number & ~14u) | (thread_number & 6) << 1 | (thread_number & 8) >> 2;
    uint top = threadgroup_position_in_grid.y * 128, left = threadgroup_position_in_grid.x * 128;
    uint row = simdgroup / 2 * 64, column = simdgroup % 2 * 64;
    simdgroup_float8x8 sums[8][8];
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);

    const device half* from_a = a + (top + item / 8) * SIZE + item % 8 * 8;
    const device half* from_b = b + item / 16 * SIZE + left + item % 16 * 8;
    threadgroup half* to_a = a_tile + item / 8 * AP + item % 4 * 8;
    threadgroup half* to_b = b_tile + item / 16 * BP + item % 16 * 8;
    uint4 next_a[8], next_b[4];
    for (int i = 0; i < 8; ++i) next_a[i] = *(const device uint4*)(from_a + i * 16 * SIZE);
    for (int i = 0; i < 4; ++i) next_b[i] = *(const device uint4*)(from_b + i * 8 * SIZE);
    for (int k = 0; k < SIZE; k += 64) {
        for (uint tile = 0; tile < 2; ++tile) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (item / 4 % 2 == tile)
                for (int i = 0; i < 8; ++i) *(threadgroup uint4*)(to_a + i * 16 * AP) = next_a[i];
            for (int i = 0; i < 4; ++i) *(threadgroup uint4*)(to_b + i * 8 * BP) = next_b[i];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (k + tile * 32 + 32 < SIZE) {
                from_b += 32 * SIZE;
                for (int i = 0; i < 4; ++i) next_b[i] = *(const device uint4*)(from_b + i * 8 * SIZE);
            }
            if (tile == 1 && k + 64 < SIZE) {
                from_a += 64;
                for (int i = 0; i < 8; ++i)
                    next_a[i] = *(const device uint4*)(from_a + i * 16 * SIZE);
            }
            for (int part = 0; part < 32; part += 8) {
                simdgroup_half8x8 as[8], bs[8];
                for (int i = 0; i < 8; ++i)
                    simdgroup_load(as[i], a_tile + (row + i * 8) * AP + part, AP);
                for (int j = 0; j < 8; ++j)
                    simdgroup_load(bs[j], b_tile + part * BP + column + j * 8, BP);
                for (int i = 0; i < 8; ++i)
                    for (int j = 0; j < 8; ++j)
                        simdgroup_multiply_accumulate(sums[i][j], as[i], bs[j], sums[i][j]);
            }
        }
    }
    for (int i = 0; i < 8; ++i)
        for (int j = 0; j < 8; ++j) {
            simdgroup_half8x8 rounded;
            rounded.thread_elements() = half2(sums[i][j].thread_elements());
            simdgroup_store(rounded, c + (top + row + i * 8) * SIZE + left + column + j * 8, SIZE);
        }
"""


def rows(small: bool) -> list[Row]:
    size = 128 if small else 4096
    outputs = {"c": ((size, size), "float16")}

    def inputs() -> dict:
        random = np.random.default_rng(0)
        numbers = {n: random.standard_normal((size, size), np.float32) for n in "ab"}
        return {n: x.astype(np.float16).astype(np.float32) for n, x in numbers.items()}

    launch = Metal(
        METAL,
        ["a", "b"],
        outputs,
        (size, size // 128, 1),
        (128, 1, 1),
        header="#include <metal_simdgroup_matrix>\n",
        template={"SIZE": size},
    )
    return [
        Row(
            name=f"simdgroup_matrix product {size}, half",
            inputs=inputs,
            outputs=outputs,
            reference=lambda arrays: {"c": arrays["a"] @ arrays["b"]},
            metal=[launch],
            torch=lambda torch, a, b: [lambda: a @ b],
            dtypes=dict.fromkeys("ab", "float16"),
            flops=2 * size**3,
            rtol=2e-3,
            atol=2e-3 * size**0.5,
            targets={"PyTorch": 0.5},
        )
    ]
