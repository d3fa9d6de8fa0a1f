// Products of matrices chosen by indices, with masked blocks, of segments; Hadamard's transform.
#include <pybind11/stl.h>

#include "mlx/ops/linear.h"
#include "ops/ops.h"

using namespace pybind11::literals;

namespace {

using OptionalArray = std::optional<mx::array>;

const char* const kGatherMmDoc = R"(Multiplies matrices that indices choose.

Args:
    a: Matrices of shape (..., m, k).
    b: Matrices of shape (..., k, n).
    lhs_indices: Which matrices of `a`, counted in row-major order of the leading axes. None means all
        in order.
    rhs_indices: Which of `b`, likewise. Both arrays of indices are broadcast against each other.
    sorted_indices: Says that the indices are sorted. The result is the same.

Returns:
    The products. Their shape is that of the indices, then (m, n).

Example:
    >>> a = mx.array([[[1.0, 2.0]]])
    >>> b = mx.array([[[1.0], [1.0]], [[10.0], [10.0]]])
    >>> mx.gather_mm(a, b, rhs_indices=mx.array([1, 0])).flatten()
    array([30, 3], dtype=float32))";

const char* const kBlockMaskedMmDoc =
    R"(Multiplies matrices, where masks leave out or scale square blocks of them or of the product.

The last two dimensions of a mask have an element for each block, also for those that are cut at the
end. False leaves a block out; a number is a factor of the block.

Args:
    a: Matrices of shape (..., n, k).
    b: Matrices of shape (..., k, m).
    block_size: The extent of blocks, which is positive.
    mask_out: The mask of the product.
    mask_lhs: The mask of `a`.
    mask_rhs: The mask of `b`.

Returns:
    The products, of shape (..., n, m).

Example:
    >>> mask = mx.array([[True, False]])
    >>> mx.block_masked_mm(mx.ones((1, 64)), mx.ones((64, 1)), 32, mask_lhs=mask)
    array([[32]], dtype=float32))";

const char* const kSegmentedMmDoc =
    R"(Multiplies parts of two matrices: `a[:, start:end] @ b[start:end]`.

Args:
    a: A matrix of shape (m, k).
    b: A matrix of shape (k, n).
    segments: Pairs of a start and an end, integers of shape (..., 2).

Returns:
    The products, of shape (..., m, n).

Example:
    >>> a, b = mx.ones((1, 4)), mx.ones((4, 1))
    >>> mx.segmented_mm(a, b, mx.array([[0, 3], [3, 4]])).flatten()
    array([3, 1], dtype=float32))";

const char* const kHadamardDoc =
    R"(hadamard_transform(a: array, scale: float | None = None, stream: StreamOrDevice = None) -> array

Multiplies with the Hadamard matrix along the last axis (Walsh-Hadamard transform).

Args:
    a: An array whose last axis has m * 2^k elements, where m is 1, 12, 20 or 28. Other types than
        floats become float32.
    scale: The factor of the result; None means one over the square root of the length.

Returns:
    The transform, of the shape of `a`.

Example:
    >>> mx.hadamard_transform(mx.array([1.0, 2.0]), scale=1.0)
    array([3, -1], dtype=float32))";

}  // namespace

void init_ops_grouped(py::module_& m, ArrayClass&) {
  m.def(
      "gather_mm",
      [](const mx::array& a, const mx::array& b, const OptionalArray& lhs, const OptionalArray& rhs,
         bool sorted, StreamArg s) { return mx::gather_mm(a, b, lhs, rhs, sorted, s); },
      "a"_a, "b"_a, py::pos_only(), "lhs_indices"_a = py::none(), "rhs_indices"_a = py::none(),
      py::kw_only(), "sorted_indices"_a = false, "stream"_a = py::none(), kGatherMmDoc);
  m.def(
      "block_masked_mm",
      [](const mx::array& a, const mx::array& b, int block_size, const OptionalArray& out,
         const OptionalArray& lhs, const OptionalArray& rhs,
         StreamArg s) { return mx::block_masked_mm(a, b, block_size, out, lhs, rhs, s); },
      "a"_a, "b"_a, py::pos_only(), "block_size"_a = 64, "mask_out"_a = py::none(),
      "mask_lhs"_a = py::none(), "mask_rhs"_a = py::none(), STREAM_KEYWORD, kBlockMaskedMmDoc);
  m.def(
      "segmented_mm",
      [](const mx::array& a, const mx::array& b, const mx::array& segments, StreamArg s) {
        return mx::segmented_mm(a, b, segments, s);
      },
      "a"_a, "b"_a, py::pos_only(), "segments"_a, STREAM_KEYWORD, kSegmentedMmDoc);
  m.def(
      "hadamard_transform",
      [](const mx::array& a, std::optional<float> scale, StreamArg s) {
        return mx::hadamard_transform(a, scale, s);
      },
      "a"_a, "scale"_a = py::none(), "stream"_a = py::none(), kHadamardDoc);
}
