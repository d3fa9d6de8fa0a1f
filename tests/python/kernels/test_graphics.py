"""Images, simulations and rendering."""

import mlx.core as mx
import numpy as np
from kernel_runner import run_kernel, run_one

F32 = mx.float32


def test_mandelbrot():
    source = """
        uint2 p = thread_position_in_grid.xy;
        float2 c = float2(-2.0, -1.25) + float2(p) * float2(3.0, 2.5) / float2(threads_per_grid.xy);
        float2 z = 0;
        int n = 0;
        while (n < LIMIT && dot(z, z) <= 4.0) {
            z = float2(z.x * z.x - z.y * z.y, 2 * z.x * z.y) + c;
            ++n;
        }
        out[p.y * threads_per_grid.x + p.x] = n;
    """
    got = run_one(
        source, {}, {"out": ((50, 60), mx.int32)}, (60, 50, 1), (16, 8, 1), template=[("LIMIT", 60)]
    )
    y, x = np.mgrid[:50, :60]
    c = (-2 + x * 3 / 60) + 1j * (-1.25 + y * 2.5 / 50)
    z, n, alive = np.zeros_like(c), np.zeros(c.shape, int), np.ones(c.shape, bool)
    for _ in range(60):
        alive &= np.abs(z) <= 2
        z = np.where(alive, z * z + c, z)
        n += alive
    assert (got == n).mean() > 0.99  # orbits on the border are chaotic


def test_game_of_life(rng):
    source = """
        uint2 p = thread_position_in_grid.xy;
        int H = cells_shape[0], W = cells_shape[1];
        int sum = 0;
        for (int dy = -1; dy <= 1; ++dy)
            for (int dx = -1; dx <= 1; ++dx)
                if (dx != 0 || dy != 0) sum += cells[((p.y + dy + H) % H) * W + (p.x + dx + W) % W];
        bool alive = cells[p.y * W + p.x];
        next[p.y * W + p.x] = sum == 3 || (alive && sum == 2);
    """
    cells = rng.uniform(size=(30, 41)) < 0.4
    kernel = mx.fast.metal_kernel("life", ["cells"], ["next"], source)
    state, want = mx.array(cells), cells
    for _ in range(5):
        (state,) = kernel(
            inputs=[state],
            grid=(41, 30, 1),
            threadgroup=(8, 8, 1),
            output_shapes=[(30, 41)],
            output_dtypes=[mx.bool_],
        )
        near = sum(
            np.roll(want, (dy, dx), (0, 1)).astype(int)
            for dy in (-1, 0, 1)
            for dx in (-1, 0, 1)
            if dx or dy
        )
        want = (near == 3) | (want & (near == 2))
    np.testing.assert_array_equal(np.array(state), want)


def test_n_body(rng):
    """Bodies are loaded into threadgroup memory tile by tile."""
    source = """
        threadgroup float4 tile[TILE];
        uint i = thread_position_in_grid.x, t = thread_position_in_threadgroup.x;
        float3 here = float3(bodies[4 * i], bodies[4 * i + 1], bodies[4 * i + 2]);
        float3 force = 0;
        for (int first = 0; first < N; first += TILE) {
            tile[t] = ((const device float4*)bodies)[first + t];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            for (int k = 0; k < TILE; ++k) {
                float3 d = tile[k].xyz - here;
                float inverse = rsqrt(length_squared(d) + 1e-2);
                force += tile[k].w * inverse * inverse * inverse * d;
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        out[3 * i] = force.x; out[3 * i + 1] = force.y; out[3 * i + 2] = force.z;
    """
    bodies = rng.uniform(0, 1, (192, 4)).astype(np.float32)
    got = run_one(
        source,
        {"bodies": bodies, "N": 192},
        {"out": ((192, 3), F32)},
        192,
        64,
        template=[("TILE", 64)],
    )
    p, m = bodies[:, :3].astype(np.float64), bodies[:, 3]
    d = p[None] - p[:, None]
    want = (m[None, :, None] * d / ((d**2).sum(-1) + 1e-2)[..., None] ** 1.5).sum(1)
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-2)


def test_gaussians_in_a_tile(rng):
    """Front to back; a tile stops when all of its pixels are opaque."""
    source = """
        threadgroup float4 batch_a[64];  // mean x, y, opacity, depth
        threadgroup float4 batch_b[64];  // conic a, b, c, colour
        threadgroup atomic_int open;
        uint2 p = thread_position_in_grid.xy;
        uint t = thread_index_in_threadgroup;
        float2 pixel = float2(p) + 0.5;
        float colour = 0, through = 1;
        bool done = false;
        for (int first = 0; first < N; first += 64) {
            if (t == 0) atomic_store_explicit(&open, 0, memory_order_relaxed);
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (!done) atomic_fetch_add_explicit(&open, 1, memory_order_relaxed);
            int mine = first + int(t);
            if (t < 64 && mine < N) {
                batch_a[t] = *(const device float4*)(splats + 8 * mine);
                batch_b[t] = *(const device float4*)(splats + 8 * mine + 4);
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
            if (atomic_load_explicit(&open, memory_order_relaxed) == 0) break;
            for (int k = 0; k < min(64, N - first) && !done; ++k) {
                float2 d = pixel - batch_a[k].xy;
                float4 conic = batch_b[k];
                float power = -0.5 * (conic.x * d.x * d.x + conic.z * d.y * d.y) - conic.y * d.x
                    * d.y;
                if (power > 0) continue;
                float alpha = min(0.99, batch_a[k].z * exp(power));
                if (alpha < 1.0 / 255) continue;
                if (through * (1 - alpha) < 1e-4) { done = true; break; }
                colour += conic.w * alpha * through;
                through *= 1 - alpha;
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        out[p.y * threads_per_grid.x + p.x] = colour;
        left[p.y * threads_per_grid.x + p.x] = through;
    """
    n = 150
    splats = np.concatenate(
        [
            rng.uniform(0, 32, (n, 2)),
            rng.uniform(0.3, 1, (n, 1)),
            np.zeros((n, 1)),
            rng.uniform(0.02, 0.2, (n, 1)),
            rng.uniform(-0.01, 0.01, (n, 1)),
            rng.uniform(0.02, 0.2, (n, 1)),
            rng.uniform(0, 1, (n, 1)),
        ],
        1,
    ).astype(np.float32)
    got, left = run_kernel(
        source,
        {"splats": splats, "N": n},
        {"out": ((32, 32), F32), "left": ((32, 32), F32)},
        (32, 32, 1),
        (16, 16, 1),
    )
    y, x = np.mgrid[:32, :32] + 0.5
    colour, through, done = np.zeros((32, 32)), np.ones((32, 32)), np.zeros((32, 32), bool)
    for mx_, my, opacity, _, a, b, c, value in splats.astype(np.float64):
        dx, dy = x - mx_, y - my
        power = -0.5 * (a * dx * dx + c * dy * dy) - b * dx * dy
        alpha = np.minimum(0.99, opacity * np.exp(np.minimum(power, 0)))
        use = ~done & (power <= 0) & (alpha >= 1 / 255)
        stop = use & (through * (1 - alpha) < 1e-4)
        done |= stop
        use &= ~stop
        colour += np.where(use, value * alpha * through, 0)
        through = np.where(use, through * (1 - alpha), through)
    assert (np.abs(got - colour) < 1e-3).mean() > 0.99  # rounding may decide at thresholds
    assert (np.abs(left - through) < 1e-3).mean() > 0.99


def test_hash_grid_encoding(rng):
    header = """
        METAL_FUNC uint hash_of(uint3 cell, uint mask) {
          return (cell.x * 1u ^ cell.y * 2654435761u ^ cell.z * 805459861u) & mask;
        }
    """
    source = """
        uint point = thread_position_in_grid.x, level = thread_position_in_grid.y;
        float scale = 4 * pow(1.5f, float(level));
        float3 at = float3(x[3 * point], x[3 * point + 1], x[3 * point + 2]) * scale;
        float3 base = floor(at), f = at - base;
        float2 sum = 0;
        for (uint corner = 0; corner < 8; ++corner) {
            uint3 offset = uint3(corner & 1, (corner >> 1) & 1, corner >> 2);
            float3 w = select(1 - f, f, bool3(offset));
            uint row = hash_of(uint3(base) + offset, SIZE - 1);
            const device float2* entry = (const device float2*)(table + (level * SIZE + row) * 2);
            sum += w.x * w.y * w.z * *entry;
        }
        *(device float2*)(out + (point * threads_per_grid.y + level) * 2) = sum;
    """
    x = rng.uniform(0, 1, (100, 3)).astype(np.float32)
    table = rng.standard_normal((4, 256, 2)).astype(np.float32)
    got = run_one(
        source,
        {"x": x, "table": table},
        {"out": ((100, 4, 2), F32)},
        (100, 4, 1),
        (32, 2, 1),
        header=header,
        template=[("SIZE", 256)],
    )
    want = np.zeros((100, 4, 2))
    for level in range(4):
        at = x * np.float32(4 * 1.5**level)
        base = np.floor(at)
        f = (at - base).astype(np.float64)
        for corner in range(8):
            o = np.array([corner & 1, corner >> 1 & 1, corner >> 2])
            w = np.where(o, f, 1 - f).prod(1)
            cell = (base + o).astype(np.uint32) * np.array([1, 2654435761, 805459861], np.uint32)
            want[:, level] += w[:, None] * table[level, np.bitwise_xor.reduce(cell, 1) & 255]
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)


def test_ray_marching():
    header = """
        static float sphere(float3 p, float r) { return length(p) - r; }
        static float box(float3 p, float3 b) {
          float3 q = fabs(p) - b;
          return length(max(q, 0.0)) + min(max(q.x, max(q.y, q.z)), 0.0);
        }
        struct Scene {
          float radius;
          float operator()(float3 p) const { return max(box(p, float3(1)), -sphere(p, radius)); }
        };
        template <typename F>
        float march(F field, float3 origin, float3 direction) {
          float t = 0;
          for (int i = 0; i < 100; ++i) {
            float d = field(origin + t * direction);
            if (d < 1e-4 || t > 10) break;
            t += d;
          }
          return t;
        }
    """
    source = """
        uint2 p = thread_position_in_grid.xy;
        float2 uv = (float2(p) + 0.5) / float2(threads_per_grid.xy) * 2 - 1;
        float t = march(Scene{1.2}, float3(uv * 1.5, -3), float3(0, 0, 1));
        auto lambda = [](float v) { return v > 10 ? -1.0f : v; };
        out[p.y * threads_per_grid.x + p.x] = lambda(t);
    """
    got = run_one(source, {}, {"out": ((24, 24), F32)}, (24, 24, 1), (8, 4, 1), header=header)
    c = ((np.arange(24) + 0.5) / 12 - 1) * 1.5
    x, y = np.meshgrid(c, c)
    r2 = x * x + y * y
    inside = np.maximum(np.abs(x), np.abs(y)) <= 1
    # the ball of radius 1.2 opens the box's face where it passes through it
    hole = r2 < 1.2**2 - 1
    back = np.sqrt(np.maximum(1.44 - r2, 0))
    want = np.where(~inside, -1, np.where(~hole, 2, np.where(back < 1, 3 + back, -1)))
    assert (np.abs(got - want) < 2e-2).mean() > 0.95


def test_morton_codes(rng):
    source = """
        uint3 v = uint3(x[3 * thread_position_in_grid.x], x[3 * thread_position_in_grid.x + 1],
                        x[3 * thread_position_in_grid.x + 2]);
        v = (v | v << 16) & 0x030000ff;
        v = (v | v << 8) & 0x0300f00f;
        v = (v | v << 4) & 0x030c30c3;
        v = (v | v << 2) & 0x09249249;
        code[thread_position_in_grid.x] = v.x | v.y << 1 | v.z << 2;
    """
    x = rng.integers(0, 1024, (100, 3)).astype(np.uint16)
    got = run_one(source, {"x": x}, {"code": ((100,), mx.uint32)}, 100)
    want = np.zeros(100, np.uint32)
    for bit in range(10):
        for axis in range(3):
            want |= ((x[:, axis].astype(np.uint32) >> bit) & 1) << np.uint32(3 * bit + axis)
    np.testing.assert_array_equal(got, want)


def test_jump_flooding(rng):
    """The nearest seed of every pixel, one launch for each step size."""
    source = """
        int2 p = int2(thread_position_in_grid.xy), n = int2(threads_per_grid.xy);
        int best = seeds[p.y * n.x + p.x];
        float distance2 = best < 0 ? INFINITY : length_squared(float2(best % n.x - p.x,
            best / n.x - p.y));
        for (int dy = -1; dy <= 1; ++dy) {
            for (int dx = -1; dx <= 1; ++dx) {
                int2 q = p + int2(dx, dy) * step;
                if (any(q < 0 || q >= n)) continue;
                int s = seeds[q.y * n.x + q.x];
                if (s < 0) continue;
                float d = length_squared(float2(s % n.x - p.x, s / n.x - p.y));
                if (d < distance2) { distance2 = d; best = s; }
            }
        }
        out[p.y * n.x + p.x] = best;
    """
    size = 32
    seeds = np.full((size, size), -1, np.int32)
    points = rng.integers(0, size, (6, 2))
    for y, x in points:
        seeds[y, x] = y * size + x
    state = mx.array(seeds)
    kernel = mx.fast.metal_kernel("flood", ["seeds", "step"], ["out"], source)
    for step in (16, 8, 4, 2, 1, 2, 1):
        (state,) = kernel(
            inputs=[state, step],
            grid=(size, size, 1),
            threadgroup=(8, 8, 1),
            output_shapes=[(size, size)],
            output_dtypes=[mx.int32],
        )
    got = np.array(state)
    y, x = np.mgrid[:size, :size]
    distance = lambda s: (s // size - y) ** 2 + (s % size - x) ** 2  # noqa: E731
    want = np.min([(py - y) ** 2 + (px - x) ** 2 for py, px in points], 0)
    assert (distance(got) == want).mean() > 0.98  # the method is approximate


def test_heat_equation(rng):
    """Many steps inside one threadgroup."""
    source = """
        threadgroup float u[2][34 * 34];
        uint t = thread_index_in_threadgroup;
        for (uint i = t; i < 34 * 34; i += 1024) u[0][i] = u[1][i] = 0;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        uint at = (t / 32 + 1) * 34 + t % 32 + 1;
        u[0][at] = x[t];
        for (int step = 0; step < STEPS; ++step) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            threadgroup float* now = u[step & 1];
            threadgroup float* next = u[1 - (step & 1)];
            next[at] = now[at] + 0.2 * (now[at - 1] + now[at + 1] + now[at - 34] + now[at
                + 34] - 4 * now[at]);
        }
        out[t] = u[STEPS & 1][at];
    """
    x = rng.standard_normal((32, 32)).astype(np.float32)
    got = run_one(source, {"x": x}, {"out": (x.shape, F32)}, 1024, 1024, template=[("STEPS", 25)])
    u = x.astype(np.float64)
    for _ in range(25):
        p = np.pad(u, 1)
        u = u + 0.2 * (p[1:-1, :-2] + p[1:-1, 2:] + p[:-2, 1:-1] + p[2:, 1:-1] - 4 * u)
    np.testing.assert_allclose(got, u, rtol=1e-3, atol=1e-5)
