// Parsing of subscripts.
#include <limits>
#include <stdexcept>
#include <string>

#include "convert/arguments.h"
#include "convert/convert.h"
#include "indexing/indexing.h"
#include "mlx/ops/unary.h"
#include "mlx/transforms_impl.h"

namespace {

using Kind = Subscript::Kind;

bool has_axes(py::handle h) {
  return py::hasattr(h, "shape") && py::hasattr(h, "__array_interface__") &&
         py::len(h.attr("shape")) > 0;
}

// A mask of NumPy, which has an index if it has no axes.
bool is_mask_of_numpy(py::handle h) {
  const py::object dtype = py::getattr(h, "dtype", py::none());
  const py::object kind = py::getattr(dtype, "kind", py::none());
  return py::isinstance<py::str>(kind) && kind.cast<std::string>() == "b";
}

bool is_integer(py::handle h) {
  PyObject* p = h.ptr();
  if (PyBool_Check(p) || is_array(h)) return false;
  return PyLong_Check(p) || (PyIndex_Check(p) && !has_axes(h) && !is_mask_of_numpy(h));
}

// A bound of a slice: an integer, or an array that holds one.
py::object slice_bound(py::object bound) {
  if (!is_array(bound)) return bound;
  const auto& a = bound.cast<const mx::array&>();
  if (a.size() != 1 || !mx::issubdtype(a.dtype(), mx::integer)) {
    throw std::invalid_argument("Slice indices must be integers or None.");
  }
  return item(a);
}

Subscript parse_slice(py::handle key, int length) {
  py::slice slice(slice_bound(key.attr("start")), slice_bound(key.attr("stop")),
                  slice_bound(key.attr("step")));
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(slice.ptr(), &start, &stop, &step) < 0) {
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) throw py::error_already_set();
    PyErr_Clear();
    throw std::invalid_argument("Slice indices must be integers or None.");
  }
  const bool fixed = step > 0 && start >= 0 && stop >= 0 && stop <= length;
  Py_ssize_t extent = PySlice_AdjustIndices(length, &start, &stop, step);
  Subscript s{Kind::slice};
  s.extent = static_cast<int>(extent);
  s.fixed = fixed;
  // A step beyond the axis selects one element; it is limited to fit 32 bits.
  Py_ssize_t limit = std::numeric_limits<int>::max();
  s.step = static_cast<int>(std::clamp(step, -limit, limit));
  s.start = static_cast<int>(start);
  s.stop = static_cast<int>(stop);
  if (extent == 0) s.start = s.stop = 0, s.step = 1;
  s.whole = s.step == 1 && s.start == 0 && s.extent == length;
  return s;
}

Subscript parse_integer(py::handle key, int axis, int length) {
  Py_ssize_t i = PyNumber_AsSsize_t(key.ptr(), PyExc_IndexError);
  if (i == -1 && PyErr_Occurred()) throw py::error_already_set();
  if (i < -length || i >= length) {
    throw py::index_error("Index " + std::to_string(i) + " is out of bounds for axis " +
                          std::to_string(axis) + " with size " + std::to_string(length) + ".");
  }
  // Unlike the bounds of a view, an array's indices are valid for other lengths of the axis.
  if (mx::detail::InTracing::in_dynamic_tracing()) {
    Subscript s{Kind::array};
    s.array = mx::array(static_cast<int>(i));
    s.from_integer = true;
    return s;
  }
  Subscript s{Kind::integer};
  s.start = static_cast<int>(i < 0 ? i + length : i);
  return s;
}

Subscript whole_slice(int length) {
  Subscript s{Kind::slice};
  s.stop = s.extent = length;
  s.whole = true;
  return s;
}

mx::array array_of(py::handle key) {
  mx::array a = array_from_object(py::reinterpret_borrow<py::object>(key), std::nullopt);
  bool empty_list = a.size() == 0 && (PyList_Check(key.ptr()) || PyTuple_Check(key.ptr()));
  return empty_list ? mx::astype(a, mx::int32) : a;
}

// The given parts with arrays converted, before they are matched with axes.
struct Raw {
  py::object object;
  std::optional<mx::array> array;

  int axes() const {
    if (array) return array->dtype() == mx::bool_ ? static_cast<int>(array->ndim()) : 1;
    return object.is_none() || object.is(py::ellipsis()) ? 0 : 1;
  }
};

Raw raw_part(py::handle key) {
  Raw raw{py::reinterpret_borrow<py::object>(key), std::nullopt};
  PyObject* p = key.ptr();
  if (key.is_none() || key.is(py::ellipsis()) || PySlice_Check(p) || is_integer(key)) return raw;
  bool sequence = PyList_Check(p) || PyTuple_Check(p);
  if (PyBool_Check(p)) {
    raw.array = mx::array(p == Py_True);
  } else if (sequence || (is_array_like(key) && !PyFloat_Check(p) && !PyComplex_Check(p))) {
    raw.array = array_of(key);
  } else {
    throw std::invalid_argument("Cannot index mlx array using the given type " + type_name(p) +
                                ".");
  }
  return raw;
}

Subscript match(const mx::array& a, const Raw& raw, int axis) {
  if (raw.object.is_none()) return Subscript{Kind::new_axis};
  if (raw.array) {
    Subscript s{raw.array->dtype() == mx::bool_ ? Kind::mask : Kind::array};
    if (s.kind == Kind::array && !mx::issubdtype(raw.array->dtype(), mx::integer)) {
      throw std::invalid_argument("Indices must be integral or boolean, not " +
                                  mx::dtype_to_string(raw.array->dtype()) + ".");
    }
    s.array = raw.array;
    return s;
  }
  int length = a.shape(axis);
  return PySlice_Check(raw.object.ptr()) ? parse_slice(raw.object, length)
                                         : parse_integer(raw.object, axis, length);
}

}  // namespace

std::vector<Subscript> parse_subscripts(const mx::array& a, py::handle key) {
  std::vector<Raw> raws;
  if (PyTuple_Check(key.ptr())) {
    for (py::handle part : key) raws.push_back(raw_part(part));
  } else {
    raws.push_back(raw_part(key));
  }
  int axes = 0, ellipses = 0;
  for (const Raw& raw : raws) {
    axes += raw.axes();
    ellipses += raw.object.is(py::ellipsis());
  }
  if (ellipses > 1) throw std::invalid_argument("An index can only have a single ellipsis (...).");
  int ndim = static_cast<int>(a.ndim());
  if (axes > ndim) {
    throw std::invalid_argument("Too many indices for array with " + std::to_string(ndim) +
                                " dimensions.");
  }
  std::vector<Subscript> parts;
  int axis = 0;
  auto fill = [&](int count) {
    for (; count > 0; --count) parts.push_back(whole_slice(a.shape(axis++)));
  };
  for (const Raw& raw : raws) {
    if (raw.object.is(py::ellipsis())) {
      fill(ndim - axes);
    } else {
      parts.push_back(match(a, raw, axis));
      axis += raw.axes();
    }
  }
  fill(ndim - axis);
  return parts;
}

bool has_kind(const std::vector<Subscript>& parts, Kind kind) {
  for (const auto& p : parts) {
    if (p.kind == kind) return true;
  }
  return false;
}

AxisChanges axis_changes(const std::vector<Subscript>& parts) {
  AxisChanges changes;
  int axis = 0, out = 0;
  for (const auto& p : parts) {
    if (p.kind == Kind::new_axis) {
      changes.added.push_back(out++);
    } else if (p.kind == Kind::integer) {
      changes.dropped.push_back(axis++);
    } else {
      ++axis;
      ++out;
    }
  }
  return changes;
}

namespace {

// The index of the first advanced part, or -1 if other parts separate the advanced ones.
int first_advanced(const std::vector<Subscript>& parts) {
  int first = -1, last = -1, count = 0;
  for (int i = 0; i < static_cast<int>(parts.size()); ++i) {
    if (!parts[i].is_advanced()) continue;
    if (first < 0) first = i;
    last = i;
    ++count;
  }
  return last - first + 1 == count ? first : -1;
}

int count_before_advanced(const std::vector<Subscript>& parts, Kind kind) {
  int count = 0;
  for (int i = 0; i < first_advanced(parts); ++i) count += parts[i].kind == kind;
  return count;
}

}  // namespace

int slices_before_advanced(const std::vector<Subscript>& parts) {
  return count_before_advanced(parts, Kind::slice);
}

int new_axes_before_advanced(const std::vector<Subscript>& parts) {
  return count_before_advanced(parts, Kind::new_axis);
}
