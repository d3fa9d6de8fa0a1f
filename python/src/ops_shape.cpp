// Operations on the shape and layout of one array.
#include <numeric>
#include <stdexcept>
#include <string>

#include "mlx/ops/shape.h"
#include "ops.h"

using namespace pybind11::literals;

namespace {

// `a.reshape(2, 3)` and `a.reshape((2, 3))` alike.
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
      "a"_a, py::pos_only(), "shape"_a, STREAM_KEYWORD,
      "The same elements in another shape; one extent may be -1.");
  cls.def(
      "reshape",
      [](const mx::array& a, const py::args& shape, StreamArg s) {
        return mx::reshape(a, to_shape(ints_from_args(shape, "reshape"), "[reshape] shape"), s);
      },
      STREAM_KEYWORD, "The same elements in another shape, given as integers or one tuple.");
  auto flatten = [](const mx::array& a, int start, int end, StreamArg s) {
    return mx::flatten(a, start, end, s);
  };
  m.def("flatten", flatten, "a"_a, py::pos_only(), "start_axis"_a = 0, "end_axis"_a = -1,
        STREAM_KEYWORD, "Merges the axes from start_axis to end_axis.");
  cls.def("flatten", flatten, "start_axis"_a = 0, "end_axis"_a = -1, STREAM_KEYWORD,
          "Merges the axes from start_axis to end_axis.");
  auto unflatten = [](const mx::array& a, int axis, const Ints& shape, StreamArg s) {
    return mx::unflatten(a, axis, to_shape(shape, "[unflatten] shape"), s);
  };
  m.def("unflatten", unflatten, "a"_a, py::pos_only(), "axis"_a, "shape"_a, STREAM_KEYWORD,
        "Splits an axis into several.");
  cls.def("unflatten", unflatten, "axis"_a, "shape"_a, STREAM_KEYWORD,
          "Splits an axis into several.");
  auto squeeze_call = [](const mx::array& a, const Axes& axis, StreamArg s) {
    return squeeze(a, axis, s);
  };
  m.def("squeeze", squeeze_call, "a"_a, py::pos_only(), "axis"_a = py::none(), STREAM_KEYWORD,
        "Drops axes of length 1.");
  cls.def("squeeze", squeeze_call, "axis"_a = py::none(), STREAM_KEYWORD,
          "Drops axes of length 1.");
  m.def(
      "expand_dims",
      [](const mx::array& a, const Ints& axis, StreamArg s) {
        return mx::expand_dims(a, narrow(axis, "[expand_dims] axis"), s);
      },
      "a"_a, py::pos_only(), "axis"_a, STREAM_KEYWORD, "Adds axes of length 1.");
}

void define_transposes(py::module_& m, ArrayClass& cls) {
  auto call = [](const mx::array& a, const Axes& axes, StreamArg s) {
    return transpose(a, axes, s);
  };
  m.def("transpose", call, "a"_a, py::pos_only(), "axes"_a = py::none(), STREAM_KEYWORD,
        "Permutes the axes; reverses them by default.");
  m.def("permute_dims", call, "a"_a, py::pos_only(), "axes"_a = py::none(), STREAM_KEYWORD,
        "Permutes the axes; reverses them by default.");
  cls.def(
      "transpose",
      [](const mx::array& a, const py::args& axes, StreamArg s) {
        bool reverse = axes.empty() || (axes.size() == 1 && axes[0].is_none());
        return reverse ? mx::transpose(a, s)
                       : mx::transpose(
                             a, narrow(ints_from_args(axes, "transpose"), "[transpose] axes"), s);
      },
      STREAM_KEYWORD,
      "Permutes the axes, given as integers or one tuple; reverses them by default.");
  cls.def_property_readonly(
      "T", [](const mx::array& a) { return mx::transpose(a); },
      "The array with its axes reversed.");
  auto matrix_transpose = [](const mx::array& a, StreamArg s) {
    if (a.ndim() < 2) {
      throw std::invalid_argument(
          "[matrix_transpose] An array of at least 2 dimensions is needed.");
    }
    return mx::swapaxes(a, -2, -1, s);
  };
  m.def("matrix_transpose", matrix_transpose, "a"_a, py::pos_only(), STREAM_KEYWORD,
        "Swaps the last two axes.");
  cls.def_property_readonly(
      "mT", [matrix_transpose](const mx::array& a) { return matrix_transpose(a, {}); },
      "The array with its last two axes swapped.");
  auto swapaxes = [](const mx::array& a, int x, int y, StreamArg s) {
    return mx::swapaxes(a, x, y, s);
  };
  m.def("swapaxes", swapaxes, "a"_a, py::pos_only(), "axis1"_a, "axis2"_a, STREAM_KEYWORD,
        "Swaps two axes.");
  cls.def("swapaxes", swapaxes, "axis1"_a, "axis2"_a, STREAM_KEYWORD, "Swaps two axes.");
  auto moveaxis = [](const mx::array& a, int from, int to, StreamArg s) {
    return mx::moveaxis(a, from, to, s);
  };
  m.def("moveaxis", moveaxis, "a"_a, py::pos_only(), "source"_a, "destination"_a, STREAM_KEYWORD,
        "Moves an axis to another place.");
  cls.def("moveaxis", moveaxis, "source"_a, "destination"_a, STREAM_KEYWORD,
          "Moves an axis to another place.");
}

void define_diagonals(py::module_& m, ArrayClass& cls) {
  auto diagonal = [](const mx::array& a, int offset, int axis1, int axis2, StreamArg s) {
    return mx::diagonal(a, offset, axis1, axis2, s);
  };
  m.def("diagonal", diagonal, "a"_a, "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1,
        "stream"_a = py::none(), "A diagonal over two axes.");
  cls.def("diagonal", diagonal, "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1,
          "stream"_a = py::none(), "A diagonal over two axes.");
  auto diag = [](const mx::array& a, int k, StreamArg s) { return mx::diag(a, k, s); };
  m.def("diag", diag, "a"_a, py::pos_only(), "k"_a = 0, STREAM_KEYWORD,
        "The diagonal of a matrix, or the matrix of a diagonal.");
  cls.def("diag", diag, "k"_a = 0, STREAM_KEYWORD,
          "The diagonal of a matrix, or the matrix of a diagonal.");
  m.def(
      "trace",
      [](const mx::array& a, int offset, int axis1, int axis2, const mx::Dtype* dtype,
         StreamArg s) {
        return dtype ? mx::trace(a, offset, axis1, axis2, *dtype, s)
                     : mx::trace(a, offset, axis1, axis2, s);
      },
      "a"_a, py::pos_only(), "offset"_a = 0, "axis1"_a = 0, "axis2"_a = 1, "dtype"_a = py::none(),
      STREAM_KEYWORD, "The sum of a diagonal.");
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
      "a"_a, py::pos_only(), "axis"_a = py::none(), STREAM_KEYWORD,
      "Reverses axes, all by default.");
  m.def(
      "broadcast_to",
      [](const ArrayLike& a, const Ints& shape, StreamArg s) {
        return mx::broadcast_to(to_array(a), to_shape(shape, "[broadcast_to] shape"), s);
      },
      "a"_a, py::pos_only(), "shape"_a, STREAM_KEYWORD,
      "Repeats axes of length 1, without a copy, to reach a shape.");
  m.def(
      "contiguous",
      [](const mx::array& a, bool allow_col_major, StreamArg s) {
        return mx::contiguous(a, allow_col_major, s);
      },
      "a"_a, py::pos_only(), "allow_col_major"_a = false, STREAM_KEYWORD,
      "The array with its elements in row-major order.");
  m.def(
      "as_strided",
      [](const mx::array& a, const py::object& shape, const py::object& strides, int64_t offset,
         StreamArg s) { return as_strided(a, shape, strides, offset, s); },
      "a"_a, py::pos_only(), "shape"_a = py::none(), "strides"_a = py::none(), "offset"_a = 0,
      STREAM_KEYWORD,
      "A view of the flattened array, within which it must lie, with strides counted in elements.");
}
