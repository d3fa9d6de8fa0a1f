"""Sums of indexed products, the convolution of point clouds: a kernel in MSL with a gradient rule.

`mlx_sample_extensions.mvmr` is the same as an operation, blocked and without atomics.
"""

import time
from collections.abc import Callable

import mlx.core as mx
from mlx_sample_extensions import mvmr, vvor

# A thread for each entry t, group g and output m. Several entries may add to one output.
mvmr_kernel = mx.fast.metal_kernel(
    name="mvmr",
    input_names=["a", "a_idx", "b", "b_idx", "o_idx"],
    output_names=["o"],
    source="""
        const int G = a_shape[1], M = a_shape[2], C = a_shape[3];
        const int m = thread_position_in_grid.x;
        const int g = thread_position_in_grid.y;
        const int t = thread_position_in_grid.z;
        auto w = a + ((size_t(a_idx[t]) * G + g) * M + m) * C;
        auto x = b + (size_t(b_idx[t]) * G + g) * C;
        float sum = 0;
        for (int c = 0; c < C; ++c) sum += float(w[c]) * float(x[c]);
        atomic_fetch_add_explicit(
            &o[(size_t(o_idx[t]) * G + g) * M + m], sum, memory_order_relaxed);
    """,
    atomic_outputs=True,
)


def mvmr_by_kernel(
    a: mx.array, a_idx: mx.array, b: mx.array, b_idx: mx.array, o_idx: mx.array, n_o: int
) -> mx.array:
    """o[o_idx[t], g] += a[a_idx[t], g] @ b[b_idx[t], g] for every entry t.

    a has shape (K, G, M, C), b (N, G, C), the indices (T,); the result (n_o, G, M), in float32.
    """
    _, groups, m, _ = a.shape
    return mvmr_kernel(
        inputs=[a, a_idx, b, b_idx, o_idx],
        grid=(m, groups, o_idx.size),
        threadgroup=(min(m, 256), 1, 1),
        output_shapes=[(n_o, groups, m)],
        output_dtypes=[mx.float32],
        init_value=0,
    )[0]


def differentiable_mvmr(
    a_idx: mx.array, b_idx: mx.array, o_idx: mx.array, n_o: int
) -> Callable[[mx.array, mx.array], mx.array]:
    """The kernel as a function of a and b with a gradient, which kernels do not have."""

    @mx.custom_vjp
    def product(a: mx.array, b: mx.array) -> mx.array:
        return mvmr_by_kernel(a, a_idx, b, b_idx, o_idx, n_o)

    def forward(a: mx.array, b: mx.array) -> tuple[mx.array, tuple[mx.array, mx.array]]:
        return mvmr_by_kernel(a, a_idx, b, b_idx, o_idx, n_o), (a, b)

    def backward(saved: tuple[mx.array, mx.array], g: mx.array) -> tuple[mx.array, mx.array]:
        a, b = saved
        # In a: outer products, added by matrix. In b: products with transposed matrices.
        by_a = vvor(g, o_idx, b, b_idx, a_idx, a.shape[0])
        by_b = mvmr_by_kernel(a.swapaxes(2, 3), a_idx, g, o_idx, b_idx, b.shape[0])
        return by_a, by_b

    product.defvjp(forward, backward)
    return product


def problem(T: int, G: int, M: int, C: int, K: int, points: int) -> list[mx.array]:
    """Random matrices, vectors and indices."""
    indices = [mx.random.randint(0, high, (T,)) for high in (K, points, points)]
    a = mx.random.normal((K, G, M, C)) / C**0.5
    b = mx.random.normal((points, G, C))
    mx.eval(a, b, indices)
    return [a, indices[0], b, *indices[1:]]


def milliseconds(function: Callable[[], mx.array], calls: int = 5) -> float:
    """The shortest time of a call, evaluated."""
    times = []
    for _ in range(calls + 1):
        start = time.perf_counter()
        mx.eval(function())
        times.append(time.perf_counter() - start)
    return 1e3 * min(times[1:])


def main() -> None:
    a, a_idx, b, b_idx, o_idx = problem(T=1000, G=2, M=16, C=32, K=27, points=125)
    by_kernel = differentiable_mvmr(a_idx, b_idx, o_idx, 125)

    def operation(a: mx.array, b: mx.array) -> mx.array:
        return mvmr(a, a_idx, b, b_idx, o_idx, 125)

    same = mx.allclose(by_kernel(a, b), operation(a, b), atol=1e-4).item()
    print(f"The kernel and the operation agree: {same}")
    weights = mx.random.normal((125, 2, 16))
    grads = [
        mx.grad(lambda a, b, f=f: (weights * f(a, b)).sum(), argnums=(0, 1))(a, b)
        for f in (by_kernel, operation)
    ]
    same = all(mx.allclose(x, y, atol=1e-4).item() for x, y in zip(*grads))
    print(f"So do their gradients: {same}")

    arguments = problem(T=20_000, G=1, M=64, C=64, K=27, points=2500)
    kernel = milliseconds(lambda: mvmr_by_kernel(*arguments, 2500))
    for name, device in (("cpu", mx.cpu), ("gpu", mx.gpu)):
        blocked = milliseconds(lambda d=device: mvmr(*arguments, 2500, stream=d))
        print(f"20,000 products of 64 x 64: kernel {kernel:.1f} ms, mx.{name} {blocked:.1f} ms")


if __name__ == "__main__":
    main()
