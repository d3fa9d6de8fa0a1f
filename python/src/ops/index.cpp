// Operations that select, gather and scatter.
#include <stdexcept>

#include "convert/optional_int.h"
#include "mlx/ops/indexing.h"
#include "mlx/ops/shape.h"
#include "ops/ops.h"

using namespace pybind11::literals;

namespace {

const char* const kTakeAlongAxisDoc =
    R"(Takes elements at indices along an axis, with indices of its own for each slice.

Args:
    indices: The indices, integers. Their shape is broadcast with that of `a` but for the axis.
    axis: The axis. None means the axis of the flattened array; indices and values have one axis then.

Returns:
    The elements, of the shape of `indices`.

Example:
    >>> a = mx.array([[3, 1], [2, 4]])
    >>> mx.take_along_axis(a, mx.argsort(a, axis=1), axis=1)
    array([[1, 3],
           [2, 4]], dtype=int32))";

const char* const kPutAlongAxisDoc =
    R"(Puts values at indices along an axis, with indices of its own for each slice. `a` stays as it is.

Args:
    indices: The indices, integers. Their shape is broadcast with that of `a` but for the axis.
    values: The values, broadcast to the shape of `indices`.
    axis: The axis. None means the axis of the flattened arrays.

Returns:
    A copy of `a` with the values in it.)";

const char* const kSliceDoc = R"(Takes a slice whose start is an array, so that it can be computed.

Args:
    start_indices: Where the slice starts: one integer for each of `axes`.
    axes: The axes that `start_indices` belong to. The slice starts at 0 along the others.
    slice_size: The extents of the slice, one for each axis of `a`.

Returns:
    The slice, of shape `slice_size`.

Example:
    >>> a = mx.arange(12).reshape(3, 4)
    >>> mx.slice(a, mx.array([1, 2]), (0, 1), (1, 2))
    array([[6, 7]], dtype=int32))";

const char* const kSliceUpdateDoc = R"(Replaces a slice whose start is an array. `a` stays as it is.

Args:
    update: The new values. Their shape is that of the slice.
    start_indices: Where the slice starts: one integer for each of `axes`.
    axes: The axes that `start_indices` belong to. The slice starts at 0 along the others.

Returns:
    A copy of `a` with `update` in it.

Example:
    >>> mx.slice_update(mx.zeros(4, mx.int32), mx.array([7, 8]), mx.array([1]), (0,))
    array([0, 7, 8, 0], dtype=int32))";

const char* const kWhereDoc =
    R"(Selects elements by a condition: those of `x` where it is true, those of `y` elsewhere.

Args:
    condition: The condition; what is not zero is true. All three arguments are broadcast together.
    x: The elements where the condition is true.
    y: The elements where it is false.

Returns:
    The selected elements, of the common shape and type.

Example:
    >>> a = mx.array([-1, 2, -3])
    >>> mx.where(a > 0, a, 0)
    array([0, 2, 0], dtype=int32))";

const char* const kClipDoc =
    R"(clip(a: scalar | array, /, a_min: scalar | array | None, a_max: scalar | array | None, *, stream: StreamOrDevice = None) -> array

Limits elements to the interval [a_min, a_max].

Args:
    a_min: The lower limit, broadcast against `a`. None means no limit.
    a_max: The upper limit, broadcast against `a`. None means no limit.

Returns:
    The limited elements.

Example:
    >>> mx.clip(mx.arange(5), 1, 3)
    array([1, 1, 2, 3, 3], dtype=int32))";

const char* const kTakeDoc =
    R"(take(a: array, /, indices: int | array, axis: int | None = None, *, stream: StreamOrDevice = None) -> array

Takes the slices at indices along an axis.

Args:
    indices: An integer, or integers in an array of any shape. Negative ones count from the end.
    axis: The axis. None means the axis of the flattened array.

Returns:
    The slices. The shape of `indices` stands in place of the axis.

Raises:
    IndexError: If `indices` is an int that is out of bounds. Indices in an array are not checked.

Example:
    >>> mx.take(mx.array([10, 20, 30]), mx.array([2, 0]))
    array([30, 10], dtype=int32))";

mx::array where(const ArrayLike& condition, const ArrayLike& x, const ArrayLike& y,
                mx::StreamOrDevice s) {
  auto [a, b] = to_arrays(x, y);
  return mx::where(to_array(condition, mx::bool_), a, b, s);
}

mx::array clip(const ArrayLike& value, const py::object& low, const py::object& high,
               mx::StreamOrDevice s) {
  mx::array a = to_array(value);
  auto bound = [&](const py::object& o) {
    return o.is_none() ? std::nullopt : std::optional<mx::array>(to_operand(o, a.dtype()));
  };
  return mx::clip(a, bound(low), bound(high), s);
}

mx::array take(const mx::array& a, const ArrayLike& indices, const OptionalInt& axis,
               mx::StreamOrDevice s) {
  auto dim = axis.value;
  if (PyLong_Check(indices.value.ptr())) {
    int index = to_int(indices.value, "[take] indices");
    int64_t extent =
        dim ? a.shape(mx::normalize_axis_index(*dim, static_cast<int>(a.ndim()), "take"))
            : static_cast<int64_t>(a.size());
    if (index < -extent || index >= extent) {
      throw py::index_error("[take] Index " + std::to_string(index) +
                            " is out of bounds for length " + std::to_string(extent) + ".");
    }
    return dim ? mx::take(a, index, *dim, s) : mx::take(a, index, s);
  }
  mx::array positions = to_array(indices);
  return dim ? mx::take(a, positions, *dim, s) : mx::take(a, positions, s);
}

void define_along_axis(py::module_& m) {
  m.def(
      "take_along_axis",
      [](const mx::array& a, const mx::array& indices, const OptionalInt& axis, StreamArg s) {
        if (!axis) return mx::take_along_axis(mx::flatten(a, s), indices, 0, s);
        return mx::take_along_axis(a, indices, *axis, s);
      },
      "a"_a, py::pos_only(), "indices"_a, "axis"_a = -1, STREAM_KEYWORD, kTakeAlongAxisDoc);
  m.def(
      "put_along_axis",
      [](const mx::array& a, const mx::array& indices, const ArrayLike& value,
         const OptionalInt& axis, StreamArg s) {
        mx::array values = to_array(value, a.dtype());
        if (axis) return mx::put_along_axis(a, indices, values, *axis, s);
        mx::array flat = mx::put_along_axis(mx::flatten(a, s), indices, values, 0, s);
        return mx::reshape(flat, a.shape(), s);
      },
      "a"_a, py::pos_only(), "indices"_a, "values"_a, "axis"_a = py::none(), STREAM_KEYWORD,
      kPutAlongAxisDoc);
}

void define_slices(py::module_& m) {
  m.def(
      "slice",
      [](const mx::array& a, const mx::array& start, const Ints& axes, const Ints& size,
         StreamArg s) {
        return mx::slice(a, start, narrow(axes, "[slice] axes"),
                         to_shape(size, "[slice] slice_size"), s);
      },
      "a"_a, "start_indices"_a, "axes"_a, "slice_size"_a, STREAM_KEYWORD, kSliceDoc);
  m.def(
      "slice_update",
      [](const mx::array& a, const mx::array& update, const mx::array& start, const Ints& axes,
         StreamArg s) {
        return mx::slice_update(a, update, start, narrow(axes, "[slice_update] axes"), s);
      },
      "a"_a, "update"_a, "start_indices"_a, "axes"_a, STREAM_KEYWORD, kSliceUpdateDoc);
}

}  // namespace

void init_ops_index(py::module_& m, ArrayClass&) {
  m.def(
      "where",
      [](const ArrayLike& c, const ArrayLike& x, const ArrayLike& y, StreamArg s) {
        return where(c, x, y, s);
      },
      "condition"_a, "x"_a, "y"_a, py::pos_only(), STREAM_KEYWORD, kWhereDoc);
  m.def(
      "clip",
      [](const ArrayLike& a, const py::object& low, const py::object& high, StreamArg s) {
        return clip(a, low, high, s);
      },
      "a"_a, py::pos_only(), "a_min"_a, "a_max"_a, STREAM_KEYWORD, kClipDoc);
  m.def(
      "take",
      [](const mx::array& a, const ArrayLike& i, const OptionalInt& axis, StreamArg s) {
        return take(a, i, axis, s);
      },
      "a"_a, py::pos_only(), "indices"_a, "axis"_a = py::none(), STREAM_KEYWORD, kTakeDoc);
  define_along_axis(m);
  define_slices(m);
}
