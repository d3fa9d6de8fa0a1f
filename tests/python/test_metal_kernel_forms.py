"""The forms in which kernels are created and called, all with the same results."""

import mlx.core as mx
import numpy as np
import pytest
from kernel_runner import double, launch, outputs, run


class TestListForm:
    def test_returns_a_list(self):
        x = mx.arange(10, dtype=mx.float32)
        result = double()(inputs=[x], **launch(10), **outputs(x))
        assert isinstance(result, list) and len(result) == 1
        assert np.array_equal(np.array(result[0]), np.arange(10) * 2)

    def test_tuples_do_as_well(self):
        kernel = mx.fast.metal_kernel(
            name="t",
            input_names=("a", "b"),
            output_names=("c",),
            source="c[thread_position_in_grid.x] = a[thread_position_in_grid.x] * b;",
        )
        a = mx.arange(12, dtype=mx.float32)
        (c,) = kernel(
            inputs=(a, 2.5),
            grid=[12, 1, 1],
            threadgroup=[4, 1, 1],
            output_shapes=([3, 4],),
            output_dtypes=(mx.float32,),
            template=(("UNUSED", 1),),
            stream=None,
        )
        assert np.array_equal(np.array(c), np.arange(12).reshape(3, 4) * 2.5)

    def test_one_kernel_for_many_dtypes(self):
        kernel = double()
        for dtype in (
            mx.float32,
            mx.float16,
            mx.bfloat16,
            mx.int8,
            mx.uint8,
            mx.int16,
            mx.uint16,
            mx.int32,
            mx.uint32,
            mx.int64,
            mx.uint64,
        ):
            x = mx.arange(40).astype(dtype)
            (y,) = kernel(inputs=[x], **launch(40), **outputs(x))
            assert y.dtype == dtype
            assert np.array_equal(np.array(y.astype(mx.float32)), np.arange(40) * 2), dtype

    def test_bool_and_complex(self):
        x = mx.array([True, False] * 8)
        (y,) = run(
            "y[thread_position_in_grid.x] = !x[thread_position_in_grid.x];",
            {"x": x},
            {"y": (16,)},
            {"y": mx.bool_},
            16,
        )
        assert y.dtype == np.bool_ and np.array_equal(y, [False, True] * 8)
        z = mx.array(np.arange(10) * (1 + 2j), dtype=mx.complex64)
        (w,) = double()(inputs=[z], **launch(10), **outputs(z))
        np.testing.assert_allclose(np.array(w), np.arange(10) * (2 + 4j))

    def test_two_kernels_of_one_name(self):
        x = mx.arange(10, dtype=mx.float32)
        for factor in ("2", "3"):
            (y,) = run(
                f"y[thread_position_in_grid.x] = {factor} * x[thread_position_in_grid.x];",
                {"x": x},
                {"y": (10,)},
                {"y": mx.float32},
                10,
            )
            assert np.array_equal(y, np.arange(10) * int(factor))

    def test_no_inputs(self):
        (y,) = run(
            "y[thread_position_in_grid.x] = thread_position_in_grid.x;",
            {},
            {"y": (50,)},
            {"y": mx.int32},
            50,
        )
        assert np.array_equal(y, np.arange(50))

    def test_results_are_lazy_and_chain(self):
        x = mx.random.normal((64,))
        y = x
        for _ in range(5):
            (y,) = double()(inputs=[y + 1], **launch(64), **outputs(x))
        want = np.array(x, dtype=np.float64)
        for _ in range(5):
            want = (want + 1) * 2
        np.testing.assert_allclose(np.array(y), want, rtol=1e-5)

    def test_streams(self):
        x = mx.arange(10, dtype=mx.float32)
        for stream in (mx.gpu, mx.cpu, mx.new_stream(mx.gpu), mx.default_stream(mx.gpu), None):
            (y,) = double()(inputs=[x], **launch(10), **outputs(x), stream=stream)
            assert np.array_equal(np.array(y), np.arange(10) * 2)

    def test_unused_sibling(self):
        kernel = mx.fast.metal_kernel(
            name="pair",
            input_names=["x"],
            output_names=["y", "z"],
            source="uint i = thread_position_in_grid.x; y[i] = x[i]; z[i] = -x[i];",
        )
        x = mx.arange(10, dtype=mx.float32)
        _, z = kernel(inputs=[x], **launch(10), **outputs(x, x))
        del _
        assert np.array_equal(np.array(z), -np.arange(10))


class TestDictionaryForm:
    def test_options_at_creation(self):
        kernel = mx.fast.metal_kernel(
            "scatter_ones",
            "uint i = thread_position_in_grid.x;"
            "atomic_fetch_add_explicit(&counts[bin[i]], 1, memory_order_relaxed);",
            atomic_outputs=True,
            init_value=0,
            grid=(100, 1, 1),
            threadgroup=(32, 1, 1),
            output_shapes={"counts": (10,)},
            output_dtypes={"counts": mx.int32},
        )
        result = kernel(inputs={"bin": mx.arange(100) % 10})
        assert list(result) == ["counts"]
        assert np.array_equal(np.array(result["counts"]), [10] * 10)

    def test_options_at_the_call(self):
        kernel = mx.fast.metal_kernel(
            "scatter_ones",
            "uint i = thread_position_in_grid.x;"
            "atomic_fetch_add_explicit(&counts[bin[i]], 1, memory_order_relaxed);",
        )
        for offset in (0, 5):
            result = kernel(
                inputs={"bin": mx.arange(100) % 10},
                atomic_outputs=True,
                init_value=offset,
                output_shapes={"counts": (10,)},
                output_dtypes={"counts": mx.int32},
                **launch(100, 32),
            )
            assert np.array_equal(np.array(result["counts"]), [10 + offset] * 10)

    def test_call_comes_before_creation(self):
        kernel = mx.fast.metal_kernel(
            "fill", "y[thread_position_in_grid.x] = V;", template={"V": 1}
        )
        where = {"output_shapes": {"y": (8,)}, "output_dtypes": {"y": mx.int32}}
        assert np.array(kernel(inputs={}, **where, **launch(8))["y"]).tolist() == [1] * 8
        result = kernel(inputs={}, template={"V": 7}, **where, **launch(8))
        assert np.array(result["y"]).tolist() == [7] * 8

    def test_names_may_change_between_calls(self):
        kernel = mx.fast.metal_kernel("copy", "b[thread_position_in_grid.x] = 5;")
        for names in (["b"], ["a", "b"]):
            result = kernel(
                inputs={},
                output_shapes={n: (9,) for n in names},
                output_dtypes={n: mx.float32 for n in reversed(names)},
                **launch(9),
            )
            assert list(result) == names
            assert np.array(result["b"]).tolist() == [5] * 9


class TestKeywordForm:
    BODY = "uint i = thread_position_in_grid.x; y[i] = T(x[i]) * scale;"

    def make(self, **more):
        return mx.fast.MetalKernel(
            "scaled",
            self.BODY,
            (10, 1, 1),
            (4, 1, 1),
            {"y": (10,)},
            {"y": mx.float32},
            **more,
        )

    def test_template_and_keywords(self):
        kernel = self.make()
        assert kernel.template(T=mx.float32) is kernel
        result = kernel(x=mx.arange(10), scale=0.5)
        np.testing.assert_array_equal(np.array(result["y"]), np.arange(10) * 0.5)
        kernel.template(T=mx.float16)
        result = kernel(x=mx.arange(10), scale=2)
        np.testing.assert_array_equal(np.array(result["y"]), np.arange(10) * 2)

    def test_inputs_called_like_options(self):
        kernel = mx.fast.MetalKernel(
            name="clash",
            source="uint i = thread_position_in_grid.x; y[i] = grid[i] + inputs;",
            grid=(10, 1, 1),
            threadgroup=(4, 1, 1),
            output_shapes={"y": (10,)},
            output_dtypes={"y": mx.float32},
        )
        result = kernel(grid=mx.arange(10, dtype=mx.float32), inputs=1.0)
        np.testing.assert_array_equal(np.array(result["y"]), np.arange(10) + 1)

    def test_options_at_the_call(self):
        kernel = self.make().template(T=mx.float32)
        result = kernel(
            x=mx.arange(20),
            scale=3,
            grid=(20, 1, 1),
            output_shapes={"y": (20,)},
            stream=mx.gpu,
        )
        np.testing.assert_array_equal(np.array(result["y"]), np.arange(20) * 3)


AXPBY = """
    template <typename T>
    kernel void axpby(
        device const T* x [[buffer(0)]],
        device const T* y [[buffer(1)]],
        device T* out [[buffer(2)]],
        constant const float& alpha [[buffer(3)]],
        constant const float& beta [[buffer(4)]],
        uint index [[thread_position_in_grid]]) {
      out[index] = static_cast<T>(alpha) * x[index] + static_cast<T>(beta) * y[index];
    }
    template [[host_name("axpby_float")]] [[kernel]] decltype(axpby<float>) axpby<float>;
    template [[host_name("axpby_half")]] [[kernel]] decltype(axpby<half>) axpby<half>;
"""


class TestCompleteForm:
    @pytest.mark.parametrize(
        "name,dtype", [("axpby_float", mx.float32), ("axpby_half", mx.float16)]
    )
    def test_the_function_of_that_name(self, name, dtype):
        kernel = mx.fast.metal_kernel(name=name, source=AXPBY)
        x, y = mx.arange(20).astype(dtype), mx.ones(20).astype(dtype)
        out = kernel(x, y, mx.zeros(20).astype(dtype), 2.0, 3, **launch(20))
        assert out.dtype == dtype
        np.testing.assert_array_equal(np.array(out), np.arange(20) * 2 + 3)

    def test_outputs_left_out(self):
        kernel = mx.fast.metal_kernel(
            name="axpby_float", source=AXPBY, output_shape=(4, 5), output_dtype=mx.float32
        )
        x = mx.arange(20, dtype=mx.float32)
        out = kernel(x, x, 1, 1, **launch(20))
        np.testing.assert_array_equal(np.array(out), np.arange(20).reshape(4, 5) * 2)

    def test_initial_values_are_never_modified(self):
        kernel = mx.fast.metal_kernel(
            name="increment",
            source="kernel void increment(device float* x, uint i [[thread_position_in_grid]])"
            "{ x[i] += 1; }",
        )
        x = mx.arange(10, dtype=mx.float32)
        mx.eval(x)
        first = kernel(x, **launch(10))
        second = kernel(x, **launch(10))
        third = kernel(kernel(x, **launch(10)), **launch(10))
        for got, add in ((x, 0), (first, 1), (second, 1), (third, 2)):
            np.testing.assert_array_equal(np.array(got), np.arange(10) + add)

    def test_several_outputs_in_order(self):
        source = """
            [[kernel]] void split(device int* negative [[buffer(2)]],
                const device int* x [[buffer(0)]],
                                  device int* positive [[buffer(1)]],
                                      uint i [[thread_position_in_grid]]) {
              positive[i] = max(x[i], 0);
              negative[i] = min(x[i], 0);
            }
        """
        kernel = mx.fast.metal_kernel(name="split", source=source)
        x = mx.arange(-5, 5)
        positive, negative = kernel(x, mx.zeros(10, mx.int32), mx.zeros(10, mx.int32), **launch(10))
        np.testing.assert_array_equal(np.array(positive), np.maximum(np.arange(-5, 5), 0))
        np.testing.assert_array_equal(np.array(negative), np.minimum(np.arange(-5, 5), 0))

    def test_strided_arguments_are_copied(self):
        kernel = mx.fast.metal_kernel(name="axpby_float", source=AXPBY)
        x = mx.arange(40, dtype=mx.float32)[::2]
        out = kernel(x, x, x, 1.0, 1.0, **launch(20))
        np.testing.assert_array_equal(np.array(out), np.arange(0, 40, 2) * 2)

    def test_through_the_object(self):
        kernel = mx.fast.MetalKernel("axpby_float", AXPBY, (20, 1, 1), (32, 1, 1))
        x = mx.arange(20, dtype=mx.float32)
        np.testing.assert_array_equal(np.array(kernel(x, x, x, 1, 2)), np.arange(20) * 3)

    def test_header(self):
        kernel = mx.fast.metal_kernel(
            name="f",
            header="#define VALUE 42",
            source="kernel void f(device int* x, uint i [[thread_position_in_grid]])"
            "{ x[i] = VALUE; }",
        )
        assert np.array(kernel(mx.zeros(3, mx.int32), **launch(3))).tolist() == [42] * 3

    def test_function_constants_without_a_value(self):
        source = """
            constant int factor [[function_constant(0)]];
            constant int used = is_function_constant_defined(factor) ? factor : 7;
            kernel void f(device int* x, uint i [[thread_position_in_grid]]) { x[i] = used; }
        """
        kernel = mx.fast.metal_kernel(name="f", source=source)
        assert np.array(kernel(mx.zeros(3, mx.int32), **launch(3))).tolist() == [7] * 3
        kernel = mx.fast.metal_kernel(
            name="f",
            source=source.replace("is_function_constant_defined(factor) ? factor : 7", "factor"),
        )
        with pytest.raises(ValueError, match="needs the function constant"):
            kernel(mx.zeros(3, mx.int32), **launch(3))
