"""Matrix products: with tiles in threadgroup memory, and with simdgroup_matrix."""

import numpy as np
from bench.row import Metal, OpenCL, Row

METAL = """
    threadgroup float a_tile[16][16], b_tile[16][16];
    uint2 at = thread_position_in_grid.xy, in = thread_position_in_threadgroup.xy;
    float sum = 0;
    for (int k = 0; k < SIZE; k += 16) {
        a_tile[in.y][in.x] = a[at.y * SIZE + k + in.x];
        b_tile[in.y][in.x] = b[(k + in.y) * SIZE + at.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int i = 0; i < 16; ++i) sum += a_tile[in.y][i] * b_tile[i][in.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[at.y * SIZE + at.x] = sum;
"""

OPENCL = """
kernel void matmul(global const float* a, global const float* b, global float* c) {
    local float a_tile[16][16], b_tile[16][16];
    uint x = get_global_id(0), y = get_global_id(1);
    uint in_x = get_local_id(0), in_y = get_local_id(1);
    float sum = 0;
    for (int k = 0; k < SIZE; k += 16) {
        a_tile[in_y][in_x] = a[y * SIZE + k + in_x];
        b_tile[in_y][in_x] = b[(k + in_y) * SIZE + x];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (int i = 0; i < 16; ++i) sum += a_tile[in_y][i] * b_tile[i][in_x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    c[y * SIZE + x] = sum;
}
"""

# A threadgroup computes 64x64 results, each of its four SIMD-groups 32x32 of them in registers.
BLOCKED = """
    threadgroup float a_tile[64 * 20], b_tile[16 * 68];
    uint item = thread_index_in_threadgroup, simdgroup = simdgroup_index_in_threadgroup;
    uint top = threadgroup_position_in_grid.y * 64, left = threadgroup_position_in_grid.x * 64;
    uint row = simdgroup / 2 * 32, column = simdgroup % 2 * 32;

    simdgroup_float8x8 sums[4][4];
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sums[i][j] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);

    for (int k = 0; k < SIZE; k += 16) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = item; i < 256; i += 128) {
            *(threadgroup float4*)(a_tile + i / 4 * 20 + i % 4 * 4) =
                *(const device float4*)(a + (top + i / 4) * SIZE + k + i % 4 * 4);
            *(threadgroup float4*)(b_tile + i / 16 * 68 + i % 16 * 4) =
                *(const device float4*)(b + (k + i / 16) * SIZE + left + i % 16 * 4);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (int part = 0; part < 16; part += 8) {
            simdgroup_float8x8 as[4], bs[4];
            for (int i = 0; i < 4; ++i) simdgroup_load(as[i], a_tile + (row + i * 8) * 20 + part, 20);
            for (int j = 0; j < 4; ++j) simdgroup_load(bs[j], b_tile + part * 68 + column + j * 8, 68);
            for (int i = 0; i < 4; ++i)
                for (int j = 0; j < 4; ++j)
                    simdgroup_multiply_accumulate(sums[i][j], as[i], bs[j], sums[i][j]);
        }
    }
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            simdgroup_store(sums[i][j], c + (top + row + i * 8) * SIZE + left + column + j * 8, SIZE);
"""


def rows(small: bool) -> list[Row]:
    size = 128 if small else 1024
    outputs = {"c": ((size, size), "float32")}

    def inputs() -> dict:
        random = np.random.default_rng(0)
        return {n: random.standard_normal((size, size), np.float32) for n in "ab"}

    def row(name: str, launch: Metal, targets: dict, opencl: list) -> Row:
        return Row(
            name=name,
            inputs=inputs,
            outputs=outputs,
            reference=lambda arrays: {
                "c": arrays["a"].astype(np.float64) @ arrays["b"].astype(np.float64)
            },
            metal=[launch],
            opencl_source=f"#define SIZE {size}\n" + OPENCL,
            opencl=opencl,
            torch=lambda torch, a, b: [lambda: a @ b],
            flops=2 * size**3,
            rtol=1e-4,
            atol=2e-3,
            targets=targets,
        )

    tiled = Metal(METAL, ["a", "b"], outputs, (size, size, 1), (16, 16, 1), template={"SIZE": size})
    blocked = Metal(
        BLOCKED,
        ["a", "b"],
        outputs,
        (size // 64 * 128, size // 64, 1),
        (128, 1, 1),
        header="#include <metal_simdgroup_matrix>\n",
        template={"SIZE": size},
    )
    launch = OpenCL("matmul", ["a", "b", "c"], (size, size), (16, 16))
    return [
        row("matmul 16x16 tiles", tiled, {"Intel": 1.5}, [launch]),
        row("matmul simdgroup_matrix", blocked, {"PyTorch": 0.5}, []),
    ]
