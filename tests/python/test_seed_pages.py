"""The kernels of the documents that users of metal_kernel learn from, run as users type them."""

import mlx.core as mx
import numpy as np
import pytest

EXP_BODY = """
    uint elem = thread_position_in_grid.x;
    T tmp = inp[elem];
    out[elem] = metal::exp(tmp);
"""

EXP_STRIDED_BODY = """
    uint elem = thread_position_in_grid.x;
    // Utils from `mlx/backend/metal/kernels/utils.h` are automatically included
    uint loc = elem_to_loc(elem, inp_shape, inp_strides, inp_ndim);
    T tmp = inp[loc];
    // Output arrays are always row contiguous
    out[elem] = metal::exp(tmp);
"""


def exp_with_lists(a: mx.array, body: str, contiguous: bool) -> mx.array:
    kernel = mx.fast.metal_kernel(
        name="myexp",
        input_names=["inp"],
        output_names=["out"],
        source=body,
        ensure_row_contiguous=contiguous,
    )
    outputs = kernel(
        inputs=[a],
        template=[("T", mx.float32)],
        grid=(a.size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[a.shape],
        output_dtypes=[a.dtype],
    )
    return outputs[0]


def exp_with_dictionaries(a: mx.array, body: str, contiguous: bool) -> mx.array:
    kernel = mx.fast.metal_kernel(name="myexp", source=body)
    outputs = kernel(
        inputs={"inp": a},
        template={"T": mx.float32},
        grid=(a.size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes={"out": a.shape},
        output_dtypes={"out": a.dtype},
        ensure_row_contiguous=contiguous,
    )
    return outputs["out"]


def exp_with_object(a: mx.array, body: str, contiguous: bool) -> mx.array:
    kernel = mx.fast.MetalKernel(
        name="myexp",
        source=body,
        grid=(a.size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes={"out": a.shape},
        output_dtypes={"out": a.dtype},
        ensure_row_contiguous=contiguous,
    )
    kernel.template(T=mx.float32)
    outputs = kernel(inp=a)
    return outputs["out"]


@pytest.mark.parametrize("call", [exp_with_lists, exp_with_dictionaries, exp_with_object])
class TestElementwiseExp:
    def test_contiguous(self, call):
        a = mx.random.normal(shape=(4, 16)).astype(mx.float16)
        b = call(a, EXP_BODY, True)
        assert b.dtype == mx.float16 and b.shape == (4, 16)
        assert mx.allclose(b, mx.exp(a))
        np.testing.assert_allclose(np.array(b), np.exp(np.array(a).astype(np.float64)), rtol=2e-3)

    def test_copy_of_a_strided_input(self, call):
        a = mx.random.normal(shape=(4, 16)).astype(mx.float16)[::2]
        assert mx.allclose(call(a, EXP_BODY, True), mx.exp(a))

    def test_strided(self, call):
        a = mx.random.normal(shape=(4, 16)).astype(mx.float16)
        # make non-contiguous
        a = a[::2]
        b = call(a, EXP_STRIDED_BODY, False)
        assert mx.allclose(b, mx.exp(a))

    def test_strided_body_on_transposed_input(self, call):
        a = mx.random.normal(shape=(3, 5, 7)).transpose(2, 0, 1)
        for contiguous in (False, True):
            assert mx.allclose(call(a, EXP_STRIDED_BODY, contiguous), mx.exp(a))


# The complex example: bilinear sampling of an image at the points of a grid.

SAMPLE_PROLOGUE = """
    uint elem = thread_position_in_grid.x;
    int H = x_shape[1];
    int W = x_shape[2];
    int C = x_shape[3];
    // CHANNELS
    int gH = grid_shape[1];
    int gW = grid_shape[2];

    int w_stride = C;
    int h_stride = W * w_stride;
    int b_stride = H * h_stride;

    uint grid_idx = elem / C_EXTENT * 2;
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

    int batch_idx = elem / C_EXTENT / gH / gW * b_stride;
    int channel_idx = elem % C_EXTENT;
    int base_idx = batch_idx + channel_idx;
"""

SAMPLE_BODY = (
    SAMPLE_PROLOGUE.replace("C_EXTENT", "C")
    + """
    T I_nw = x[base_idx + iy_nw * h_stride + ix_nw * w_stride];
    T I_ne = x[base_idx + iy_ne * h_stride + ix_ne * w_stride];
    T I_sw = x[base_idx + iy_sw * h_stride + ix_sw * w_stride];
    T I_se = x[base_idx + iy_se * h_stride + ix_se * w_stride];

    I_nw = iy_nw >= 0 && iy_nw <= H - 1 && ix_nw >= 0 && ix_nw <= W - 1 ? I_nw : 0;
    I_ne = iy_ne >= 0 && iy_ne <= H - 1 && ix_ne >= 0 && ix_ne <= W - 1 ? I_ne : 0;
    I_sw = iy_sw >= 0 && iy_sw <= H - 1 && ix_sw >= 0 && ix_sw <= W - 1 ? I_sw : 0;
    I_se = iy_se >= 0 && iy_se <= H - 1 && ix_se >= 0 && ix_se <= W - 1 ? I_se : 0;

    out[elem] = nw * I_nw + ne * I_ne + sw * I_sw + se * I_se;
"""
)

PADDED = """
    // Pad C to the nearest larger simdgroup size multiple
    int C_padded = ceildiv(C, threads_per_simdgroup) * threads_per_simdgroup;
"""


def corner_gradient(corner: str, dx: str, dy: str, sx: str, sy: str) -> str:
    return f"""
        if (iy_{corner} >= 0 && iy_{corner} <= H - 1 && ix_{corner} >= 0 && ix_{corner} <= W - 1) {{
            int offset = base_idx + iy_{corner} * h_stride + ix_{corner} * w_stride;
            atomic_fetch_add_explicit(&x_grad[offset], {corner} * cot, memory_order_relaxed);

            T I_{corner} = x[offset];
            gix {sx} I_{corner} * ({dy}) * cot;
            giy {sy} I_{corner} * ({dx}) * cot;
        }}
"""


SAMPLE_VJP_BODY = (
    SAMPLE_PROLOGUE.replace("C_EXTENT", "C_padded").replace("    // CHANNELS\n", PADDED)
    + """
    T gix = T(0);
    T giy = T(0);
    if (channel_idx < C) {
        int cot_index = elem / C_padded * C + channel_idx;
        T cot = cotangent[cot_index];
"""
    + corner_gradient("nw", "ix_se - ix", "iy_se - iy", "-=", "-=")
    + corner_gradient("ne", "ix - ix_sw", "iy_sw - iy", "+=", "-=")
    + corner_gradient("sw", "ix_ne - ix", "iy - iy_ne", "-=", "+=")
    + corner_gradient("se", "ix - ix_nw", "iy - iy_nw", "+=", "+=")
    + """
    }

    T gix_mult = W / 2;
    T giy_mult = H / 2;

    // Reduce across each simdgroup first.
    // This is much faster than relying purely on atomics.
    gix = simd_sum(gix);
    giy = simd_sum(giy);

    if (thread_index_in_simdgroup == 0) {
        atomic_fetch_add_explicit(&grid_grad[grid_idx], gix * gix_mult, memory_order_relaxed);
        atomic_fetch_add_explicit(&grid_grad[grid_idx + 1], giy * giy_mult, memory_order_relaxed);
    }
"""
)


def grid_sample_ref(x, grid):
    N, H_in, W_in, _ = x.shape
    ix = ((grid[..., 0] + 1) * W_in - 1) / 2
    iy = ((grid[..., 1] + 1) * H_in - 1) / 2

    ix_nw = mx.floor(ix).astype(mx.int32)
    iy_nw = mx.floor(iy).astype(mx.int32)
    ix_se = ix_nw + 1
    iy_se = iy_nw + 1

    output = 0
    for cx, cy, weight in (
        (ix_nw, iy_nw, (ix_se - ix) * (iy_se - iy)),
        (ix_se, iy_nw, (ix - ix_nw) * (iy_se - iy)),
        (ix_nw, iy_se, (ix_se - ix) * (iy - iy_nw)),
        (ix_se, iy_se, (ix - ix_nw) * (iy - iy_nw)),
    ):
        inside = (cy >= 0) & (cy <= H_in - 1) & (cx >= 0) & (cx <= W_in - 1)
        cy = mx.clip(cy, 0, H_in - 1)
        cx = mx.clip(cx, 0, W_in - 1)
        corner = x[mx.arange(N)[:, None, None], cy, cx, :]
        corner *= inside[..., None]
        output = output + weight[..., None] * corner
    return output


def make_grid_sample():
    @mx.custom_function
    def grid_sample(x, grid):
        assert x.ndim == 4, "`x` must be 4D."
        assert grid.ndim == 4, "`grid` must be 4D."
        B, _, _, C = x.shape
        _, gN, gM, D = grid.shape
        out_shape = (B, gN, gM, C)
        assert D == 2, "Last dim of `grid` must be size 2."
        kernel = mx.fast.metal_kernel(name="grid_sample", source=SAMPLE_BODY)
        outputs = kernel(
            inputs={"x": x, "grid": grid},
            template={"T": x.dtype},
            output_shapes={"out": out_shape},
            output_dtypes={"out": x.dtype},
            grid=(np.prod(out_shape), 1, 1),
            threadgroup=(256, 1, 1),
        )
        return outputs["out"]

    @grid_sample.vjp
    def grid_sample_vjp(primals, cotangent, _):
        x, grid = primals
        B, _, _, C = x.shape
        _, gN, gM, D = grid.shape
        assert D == 2, "Last dim of `grid` must be size 2."
        kernel = mx.fast.metal_kernel(
            name="grid_sample_grad", source=SAMPLE_VJP_BODY, atomic_outputs=True
        )
        # pad the output channels to simd group size
        # so that our `simd_sum`s don't overlap.
        simdgroup_size = 32
        C_padded = (C + simdgroup_size - 1) // simdgroup_size * simdgroup_size
        grid_size = B * gN * gM * C_padded
        outputs = kernel(
            inputs={"x": x, "grid": grid, "cotangent": cotangent},
            template={"T": x.dtype},
            output_shapes={"x_grad": x.shape, "grid_grad": grid.shape},
            output_dtypes={"x_grad": x.dtype, "grid_grad": x.dtype},
            grid=(grid_size, 1, 1),
            threadgroup=(256, 1, 1),
            init_value=0,
        )
        return outputs["x_grad"], outputs["grid_grad"]

    return grid_sample


def sample_numpy(x: np.ndarray, grid: np.ndarray) -> np.ndarray:
    x, grid = x.astype(np.float64), grid.astype(np.float64)
    n, h, w, _ = x.shape
    ix = ((grid[..., 0] + 1) * w - 1) / 2
    iy = ((grid[..., 1] + 1) * h - 1) / 2
    x0, y0 = np.floor(ix).astype(int), np.floor(iy).astype(int)
    out = np.zeros(grid.shape[:3] + x.shape[3:])
    b = np.arange(n)[:, None, None]
    for dy in (0, 1):
        for dx in (0, 1):
            cx, cy = x0 + dx, y0 + dy
            weight = np.abs(1 - dx - (ix - x0)) * np.abs(1 - dy - (iy - y0))
            inside = (cx >= 0) & (cx < w) & (cy >= 0) & (cy < h)
            corner = x[b, np.clip(cy, 0, h - 1), np.clip(cx, 0, w - 1)]
            out += (weight * inside)[..., None] * corner
    return out


class TestGridSample:
    # the first batch leaves the image on all sides: the kernel reads there and drops the value
    @pytest.mark.parametrize("channels", [1, 3, 32, 45])
    def test_forward(self, channels):
        x = mx.random.normal((2, 9, 7, channels))
        grid = mx.random.uniform(-1.3, 1.3, (2, 5, 6, 2))
        out = make_grid_sample()(x, grid)
        np.testing.assert_allclose(
            np.array(out), sample_numpy(np.array(x), np.array(grid)), rtol=1e-4, atol=1e-5
        )

    def test_against_the_array_version(self):
        x = mx.random.normal((2, 16, 16, 4))
        grid = mx.random.uniform(-1, 1, (2, 8, 8, 2))
        assert mx.allclose(make_grid_sample()(x, grid), grid_sample_ref(x, grid), 1e-4, 1e-5)

    @pytest.mark.parametrize("channels", [3, 32, 40])
    def test_gradient(self, channels, monkeypatch):
        # indices have no derivative: differentiating them is an error
        floor = mx.floor
        monkeypatch.setattr(mx, "floor", lambda x: mx.stop_gradient(floor(x)))
        # an even width and height: the kernel multiplies by W / 2 in integers
        x = mx.random.normal((2, 6, 8, channels))
        grid = mx.random.uniform(-0.9, 0.9, (2, 5, 4, 2))
        cotangent = mx.random.normal((2, 5, 4, channels))
        grid_sample = make_grid_sample()

        def loss(f):
            return lambda x, grid: (f(x, grid) * cotangent).sum()

        grads = mx.grad(loss(grid_sample), argnums=(0, 1))(x, grid)
        expected = mx.grad(loss(grid_sample_ref), argnums=(0, 1))(x, grid)
        for got, want in zip(grads, expected):
            np.testing.assert_allclose(np.array(got), np.array(want), rtol=2e-3, atol=2e-3)


# The porting guide: complete kernels whose arrays bind by position.

MVMR_SOURCE = """
    #include <metal_stdlib>
    using namespace metal;

    kernel void mvmr_kernel(
        device const float* a [[buffer(0)]],          // (T, G, M, C) flattened
        device const uint32_t* a_idx [[buffer(1)]],   // (T,)
        device const float* b [[buffer(2)]],          // (B, G, C) flattened
        device const uint32_t* b_idx [[buffer(3)]],   // (B,)
        device const uint32_t* o_idx [[buffer(4)]],   // (T,)
        device float* o [[buffer(5)]],                // (K, G, M) flattened
        device const uint32_t* dims [[buffer(6)]],    // [T, G, M, C, K, B]
        uint3 gid [[threadgroup_position_in_grid]],
        uint3 tid [[thread_position_in_threadgroup]],
        uint3 tpg [[threads_per_threadgroup]]
    ) {
        uint linear_idx = gid.x * tpg.x + tid.x;

        // dims layout: [T, G, M, C, K, B]
        uint T = dims[0], G = dims[1], M = dims[2], C = dims[3];
        uint K = dims[4];  // output size

        // Each thread handles one (t, g, m) triple
        if (linear_idx >= T * G * M) return;

        uint t = linear_idx / (G * M);
        uint gm = linear_idx % (G * M);
        uint g = gm / M;
        uint m = gm % M;

        // Get indices
        uint b_pos = b_idx[t];  // which b vector to use
        uint out_pos = o_idx[t];

        // Compute dot product a[t,g,m,:] @ b[b_pos,g,:]
        float sum = 0.0;
        for (uint c = 0; c < C; c++) {
            uint a_offset = (((t * G + g) * M + m) * C) + c;
            uint b_offset = ((b_pos * G + g) * C) + c;
            sum += a[a_offset] * b[b_offset];
        }

        // Atomic add to output (handles duplicates in o_idx)
        uint out_offset = ((out_pos * G + g) * M) + m;
        atomic_fetch_add_explicit(
            (device atomic_float*)&o[out_offset],
            sum,
            memory_order_relaxed
        );
    }
"""

SEGMENT_SUM_SOURCE = """
    #include <metal_stdlib>
    using namespace metal;

    kernel void segment_reduce_sum(
        device const float* x [[buffer(0)]],       // (T, C)
        device const uint32_t* segment_ids [[buffer(1)]],  // (T,)
        device const uint32_t* offsets [[buffer(2)]],      // (K,)
        device const uint32_t* lengths [[buffer(3)]],      // (K,)
        device float* y [[buffer(4)]],             // (K, C)
        device const uint32_t* dims [[buffer(5)]], // [K, C]: a pointer knows no shape
        uint3 gid [[threadgroup_position_in_grid]],
        uint3 tid [[thread_position_in_threadgroup]],
        uint3 tpg [[threads_per_threadgroup]]
    ) {
        uint linear_idx = gid.x * tpg.x + tid.x;
        uint K = dims[0];
        uint C = dims[1];

        // Each thread handles one output element y[k, c]
        if (linear_idx >= K * C) return;

        uint k = linear_idx / C;
        uint c = linear_idx % C;

        uint start = offsets[k];
        uint len = lengths[k];

        // Sum segment
        float sum = 0.0;
        for (uint i = 0; i < len; i++) {
            uint t = start + i;
            sum += x[t * C + c];
        }

        y[k * C + c] = sum;
    }
"""


def mvmr(a, b, b_idx, o_idx, n_o, grid_at="call"):
    T, G, M, C = a.shape
    B = b.shape[0]
    a_idx = mx.arange(T).astype(mx.uint32)
    o = mx.zeros((n_o, G, M), dtype=a.dtype)
    blocks = (T * G * M + 255) // 256
    launch = {"grid": (blocks * 256, 1, 1), "threadgroup": (256, 1, 1)}
    kernel = mx.fast.metal_kernel(
        name="mvmr_kernel",
        source=MVMR_SOURCE,
        input_shapes=[a.shape, a_idx.shape, b.shape, b_idx.shape, o_idx.shape, (n_o, G, M)],
        output_shape=(n_o, G, M),
        output_dtype=a.dtype,
        **(launch if grid_at == "creation" else {}),
    )
    o = kernel(
        a.reshape(-1),
        a_idx,
        b.reshape(-1),
        b_idx,
        o_idx,
        o.reshape(-1),
        mx.array([T, G, M, C, n_o, B], dtype=mx.uint32),
        **(launch if grid_at == "call" else {}),
    )
    return o.reshape((n_o, G, M))


def mvmr_numpy(a, b, b_idx, o_idx, n_o):
    out = np.zeros((n_o,) + a.shape[1:3])
    for t in range(a.shape[0]):
        out[o_idx[t]] += np.einsum("gmc,gc->gm", a[t].astype(np.float64), b[b_idx[t]])
    return out


class TestPortingGuide:
    def operands(self, rng=None):
        rng = np.random.default_rng(0)
        T, G, M, C, K = 100, 8, 16, 32, 64
        a = rng.standard_normal((T, G, M, C)).astype(np.float32)
        b = rng.standard_normal((K, G, C)).astype(np.float32)
        b_idx = rng.integers(0, K, T).astype(np.uint32)
        o_idx = rng.integers(0, K, T).astype(np.uint32)
        return a, b, b_idx, o_idx, K

    @pytest.mark.parametrize("grid_at", ["call", "creation"])
    def test_mvmr(self, grid_at):
        a, b, b_idx, o_idx, K = self.operands()
        out = mvmr(mx.array(a), mx.array(b), mx.array(b_idx), mx.array(o_idx), K, grid_at)
        assert out.shape == (K, 8, 16)
        want = mvmr_numpy(a, b, b_idx, o_idx, K)
        np.testing.assert_allclose(np.array(out), want, rtol=1e-4, atol=1e-4)

    def test_mvmr_needs_a_grid(self):
        a, b, b_idx, o_idx, K = map(lambda v: v, self.operands())
        with pytest.raises(ValueError, match="grid"):
            mvmr(mx.array(a), mx.array(b), mx.array(b_idx), mx.array(o_idx), K, "nowhere")

    def test_mvmr_gradient(self):
        a, b, b_idx, o_idx, K = self.operands()
        b, b_idx, o_idx = mx.array(b), mx.array(b_idx), mx.array(o_idx)

        @mx.custom_function
        def forward(a):
            return mvmr(a, b, b_idx, o_idx, K)

        @forward.vjp
        def backward(primals, cotangent, _):
            return cotangent[o_idx][..., None] * b[b_idx][:, :, None, :]

        weight = mx.random.normal((K, 8, 16))
        grad = mx.grad(lambda a: (forward(a) * weight).sum())(mx.array(a))
        assert grad.shape == a.shape
        want = (
            np.array(weight)[np.array(o_idx)][..., None] * np.array(b)[np.array(b_idx)][:, :, None]
        )
        np.testing.assert_allclose(np.array(grad), want, rtol=1e-5)

    def test_segment_sum(self):
        rng = np.random.default_rng(1)
        lengths = np.array([3, 0, 5, 1, 40], np.uint32)
        offsets = np.concatenate([[0], np.cumsum(lengths)[:-1]]).astype(np.uint32)
        ids = np.repeat(np.arange(5), lengths).astype(np.uint32)
        x = rng.standard_normal((lengths.sum(), 7)).astype(np.float32)
        kernel = mx.fast.metal_kernel(name="segment_reduce_sum", source=SEGMENT_SUM_SOURCE)
        y = kernel(
            mx.array(x),
            mx.array(ids),
            mx.array(offsets),
            mx.array(lengths),
            mx.zeros((5, 7)),
            mx.array([5, 7], dtype=mx.uint32),
            grid=(64, 1, 1),
            threadgroup=(32, 1, 1),
        )
        want = np.zeros((5, 7))
        np.add.at(want, ids, x.astype(np.float64))
        np.testing.assert_allclose(np.array(y), want, rtol=1e-5, atol=1e-5)
