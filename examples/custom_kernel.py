"""Kernels written in the Metal Shading Language, called from Python: the forms there are."""

import mlx.core as mx

# Only the body of a kernel. Its inputs and outputs are named here. Their types are those of the
# arrays in each call, and the body gets the thread's position because it mentions it.
exp_kernel = mx.fast.metal_kernel(
    name="elementwise_exp",
    input_names=["x"],
    output_names=["y"],
    source="""
        uint i = thread_position_in_grid.x;
        y[i] = T(metal::exp(float(x[i])));
    """,
)


def exp(x: mx.array) -> mx.array:
    """One thread for each element."""
    return exp_kernel(
        inputs=[x],
        template=[("T", x.dtype)],
        grid=(x.size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[x.shape],
        output_dtypes=[x.dtype],
    )[0]


# Without names, inputs and outputs are dictionaries. x_shape, x_strides and x_ndim come with x, so
# that the kernel finds its elements in any memory layout.
strided_kernel = mx.fast.metal_kernel(
    name="strided_exp",
    source="""
        uint i = thread_position_in_grid.x;
        y[i] = metal::exp(x[elem_to_loc(i, x_shape, x_strides, x_ndim)]);
    """,
    ensure_row_contiguous=False,
)


def strided_exp(x: mx.array) -> mx.array:
    """Reads `x` with its strides, without a copy."""
    return strided_kernel(
        inputs={"x": x},
        grid=(x.size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes={"y": x.shape},
        output_dtypes={"y": x.dtype},
    )["y"]


# Atomic outputs that start from zero: many threads add to one element.
histogram_kernel = mx.fast.metal_kernel(
    name="histogram",
    input_names=["x"],
    output_names=["counts"],
    source="""
        uint bin = clamp(int(x[thread_position_in_grid.x] * BINS), 0, BINS - 1);
        atomic_fetch_add_explicit(&counts[bin], 1, memory_order_relaxed);
    """,
    atomic_outputs=True,
)


def histogram(x: mx.array, bins: int) -> mx.array:
    """Counts the values of `x`, which lie in [0, 1), in equal bins."""
    return histogram_kernel(
        inputs=[x],
        template=[("BINS", bins)],
        grid=(x.size, 1, 1),
        threadgroup=(256, 1, 1),
        output_shapes=[(bins,)],
        output_dtypes=[mx.int32],
        init_value=0,
    )[0]


# A complete kernel: arrays bind to its buffers by position, and writable buffers are outputs.
row_sum_kernel = mx.fast.metal_kernel(
    name="row_sum",
    source="""
        #include <metal_stdlib>
        using namespace metal;

        kernel void row_sum(device const float* x [[buffer(0)]],
                            device float* sums [[buffer(1)]],
                            constant int& columns [[buffer(2)]],
                            uint row [[threadgroup_position_in_grid]],
                            uint lane [[thread_index_in_simdgroup]]) {
          float sum = 0;
          for (int i = lane; i < columns; i += 32) sum += x[row * columns + i];
          sum = simd_sum(sum);
          if (lane == 0) sums[row] = sum;
        }
    """,
)


def row_sum(x: mx.array) -> mx.array:
    """One SIMD-group, which is 32 threads, for each row."""
    rows, columns = x.shape
    return row_sum_kernel(
        x, mx.zeros(rows), columns, grid=(32 * rows, 1, 1), threadgroup=(32, 1, 1)
    )


def main() -> None:
    x = mx.random.normal((4, 16)).astype(mx.float16)
    print("exp:          ", bool(mx.allclose(exp(x), mx.exp(x), 1e-2)))
    print("strided exp:  ", bool(mx.allclose(strided_exp(x.T), mx.exp(x.T), 1e-2)))
    print("histogram:    ", histogram(mx.random.uniform(shape=(1000,)), 5).tolist())
    y = mx.random.normal((3, 1000))
    print("sums of rows: ", bool(mx.allclose(row_sum(y), y.sum(axis=1), 1e-4, 1e-3)))


if __name__ == "__main__":
    main()
