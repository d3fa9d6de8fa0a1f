// Products of matrices and tensors.
#include "mlx/ops/linear.h"

#include "convert/optional_int.h"
#include "ops/ops.h"

using namespace pybind11::literals;

namespace {

const char* const kTensordotDoc =
    R"(tensordot(a: array, b: array, /, axes: int | Sequence[Sequence[int]] = 2, *, stream: StreamOrDevice = None) -> array

Multiplies two arrays and sums over several axes.

Args:
    axes: The number of axes to sum over, the last of `a` and the first of `b`; or two lists with the
        axes of `a` and those of `b`.

Returns:
    The sums. Their axes are the other axes of `a`, then the other axes of `b`.

Example:
    >>> mx.tensordot(mx.ones((2, 3)), mx.ones((3, 4)), axes=1).shape
    (2, 4))";

const char* const kEinsumDoc =
    R"(einsum(subscripts: str, *operands: array, stream: StreamOrDevice = None) -> array

Sums products of elements, as written in Einstein's notation.

Args:
    subscripts: A letter for each axis of each operand, and after `->` those of the result. Axes with a
        letter that the result lacks are summed over.
    *operands: The arrays.

Returns:
    The sums.

Example:
    >>> a = mx.arange(6).reshape(2, 3)
    >>> mx.einsum("ij->i", a)
    array([3, 12], dtype=int32)
    >>> mx.einsum("ij,kj->ik", a, a)
    array([[5, 14],
           [14, 50]], dtype=int32))";

const char* const kEinsumPathDoc =
    R"(einsum_path(subscripts: str, *operands: array) -> tuple[list[tuple[int, ...]], str]

Finds the order in which `einsum` multiplies its operands.

Args:
    subscripts: As for `einsum`.
    *operands: The arrays.

Returns:
    The positions of the operands of each step, and a text that describes the steps.)";

const char* const kMatmulDoc = R"(Multiplies matrices.

Args:
    a: Matrices of shape (..., n, k), or a vector of shape (k,).
    b: Matrices of shape (..., k, m), or a vector of shape (k,). Leading axes are broadcast.

Returns:
    The products, of shape (..., n, m). The axis of a vector is dropped.

Raises:
    ValueError: If the inner extents differ.

Example:
    >>> mx.matmul(mx.array([[1.0, 2.0]]), mx.array([[3.0], [4.0]]))
    array([[11]], dtype=float32))";

const char* const kAddmmDoc = R"(Computes `alpha * (a @ b) + beta * c`.

Args:
    c: What is added, broadcast to the shape of the product.
    a: Matrices of shape (..., n, k).
    b: Matrices of shape (..., k, m).
    alpha: The factor of the product.
    beta: The factor of `c`.

Returns:
    The sum, of shape (..., n, m).)";

const char* const kInnerDoc = R"(Sums products over the last axes of two arrays.

Args:
    a: An array of shape (..., k).
    b: An array of shape (..., k).

Returns:
    The sums. Their axes are those of `a`, then those of `b`, both without the last.)";

const char* const kOuterDoc = R"(Multiplies every element of `a` with every element of `b`.

Args:
    a: An array of size n; it is flattened.
    b: An array of size m; it is flattened.

Returns:
    The products, of shape (n, m).)";

const char* const kVecdotDoc = R"(Computes the dot products of vectors along an axis.

Args:
    a: The first vectors. The conjugates of complex ones are taken.
    b: The second vectors, broadcast against the first.
    axis: The axis along which the vectors lie.

Returns:
    The products. The axis is dropped.)";

const char* const kKronDoc =
    R"(Computes the Kronecker product: blocks of `b`, each multiplied with an element of `a`.

Returns:
    The product. Each extent is that of `a` times that of `b`.

Example:
    >>> mx.kron(mx.array([1, 2]), mx.array([1, 1]))
    array([1, 1, 2, 2], dtype=int32))";

mx::array tensordot(const mx::array& a, const mx::array& b, const py::object& axes,
                    mx::StreamOrDevice s) {
  if (PyIndex_Check(axes.ptr())) return mx::tensordot(a, b, to_int(axes, "[tensordot] axes"), s);
  Ints first, second;
  if (!PySequence_Check(axes.ptr()) || py::len(axes) != 2 || !load_ints(axes[py::int_(0)], first) ||
      !load_ints(axes[py::int_(1)], second)) {
    throw std::invalid_argument("[tensordot] axes must be an int or a list of two lists of ints.");
  }
  return mx::tensordot(a, b, narrow(first, "[tensordot] axes"), narrow(second, "[tensordot] axes"),
                       s);
}

std::vector<mx::array> operands_of(const py::args& args) { return to_vector(args, "einsum"); }

py::object einsum_path(const std::string& subscripts, const py::args& operands) {
  auto [path, text] = mx::einsum_path(subscripts, operands_of(operands));
  py::list steps;
  for (const auto& step : path) steps.append(ints_to_tuple(step));
  return py::make_tuple(steps, text);
}

void define_matmul(py::module_& m) {
  m.def(
      "matmul",
      [](const mx::array& a, const mx::array& b, StreamArg s) { return mx::matmul(a, b, s); },
      "a"_a, "b"_a, py::pos_only(), STREAM_KEYWORD, kMatmulDoc);
  m.def(
      "addmm",
      [](const mx::array& c, const mx::array& a, const mx::array& b, float alpha, float beta,
         StreamArg s) { return mx::addmm(c, a, b, alpha, beta, s); },
      "c"_a, "a"_a, "b"_a, py::pos_only(), "alpha"_a = 1.0f, "beta"_a = 1.0f, STREAM_KEYWORD,
      kAddmmDoc);
  m.def(
      "inner",
      [](const mx::array& a, const mx::array& b, StreamArg s) { return mx::inner(a, b, s); }, "a"_a,
      "b"_a, py::pos_only(), STREAM_KEYWORD, kInnerDoc);
  m.def(
      "outer",
      [](const mx::array& a, const mx::array& b, StreamArg s) { return mx::outer(a, b, s); }, "a"_a,
      "b"_a, py::pos_only(), STREAM_KEYWORD, kOuterDoc);
  m.def(
      "vecdot",
      [](const mx::array& a, const mx::array& b, int axis, StreamArg s) {
        return mx::vecdot(a, b, axis, s);
      },
      "a"_a, "b"_a, py::pos_only(), py::kw_only(), "axis"_a = -1, "stream"_a = py::none(),
      kVecdotDoc);
  m.def(
      "kron", [](const mx::array& a, const mx::array& b, StreamArg s) { return mx::kron(a, b, s); },
      "a"_a, "b"_a, STREAM_KEYWORD, kKronDoc);
}

}  // namespace

void init_ops_linear(py::module_& m, ArrayClass&) {
  define_matmul(m);
  m.def(
      "tensordot",
      [](const mx::array& a, const mx::array& b, const py::object& axes, StreamArg s) {
        return tensordot(a, b, axes, s);
      },
      "a"_a, "b"_a, py::pos_only(), "axes"_a = 2, STREAM_KEYWORD, kTensordotDoc);
  m.def(
      "einsum",
      [](const std::string& subscripts, const py::args& operands, StreamArg s) {
        return mx::einsum(subscripts, operands_of(operands), s);
      },
      "subscripts"_a, STREAM_KEYWORD, kEinsumDoc);
  m.def("einsum_path", &einsum_path, "subscripts"_a, kEinsumPathDoc);
}
