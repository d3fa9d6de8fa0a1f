"""Kernels of speech and of transport: dynamic programming over rows, with barriers between steps."""

import mlx.core as mx
import numpy as np
from kernel_runner import run_kernel, run_one


def test_monotonic_alignment(rng):
    """The best path through a score matrix that stays or moves on by one column a row."""
    body = """
        threadgroup float best[2][COLUMNS];
        const uint c = thread_position_in_threadgroup.x;
        const uint batch = threadgroup_position_in_grid.x;
        const device float* s = scores + batch * ROWS * COLUMNS;
        device int* f = from + batch * ROWS * COLUMNS;
        for (uint k = c; k < COLUMNS; k += threads_per_threadgroup.x)
            best[0][k] = k == 0 ? s[0] : -INFINITY;
        for (int row = 1; row < ROWS; ++row) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            threadgroup const float* old = best[(row - 1) & 1];
            for (uint k = c; k < COLUMNS; k += threads_per_threadgroup.x) {
                const float stay = old[k], move = k > 0 ? old[k - 1] : -INFINITY;
                f[row * COLUMNS + k] = move > stay;
                best[row & 1][k] = max(stay, move) + s[row * COLUMNS + k];
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
        if (c == 0) {
            int k = COLUMNS - 1;
            for (int row = ROWS - 1; row >= 0; --row) {
                path[batch * ROWS + row] = k;
                k -= row > 0 ? f[row * COLUMNS + k] : 0;
            }
            total[batch] = best[(ROWS - 1) & 1][COLUMNS - 1];
        }
    """
    batch, rows, columns = 3, 60, 45
    scores = rng.standard_normal((batch, rows, columns)).astype(np.float32)
    path, total, _ = run_kernel(
        body,
        {"scores": scores},
        {
            "path": ((batch, rows), mx.int32),
            "total": ((batch,), mx.float32),
            "from": ((batch, rows, columns), mx.int32),
        },
        batch * 32,
        32,
        template=[("ROWS", rows), ("COLUMNS", columns)],
    )
    for b in range(batch):
        best = np.full(columns, -np.inf)
        best[0] = scores[b, 0, 0]
        for row in range(1, rows):
            best = np.maximum(best, np.concatenate([[-np.inf], best[:-1]])) + scores[b, row]
        steps = np.diff(path[b])
        assert path[b, 0] == 0 and path[b, -1] == columns - 1 and set(steps) <= {0, 1}
        np.testing.assert_allclose(total[b], best[-1], rtol=1e-4)
        along = scores[b, np.arange(rows), path[b]].astype(float).sum()
        np.testing.assert_allclose(along, best[-1], rtol=1e-4)


def log_add(*values: np.ndarray) -> np.ndarray:
    return np.logaddexp.reduce(np.stack(values), axis=0)


def test_connectionist_temporal_classification(rng):
    """Log-likelihood of labels under all alignments with blanks in between."""
    header = """
        inline float log_add(float a, float b, float c) {
            const float top = max3(a, b, c);
            if (top == -INFINITY) return top;
            return top + log(exp(a - top) + exp(b - top) + exp(c - top));
        }
    """
    body = """
        threadgroup float alpha[2][64];
        const int s = thread_position_in_threadgroup.x, states = 2 * L + 1;
        const int label = s % 2 == 0 ? 0 : labels[s / 2];
        const bool may_skip = s % 2 == 1 && s > 1 && labels[s / 2] != labels[s / 2 - 1];
        alpha[0][s] = s < 2 && s < states ? logp[label] : -INFINITY;
        for (int t = 1; t < T; ++t) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            const threadgroup float* a = alpha[(t + 1) & 1];
            float next = -INFINITY;
            if (s < states) {
                next = log_add(a[s], s > 0 ? a[s - 1] : -INFINITY, may_skip ? a[s - 2] : -INFINITY)
                    + logp[t * C + label];
            }
            alpha[t & 1][s] = next;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (s == 0) {
            const threadgroup float* a = alpha[(T - 1) & 1];
            out[0] = -log_add(a[states - 1], a[states - 2], -INFINITY);
        }
    """
    steps, classes = 30, 6
    labels = np.array([1, 3, 3, 5, 2, 2, 4, 1], np.int32)
    logits = rng.standard_normal((steps, classes))
    logp = (logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)).astype(np.float32)
    got = run_one(
        body,
        {"logp": logp, "labels": labels},
        {"out": ((1,), mx.float32)},
        64,
        64,
        header=header,
        template=[("L", len(labels)), ("T", steps), ("C", classes)],
    )
    extended = np.zeros(2 * len(labels) + 1, int)
    extended[1::2] = labels
    skip = np.full(len(extended), -np.inf)
    skip[2:] = np.where((extended[2:] != 0) & (extended[2:] != extended[:-2]), 0.0, -np.inf)
    alpha = np.full(len(extended), -np.inf)
    alpha[:2] = logp[0, extended[:2]]
    for t in range(1, steps):
        one = np.concatenate([[-np.inf], alpha[:-1]])
        two = np.concatenate([[-np.inf, -np.inf], alpha[:-2]]) + skip
        with np.errstate(invalid="ignore"):
            alpha = log_add(alpha, one, two) + logp[t, extended]
    np.testing.assert_allclose(got[0], -np.logaddexp(alpha[-1], alpha[-2]), rtol=1e-4)


def test_balanced_transport(rng):
    """Sinkhorn's iteration in the logarithm: a SIMD-group a row, then a column, all in one launch."""
    body = """
        threadgroup float u[N];
        threadgroup float v[N];
        const uint lane = thread_index_in_simdgroup, simd = simdgroup_index_in_threadgroup;
        const uint i = thread_index_in_threadgroup;
        if (i < N) { u[i] = 0; v[i] = 0; }
        for (int step = 0; step < STEPS; ++step) {
            threadgroup_barrier(mem_flags::mem_threadgroup);
            const bool by_row = step % 2 == 0;
            threadgroup float* target = by_row ? u : v;
            threadgroup const float* other = by_row ? v : u;
            for (uint r = simd; r < N; r += simdgroups_per_threadgroup) {
                float top = -INFINITY, sum = 0;
                for (uint k = lane; k < N; k += 32) {
                    const float x = other[k] - cost[by_row ? r * N + k : k * N + r] * 4;
                    const float next = max(top, x);
                    sum = sum * exp(top - next) + exp(x - next);
                    top = next;
                }
                const float all = simd_max(top);
                sum = simd_sum(sum * exp(top - all));
                if (lane == 0) target[r] = -log(float(N)) - (all + log(sum));
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = i; k < N * N; k += threads_per_threadgroup.x)
            out[k] = exp(u[k / N] + v[k % N] - cost[k] * 4);
    """
    n, steps = 40, 200
    cost = rng.uniform(0, 1, (n, n)).astype(np.float32)
    got = run_one(
        body,
        {"cost": cost},
        {"out": ((n, n), mx.float32)},
        128,
        128,
        template=[("N", n), ("STEPS", steps)],
    )
    u, v = np.zeros(n), np.zeros(n)
    for _ in range(steps // 2):
        u = -np.log(n) - np.logaddexp.reduce(v[None] - 4 * cost, axis=1)
        v = -np.log(n) - np.logaddexp.reduce(u[:, None] - 4 * cost, axis=0)
    np.testing.assert_allclose(got, np.exp(u[:, None] + v - 4 * cost), rtol=1e-3)
    np.testing.assert_allclose(got.sum(0), 1 / n, rtol=1e-4)
