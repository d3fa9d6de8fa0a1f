// Quantised arrays: conversions, and products with quantised matrices.
#include "mlx/ops/quantized.h"

#include <pybind11/stl.h>

#include "ops/ops.h"

using namespace pybind11::literals;

namespace {

using Array = mx::array;
using MaybeArray = std::optional<mx::array>;
using MaybeInt = std::optional<int>;

const char* const kQuantizeDoc =
    R"(quantize(w: array, /, group_size: int | None = None, bits: int | None = None, mode: str = 'affine', *, global_scale: array | None = None, stream: StreamOrDevice = None) -> list[array]

Quantizes an array: stores each element in few bits, with a scale for each group of a row.

Modes, with group sizes and bits; those with a star are the defaults:

- `"affine"`: 32, 64* or 128 elements of 1, 2, 3, 4*, 5, 6 or 8 bits, scales and biases of the type of `w`.
- `"mxfp4"`: 32 elements of 4 bits (E2M1), scales of 8 bits (E8M0).
- `"mxfp8"`: 32 elements of 8 bits (E4M3), scales of 8 bits (E8M0).
- `"nvfp4"`: 16 elements of 4 bits (E2M1), scales of 8 bits (E4M3).

In affine mode a group with the smallest element `a` and the largest `b` has steps of about
`(b - a) / (2**bits - 1)`. The end that is farther from 0 is exact, and so is 0.

Args:
    w: An array of shape (..., n) with 2 dimensions or more and of type float16, bfloat16 or float32.
        The group size divides n.
    group_size: How many elements share a scale.
    bits: Bits per element.
    mode: The format of elements and scales.
    global_scale: For `"nvfp4"`: the largest magnitude of all elements, in float32. Scales are then
        relative to it.

Returns:
    The elements, packed from the lowest bits up into uint32, of shape (..., n * bits / 32); the
    scales, of shape (..., n / group_size); and the biases, of the same shape, in affine mode only.

Example:
    >>> w = mx.arange(64, dtype=mx.float32).reshape(2, 32)
    >>> packed, scales, biases = mx.quantize(w, group_size=32, bits=8)
    >>> packed.shape, scales.shape
    ((2, 8), (2, 1))
    >>> mx.abs(mx.dequantize(packed, scales, biases, group_size=32, bits=8) - w).max().item() < 0.2
    True)";

const char* const kDequantizeDoc = R"(Makes floats of numbers that `quantize` has packed.

Args:
    w: The packed elements, uint32.
    scales: The scales of groups.
    biases: The biases of groups, in affine mode.
    group_size: As for `quantize`.
    bits: As for `quantize`.
    mode: As for `quantize`.
    global_scale: As for `quantize`.
    dtype: The type of the result: float16, bfloat16 or float32. None means that of scales and biases
        in affine mode, float32 with a global scale, else bfloat16.

Returns:
    The elements, of shape (..., n).

Example:
    >>> packed, scales = mx.quantize(mx.full((2, 32), 3.0), mode="mxfp4")
    >>> mx.dequantize(packed, scales, mode="mxfp4", dtype=mx.float32)[0, :2]
    array([3, 3], dtype=float32))";

const char* const kQuantizedMatmulDoc = R"(Multiplies matrices with quantized ones.

Args:
    x: Matrices of shape (..., m, k), or a vector of shape (k,).
    w: The packed elements of matrices of shape (..., n, k), or of shape (..., k, n) if not `transpose`.
    scales: Their scales, as from `quantize`.
    biases: Their biases, in affine mode.
    transpose: Whether the product is `x @ w.T`, else `x @ w`.
    group_size: As for `quantize`.
    bits: As for `quantize`.
    mode: As for `quantize`.

Returns:
    The products, of shape (..., m, n).

Example:
    >>> w = mx.ones((4, 64))
    >>> mx.quantized_matmul(mx.ones((1, 64)), *mx.quantize(w))
    array([[64, 64, 64, 64]], dtype=float32))";

const char* const kGatherQmmDoc =
    R"(Multiplies matrices that indices choose; those on the right are quantized.

Args:
    x: Matrices of shape (..., m, k).
    w: The packed elements of matrices of shape (..., n, k), or of shape (..., k, n) if not `transpose`.
    scales: Their scales, as from `quantize`.
    biases: Their biases, in affine mode.
    lhs_indices: Which matrices of `x`, counted in row-major order of the leading axes. None means all
        in order.
    rhs_indices: Which of `w`, likewise. Both arrays of indices are broadcast against each other.
    transpose: Whether matrices of `w` are transposed.
    group_size: As for `quantize`.
    bits: As for `quantize`.
    mode: As for `quantize`.
    global_scale: For `"nvfp4"`, the global scale of each matrix of `w`: see `quantize`.
    sorted_indices: Says that the indices are sorted. The result is the same.

Returns:
    The products. Their shape is that of the indices, then (m, n).

Example:
    >>> w = mx.stack([mx.ones((4, 64)), 2 * mx.ones((4, 64))])
    >>> x = mx.ones((1, 1, 64))
    >>> mx.gather_qmm(x, *mx.quantize(w), rhs_indices=mx.array([1]))
    array([[[128, 128, 128, 128]]], dtype=float32))";

const char* const kQqmmDoc = R"(Multiplies matrices that are both quantized: `x @ w.T`.

`x` is quantized first, and so is `w` if it has no scales.

Args:
    x: Matrices of shape (..., m, k) of floats.
    w: A matrix of shape (n, k) of floats; or its packed elements, if there are scales.
    scales: The scales of `w`, if it is quantized.
    group_size: As for `quantize`.
    bits: As for `quantize`.
    mode: As for `quantize`, but not `"affine"`.
    global_scale_x: The global scale of `x`, for `"nvfp4"`: see `quantize`.
    global_scale_w: That of `w`.

Returns:
    The products, of shape (..., m, n) and the type of `x`.

Example:
    >>> mx.qqmm(mx.ones((1, 32)), mx.ones((2, 32)))
    array([[34.0312, 34.0312]], dtype=float32))";

const char* const kGatherQqmmDoc =
    R"(Multiplies matrices that indices choose; both factors are quantized: `x @ w.T`.

Args:
    x: Matrices of shape (..., m, k) of floats.
    w: Matrices of shape (..., n, k) of floats; or their packed elements, if there are scales.
    scales: The scales of `w`, if it is quantized.
    lhs_indices: As for `gather_qmm`.
    rhs_indices: As for `gather_qmm`.
    group_size: As for `quantize`.
    bits: As for `quantize`.
    mode: As for `quantize`, but not `"affine"`.
    global_scale_x: The global scale of `x`, for `"nvfp4"`: see `quantize`.
    global_scale_w: That of `w`.
    sorted_indices: Says that the indices are sorted. The result is the same.

Returns:
    The products, of the type of `x`. Their shape is that of the indices, then (m, n).)";

const char* const kToFp8Doc = R"(Rounds floats to 8 bits: E4M3, the largest of which is 448.

Args:
    x: An array of type float16, bfloat16 or float32. Numbers that are too large become 448.

Returns:
    The bits, in uint8.

Example:
    >>> mx.from_fp8(mx.to_fp8(mx.array([1.0, 1.05, 1000.0])), mx.float32)
    array([1, 1, 448], dtype=float32))";

const char* const kFromFp8Doc = R"(Makes floats of those of 8 bits that `to_fp8` makes.

Args:
    x: The bits, in uint8.
    dtype: The type of the result: float16, bfloat16 or float32.

Returns:
    The floats.)";

void define_conversions(py::module_& m) {
  m.def(
      "quantize",
      [](const Array& w, MaybeInt group_size, MaybeInt bits, const std::string& mode,
         const MaybeArray& global_scale,
         StreamArg s) { return to_list(mx::quantize(w, group_size, bits, mode, global_scale, s)); },
      "w"_a, py::pos_only(), "group_size"_a = py::none(), "bits"_a = py::none(),
      "mode"_a = "affine", py::kw_only(), "global_scale"_a = py::none(), "stream"_a = py::none(),
      kQuantizeDoc);
  m.def(
      "dequantize",
      [](const Array& w, const Array& scales, const MaybeArray& biases, MaybeInt group_size,
         MaybeInt bits, const std::string& mode, const MaybeArray& global_scale,
         std::optional<mx::Dtype> dtype, StreamArg s) {
        return mx::dequantize(w, scales, biases, group_size, bits, mode, global_scale, dtype, s);
      },
      "w"_a, py::pos_only(), "scales"_a, "biases"_a = py::none(), "group_size"_a = py::none(),
      "bits"_a = py::none(), "mode"_a = "affine", "global_scale"_a = py::none(),
      "dtype"_a = py::none(), STREAM_KEYWORD, kDequantizeDoc);
  m.def(
      "to_fp8", [](const Array& x, StreamArg s) { return mx::to_fp8(x, s); }, "x"_a, STREAM_KEYWORD,
      kToFp8Doc);
  m.def(
      "from_fp8",
      [](const Array& x, const mx::Dtype* dtype, StreamArg s) {
        return mx::from_fp8(x, dtype ? *dtype : mx::bfloat16, s);
      },
      "x"_a, "dtype"_a = py::none(), STREAM_KEYWORD, kFromFp8Doc);
}

void define_products(py::module_& m) {
  m.def(
      "quantized_matmul",
      [](const Array& x, const Array& w, const Array& scales, const MaybeArray& biases,
         bool transpose, MaybeInt group_size, MaybeInt bits, const std::string& mode, StreamArg s) {
        return mx::quantized_matmul(x, w, scales, biases, transpose, group_size, bits, mode, s);
      },
      "x"_a, "w"_a, py::pos_only(), "scales"_a, "biases"_a = py::none(), "transpose"_a = true,
      "group_size"_a = py::none(), "bits"_a = py::none(), "mode"_a = "affine", STREAM_KEYWORD,
      kQuantizedMatmulDoc);
  m.def(
      "gather_qmm",
      [](const Array& x, const Array& w, const Array& scales, const MaybeArray& biases,
         const MaybeArray& lhs, const MaybeArray& rhs, bool transpose, MaybeInt group_size,
         MaybeInt bits, const std::string& mode, const MaybeArray& global_scale, bool sorted,
         StreamArg s) {
        return mx::gather_qmm(x, w, scales, biases, lhs, rhs, transpose, group_size, bits, mode,
                              global_scale, sorted, s);
      },
      "x"_a, "w"_a, py::pos_only(), "scales"_a, "biases"_a = py::none(),
      "lhs_indices"_a = py::none(), "rhs_indices"_a = py::none(), "transpose"_a = true,
      "group_size"_a = py::none(), "bits"_a = py::none(), "mode"_a = "affine",
      "global_scale"_a = py::none(), py::kw_only(), "sorted_indices"_a = false,
      "stream"_a = py::none(), kGatherQmmDoc);
  m.def(
      "qqmm",
      [](const Array& x, const Array& w, const MaybeArray& scales, MaybeInt group_size,
         MaybeInt bits, const std::string& mode, const MaybeArray& scale_x,
         const MaybeArray& scale_w, StreamArg s) {
        return mx::qqmm(x, w, scales, group_size, bits, mode, scale_x, scale_w, s);
      },
      "x"_a, "w"_a, "scales"_a = py::none(), "group_size"_a = py::none(), "bits"_a = py::none(),
      "mode"_a = "nvfp4", "global_scale_x"_a = py::none(), "global_scale_w"_a = py::none(),
      STREAM_KEYWORD, kQqmmDoc);
  m.def(
      "gather_qqmm",
      [](const Array& x, const Array& w, const MaybeArray& scales, const MaybeArray& lhs,
         const MaybeArray& rhs, MaybeInt group_size, MaybeInt bits, const std::string& mode,
         const MaybeArray& scale_x, const MaybeArray& scale_w, bool sorted, StreamArg s) {
        return mx::gather_qqmm(x, w, scales, lhs, rhs, group_size, bits, mode, scale_x, scale_w,
                               sorted, s);
      },
      "x"_a, "w"_a, py::pos_only(), "scales"_a = py::none(), "lhs_indices"_a = py::none(),
      "rhs_indices"_a = py::none(), "group_size"_a = py::none(), "bits"_a = py::none(),
      "mode"_a = "nvfp4", "global_scale_x"_a = py::none(), "global_scale_w"_a = py::none(),
      py::kw_only(), "sorted_indices"_a = false, "stream"_a = py::none(), kGatherQqmmDoc);
}

}  // namespace

void init_ops_quantized(py::module_& m, ArrayClass&) {
  define_conversions(m);
  define_products(m);
}
