"""A kernel that copies its input; tests change some of its arguments."""

import mlx.core as mx

SOURCE = "y[thread_position_in_grid.x] = x[thread_position_in_grid.x];"
X = mx.ones(16)


def create(**changes):
    arguments = {"name": "copy", "input_names": ["x"], "output_names": ["y"], "source": SOURCE}
    return mx.fast.metal_kernel(**(arguments | changes))


def call(kernel=None, **changes):
    arguments = {
        "inputs": [X],
        "grid": (16, 1, 1),
        "threadgroup": (16, 1, 1),
        "output_shapes": [(16,)],
        "output_dtypes": [mx.float32],
    } | changes
    given = {k: v for k, v in arguments.items() if v is not None}
    return mx.eval((kernel or create())(**given))
