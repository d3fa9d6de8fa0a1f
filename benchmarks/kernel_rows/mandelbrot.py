"""The Mandelbrot set: the number of iterations until each point diverges."""

import numpy as np
from bench.row import Metal, OpenCL, Row

STEPS = 256

BODY = """
    float re = -2.0f + 2.6f * X / SIZE, im = -1.3f + 2.6f * Y / SIZE;
    float a = 0, b = 0;
    int step = 0;
    while (step < STEPS && a * a + b * b <= 4) {
        float next = a * a - b * b + re;
        b = 2 * a * b + im;
        a = next;
        ++step;
    }
    out[Y * SIZE + X] = step;
"""

METAL = "    uint X = thread_position_in_grid.x, Y = thread_position_in_grid.y;" + BODY
OPENCL = (
    "kernel void mandelbrot(global int* out) {\n    uint X = get_global_id(0), Y = get_global_id(1);"
    + BODY
    + "}\n"
)


def reference(size: int) -> np.ndarray:
    axis = 2.6 * np.arange(size) / size
    points = (axis[None, :] - 2.0 + 1j * (axis[:, None] - 1.3)).astype(np.complex64).ravel()
    steps = np.zeros(points.size, np.int32)
    live, z = np.arange(points.size), np.zeros_like(points)
    for _ in range(STEPS):
        steps[live] += 1
        z = z * z + points[live]
        inside = z.real**2 + z.imag**2 <= 4
        live, z = live[inside], z[inside]
    return steps.reshape(size, size)


def rows(small: bool) -> list[Row]:
    size = 128 if small else 2048
    outputs = {"out": ((size, size), "int32")}
    defines = {"SIZE": size, "STEPS": STEPS}

    def steps_in_all() -> int:
        return int(reference(256).sum()) * size * size // 256**2

    return [
        Row(
            name="Mandelbrot",
            inputs=dict,
            outputs=outputs,
            reference=lambda _: {"out": reference(size)},
            metal=[Metal(METAL, [], outputs, (size, size, 1), (32, 8, 1), template=dict(defines))],
            opencl_source="".join(f"#define {k} {v}\n" for k, v in defines.items()) + OPENCL,
            opencl=[OpenCL("mandelbrot", ["out"], (size, size), (32, 8))],
            flops=8 * steps_in_all(),
            # Fused multiply-adds change the result for points near the edge of the set.
            wrong_share=0.02,
            targets={"Intel": 1.0},
        )
    ]
