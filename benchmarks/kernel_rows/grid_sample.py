"""Bilinear sampling and its gradient, with the kernels of the custom-kernel page."""

import numpy as np
from bench.row import Metal, OpenCL, Row

# EXTENT threads share a point of the grid.
SETUP = """
    int H = x_shape[1];
    int W = x_shape[2];
    int C = x_shape[3];
    // EXTRA
    int gH = grid_shape[1];
    int gW = grid_shape[2];

    int w_stride = C;
    int h_stride = W * w_stride;
    int b_stride = H * h_stride;

    uint grid_idx = elem / EXTENT * 2;
    float ix = ((grid[grid_idx] + 1) * W - 1) / 2;
    float iy = ((grid[grid_idx + 1] + 1) * H - 1) / 2;

    int ix_nw = floor(ix);
    int iy_nw = floor(iy);

    int ix_ne = ix_nw + 1;
    int iy_ne = iy_nw;

    int ix_sw = ix_nw;
    int iy_sw = iy_nw + 1;

    int ix_se = ix_nw + 1;
    int iy_se = iy_nw + 1;

    T nw = (ix_se - ix)    * (iy_se - iy);
    T ne = (ix    - ix_sw) * (iy_sw - iy);
    T sw = (ix_ne - ix)    * (iy    - iy_ne);
    T se = (ix    - ix_nw) * (iy    - iy_nw);

    int batch_idx = elem / EXTENT / gH / gW * b_stride;
    int channel_idx = elem % EXTENT;
    int base_idx = batch_idx + channel_idx;
"""
CORNERS = ("nw", "ne", "sw", "se")
FORWARD = (
    SETUP.replace("EXTENT", "C")
    + "".join(
        f"    T I_{c} = x[base_idx + iy_{c} * h_stride + ix_{c} * w_stride];\n" for c in CORNERS
    )
    + "".join(
        f"    I_{c} = iy_{c} >= 0 && iy_{c} <= H - 1 && ix_{c} >= 0 && ix_{c} <= W - 1 ? I_{c} : 0;\n"
        for c in CORNERS
    )
    + "    out[elem] = nw * I_nw + ne * I_ne + sw * I_sw + se * I_se;\n"
)
METAL = "    uint elem = thread_position_in_grid.x;\n" + FORWARD
# A margin on both sides of the buffer makes reads of outside corners harmless.
OPENCL = (
    "#define T float\n"
    "kernel void grid_sample(global const float* padded, global const float* grid, global float* out) {\n"
    "    const int x_shape[4] = {X_SHAPE}, grid_shape[4] = {GRID_SHAPE};\n"
    "    global const float* x = padded + MARGIN;\n"
    "    uint elem = get_global_id(0);\n" + FORWARD + "}\n"
)


def corner_gradient(corner: str, du: str, dv: str, u_sign: str, v_sign: str) -> str:
    inside = " && ".join(
        (f"iy_{corner} >= 0", f"iy_{corner} <= H - 1", f"ix_{corner} >= 0", f"ix_{corner} <= W - 1")
    )
    return f"""
        if ({inside}) {{
            int offset = base_idx + iy_{corner} * h_stride + ix_{corner} * w_stride;
            atomic_fetch_add_explicit(&x_grad[offset], {corner} * cot, memory_order_relaxed);

            T I_{corner} = x[offset];
            gix {u_sign}= I_{corner} * ({dv}) * cot;
            giy {v_sign}= I_{corner} * ({du}) * cot;
        }}
"""


GRADIENT = (
    "    uint elem = thread_position_in_grid.x;\n"
    + SETUP.replace("EXTENT", "C_padded").replace(
        "    // EXTRA\n",
        "    int C_padded = ceildiv(C, threads_per_simdgroup) * threads_per_simdgroup;\n",
    )
    + """
    T gix = T(0);
    T giy = T(0);
    if (channel_idx < C) {
        int cot_index = elem / C_padded * C + channel_idx;
        T cot = cotangent[cot_index];
"""
    + corner_gradient("nw", "ix_se - ix", "iy_se - iy", "-", "-")
    + corner_gradient("ne", "ix - ix_sw", "iy_sw - iy", "+", "-")
    + corner_gradient("sw", "ix_ne - ix", "iy - iy_ne", "-", "+")
    + corner_gradient("se", "ix - ix_nw", "iy - iy_nw", "+", "+")
    + """
    }

    T gix_mult = W / 2;
    T giy_mult = H / 2;

    gix = simd_sum(gix);
    giy = simd_sum(giy);

    if (thread_index_in_simdgroup == 0) {
        atomic_fetch_add_explicit(&grid_grad[grid_idx], gix * gix_mult, memory_order_relaxed);
        atomic_fetch_add_explicit(&grid_grad[grid_idx + 1], giy * giy_mult, memory_order_relaxed);
    }
"""
)


def corners(x_shape: tuple, grid: np.ndarray):
    """The weight, its derivatives in u and v, and the row in x of each corner of each point."""
    n, h, w, _ = x_shape
    u = ((grid[..., 0].astype(np.float64) + 1) * w - 1) / 2
    v = ((grid[..., 1].astype(np.float64) + 1) * h - 1) / 2
    left, top = np.floor(u), np.floor(v)
    image = np.arange(n)[:, None, None]
    for dv in (0, 1):
        for du in (0, 1):
            column, row = left + du, top + dv
            inside = (column >= 0) & (column < w) & (row >= 0) & (row < h)
            wu, wv = 1 - np.abs(u - column), 1 - np.abs(v - row)
            at = (image * h + np.clip(row, 0, h - 1)) * w + np.clip(column, 0, w - 1)
            signs = (2 * du - 1), (2 * dv - 1)
            yield wu * wv * inside, signs[0] * wv * inside, signs[1] * wu * inside, at.astype(int)


def forward_reference(arrays: dict) -> dict:
    x, grid = arrays["x"], arrays["grid"]
    lines = x.reshape(-1, x.shape[3])
    return {"out": sum(w[..., None] * lines[at] for w, _, _, at in corners(x.shape, grid))}


def gradient_reference(arrays: dict) -> dict:
    x, grid, cotangent = arrays["x"], arrays["grid"], arrays["cotangent"]
    lines = x.reshape(-1, x.shape[3])
    x_grad = np.zeros(lines.shape)
    grid_grad = np.zeros(grid.shape)
    for weight, by_u, by_v, at in corners(x.shape, grid):
        for channel in range(x.shape[3]):
            x_grad[:, channel] += np.bincount(
                at.ravel(), (weight * cotangent[..., channel]).ravel(), len(lines)
            )
        product = np.einsum("nhwc,nhwc->nhw", lines[at], cotangent)
        grid_grad[..., 0] += by_u * product * x.shape[2] / 2
        grid_grad[..., 1] += by_v * product * x.shape[1] / 2
    return {"x_grad": x_grad.reshape(x.shape), "grid_grad": grid_grad}


def sample_by(torch, x, grid):
    return torch.nn.functional.grid_sample(x, grid, align_corners=False)


def layouts(torch, x) -> list:
    """NCHW views of x: with channels last, as it is, and with planes."""
    return [x.permute(0, 3, 1, 2), x.permute(0, 3, 1, 2).contiguous()]


def torch_forward(torch, x, grid) -> list:
    return [lambda p=p: sample_by(torch, p, grid).permute(0, 2, 3, 1) for p in layouts(torch, x)]


def torch_gradient(torch, x, grid, cotangent) -> list:
    def way(pictures):
        leaves = pictures.detach().requires_grad_(), grid.detach().requires_grad_()
        out = sample_by(torch, *leaves)
        given = cotangent.permute(0, 3, 1, 2)
        if pictures.is_contiguous():
            given = given.contiguous()

        def run():
            grads = torch.autograd.grad(out, leaves, given, retain_graph=True)
            return grads[0].permute(0, 2, 3, 1), grads[1]

        return run

    return [way(pictures) for pictures in layouts(torch, x)]


SMALL = ((2, 32, 32, 64), (2, 16, 16))
LARGE = ((2, 512, 512, 64), (2, 256, 256))


def rows(small: bool, large: tuple = LARGE) -> list[Row]:
    """`large` are the shapes of the pictures and of the points where rows are not small."""
    x_shape, points = SMALL if small else large
    grid_shape, out_shape = (*points, 2), (*points, x_shape[3])
    count, margin = int(np.prod(out_shape)), (x_shape[2] + 2) * x_shape[3]

    def inputs() -> dict:
        random = np.random.default_rng(0)
        return {
            "x": random.standard_normal(x_shape, np.float32),
            "grid": random.random(grid_shape, np.float32) * 2 - 1,
        }

    def gradient_inputs() -> dict:
        random = np.random.default_rng(1)
        return inputs() | {"cotangent": random.standard_normal(out_shape, np.float32)}

    defines = {
        "X_SHAPE": ", ".join(map(str, x_shape)),
        "GRID_SHAPE": ", ".join(map(str, grid_shape)),
        "MARGIN": margin,
    }
    outputs = {"out": (out_shape, "float32")}
    gradients = {"x_grad": (x_shape, "float32"), "grid_grad": (grid_shape, "float32")}
    launch = {"grid": (count, 1, 1), "threadgroup": (256, 1, 1), "template": {"T": "float32"}}
    area, touched = 4 * int(np.prod(x_shape)), 4 * 4 * count
    return [
        Row(
            name="grid_sample",
            inputs=inputs,
            outputs=outputs,
            reference=forward_reference,
            metal=[Metal(METAL, ["x", "grid"], outputs, **launch)],
            opencl_source="".join(f"#define {k} {v}\n" for k, v in defines.items()) + OPENCL,
            opencl=[OpenCL("grid_sample", ["x", "grid", "out"], (count,), (256,))],
            opencl_margin={"x": margin},
            torch=torch_forward,
            moved=min(area, touched) + 4 * count + 4 * int(np.prod(grid_shape)),
            rtol=1e-3,
            atol=1e-3,
            targets={"Intel": 5.0, "PoCL": 5.0, "PyTorch": 3.0},
        ),
        Row(
            name="grid_sample gradient",
            inputs=gradient_inputs,
            outputs=gradients,
            reference=gradient_reference,
            metal=[
                Metal(
                    GRADIENT,
                    ["x", "grid", "cotangent"],
                    gradients,
                    **launch,
                    init_value=0,
                    atomic_outputs=True,
                )
            ],
            torch=torch_gradient,
            moved=3 * min(area, touched) + area + 4 * count + 8 * int(np.prod(grid_shape)),
            rtol=1e-3,
            atol=2e-1 if not small else 2e-2,
            targets={"PyTorch": 6.0},
        ),
    ]
