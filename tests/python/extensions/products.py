"""Sums of indexed products in NumPy, in double precision, entry by entry."""

import numpy as np

Indices = np.ndarray | None


def row(indices: Indices, entry: int) -> int:
    return entry if indices is None else int(indices[entry])


def count(a: np.ndarray, a_idx: Indices, b: np.ndarray, b_idx: Indices, o_idx: Indices) -> int:
    known = [len(x) for x in (a_idx, b_idx, o_idx) if x is not None]
    return known[0] if known else len(a)


def mvmr(a, a_idx, b, b_idx, o_idx, n_o, transpose=False) -> np.ndarray:
    a, b = a.astype(np.float64), b.astype(np.float64)
    if transpose:
        a = a.swapaxes(2, 3)
    out = np.zeros((n_o, *a.shape[1:3]))
    for t in range(count(a, a_idx, b, b_idx, o_idx)):
        product = np.einsum("gmc,gc->gm", a[row(a_idx, t)], b[row(b_idx, t)])
        out[row(o_idx, t)] += product
    return out


def vvor(a, a_idx, b, b_idx, o_idx, n_o) -> np.ndarray:
    a, b = a.astype(np.float64), b.astype(np.float64)
    out = np.zeros((n_o, *a.shape[1:], b.shape[2]))
    for t in range(count(a, a_idx, b, b_idx, o_idx)):
        out[row(o_idx, t)] += a[row(a_idx, t)][:, :, None] * b[row(b_idx, t)][:, None, :]
    return out


def mvmr_gradients(a, a_idx, b, b_idx, o_idx, g) -> tuple[np.ndarray, np.ndarray]:
    """Gradients of the sum of g * mvmr(...) in a and in b."""
    a_grad, b_grad = np.zeros(a.shape), np.zeros(b.shape)
    a, b, g = (x.astype(np.float64) for x in (a, b, g))
    for t in range(count(a, a_idx, b, b_idx, o_idx)):
        i, j, o = row(a_idx, t), row(b_idx, t), row(o_idx, t)
        a_grad[i] += g[o][:, :, None] * b[j][:, None, :]
        b_grad[j] += np.einsum("gmc,gm->gc", a[i], g[o])
    return a_grad, b_grad
