"""mx.fast.metal_kernel: generated signatures, launches, options, transformations, threads."""

import os
import re
import threading

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import double, launch, outputs, run, run_one

# Everything runs one thread at a time: see test_reference_mode.py.
REFERENCE = os.environ.get("MLX_CPU_REFERENCE") == "1"


class TestSignature:
    def printed(self, capsys, **call) -> str:
        x = mx.arange(10, dtype=mx.float32)
        double()(inputs=[x], **launch(10), **outputs(x), verbose=True, **call)
        return capsys.readouterr().out

    def test_verbose_prints_the_source(self, capsys):
        text = self.printed(capsys, template=[("T", mx.bfloat16), ("N", 3), ("FLAG", False)])
        assert "const device float* x [[buffer(0)]]" in text
        assert "device float* y [[buffer(1)]]" in text
        assert "uint3 thread_position_in_grid [[thread_position_in_grid]]" in text
        assert "template <typename T, int N, bool FLAG>" in text
        assert "<bfloat16_t, 3, false>" in text
        assert "y[i] = x[i] + x[i];" in text

    @pytest.mark.parametrize(
        "dtype, name",
        [(mx.float16, "float16_t"), (mx.bfloat16, "bfloat16_t"), (mx.complex64, "complex64_t")]
        + [(mx.uint8, "uint8_t"), (mx.int64, "int64_t"), (mx.bool_, "bool")],
    )
    def test_names_of_types(self, capsys, dtype: mx.Dtype, name: str):
        """As the documents print them."""
        x = mx.zeros(64).astype(dtype)
        kernel = mx.fast.metal_kernel("same", ["inp"], ["out"], "out[0] = T(inp[0]);")
        kernel(inputs=[x], **launch(1), **outputs(x), template=[("T", dtype)], verbose=True)
        text = capsys.readouterr().out
        assert f"const device {name}* inp [[buffer(0)]]" in text
        assert f"device {name}* out [[buffer(1)]]" in text and f"<{name}>" in text
        assert "half" not in text and "bfloat " not in text

    def test_silent_by_default(self, capsys):
        x = mx.arange(10, dtype=mx.float32)
        double()(inputs=[x], **launch(10), **outputs(x))
        assert capsys.readouterr().out == ""

    def test_python_scalars(self):
        (y,) = run(
            "y[0] = i + f; y[1] = b ? 1 : 0; y[2] = i / 2; y[3] = f / 2;",
            {"i": 7, "f": 0.25, "b": True},
            {"y": (4,)},
            {"y": mx.float32},
            1,
        )
        assert y.tolist() == [7.25, 1, 3, 0.125]

    def test_shapes_strides_and_ndim(self):
        x = mx.zeros((3, 4, 5)).transpose(2, 0, 1)
        body = """
            y[0] = x_ndim;
            for (int i = 0; i < x_ndim; ++i) {
                y[1 + i] = x_shape[i];
                y[4 + i] = x_strides[i];
            }
        """
        got = {}
        for contiguous in (True, False):
            (y,) = run(
                body, {"x": x}, {"y": (7,)}, {"y": mx.int32}, 1, ensure_row_contiguous=contiguous
            )
            got[contiguous] = y.tolist()
        assert got[False] == [3, 5, 3, 4, 1, 20, 5]
        assert got[True] == [3, 5, 3, 4, 12, 4, 1]

    @pytest.mark.parametrize("group", [32, 96, 256])
    def test_permuted_inputs_in_any_order_of_threadgroups(self, group):
        body = """
            uint i = thread_position_in_grid.x;
            y[i] = x[elem_to_loc(i, x_shape, x_strides, x_ndim)];
        """
        shape = (3, 64, 50, 24)
        numbers = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
        for axes in ((0, 3, 1, 2), (3, 2, 1, 0), (0, 2, 1, 3), (1, 3, 0, 2)):
            x = mx.array(numbers).transpose(*axes)
            (y,) = run(
                body,
                {"x": x},
                {"y": x.shape},
                {"y": mx.int32},
                x.size,
                group=group,
                ensure_row_contiguous=False,
            )
            assert np.array_equal(np.array(y), numbers.transpose(axes))

    @pytest.mark.parametrize("dtype", [mx.int8, mx.int16, mx.float32, mx.int64])
    def test_steps_known_at_run_time(self, dtype):
        body = "uint i = thread_position_in_grid.x; y[i] = x[start + int64_t(i) * step];"

        def read(x: mx.array, start: int, step: int, size: int) -> mx.array:
            inputs = {"x": x, "start": mx.array(start, mx.int64), "step": mx.array(step, mx.int64)}
            return run(body, inputs, {"y": (size,)}, {"y": dtype}, size)[0]

        numbers = np.arange(1 << 20) % 101
        x = mx.array(numbers).astype(dtype)
        for step in (0, 1, 2, 3, -1, -7, 1000, -1000):
            start = max(0, -999 * step)
            expected = numbers[start + np.arange(1000) * step]
            assert np.array_equal(np.array(read(x, start, step, 1000)), expected)
        if dtype == mx.int8:  # further apart than small offsets reach
            step = (1 << 24) + 5
            x = (mx.arange(8 * step) % 101).astype(dtype)
            expected = np.arange(8) * step % 101
            assert np.array_equal(np.array(read(x, 0, step, 8)), expected)

    def test_rank_zero_has_no_dimensions(self):
        body = "y[0] = x_ndim; y[1] = x; if (x_ndim > 0) y[1] += x_shape[0] + x_strides[0];"
        (y,) = run(body, {"x": mx.array(5)}, {"y": (2,)}, {"y": mx.int32}, 1)
        assert y.tolist() == [0, 5]

    def test_attributes(self):
        body = """
            uint i = thread_position_in_grid.x + 10 * thread_position_in_grid.y;
            a[i] = thread_position_in_threadgroup.x;
            b[i] = threadgroup_position_in_grid.y;
            c[i] = thread_index_in_threadgroup;
            if (i == 0) {
                d[0] = threads_per_grid.x;
                d[1] = threads_per_grid.y;
                d[2] = threads_per_threadgroup.x;
                d[3] = threadgroups_per_grid.x;
                d[4] = threads_per_simdgroup;
                d[5] = simdgroups_per_threadgroup;
                d[6] = dispatch_threads_per_threadgroup.y;
                d[7] = grid_size.y;
                d[8] = grid_origin.x;
                d[9] = simdgroup_index_in_threadgroup + thread_index_in_simdgroup;
                d[10] = thread_execution_width;
            }
        """
        kernel = mx.fast.metal_kernel("t", [], ["a", "b", "c", "d"], body)
        a, b, c, d = kernel(
            inputs=[],
            grid=(10, 6, 1),
            threadgroup=(4, 2, 1),
            output_shapes=[(6, 10)] * 3 + [(11,)],
            output_dtypes=[mx.uint32] * 4,
        )
        x, y = np.meshgrid(np.arange(10), np.arange(6))
        np.testing.assert_array_equal(np.array(a), x % 4)
        np.testing.assert_array_equal(np.array(b), y // 2)
        width = np.where(x // 4 == 2, 2, 4)  # threadgroups at the right edge hold 2 columns
        np.testing.assert_array_equal(np.array(c), x % 4 + (y % 2) * width)
        assert np.array(d).tolist() == [10, 6, 4, 3, 32, 1, 2, 6, 0, 0, 32]

    def test_names_in_comments_and_strings_are_no_mention(self, capsys):
        x = mx.arange(10, dtype=mx.float32)
        kernel = mx.fast.metal_kernel(
            "t", ["x"], ["y"], "// x_shape thread_index_in_simdgroup\ny[0] = x[0]; /* grid_size */"
        )
        kernel(inputs=[x], **launch(1), **outputs(x), verbose=True)
        signature = capsys.readouterr().out.split("[[kernel]]")[1].split("{")[0]
        assert "shape" not in signature and "simdgroup" not in signature
        assert "grid_size" not in signature

    def test_input_called_like_an_attribute(self):
        (y,) = run(
            "uint i = thread_position_in_grid.x; y[i] = grid_size[i] + threads_per_grid;",
            {"grid_size": mx.arange(10), "threads_per_grid": 5},
            {"y": (10,)},
            {"y": mx.int32},
            10,
        )
        assert y.tolist() == list(range(5, 15))

    def test_input_called_like_a_companion(self):
        (y,) = run(
            "y[0] = x_shape[0] + x[0];",
            {"x": mx.array([1] * 9), "x_shape": mx.array([40] * 9)},
            {"y": (1,)},
            {"y": mx.int32},
            1,
        )
        assert y.tolist() == [41]


class TestLaunch:
    def test_threadgroup_is_clamped_to_the_grid(self):
        body = "y[thread_position_in_grid.x] = threads_per_threadgroup.x;"
        (y,) = run(body, {}, {"y": (5,)}, {"y": mx.uint32}, 5, 256)
        assert y.tolist() == [5] * 5

    @pytest.mark.parametrize("size,group", [(1000, 256), (33, 32), (7, 3), (1, 1), (4097, 1024)])
    def test_exactly_the_grid_runs(self, size, group):
        (y,) = run(
            "atomic_fetch_add_explicit(&y[thread_position_in_grid.x], 1, memory_order_relaxed);",
            {},
            {"y": (size + 100,)},
            {"y": mx.int32},
            size,
            group,
            atomic_outputs=True,
            init_value=0,
        )
        assert y[:size].tolist() == [1] * size and not y[size:].any()

    def test_three_dimensions(self):
        body = """
            uint3 p = thread_position_in_grid;
            uint3 n = threads_per_grid;
            y[(p.z * n.y + p.y) * n.x + p.x] = p.x + 100 * p.y + 10000 * p.z;
        """
        kernel = mx.fast.metal_kernel("t", [], ["y"], body)
        (y,) = kernel(
            inputs=[],
            grid=(5, 6, 7),
            threadgroup=(4, 4, 4),
            output_shapes=[(7, 6, 5)],
            output_dtypes=[mx.int32],
        )
        z, r, x = np.meshgrid(np.arange(7), np.arange(6), np.arange(5), indexing="ij")
        np.testing.assert_array_equal(np.array(y), x + 100 * r + 10000 * z)

    def test_empty_grid_keeps_the_initial_value(self):
        (y,) = run("y[0] = 1;", {}, {"y": (4,)}, {"y": mx.float32}, 0, init_value=2.5)
        assert y.tolist() == [2.5] * 4

    def test_empty_outputs_and_inputs(self):
        y, z = run(
            "z[thread_position_in_grid.x] = x_shape[0];",
            {"x": mx.zeros((0, 3))},
            {"y": (0,), "z": (4,)},
            {"y": mx.float16, "z": mx.int32},
            4,
            init_value=1,
        )
        assert y.shape == (0,) and z.tolist() == [0] * 4

    @pytest.mark.parametrize("value", [0, 1, -3, 2.5, True, float("inf")])
    def test_init_value_over_mixed_dtypes(self, value):
        dtypes = {"a": mx.float32, "b": mx.float16, "c": mx.int32, "d": mx.bool_, "e": mx.bfloat16}
        if value == float("inf"):
            dtypes = {k: v for k, v in dtypes.items() if k in "abe"}
        kernel = mx.fast.metal_kernel("t", [], list(dtypes), "")
        results = kernel(
            inputs=[],
            output_shapes=[(33,)] * len(dtypes),
            output_dtypes=list(dtypes.values()),
            init_value=value,
            **launch(1),
        )
        for result, dtype in zip(results, dtypes.values()):
            assert result.dtype == dtype
            want = mx.array(value).astype(dtype)
            assert mx.all(result == want), dtype

    def test_init_value_of_large_integers(self):
        (y,) = run("", {}, {"y": (3,)}, {"y": mx.uint64}, 1, init_value=2**64 - 1)
        assert y.tolist() == [2**64 - 1] * 3
        (y,) = run("", {}, {"y": (3,)}, {"y": mx.int64}, 1, init_value=2**53 + 1)
        assert y.tolist() == [2**53 + 1] * 3

    def test_outputs_are_scratch(self):
        body = """
            uint i = thread_position_in_threadgroup.x;
            scratch[i] = x[i] * 2;
            threadgroup_barrier(mem_flags::mem_device);
            y[i] = scratch[63 - i];
        """
        x = mx.arange(64, dtype=mx.float32)
        y, _ = run(
            body,
            {"x": x},
            {"y": (64,), "scratch": (64,)},
            {"y": mx.float32, "scratch": mx.float32},
            64,
            64,
        )
        np.testing.assert_array_equal(y, np.arange(64)[::-1] * 2)

    def test_inputs_are_not_donated_while_in_use(self):
        x = mx.arange(100, dtype=mx.float32) + 0
        (y,) = double()(inputs=[x], **launch(100), **outputs(x))
        mx.eval(y)
        np.testing.assert_array_equal(np.array(x), np.arange(100))


class TestMathMode:
    @pytest.mark.parametrize("mode", ["safe", "relaxed", "fast"])
    def test_mode(self, mode):
        body = """
            uint i = thread_position_in_grid.x;
            y[i] = exp(x[i]);
            fast_math[0] = __FAST_MATH_SEEN;
        """
        header = """
            #ifdef __FAST_MATH__
            #define __FAST_MATH_SEEN __FAST_MATH__
            #else
            #define __FAST_MATH_SEEN 0
            #endif
        """
        x = mx.linspace(-5, 5, 100)
        y, flag = run(
            body,
            {"x": x},
            {"y": (100,), "fast_math": (1,)},
            {"y": mx.float32, "fast_math": mx.int32},
            100,
            header=header,
            compile_options={"math_mode": mode},
        )
        np.testing.assert_allclose(y, np.exp(np.array(x, dtype=np.float64)), rtol=1e-4)
        assert flag[0] == (mode == "fast")

    def test_safe_keeps_infinities_and_nans(self):
        x = mx.array([float("nan"), float("inf"), -float("inf"), 1.0, 0.0] * 2)
        (y,) = run(
            "uint i = thread_position_in_grid.x;"
            "y[i] = isnan(x[i]) + 2 * isinf(x[i]) + 4 * isfinite(x[i]);",
            {"x": x},
            {"y": (10,)},
            {"y": mx.int32},
            10,
        )
        assert y.tolist() == [1, 2, 2, 4, 4] * 2


class TestTransformations:
    def test_gradient_through_custom_function(self):
        @mx.custom_function
        def square(x):
            kernel = mx.fast.metal_kernel(
                "square", "uint i = thread_position_in_grid.x; y[i] = x[i] * x[i];"
            )
            return kernel(
                inputs={"x": x},
                output_shapes={"y": x.shape},
                output_dtypes={"y": x.dtype},
                **launch(x.size),
            )["y"]

        @square.vjp
        def square_vjp(primal, cotangent, output):
            return 2 * primal * cotangent

        x = mx.random.normal((5, 6))
        grad = mx.grad(lambda x: (square(x) * 3).sum())(x)
        np.testing.assert_allclose(np.array(grad), np.array(x) * 6, rtol=1e-6)

    @pytest.mark.parametrize("transformation", [mx.grad, mx.vmap])
    def test_without_custom_function_the_error_names_it(self, transformation):
        def f(x):
            return double()(inputs=[x], **launch(x.size), **outputs(x))[0].sum()

        with pytest.raises(ValueError, match="custom_function"):
            mx.eval(transformation(f)(mx.ones((4, 10))))


class TestCompiled:
    def test_inside_a_compiled_function(self):
        kernel = double()

        @mx.compile
        def f(x):
            (y,) = kernel(inputs=[x + 1], **launch(x.size), **outputs(x))
            return y - 2

        x = mx.arange(30, dtype=mx.float32)
        for _ in range(2):
            np.testing.assert_array_equal(np.array(f(x)), np.arange(30) * 2)

    def test_inside_a_checkpoint(self):
        @mx.custom_function
        def square(x):
            return run_square(x)

        @square.vjp
        def square_vjp(primal, cotangent, output):
            return 2 * primal * cotangent

        def run_square(x):
            kernel = mx.fast.metal_kernel(
                "sq", "uint i = thread_position_in_grid.x; y[i] = x[i] * x[i];"
            )
            return kernel(
                inputs={"x": x},
                output_shapes={"y": x.shape},
                output_dtypes={"y": x.dtype},
                **launch(x.size),
            )["y"]

        x = mx.arange(5, dtype=mx.float32)
        grad = mx.grad(lambda x: mx.checkpoint(square)(x).sum())(x)
        np.testing.assert_array_equal(np.array(grad), np.arange(5) * 2)

    def test_under_vmap_through_custom_function(self):
        @mx.custom_function
        def scale(x):
            return double()(inputs=[x], **launch(x.size), **outputs(x))[0]

        @scale.vmap
        def scale_vmap(x, axis):
            return scale(x), axis

        x = mx.random.normal((3, 7))
        np.testing.assert_allclose(np.array(mx.vmap(scale)(x)), np.array(x) * 2)


class TestThreads:
    def test_many_threads(self):
        kernel = double()
        failures = []

        def work(seed):
            try:
                for i in range(20):
                    size = 10 + (seed * 7 + i) % 50
                    dtype = [mx.float32, mx.float16, mx.int32][i % 3]
                    x = mx.arange(size).astype(dtype)
                    with mx.stream(mx.new_stream(mx.gpu)) if i == 0 else mx.stream(mx.gpu):
                        (y,) = kernel(inputs=[x], **launch(size), **outputs(x))
                        assert np.array_equal(np.array(y), np.arange(size) * 2)
            except Exception as error:  # reported by the main thread
                failures.append(error)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        assert not failures


@pytest.mark.cpu_kernels
class TestWithoutVectorForm:
    HEADER = "int fibonacci(int n) { return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2); }"

    def launch(self, name: str, body: str, **options) -> mx.array:
        kernel = mx.fast.metal_kernel(name, ["x"], ["y"], body, header=self.HEADER)
        x = mx.arange(16, dtype=mx.int32)
        return kernel(inputs=[x], **launch(16), **outputs(x), **options)[0]

    def test_recursion_runs_one_thread_at_a_time(self):
        before = mx.metal.scalar_fallbacks()
        numbers = self.launch(
            "numbers", "uint i = thread_position_in_grid.x; y[i] = fibonacci(x[i]);"
        )
        assert numbers.tolist() == [0, 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610]
        assert (mx.metal.scalar_fallbacks() > before) != REFERENCE

    def test_verbose_says_so(self, capsys):
        self.launch(
            "spoken",
            "uint i = thread_position_in_grid.x; y[i] = 1 + fibonacci(x[i]);",
            verbose=True,
        )
        line = "The kernel `spoken` runs one thread at a time: a call of fibonacci(int), which calls itself."
        assert (line in capsys.readouterr().out) != REFERENCE

    def test_others_are_vector_code(self, capsys):
        before = mx.metal.scalar_fallbacks()
        doubled = self.launch(
            "doubled", "uint i = thread_position_in_grid.x; y[i] = 2 * x[i];", verbose=True
        )
        assert doubled.tolist() == list(range(0, 32, 2))
        assert mx.metal.scalar_fallbacks() == before
        assert "one thread at a time" not in capsys.readouterr().out


# Independent threads run several threadgroups at once in large grids.
@pytest.mark.parametrize("grid", [(1 << 20, 1, 1), (300_001, 3, 1), (999, 501, 2)])
@pytest.mark.parametrize("threads", [32, 100, 256, 1024])
def test_small_threadgroups_of_large_grids(grid: tuple[int, int, int], threads: int):
    count = int(np.prod(grid))
    free = run_one(
        """
        uint3 i = thread_position_in_grid, n = threads_per_grid;
        uint at = (i.z * n.y + i.y) * n.x + i.x;
        out[at] = at + 1;
        """,
        {},
        {"out": ((count,), mx.uint32)},
        grid,
        threads,
    )
    np.testing.assert_array_equal(free, np.arange(1, count + 1))
    known = run_one(
        """
        uint3 i = thread_position_in_grid, n = threads_per_grid;
        out[(i.z * n.y + i.y) * n.x + i.x] =
            threadgroup_position_in_grid.x * 2000 + thread_position_in_threadgroup.x;
        """,
        {},
        {"out": ((count,), mx.uint32)},
        grid,
        threads,
    )
    x = np.arange(count) % grid[0]
    np.testing.assert_array_equal(known, x // threads * 2000 + x % threads)


@pytest.mark.cpu_kernels
def test_fault_in_a_large_grid_names_its_threadgroups():
    write_null = """
        uint i = thread_position_in_grid.x;
        out[i] = 0;
        if (i == 700000) *(device int*)nullptr = 1;
    """
    with pytest.raises(
        RuntimeError, match="address 0x0, near no buffer .*, in .*threadgroup"
    ) as fault:
        run_one(write_null, {}, {"out": ((1 << 20,), mx.int32)}, 1 << 20, 256)
    first, last = re.search(r"\((\d+)(?: to (\d+))?, 0, 0\)", str(fault.value)).groups()
    assert int(first) <= 2734 <= int(last or first) < int(first) + 8
