// Operations on the shape and layout of one array.
#include "mlx/ops/shape.h"

#include <numeric>
#include <stdexcept>
#include <string>

#include "ops/ops.h"

using namespace pybind11::literals;

namespace {

const char* const kReshapeDoc =
    R"(Gives an array another shape. The elements stay in row-major order.

Args:
    shape: The new shape. One extent may be -1: it follows from the size.

Returns:
    The array, of shape `shape`.

Raises:
    ValueError: If the sizes differ.

Example:
    >>> mx.reshape(mx.arange(6), (2, -1)).shape
    (2, 3))";

const char* const kReshapeMethodDoc =
    R"(reshape(self, *shape: int | Sequence[int], stream: StreamOrDevice = None) -> array

Gives the array another shape. The elements stay in row-major order.

Args:
    *shape: The new shape, as integers or as one tuple. One extent may be -1: it follows from the size.

Returns:
    The array in the new shape.

Example:
    >>> mx.arange(6).reshape(2, -1).shape
    (2, 3))";

const char* const kFlattenDoc = R"(Merges neighbouring axes into one.

Args:
    start_axis: The first axis to merge.
    end_axis: The last axis to merge.

Returns:
    The array with the merged axis in place of the others.

Example:
    >>> mx.flatten(mx.zeros((2, 3, 4)), start_axis=1).shape
    (2, 12))";

const char* const kUnflattenDoc = R"(Splits an axis into several.

Args:
    axis: The axis to split.
    shape: The extents of the new axes. One may be -1: it follows from the length of the axis.

Returns:
    The array with the new axes in place of the axis.

Example:
    >>> mx.unflatten(mx.zeros((2, 12)), 1, (3, -1)).shape
    (2, 3, 4))";

const char* const kSqueezeDoc = R"(Drops axes of length 1.

Args:
    axis: The axes to drop. None means all that have length 1.

Returns:
    The array without the axes.)";

const char* const kExpandDimsDoc = R"(Adds axes of length 1.

Args:
    axis: The places of the new axes in the result.

Returns:
    The array with the new axes.

Example:
    >>> mx.expand_dims(mx.zeros(3), (0, 2)).shape
    (1, 3, 1))";

const char* const kTransposeDoc = R"(Permutes the axes.

Args:
    axes: For each axis of the result, the axis of `a`. None reverses the axes.

Returns:
    The array with permuted axes.

Example:
    >>> mx.transpose(mx.zeros((2, 3, 4)), (0, 2, 1)).shape
    (2, 4, 3))";

const char* const kTransposeMethodDoc =
    R"(transpose(self, *axes: int | Sequence[int] | None, stream: StreamOrDevice = None) -> array

Permutes the axes.

Args:
    *axes: For each axis of the result, the axis of the array; integers or one tuple. None or nothing
        reverses the axes.

Returns:
    The array with permuted axes.)";

const char* const kMatrixTransposeDoc = R"(Swaps the last two axes.

Args:
    a: Matrices of shape (..., n, m).

Returns:
    The transposed matrices, of shape (..., m, n).)";

const char* const kSwapaxesDoc = R"(Swaps two axes.

Args:
    axis1: The first axis.
    axis2: The second axis.

Returns:
    The array with swapped axes.)";

const char* const kMoveaxisDoc = R"(Moves an axis to another place. The others keep their order.

Args:
    source: The axis to move.
    destination: Its place in the result.

Returns:
    The array with the moved axis.)";

const char* const kDiagonalDoc = R"(Takes the diagonals of the matrices that two axes make.

Args:
    offset: The diagonal: 0 is the main one, positive ones are above it, negative ones below.
    axis1: The axis of the rows.
    axis2: The axis of the columns.

Returns:
    The diagonals, along the last axis of the result.)";

const char* const kDiagDoc = R"(Takes the diagonal of a matrix, or makes a matrix from its diagonal.

Args:
    k: The diagonal: 0 is the main one, positive ones are above it, negative ones below.

Returns:
    The diagonal of a matrix; for a vector the matrix that has it as diagonal, with zeros elsewhere.

Example:
    >>> mx.diag(mx.array([1, 2]))
    array([[1, 0],
           [0, 2]], dtype=int32))";

const char* const kTraceDoc = R"(Sums the diagonals of the matrices that two axes make.

Args:
    offset: The diagonal: 0 is the main one, positive ones are above it, negative ones below.
    axis1: The axis of the rows.
    axis2: The axis of the columns.
    dtype: The type of the sums. None means that of `a`.

Returns:
    The sums. Both axes are dropped.)";

const char* const kFlipDoc = R"(Reverses the order of elements along axes.

Args:
    axis: The axes. None means all of them.

Returns:
    The reversed array.)";

const char* const kBroadcastToDoc = R"(Repeats axes of length 1 to reach a shape. Nothing is copied.

Args:
    shape: The shape of the result.

Returns:
    The array, of shape `shape`.

Raises:
    ValueError: If the array does not broadcast to the shape.)";

const char* const kContiguousDoc =
    R"(Copies an array whose elements do not lie in row-major order in memory.

Args:
    allow_col_major: Whether an array in column-major order may stay as it is.

Returns:
    The array, contiguous in memory.)";

const char* const kAsStridedDoc =
    R"(as_strided(a: array, /, shape: Sequence[int] | None = None, strides: Sequence[int] | None = None, offset: int = 0, *, stream: StreamOrDevice = None) -> array

Views the elements of an array with any shape and strides. The array counts as row-major.

Args:
    shape: The shape of the view. None means that of `a`.
    strides: The distance of neighbours along each axis, in elements. None means row-major strides.
    offset: The place of the first element, in elements.

Returns:
    The view, of shape `shape`.

Raises:
    ValueError: If the view reaches outside of the array.

Example:
    >>> mx.as_strided(mx.arange(5), (3, 3), (1, 1))  # windows that overlap
    array([[0, 1, 2],
           [1, 2, 3],
           [2, 3, 4]], dtype=int32))";

// Accepts `a.reshape(2, 3)` and `a.reshape((2, 3))`.
Ints ints_from_args(const py::args& args, const char* op) {
  Ints result;
  py::handle source = args.size() == 1 ? py::handle(args[0]) : py::handle(args);
  if (!load_ints(source, result)) {
    throw py::type_error(std::string("[") + op + "] Expected integers but got " +
                         py::repr(source).cast<std::string>() + ".");
  }
  return result;
}

mx::array transpose(const mx::array& a, const Axes& axes, mx::StreamOrDevice s) {
  return axes.value ? mx::transpose(a, *axes.value, s) : mx::transpose(a, s);
}

mx::array squeeze(const mx::array& a, const Axes& axes, mx::StreamOrDevice s) {
  return axes.value ? mx::squeeze(a, *axes.value, s) : mx::squeeze(a, s);
}

void define_reshapes(py::module_& m, ArrayClass& cls) {
  m.def(
      "reshape",
      [](const mx::array& a, const Ints& shape, StreamArg s) {
        return mx::reshape(a, to_shape(shape, "[reshape] shape"), s);
      },
      "a"_a, py::pos_only(), "shape"_a, STREAM_KEYWORD, kReshapeDoc);
  cls.def(
      "reshape",
      [](const mx::array& a, const py::args& shape, StreamArg s) {
        return mx::reshape(a, to_shape(ints_from_args(shape, "reshape"), "[reshape] shape"), s);
      },
      STREAM_KEYWORD, kReshapeMethodDoc);
  auto flatten = [](const mx::array& a, int start, int end, StreamArg s) {
    return mx::flatten(a, start, end, s);
  };
  m.def("flatten", flatten, "a"_a, py::pos_only(), "start_axis"_a = 0, "end_axis"_a = -1,
        STREAM_KEYWORD, kFlattenDoc);
  cls.def("flatten", flatten, "start_axis"_a = 0, "end_axis"_a = -1, STREAM_KEYWORD, kFlattenDoc);
  auto unflatten = [](const mx::array& a, int axis, const Ints& shape, StreamArg s) {
    return mx::unflatten(a, axis, to_shape(shape, "[unflatten] shape"), s);
  };
  m.def("unflatten", unflatten, "a"_a, py::pos_only(), "axis"_a, "shape"_a, STREAM_KEYWORD,
        kUnflattenDoc);
  cls.def("unflatten", unflatten, "axis"_a, "shape"_a, STREAM_KEYWORD, kUnflattenDoc);
  auto squeeze_call = [](const mx::array& a, const Axes& axis, StreamArg s) {
    return squeeze(a, axis, s);
  };
  m.def("squeeze", squeeze_call, "a"_a, py::pos_only(), "axis"_a = py::none(), STREAM_KEYWORD,
        kSqueezeDoc);
  cls.def("squeeze", squeeze_call, "axis"_a = py::none(), STREAM_KEYWORD, kSqueezeDoc);
  m.def(
      "expand_dims",
      [](const mx::array& a, const Ints& axis, StreamArg s) {
        return mx::expand_dims(a, narrow(axis, "[expand_dims] axis"), s);
      },
      "a"_a, py::pos_only(), "axis"_a, STREAM_KEYWORD, kExpandDimsDoc);
}

void define_transposes(py::module_& m, ArrayClass& cls) {
  auto call = [](const mx::array& a, const Axes& axes, StreamArg s) {
    return transpose(a, axes, s);
  };
  m.def("transpose", call, "a"_a, py::pos_only(), "axes"_a = py::none(), STREAM_KEYWORD,
        kTransposeDoc);
  m.def("permute_dims", call, "a"_a, py::pos_only(), "axes"_a = py::none(), STREAM_KEYWORD,
        kTransposeDoc);
  cls.def(
      "transpose",
      [](const mx::array& a, const py::args& axes, StreamArg s) {
        bool reverse = axes.empty() || (axes.size() == 1 && axes[0].is_none());
        return reverse ? mx::transpose(a, s)
                       : mx::transpose(
                             a, narrow(ints_from_args(axes, "transpose"), "[transpose] axes"), s);
      },
      STREAM_KEYWORD, kTransposeMethodDoc);
  cls.def_property_readonly(
      "T", [](const mx::array& a) { return mx::transpose(a); },
      "array: The array with its axes reversed.");
  m.def(
      "matrix_transpose",
      [](const mx::array& a, StreamArg s) { return mx::matrix_transpose(a, s); }, "a"_a,
      py::pos_only(), STREAM_KEYWORD, kMatrixTransposeDoc);
  cls.def_property_readonly(
      "mT", [](const mx::array& a) { return mx::matrix_transpose(a); },
      "array: The array with its last two axes swapped.");
  auto swapaxes = [](const mx::array& a, int x, int y, StreamArg s) {
    return mx::swapaxes(a, x, y, s);
  };
  m.def("swapaxes", swapaxes, "a"_a, py::pos_only(), "axis1"_a, "axis2"_a, STREAM_KEYWORD,
        kSwapaxesDoc);
  cls.def("swapaxes", swapaxes, "axis1"_a, "axis2"_a, STREAM_KEYWORD, kSwapaxesDoc);
  auto moveaxis = [](const mx::array& a, int from, int to, StreamArg s) {
    return mx::moveaxis(a, from, to, s);
  };
  m.def("moveaxis", moveaxis, "a"_a, py::pos_only(), "source"_a, "destination"_a, STREAM_KEYWORD,
        kMoveaxisDoc);
  cls.def("moveaxis", moveaxis, "source"_a, "destination"_a, STREAM_KEYWORD, kMoveaxisDoc);
}

void define_diagonals(py::module_& m, ArrayClass& cls) {
  auto diagonal = [](const mx::array& a, int offset, int axis1, int axis2, StreamArg s) {
    return mx::diagonal(a, offset, axis1, axis2, s);
  };
  m.def("diagonal", diagonal, "a"_a, "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1,
        "stream"_a = py::none(), kDiagonalDoc);
  cls.def("diagonal", diagonal, "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1,
          "stream"_a = py::none(), kDiagonalDoc);
  auto diag = [](const mx::array& a, int k, StreamArg s) { return mx::diag(a, k, s); };
  m.def("diag", diag, "a"_a, py::pos_only(), "k"_a = 0, STREAM_KEYWORD, kDiagDoc);
  cls.def("diag", diag, "k"_a = 0, STREAM_KEYWORD, kDiagDoc);
  m.def(
      "trace",
      [](const mx::array& a, int offset, int axis1, int axis2, const mx::Dtype* dtype,
         StreamArg s) {
        return dtype ? mx::trace(a, offset, axis1, axis2, *dtype, s)
                     : mx::trace(a, offset, axis1, axis2, s);
      },
      "a"_a, py::pos_only(), "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, "dtype"_a = py::none(),
      STREAM_KEYWORD, kTraceDoc);
}

mx::array as_strided(const mx::array& a, const py::object& shape, const py::object& strides,
                     int64_t offset, mx::StreamOrDevice s) {
  Ints extents, steps;
  if (!shape.is_none() && !load_ints(shape, extents))
    throw py::type_error("[as_strided] The shape must be integers.");
  mx::Shape out_shape = shape.is_none() ? a.shape() : to_shape(extents, "[as_strided] shape");
  if (!strides.is_none() && !load_ints(strides, steps))
    throw py::type_error("[as_strided] The strides must be integers.");
  mx::Strides out_strides =
      strides.is_none() ? mx::row_contiguous_strides(out_shape) : std::move(steps.value);
  if (offset < 0) throw std::invalid_argument("[as_strided] The offset must not be negative.");
  return mx::as_strided(a, out_shape, out_strides, static_cast<size_t>(offset), s);
}

}  // namespace

void init_ops_shape(py::module_& m, ArrayClass& cls) {
  define_reshapes(m, cls);
  define_transposes(m, cls);
  define_diagonals(m, cls);
  m.def(
      "flip",
      [](const mx::array& a, const Axes& axis, StreamArg s) {
        return axis.value ? mx::flip(a, *axis.value, s) : mx::flip(a, s);
      },
      "a"_a, py::pos_only(), "axis"_a = py::none(), STREAM_KEYWORD, kFlipDoc);
  m.def(
      "broadcast_to",
      [](const ArrayLike& a, const Ints& shape, StreamArg s) {
        return mx::broadcast_to(to_array(a), to_shape(shape, "[broadcast_to] shape"), s);
      },
      "a"_a, py::pos_only(), "shape"_a, STREAM_KEYWORD, kBroadcastToDoc);
  m.def(
      "contiguous",
      [](const mx::array& a, bool allow_col_major, StreamArg s) {
        return mx::contiguous(a, allow_col_major, s);
      },
      "a"_a, py::pos_only(), "allow_col_major"_a = false, STREAM_KEYWORD, kContiguousDoc);
  m.def(
      "as_strided",
      [](const mx::array& a, const py::object& shape, const py::object& strides, int64_t offset,
         StreamArg s) { return as_strided(a, shape, strides, offset, s); },
      "a"_a, py::pos_only(), "shape"_a = py::none(), "strides"_a = py::none(), "offset"_a = 0,
      STREAM_KEYWORD, kAsStridedDoc);
}
