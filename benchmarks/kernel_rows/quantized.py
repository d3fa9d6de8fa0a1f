"""A 4-bit quantised matrix times a vector: a SIMD-group per row, groups of 64 weights."""

import numpy as np
from bench.row import Metal, OpenCL, Row

from .opencl_groups import GROUP_REDUCTIONS

METAL = """
    uint row = thread_position_in_grid.x / 32, lane = thread_index_in_simdgroup;
    float sum = 0;
    for (uint word = lane; word < COLUMNS / 8; word += 32) {
        uint packed = weights[row * (COLUMNS / 8) + word];
        float product = 0, total = 0;
        for (uint i = 0; i < 8; ++i) {
            float value = x[word * 8 + i];
            product += float((packed >> (4 * i)) & 15) * value;
            total += value;
        }
        uint group = row * (COLUMNS / 64) + word / 8;
        sum += scales[group] * product + biases[group] * total;
    }
    sum = simd_sum(sum);
    if (lane == 0) y[row] = sum;
"""

OPENCL = (
    GROUP_REDUCTIONS
    + """
kernel void product(global const uint* weights, global const float* scales,
                    global const float* biases, global const float* x, global float* y) {
    local float parts[32];
    uint row = get_group_id(0), lane = get_local_id(0);
    float sum = 0;
    for (uint word = lane; word < COLUMNS / 8; word += 32) {
        uint packed = weights[row * (COLUMNS / 8) + word];
        float product = 0, total = 0;
        for (uint i = 0; i < 8; ++i) {
            float value = x[word * 8 + i];
            product += (float)((packed >> (4 * i)) & 15) * value;
            total += value;
        }
        uint group = row * (COLUMNS / 64) + word / 8;
        sum += scales[group] * product + biases[group] * total;
    }
    sum = group_sum(sum, parts);
    if (lane == 0) y[row] = sum;
}
"""
)


def reference(arrays: dict) -> dict:
    packed = arrays["weights"]
    values = (packed[:, :, None] >> (4 * np.arange(8, dtype=np.uint32))) & 15
    values = values.reshape(packed.shape[0], -1, 64).astype(np.float64)
    weights = values * arrays["scales"][:, :, None] + arrays["biases"][:, :, None]
    return {"y": weights.reshape(packed.shape[0], -1) @ arrays["x"].astype(np.float64)}


def rows(small: bool) -> list[Row]:
    size = 256 if small else 4096
    outputs = {"y": ((size,), "float32")}
    names = ["weights", "scales", "biases", "x"]

    def inputs() -> dict:
        random = np.random.default_rng(0)
        return {
            "weights": random.integers(0, 1 << 32, (size, size // 8), dtype=np.uint32),
            "scales": random.random((size, size // 64), np.float32),
            "biases": random.standard_normal((size, size // 64), np.float32),
            "x": random.standard_normal(size, np.float32),
        }

    return [
        Row(
            name="4-bit matrix-vector",
            inputs=inputs,
            outputs=outputs,
            reference=reference,
            metal=[
                Metal(
                    METAL,
                    names,
                    outputs,
                    (size * 32, 1, 1),
                    (256, 1, 1),
                    template={"COLUMNS": size},
                )
            ],
            opencl_source=f"#define COLUMNS {size}\n" + OPENCL,
            opencl=[OpenCL("product", [*names, "y"], (size * 32,), (32,))],
            moved=size * size // 2 + 8 * size * size // 64,
            rtol=1e-4,
            atol=2e-2,
            targets={"Intel": 1.3},
        )
    ]
