"""Warps a photograph with a Metal kernel, on the CPU, and times it beside array operations.

Run by `make demo`. Writes demo_output/before.png and demo_output/after.png.
"""

import sys
import time
from collections.abc import Callable
from pathlib import Path

import mlx.core as mx
import numpy as np
import skimage.data
from PIL import Image

OUTPUT = Path(__file__).resolve().parent.parent / "demo_output"
TOLERANCE = 1e-4  # colours lie in [0, 1]

# The body of the kernel: one thread for each element of the output. The signature is generated from
# the names and types of the inputs and outputs, and from the names that the body mentions.
BODY = """
    uint element = thread_position_in_grid.x;
    int channels = x_shape[3], height = x_shape[1], width = x_shape[2];
    int pixel = element / channels, channel = element % channels;
    int image = pixel / (grid_shape[1] * grid_shape[2]);

    // From [-1, 1] to pixels: -1 and 1 are the outer edges of the picture.
    float u = ((grid[2 * pixel] + 1) * width - 1) / 2;
    float v = ((grid[2 * pixel + 1] + 1) * height - 1) / 2;
    int left = floor(u), top = floor(v);

    float sum = 0;
    for (int corner = 0; corner < 4; ++corner) {
        int column = left + corner % 2, row = top + corner / 2;
        float weight = (1 - abs(u - column)) * (1 - abs(v - row));
        if (row >= 0 && row < height && column >= 0 && column < width)
            sum += weight * x[((image * height + row) * width + column) * channels + channel];
    }
    out[element] = T(sum);
"""

sample_kernel = mx.fast.metal_kernel(
    name="grid_sample", input_names=["x", "grid"], output_names=["out"], source=BODY
)


def grid_sample(x: mx.array, grid: mx.array) -> mx.array:
    """Samples the pictures `x` (N, H, W, C) bilinearly at `grid` (N, H', W', 2), zero outside."""
    shape = (*grid.shape[:3], x.shape[3])
    return sample_kernel(
        inputs=[x, grid],
        template=[("T", x.dtype)],
        grid=(int(np.prod(shape)), 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[shape],
        output_dtypes=[x.dtype],
    )[0]


def grid_sample_arrays(x: mx.array, grid: mx.array) -> mx.array:
    """The same, as array operations."""
    count, height, width, _ = x.shape
    u = ((grid[..., 0] + 1) * width - 1) / 2
    v = ((grid[..., 1] + 1) * height - 1) / 2
    left, top = mx.floor(u), mx.floor(v)
    image = mx.arange(count).reshape(count, 1, 1)
    total = mx.zeros((*grid.shape[:3], x.shape[3]), dtype=x.dtype)
    for column, row in ((left, top), (left + 1, top), (left, top + 1), (left + 1, top + 1)):
        inside = (column >= 0) & (column < width) & (row >= 0) & (row < height)
        weight = (1 - mx.abs(u - column)) * (1 - mx.abs(v - row)) * inside
        columns = mx.clip(column, 0, width - 1).astype(mx.int32)
        rows = mx.clip(row, 0, height - 1).astype(mx.int32)
        total = total + weight[..., None] * x[image, rows, columns]
    return total


def reference(x: np.ndarray, grid: np.ndarray) -> tuple[str, np.ndarray]:
    """The same by PyTorch if it is installed, else by NumPy in double precision."""
    try:
        import torch
    except ImportError:
        return "NumPy", grid_sample_numpy(x.astype(np.float64), grid.astype(np.float64))
    sampled = torch.nn.functional.grid_sample(
        torch.from_numpy(x).permute(0, 3, 1, 2), torch.from_numpy(grid), align_corners=False
    )
    return "PyTorch", sampled.permute(0, 2, 3, 1).numpy()


def grid_sample_numpy(x: np.ndarray, grid: np.ndarray) -> np.ndarray:
    """Bilinear sampling of a picture that is padded with a frame of zeros."""
    height, width = x.shape[1:3]
    grid = grid.astype(np.float64)  # in float32 the bound below would round up to the frame
    padded = np.pad(x, ((0, 0), (1, 1), (1, 1), (0, 0)))
    u = np.clip(((grid[..., 0] + 1) * width - 1) / 2 + 1, 0, width + 1 - 1e-9)
    v = np.clip(((grid[..., 1] + 1) * height - 1) / 2 + 1, 0, height + 1 - 1e-9)
    left, top = u.astype(int), v.astype(int)
    du, dv = (u - left)[..., None], (v - top)[..., None]
    image = np.arange(len(x))[:, None, None]
    upper = padded[image, top, left] * (1 - du) + padded[image, top, left + 1] * du
    lower = padded[image, top + 1, left] * (1 - du) + padded[image, top + 1, left + 1] * du
    return upper * (1 - dv) + lower * dv


def swirl(height: int, width: int) -> np.ndarray:
    """A grid that rotates the picture around its middle, less and less towards the edge."""
    y, x = np.meshgrid(
        np.linspace(-1, 1, height, dtype=np.float32),
        np.linspace(-1, 1, width, dtype=np.float32),
        indexing="ij",
    )
    angle = 2.5 * np.exp(-3 * (x * x + y * y))
    turned = (x * np.cos(angle) - y * np.sin(angle), x * np.sin(angle) + y * np.cos(angle))
    return np.stack(turned, axis=-1)[None].astype(np.float32)


def milliseconds(function: Callable[..., mx.array], *arguments: mx.array) -> float:
    """The median time of an evaluated call, after one warm-up call."""
    mx.eval(function(*arguments))
    times = []
    for _ in range(9):
        start = time.perf_counter()
        mx.eval(function(*arguments))
        times.append(1000 * (time.perf_counter() - start))
    return float(np.median(times))


def save(picture: np.ndarray, name: str) -> None:
    """Writes colours in [0, 1] as a PNG."""
    OUTPUT.mkdir(exist_ok=True)
    Image.fromarray(np.uint8(np.clip(picture, 0, 1) * 255 + 0.5)).save(OUTPUT / name)


def main() -> int:
    """Warps, checks, times; 0 if the result agrees with the reference."""
    photo = skimage.data.chelsea().astype(np.float32)[None] / 255
    height, width = 2 * photo.shape[1], 2 * photo.shape[2]
    x, grid = mx.array(photo), mx.array(swirl(height, width))

    warped = np.array(grid_sample(x, grid))
    name, expected = reference(photo, np.array(grid))
    error = float(np.abs(warped - expected).max())
    composed = float(np.abs(np.array(grid_sample_arrays(x, grid)) - expected).max())

    save(photo[0], "before.png")
    save(warped[0], "after.png")
    kernel_ms = milliseconds(grid_sample, x, grid)
    arrays_ms = milliseconds(grid_sample_arrays, x, grid)

    print(f"photograph        {photo.shape[2]} x {photo.shape[1]}, warped to {width} x {height}")
    print(f"device            {mx.default_device()}, {mx.metal.device_info()['device_name']}")
    print(f"against {name:9} largest difference {error:.1e} (array operations: {composed:.1e})")
    print(f"Metal kernel      {kernel_ms:8.2f} ms")
    print(f"array operations  {arrays_ms:8.2f} ms")
    print(f"ratio             {arrays_ms / kernel_ms:8.1f} x")
    print(f"pictures          {OUTPUT / 'before.png'}, {OUTPUT / 'after.png'}")
    if max(error, composed) > TOLERANCE:
        print(f"the results differ from {name} by more than {TOLERANCE}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
