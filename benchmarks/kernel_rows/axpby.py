"""alpha * x + beta * y with a permuted x, which the kernel reads by strides."""

import numpy as np
from bench.row import Metal, Row

METAL = """
    uint elem = thread_position_in_grid.x;
    uint loc = elem_to_loc(elem, x_shape, x_strides, x_ndim);
    out[elem] = 2.0f * x[loc] + 3.0f * y[elem];
"""


def rows(small: bool) -> list[Row]:
    shape = (2, 8, 16, 64) if small else (16, 128, 128, 64)
    result = []
    for axes in ((0, 2, 1, 3), (0, 3, 1, 2)):
        permuted = tuple(shape[axis] for axis in axes)
        count = int(np.prod(shape))
        outputs = {"out": (permuted, "float32")}

        def inputs(permuted=permuted) -> dict:
            random = np.random.default_rng(0)
            return {
                "x": random.standard_normal(shape, np.float32),
                "y": random.standard_normal(permuted, np.float32),
            }

        def ways(torch, x, y) -> list:
            out = torch.empty_like(y)
            return [
                lambda: (2.0 * x + 3.0 * y).contiguous(),
                lambda: torch.mul(x, 2.0, out=out).add_(y, alpha=3.0),
                lambda: torch.mul(y, 3.0, out=out).add_(x, alpha=2.0),
                lambda: torch.add(3.0 * y, x, alpha=2.0),
            ]

        result.append(
            Row(
                name=f"axpby permuted {axes}".replace(" ", "").replace("axpbyp", "axpby p"),
                inputs=inputs,
                permuted={"x": axes},
                outputs=outputs,
                reference=lambda a, axes=axes: {
                    "out": 2.0 * a["x"].transpose(axes) + 3.0 * a["y"].astype(np.float64)
                },
                metal=[
                    Metal(
                        METAL,
                        ["x", "y"],
                        outputs,
                        (count, 1, 1),
                        (256, 1, 1),
                        ensure_row_contiguous=False,
                    )
                ],
                torch=ways,
                moved=12 * count,
                targets={"PyTorch": 1.5},
            )
        )
    return result
