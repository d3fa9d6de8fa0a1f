"""Bilinear sampling with a gradient: two kernels in a custom_function, trained to undo a shift."""

import mlx.core as mx

SETUP = """
    int channels = x_shape[3], height = x_shape[1], width = x_shape[2];
    int points = grid_shape[1] * grid_shape[2];
    float u = ((grid[2 * point] + 1) * width - 1) / 2;
    float v = ((grid[2 * point + 1] + 1) * height - 1) / 2;
    int left = floor(u), top = floor(v), image = point / points;
"""

FORWARD = (
    "uint element = thread_position_in_grid.x;\n"
    "int point = element / x_shape[3], channel = element % x_shape[3];\n"
    + SETUP
    + """
    float sum = 0;
    for (int corner = 0; corner < 4; ++corner) {
        int column = left + corner % 2, row = top + corner / 2;
        if (row < 0 || row >= height || column < 0 || column >= width) continue;
        float weight = (1 - abs(u - column)) * (1 - abs(v - row));
        sum += weight * x[((image * height + row) * width + column) * channels + channel];
    }
    out[element] = T(sum);
"""
)

# One SIMD-group for each point: lanes process channels and add up their parts, so that one atomic
# addition is enough for all of them.
BACKWARD = (
    "int point = thread_position_in_grid.x / threads_per_simdgroup;\n"
    + SETUP
    + """
    float du = 0, dv = 0;
    for (int channel = thread_index_in_simdgroup; channel < channels;
    channel += threads_per_simdgroup) {
        float g = cotangent[point * channels + channel];
        for (int corner = 0; corner < 4; ++corner) {
            int column = left + corner % 2, row = top + corner / 2;
            if (row < 0 || row >= height || column < 0 || column >= width) continue;
            float wu = 1 - abs(u - column), wv = 1 - abs(v - row);
            int at = ((image * height + row) * width + column) * channels + channel;
            atomic_fetch_add_explicit(&x_grad[at], wu * wv * g, memory_order_relaxed);
            du += (corner % 2 ? 1 : -1) * wv * x[at] * g;
            dv += (corner / 2 ? 1 : -1) * wu * x[at] * g;
        }
    }
    du = simd_sum(du) * width / 2;
    dv = simd_sum(dv) * height / 2;
    if (thread_index_in_simdgroup == 0) {
        atomic_fetch_add_explicit(&grid_grad[2 * point], du, memory_order_relaxed);
        atomic_fetch_add_explicit(&grid_grad[2 * point + 1], dv, memory_order_relaxed);
    }
"""
)

forward_kernel = mx.fast.metal_kernel(
    name="grid_sample", input_names=["x", "grid"], output_names=["out"], source=FORWARD
)
backward_kernel = mx.fast.metal_kernel(
    name="grid_sample_backward",
    input_names=["x", "grid", "cotangent"],
    output_names=["x_grad", "grid_grad"],
    source=BACKWARD,
    atomic_outputs=True,
)


@mx.custom_function
def grid_sample(x: mx.array, grid: mx.array) -> mx.array:
    """Samples pictures (N, H, W, C) at points (N, H', W', 2) in [-1, 1]; zero outside."""
    shape = (*grid.shape[:3], x.shape[3])
    return forward_kernel(
        inputs=[x, grid],
        template=[("T", x.dtype)],
        grid=(grid.size // 2 * x.shape[3], 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[shape],
        output_dtypes=[x.dtype],
    )[0]


@grid_sample.vjp
def grid_sample_vjp(
    primals: list[mx.array], cotangent: mx.array, _: mx.array
) -> tuple[mx.array, mx.array]:
    x, grid = primals
    x_grad, grid_grad = backward_kernel(
        inputs=[x, grid, cotangent],
        grid=(grid.size // 2 * 32, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[x.shape, grid.shape],
        output_dtypes=[mx.float32, mx.float32],
        init_value=0,
    )
    return x_grad, grid_grad


def smooth_picture(size: int) -> mx.array:
    axis = mx.linspace(-3, 3, size)
    return (mx.sin(axis[:, None]) * mx.cos(2 * axis[None, :]))[None, :, :, None]


def identity_grid(size: int) -> mx.array:
    axis = (2 * mx.arange(size) + 1) / size - 1
    columns = mx.broadcast_to(axis[None, :], (size, size))
    return mx.stack([columns, columns.T], axis=-1)[None]


def main() -> None:
    size = 32
    picture, grid = smooth_picture(size), identity_grid(size)
    target = grid_sample(picture, grid + mx.array([0.1, -0.06]))

    def loss(shift: mx.array) -> mx.array:
        return ((grid_sample(picture, grid + shift) - target) ** 2).mean()

    shift = mx.zeros(2)
    step = mx.value_and_grad(loss)
    for _ in range(120):
        value, grad = step(shift)
        shift = shift - 0.03 * grad
        mx.eval(shift)
    print("shift found by gradient descent:", [round(s, 3) for s in shift.tolist()])
    print("loss:", value.item())


if __name__ == "__main__":
    main()
