"""Recurrent kernels: state in registers, one step after the other."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import run_kernel, run_one, to_numpy


@pytest.mark.parametrize("dtype", [mx.float32, mx.bfloat16])
def test_gated_delta_rule(rng, dtype):
    """A state matrix per head: a row per SIMD-group, distributed over its lanes."""
    source = """
        auto n = thread_position_in_grid.z;
        auto b_idx = n / H;
        constexpr int n_per_t = Dk / 32;
        auto q_ = q + b_idx * L * H * Dk + (n % H) * Dk;
        auto k_ = k + b_idx * L * H * Dk + (n % H) * Dk;
        auto v_ = v + b_idx * L * H * Dv + (n % H) * Dv;
        y += b_idx * L * H * Dv + (n % H) * Dv;
        auto dk_idx = thread_position_in_threadgroup.x;
        auto dv_idx = thread_position_in_grid.y;
        auto i_state = state_in + (n * Dv + dv_idx) * Dk;
        auto o_state = state_out + (n * Dv + dv_idx) * Dk;
        float state[n_per_t];
        for (int i = 0; i < n_per_t; ++i) state[i] = static_cast<float>(i_state[n_per_t * dk_idx
            + i]);
        auto g_ = g + b_idx * L * H + n % H;
        auto beta_ = beta + b_idx * L * H + n % H;
        for (int t = 0; t < L; ++t) {
            float kv_mem = 0.0f;
            for (int i = 0; i < n_per_t; ++i) {
                auto s_idx = n_per_t * dk_idx + i;
                state[i] = state[i] * g_[0];
                kv_mem += state[i] * k_[s_idx];
            }
            kv_mem = simd_sum(kv_mem);
            auto delta = (v_[dv_idx] - kv_mem) * beta_[0];
            float out = 0.0f;
            for (int i = 0; i < n_per_t; ++i) {
                auto s_idx = n_per_t * dk_idx + i;
                state[i] = state[i] + k_[s_idx] * delta;
                out += state[i] * q_[s_idx];
            }
            out = simd_sum(out);
            if (thread_index_in_simdgroup == 0) y[dv_idx] = static_cast<InT>(out);
            q_ += H * Dk; k_ += H * Dk; v_ += H * Dv; y += H * Dv; g_ += H; beta_ += H;
        }
        for (int i = 0; i < n_per_t; ++i) o_state[n_per_t * dk_idx + i]
            = static_cast<InT>(state[i]);
    """
    B, L, H, Dk, Dv = 2, 9, 3, 64, 8
    make = lambda *s: mx.array(rng.standard_normal(s) * 0.3).astype(dtype)  # noqa: E731
    q, k, v = make(B, L, H, Dk), make(B, L, H, Dk), make(B, L, H, Dv)
    g = mx.array(rng.uniform(0.8, 1, (B, L, H))).astype(dtype)
    beta = mx.array(rng.uniform(0, 1, (B, L, H))).astype(dtype)
    state = make(B, H, Dv, Dk)
    y, new_state = run_kernel(
        source,
        {"q": q, "k": k, "v": v, "g": g, "beta": beta, "state_in": state, "L": L},
        {"y": ((B, L, H, Dv), dtype), "state_out": ((B, H, Dv, Dk), dtype)},
        (32, Dv, B * H),
        (32, 4, 1),
        template=[("InT", dtype), ("Dk", Dk), ("Dv", Dv), ("H", H)],
    )
    qf, kf, vf, gf, bf, s = (to_numpy(a).astype(np.float64) for a in (q, k, v, g, beta, state))
    want = np.zeros((B, L, H, Dv))
    for t in range(L):
        s = s * gf[:, t, :, None, None]
        delta = (vf[:, t] - np.einsum("bhvk,bhk->bhv", s, kf[:, t])) * bf[:, t, :, None]
        s = s + delta[..., None] * kf[:, t, :, None, :]
        want[:, t] = np.einsum("bhvk,bhk->bhv", s, qf[:, t])
    tolerance = 1e-4 if dtype == mx.float32 else 2e-2
    np.testing.assert_allclose(y, want, rtol=tolerance, atol=tolerance)
    np.testing.assert_allclose(new_state, s, rtol=tolerance, atol=tolerance)


def test_time_mixing(rng):
    """Running numerator and denominator with a shared exponent, as in WKV recurrences."""
    source = """
        uint channel = thread_position_in_grid.x, batch = thread_position_in_grid.y;
        float decay = -exp(w[channel]), bonus = u[channel];
        float num = 0, den = 0, exponent = -1e38;
        for (int t = 0; t < L; ++t) {
            uint at = (batch * L + t) * C + channel;
            float kt = k[at], vt = v[at];
            float top = max(exponent, bonus + kt);
            float a = exp(exponent - top), b = exp(bonus + kt - top);
            y[at] = (a * num + b * vt) / (a * den + b);
            top = max(exponent + decay, kt);
            a = exp(exponent + decay - top);
            b = exp(kt - top);
            num = a * num + b * vt;
            den = a * den + b;
            exponent = top;
        }
    """
    B, L, C = 2, 20, 33
    k, v = rng.standard_normal((2, B, L, C)).astype(np.float32)
    w, u = rng.standard_normal((2, C)).astype(np.float32)
    y = run_one(
        source,
        {"k": k, "v": v, "w": w, "u": u, "L": L, "C": C},
        {"y": (k.shape, mx.float32)},
        (C, B, 1),
        (32, 1, 1),
    )
    want = np.zeros(k.shape)
    num, den = np.zeros((2, B, C))
    for t in range(L):
        e = np.exp(u + k[:, t].astype(np.float64))
        want[:, t] = (num + e * v[:, t]) / (den + e)
        e = np.exp(k[:, t].astype(np.float64))
        num, den = (np.exp(-np.exp(w)) * s + n for s, n in ((num, e * v[:, t]), (den, e)))
    np.testing.assert_allclose(y, want, rtol=1e-4, atol=1e-5)


def test_selective_scan(rng):
    """A state of N numbers in the lanes of half a SIMD-group."""
    source = """
        uint state = thread_position_in_threadgroup.x;
        uint channel = thread_position_in_grid.y, batch = thread_position_in_grid.z;
        float h = 0;
        float a = -exp(A[channel * N + state]);
        for (int t = 0; t < L; ++t) {
            uint at = (batch * L + t) * D + channel;
            float step = dt[at] > 20 ? dt[at] : log(1 + exp(dt[at]));
            h = exp(step * a) * h + step * B[(batch * L + t) * N + state] * x[at];
            float y = h * C[(batch * L + t) * N + state];
            for (ushort k = N / 2; k > 0; k >>= 1) y += simd_shuffle_xor(y, k);
            if (state == 0) out[at] = y + x[at] * skip[channel];
        }
    """
    batch, L, D, N = 2, 12, 6, 16
    x, dt = rng.standard_normal((2, batch, L, D)).astype(np.float32)
    B, C = rng.standard_normal((2, batch, L, N)).astype(np.float32)
    A = rng.standard_normal((D, N)).astype(np.float32)
    skip = rng.standard_normal(D).astype(np.float32)
    got = run_one(
        source,
        {"x": x, "dt": dt, "A": A, "B": B, "C": C, "skip": skip, "L": L},
        {"out": (x.shape, mx.float32)},
        (N, D, batch),
        (N, 2, 1),
        template=[("N", N), ("D", D)],
    )
    h, want = np.zeros((batch, D, N)), np.zeros(x.shape)
    for t in range(L):
        step = np.log1p(np.exp(dt[:, t].astype(np.float64)))[..., None]
        h = np.exp(step * -np.exp(A)) * h + step * B[:, t, None] * x[:, t, :, None]
        want[:, t] = (h * C[:, t, None]).sum(-1) + x[:, t] * skip
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-4)


def test_linear_recurrence_by_a_parallel_scan(rng):
    """h[t] = a[t] h[t-1] + b[t]: pairs composed over lanes, then over SIMD-groups."""
    source = """
        threadgroup float as[32], bs[32];
        uint row = threadgroup_position_in_grid.x, t = thread_position_in_threadgroup.x;
        uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
        float p = t < L ? a[row * L + t] : 1, s = t < L ? b[row * L + t] : 0;
        for (ushort d = 1; d < 32; d *= 2) {
            float q = simd_shuffle_up(p, d), r = simd_shuffle_up(s, d);
            if (lane >= d) { s = p * r + s; p = p * q; }
        }
        if (lane == 31) { as[simd] = p; bs[simd] = s; }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        float carry = 0;
        for (uint k = 0; k < simd; ++k) carry = as[k] * carry + bs[k];
        if (t < L) h[row * L + t] = p * carry + s;
    """
    L = 250
    a = rng.uniform(0.7, 1.05, (4, L)).astype(np.float32)
    b = rng.standard_normal((4, L)).astype(np.float32)
    got = run_one(
        source, {"a": a, "b": b}, {"h": (a.shape, mx.float32)}, 4 * 256, 256, template=[("L", L)]
    )
    h, want = np.zeros(4), np.zeros((4, L))
    for t in range(L):
        h = a[:, t].astype(np.float64) * h + b[:, t]
        want[:, t] = h
    np.testing.assert_allclose(got, want, rtol=1e-3, atol=1e-3)


def test_gru(rng):
    """The hidden vector is in threadgroup memory, with a barrier between the steps."""
    source = """
        threadgroup float hidden[H];
        uint b = threadgroup_position_in_grid.x, i = thread_position_in_threadgroup.x;
        hidden[i] = 0;
        for (int t = 0; t < L; ++t) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            float r = 0, z = 0, n = 0;
            for (int j = 0; j < H; ++j) {
                r += w[i * H + j] * hidden[j];
                z += w[(H + i) * H + j] * hidden[j];
                n += w[(2 * H + i) * H + j] * hidden[j];
            }
            const device float* xt = x + (b * L + t) * 3 * H;
            r = 1 / (1 + exp(-(xt[i] + r)));
            z = 1 / (1 + exp(-(xt[H + i] + z)));
            n = tanh(xt[2 * H + i] + r * n);
            float next = (1 - z) * n + z * hidden[i];
            threadgroup_barrier(mem_flags::mem_threadgroup);
            hidden[i] = next;
            out[(b * L + t) * H + i] = next;
        }
    """
    B, L, H = 3, 7, 40
    x = rng.standard_normal((B, L, 3 * H)).astype(np.float32)
    w = (rng.standard_normal((3 * H, H)) * 0.2).astype(np.float32)
    got = run_one(
        source,
        {"x": x, "w": w},
        {"out": ((B, L, H), mx.float32)},
        B * H,
        H,
        template=[("H", H), ("L", L)],
    )
    h = np.zeros((B, H))
    sigmoid = lambda v: 1 / (1 + np.exp(-v))  # noqa: E731
    for t in range(L):
        gates = h @ w.T.astype(np.float64)
        r = sigmoid(x[:, t, :H] + gates[:, :H])
        z = sigmoid(x[:, t, H : 2 * H] + gates[:, H : 2 * H])
        h = (1 - z) * np.tanh(x[:, t, 2 * H :] + r * gates[:, 2 * H :]) + z * h
        np.testing.assert_allclose(got[:, t], h, rtol=1e-4, atol=1e-5)


def test_edit_distance(rng):
    """Anti-diagonals of a table, three rows in threadgroup memory."""
    source = """
        threadgroup int rows[3][N + 1];
        uint i = thread_position_in_threadgroup.x;  // cell (i, d - i) of diagonal d
        for (int d = 0; d <= 2 * N; ++d) {
            int j = d - int(i);
            if (j >= 0 && j <= N) {
                int best;
                if (i == 0 || j == 0) {
                    best = i + j;
                } else {
                    best = min(rows[(d + 2) % 3][i - 1], rows[(d + 2) % 3][i]) + 1;
                    best = min(best, rows[(d + 1) % 3][i - 1] + (a[i - 1] != b[j - 1]));
                }
                rows[d % 3][i] = best;
            }
            threadgroup_barrier(mem_flags::mem_threadgroup);
        }
        if (i == N) out[0] = rows[(2 * N) % 3][N];
    """
    n = 50
    a, b = rng.integers(0, 4, (2, n)).astype(np.uint8)
    got = run_one(
        source, {"a": a, "b": b}, {"out": ((1,), mx.int32)}, n + 1, n + 1, template=[("N", n)]
    )
    row = np.arange(n + 1)
    for i in range(n):
        new = [i + 1]
        for j in range(n):
            new.append(min(row[j] + (a[i] != b[j]), row[j + 1] + 1, new[j] + 1))
        row = np.array(new)
    assert got[0] == row[n]
