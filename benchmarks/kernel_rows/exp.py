"""exp, elementwise."""

import numpy as np
from bench.row import Metal, OpenCL, Row

METAL = """
    uint elem = thread_position_in_grid.x;
    T tmp = inp[elem];
    out[elem] = metal::exp(tmp);
"""

OPENCL = """
kernel void exponential(global const float* inp, global float* out) {
    size_t elem = get_global_id(0);
    float tmp = inp[elem];
    out[elem] = exp(tmp);
}
"""


def rows(small: bool) -> list[Row]:
    count = 1 << (16 if small else 24)
    result = []
    for dtype, tolerance, size in (
        ("float32", 1e-6, 4),
        ("float16", 3e-3, 2),
        ("bfloat16", 2e-2, 2),
    ):
        outputs = {"out": ((count,), dtype)}
        single = dtype == "float32"
        result.append(
            Row(
                name=f"exp {dtype}",
                inputs=lambda: {"inp": np.random.default_rng(0).standard_normal(count, np.float32)},
                dtypes={"inp": dtype},
                outputs=outputs,
                reference=lambda arrays: {"out": np.exp(arrays["inp"].astype(np.float64))},
                metal=[
                    Metal(
                        METAL, ["inp"], outputs, (count, 1, 1), (256, 1, 1), template={"T": dtype}
                    )
                ],
                opencl_source=OPENCL,
                opencl=[OpenCL("exponential", ["inp", "out"], (count,), (256,))] if single else [],
                torch=lambda torch, inp: [lambda: torch.exp(inp)],
                moved=2 * size * count,
                rtol=tolerance,
                targets={"Intel": 1.0} if single else {"PyTorch": 5.0},
            )
        )
    return result
