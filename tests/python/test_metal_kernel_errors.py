"""Errors of mx.fast.metal_kernel name the argument, what was given and what is allowed."""

import mlx.core as mx
import numpy as np
import pytest
from copy_kernel import SOURCE, X, call, create


class TestCreation:
    @pytest.mark.parametrize("name", ["", "1x", "a b", "kernel", "device", "float", "x-y"])
    def test_names_of_parameters(self, name):
        with pytest.raises(ValueError, match="input name"):
            create(input_names=[name])

    def test_duplicate_names(self):
        with pytest.raises(ValueError, match='more than one parameter called "x"'):
            create(input_names=["x", "x"])
        with pytest.raises(ValueError, match='more than one parameter called "x"'):
            create(output_names=["x"])

    def test_no_outputs(self):
        with pytest.raises(ValueError, match="no outputs"):
            create(output_names=[])

    def test_no_source(self):
        with pytest.raises(TypeError, match="source"):
            mx.fast.metal_kernel(name="copy")

    @pytest.mark.parametrize("names", ["x", [1], 5, {"x": 1}])
    def test_names_that_are_no_list_of_strings(self, names):
        with pytest.raises(TypeError, match="input_names"):
            create(input_names=names)

    def test_unknown_keyword(self):
        with pytest.raises(TypeError, match="gird.*allowed are"):
            create(gird=(1, 1, 1))

    @pytest.mark.parametrize(
        "options", [{"math_mode": "quick"}, {"mode": "fast"}, {"math_mode": 1}, {1: "fast"}]
    )
    def test_compile_options(self, options):
        with pytest.raises(ValueError, match="compile_options"):
            create(compile_options=options)

    def test_complete_kernel_with_names(self):
        with pytest.raises(ValueError, match="complete kernel"):
            create(source="kernel void f(device float* x) {}")


class TestCall:
    @pytest.mark.parametrize(
        "argument", ["inputs", "grid", "threadgroup", "output_shapes", "output_dtypes"]
    )
    def test_missing(self, argument):
        with pytest.raises(ValueError, match=f"needs {argument}"):
            call(**{argument: None})

    def test_missing_grid_of_each_form(self):
        with pytest.raises(ValueError, match="needs grid"):
            mx.fast.metal_kernel("copy", SOURCE)(
                inputs={"x": X}, output_shapes={"y": (1,)}, output_dtypes={"y": mx.float32}
            )
        with pytest.raises(ValueError, match="needs grid"):
            mx.fast.MetalKernel("copy", SOURCE, output_shapes={"y": (1,)})(x=X)
        whole = "kernel void f(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }"
        with pytest.raises(ValueError, match="needs a grid"):
            mx.fast.metal_kernel("f", whole)(X)
        with pytest.raises(ValueError, match="needs a threadgroup"):
            mx.fast.metal_kernel("f", whole)(X, grid=(1, 1, 1))

    def test_positional_arguments(self):
        with pytest.raises(TypeError, match="keyword arguments only"):
            create()(X)

    @pytest.mark.parametrize("count", [0, 2])
    def test_number_of_inputs(self, count):
        with pytest.raises(ValueError, match=rf"expects 1 inputs \(x\), got {count}"):
            call(inputs=[X] * count)

    def test_number_of_shapes_and_dtypes(self):
        with pytest.raises(ValueError, match=r"expects 1 output_shapes \(y\), got 2"):
            call(output_shapes=[(16,), (16,)])
        with pytest.raises(ValueError, match="expects 1 output_dtypes"):
            call(output_dtypes=[])

    @pytest.mark.parametrize("value", ["x", None, object(), {}, [[1]]])
    def test_inputs_that_are_no_arrays(self, value):
        with pytest.raises(TypeError, match='input "x"'):
            call(inputs=[value])

    @pytest.mark.parametrize("value", [X, {"x": X}, 1])
    def test_inputs_that_are_no_list(self, value):
        with pytest.raises(TypeError, match="inputs must be a list"):
            call(inputs=value)

    def test_lists_for_a_kernel_without_names(self):
        with pytest.raises(TypeError, match="inputs must be a dictionary|must be a dictionary"):
            call(mx.fast.metal_kernel("copy", SOURCE))

    def test_dictionaries_that_disagree(self):
        with pytest.raises(ValueError, match=r"same outputs.*\(y\) and \(z\)"):
            call(
                mx.fast.metal_kernel("copy", SOURCE),
                inputs={"x": X},
                output_shapes={"y": (16,)},
                output_dtypes={"z": mx.float32},
            )

    @pytest.mark.parametrize("argument", ["grid", "threadgroup"])
    @pytest.mark.parametrize("value", [(1, 1), (1, 1, 1, 1), ()])
    def test_length_of_sizes(self, argument, value):
        with pytest.raises(ValueError, match=f"{argument} must be three integers"):
            call(**{argument: value})

    @pytest.mark.parametrize("argument", ["grid", "threadgroup"])
    @pytest.mark.parametrize("value", [16, (1.0, 1, 1), ("1", 1, 1), "abc"])
    def test_type_of_sizes(self, argument, value):
        with pytest.raises(TypeError, match=argument):
            call(**{argument: value})

    def test_negative_grid(self):
        with pytest.raises(ValueError, match=r"grid.*\(16, -1, 1\).*negative"):
            call(grid=(16, -1, 1))

    def test_grid_beyond_32_bits(self):
        with pytest.raises(ValueError, match="grid.*32 bits"):
            call(grid=(2**31, 1, 1))

    @pytest.mark.parametrize("value", [(0, 1, 1), (16, 1, -2)])
    def test_threadgroup_without_threads(self, value):
        with pytest.raises(ValueError, match="threadgroup.*at least 1"):
            call(threadgroup=value)

    @pytest.mark.parametrize("value", [(1025, 1, 1), (32, 32, 2), (2**20, 2**20, 2**20)])
    def test_threadgroup_beyond_the_limit(self, value):
        with pytest.raises(ValueError, match="threadgroup.*at most 1024 threads"):
            call(threadgroup=value)

    def test_numpy_integers_are_integers(self):
        call(grid=(np.prod((4, 4)), 1, 1), threadgroup=(np.int32(8), np.uint8(1), 1))

    @pytest.mark.parametrize("value", [1.5, "float", float, None, np.float32(1), mx.array(1)])
    def test_template_values(self, value):
        with pytest.raises(ValueError, match='template parameter "T" must be a mlx.core.Dtype'):
            call(template=[("T", value)])

    def test_template_integer_beyond_32_bits(self):
        with pytest.raises(ValueError, match="32 bits"):
            call(template=[("N", 2**31)])

    @pytest.mark.parametrize("value", [5, ["T"], [("T",)], [(1, 2)], "T", {1: 2}])
    def test_template_form(self, value):
        with pytest.raises(TypeError, match="template"):
            call(template=value)

    def test_template_names(self):
        with pytest.raises(ValueError, match='more than one parameter called "x"'):
            call(template=[("x", 1)])
        with pytest.raises(ValueError, match="template parameter name"):
            call(template=[("2T", 1)])

    @pytest.mark.parametrize("value", ["0", [0], object(), 1j, np.complex64(1), np.complex128(1)])
    def test_init_value(self, value):
        with pytest.raises(TypeError, match="init_value must be a real number"):
            call(init_value=value)

    @pytest.mark.parametrize("value", [[4], ["ab"], [(1.5,)], (16,), [X]])
    def test_output_shapes(self, value):
        with pytest.raises(TypeError, match="output_shapes"):
            call(output_shapes=value)

    def test_negative_output_shape(self):
        with pytest.raises(ValueError, match='output "y" has the negative dimension -4'):
            call(output_shapes=[(-4,)])

    @pytest.mark.parametrize("value", [["float32"], mx.float32, [np.float32], [1]])
    def test_output_dtypes(self, value):
        with pytest.raises(TypeError, match="output_dtypes"):
            call(output_dtypes=value)

    def test_float64(self):
        with pytest.raises(ValueError, match='float64.*output "y"'):
            call(output_dtypes=[mx.float64])
        with pytest.raises(ValueError, match='float64.*template parameter "T"'):
            call(template=[("T", mx.float64)])

    def test_atomic_outputs(self):
        with pytest.raises(ValueError, match="no atomics"):
            call(create(atomic_outputs=True), output_dtypes=[mx.complex64])

    @pytest.mark.parametrize("value", ["gpu", 1])
    def test_stream(self, value):
        with pytest.raises(TypeError, match="stream"):
            call(stream=value)

    @pytest.mark.parametrize("value", ["yes", 3.5])
    def test_verbose(self, value):
        with pytest.raises(TypeError, match="verbose"):
            call(verbose=value)

    def test_unknown_keyword(self):
        with pytest.raises(TypeError, match="no argument 'gird'; allowed are"):
            call(gird=(1, 1, 1))

    def test_options_that_belong_to_the_creation(self):
        with pytest.raises(ValueError, match="creation"):
            call(atomic_outputs=True)

    def test_too_many_buffers(self):
        names = [f"x{i}" for i in range(31)]
        kernel = create(input_names=names, source="y[0] = x0[0];")
        with pytest.raises(ValueError, match="32 buffers.*at most 31"):
            call(kernel, inputs=[X] * 31)


class TestCompleteKernels:
    SOURCE = """
        kernel void f(device const float* x [[buffer(0)]], device float* y [[buffer(1)]],
                      constant int& n [[buffer(2)]], uint i [[thread_position_in_grid]]) {
          y[i] = x[i] + n;
        }
        kernel void g(device const float* x) {}
    """
    LAUNCH = {"grid": (16, 1, 1), "threadgroup": (16, 1, 1)}

    def call(self, *arguments, name="f", source=SOURCE, **more):
        kernel = mx.fast.metal_kernel(name=name, source=source)
        return mx.eval(kernel(*arguments, **(self.LAUNCH | more)))

    def test_works(self):
        self.call(X, X, 1)

    @pytest.mark.parametrize("count", [0, 1, 4])
    def test_number_of_arguments(self, count):
        with pytest.raises(ValueError, match=rf"3 buffers \(x, y, n\).*given {count} arguments"):
            self.call(*[X] * count)

    def test_no_function_of_that_name(self):
        with pytest.raises(ValueError, match="none of that name: f, g"):
            self.call(X, X, 1, name="h")

    def test_no_outputs(self):
        with pytest.raises(ValueError, match="no outputs"):
            self.call(X, name="g")

    def test_scalar_for_an_output(self):
        with pytest.raises(ValueError, match='"y", which must be an array'):
            self.call(X, 1.0, 1)

    def test_float_for_an_integer(self):
        with pytest.raises(ValueError, match='"n" as int, but was given a float'):
            self.call(X, X, 1.5)

    def test_elements_of_another_size(self):
        with pytest.raises(ValueError, match='"x" with elements of type float.*float16.*astype'):
            self.call(X.astype(mx.float16), X, 1)

    def test_shapes(self):
        self.call(
            X, X, 1, input_shapes=[(4, 4), (2, 8)], output_shape=(4, 4), output_dtype=mx.float32
        )
        with pytest.raises(ValueError, match="input_shapes"):
            self.call(X, X, 1, input_shapes=[(4, 5)])
        with pytest.raises(ValueError, match=r'output "y".*\(5,4\)'):
            self.call(X, X, 1, output_shape=(5, 4))
        with pytest.raises(ValueError, match="output dtype says is int32"):
            self.call(X, X, 1, output_dtype=mx.int32)
        with pytest.raises(ValueError, match="1 outputs, but output_shapes gives 2"):
            self.call(X, X, 1, output_shapes=[(16,), (16,)])

    def test_template(self):
        with pytest.raises(ValueError, match="instantiate its templates"):
            self.call(X, X, 1, template=[("T", mx.float32)])

    def test_does_not_compile(self):
        with pytest.raises(RuntimeError, match=r"f:2:\d+: error"):
            self.call(X, source="\nkernel void f(device float* x) { x[0] = missing; }")

    def test_threadgroup_memory_argument(self):
        source = (
            "kernel void f(device float* x, threadgroup float* t [[threadgroup(0)]]) { x[0] = *t; }"
        )
        with pytest.raises(ValueError, match="threadgroup memory"):
            self.call(X, source=source)
