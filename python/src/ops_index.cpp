// Operations that select, gather and scatter.
#include <stdexcept>

#include "mlx/ops/indexing.h"
#include "mlx/ops/shape.h"
#include "ops.h"
#include "optional_int.h"

using namespace pybind11::literals;

namespace {

mx::array where(const ArrayLike& condition, const ArrayLike& x, const ArrayLike& y,
                mx::StreamOrDevice s) {
  auto [a, b] = to_arrays(x, y);
  return mx::where(to_array(condition, mx::bool_), a, b, s);
}

mx::array clip(const ArrayLike& value, const py::object& low, const py::object& high,
               mx::StreamOrDevice s) {
  mx::array a = to_array(value);
  auto bound = [&](const py::object& o) {
    return o.is_none() ? std::nullopt : std::optional<mx::array>(to_array(o, a.dtype()));
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
        if (!axis) return mx::take_along_axis(mx::flatten(a, s), mx::flatten(indices, s), 0, s);
        return mx::take_along_axis(a, indices, *axis, s);
      },
      "a"_a, py::pos_only(), "indices"_a, "axis"_a = py::none(), STREAM_KEYWORD,
      "Elements at indices along an axis, one set for each slice.");
  m.def(
      "put_along_axis",
      [](const mx::array& a, const mx::array& indices, const ArrayLike& value,
         const OptionalInt& axis, StreamArg s) {
        mx::array values = to_array(value, a.dtype());
        if (axis) return mx::put_along_axis(a, indices, values, *axis, s);
        mx::array flat = mx::put_along_axis(mx::flatten(a, s), mx::flatten(indices, s),
                                            mx::flatten(values, s), 0, s);
        return mx::reshape(flat, a.shape(), s);
      },
      "a"_a, py::pos_only(), "indices"_a, "values"_a, "axis"_a = py::none(), STREAM_KEYWORD,
      "The array with values put at indices along an axis.");
}

void define_slices(py::module_& m) {
  m.def(
      "slice",
      [](const mx::array& a, const mx::array& start, const Ints& axes, const Ints& size,
         StreamArg s) {
        return mx::slice(a, start, narrow(axes, "[slice] axes"),
                         to_shape(size, "[slice] slice_size"), s);
      },
      "a"_a, "start_indices"_a, "axes"_a, "slice_size"_a, STREAM_KEYWORD,
      "A slice whose start is an array.");
  m.def(
      "slice_update",
      [](const mx::array& a, const mx::array& update, const mx::array& start, const Ints& axes,
         StreamArg s) {
        return mx::slice_update(a, update, start, narrow(axes, "[slice_update] axes"), s);
      },
      "a"_a, "update"_a, "start_indices"_a, "axes"_a, STREAM_KEYWORD,
      "The array with a slice, whose start is an array, replaced.");
}

}  // namespace

void init_ops_index(py::module_& m, ArrayClass&) {
  m.def(
      "where",
      [](const ArrayLike& c, const ArrayLike& x, const ArrayLike& y, StreamArg s) {
        return where(c, x, y, s);
      },
      "condition"_a, "x"_a, "y"_a, py::pos_only(), STREAM_KEYWORD,
      "Elements of x where the condition holds, of y elsewhere.");
  m.def(
      "clip",
      [](const ArrayLike& a, const py::object& low, const py::object& high, StreamArg s) {
        return clip(a, low, high, s);
      },
      "a"_a, py::pos_only(), "a_min"_a, "a_max"_a, STREAM_KEYWORD,
      "Elements limited to [a_min, a_max]; None is no limit.");
  m.def(
      "take",
      [](const mx::array& a, const ArrayLike& i, const OptionalInt& axis, StreamArg s) {
        return take(a, i, axis, s);
      },
      "a"_a, py::pos_only(), "indices"_a, "axis"_a = py::none(), STREAM_KEYWORD,
      "Elements at indices along an axis, or of the flattened array.");
  define_along_axis(m);
  define_slices(m);
}
