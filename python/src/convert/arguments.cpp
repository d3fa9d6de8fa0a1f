// Conversion of Python arguments: streams, scalars, shapes and lists of arrays.
#include "convert/arguments.h"

#include <limits>
#include <stdexcept>
#include <string>

#include "convert/convert.h"
#include "convert/optional_int.h"

namespace {

// Scalars that are no Python numbers: NumPy's.
bool is_numpy_scalar_or_array(py::handle h) { return py::hasattr(h, "__array_interface__"); }

std::string type_name(py::handle h) { return Py_TYPE(h.ptr())->tp_name; }

// Python ints outside int64 exist as uint64 only.
mx::array array_from_int(py::handle value, std::optional<mx::Dtype> dtype) {
  int overflow = 0;
  long long v = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (v == -1 && PyErr_Occurred()) throw py::error_already_set();
  if (overflow > 0) {
    unsigned long long u = PyLong_AsUnsignedLongLong(value.ptr());
    if (PyErr_Occurred()) {
      PyErr_Clear();
      throw std::invalid_argument("[array] The integer " + py::str(value).cast<std::string>() +
                                  " does not fit into 64 bits.");
    }
    return mx::array(static_cast<uint64_t>(u), dtype.value_or(mx::uint64));
  }
  if (overflow < 0) {
    throw std::invalid_argument("[array] The integer " + py::str(value).cast<std::string>() +
                                " does not fit into 64 bits.");
  }
  bool small = v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
  mx::Dtype type = dtype.value_or(small ? mx::int32 : mx::int64);
  if (type == mx::bool_) type = small ? mx::int32 : mx::int64;
  return mx::array(static_cast<int64_t>(v), type);
}

}  // namespace

bool load_stream(py::handle source, mx::StreamOrDevice& out) {
  if (source.is_none()) {
    out = {};
  } else if (py::isinstance<mx::Stream>(source)) {
    out = source.cast<mx::Stream>();
  } else if (py::isinstance<mx::Device>(source)) {
    out = source.cast<mx::Device>();
  } else if (py::isinstance<mx::Device::DeviceType>(source)) {
    out = mx::Device(source.cast<mx::Device::DeviceType>());
  } else {
    return false;
  }
  return true;
}

bool is_array_like(py::handle h) {
  PyObject* p = h.ptr();
  return is_array(h) || PyFloat_Check(p) || PyLong_Check(p) || PyComplex_Check(p) ||
         is_numpy_scalar_or_array(h) || py::hasattr(h, "__mlx_array__");
}

bool load_ints(py::handle source, Ints& out) {
  PyObject* p = source.ptr();
  auto push = [&](PyObject* item) {
    if (!PyIndex_Check(item)) return false;
    Py_ssize_t v = PyNumber_AsSsize_t(item, PyExc_ValueError);
    if (v == -1 && PyErr_Occurred()) throw py::error_already_set();
    out.value.push_back(v);
    return true;
  };
  // NumPy arrays have __index__ too, but only those of one element can be asked for it.
  bool sequence =
      PySequence_Check(p) && !PyUnicode_Check(p) && !PyBytes_Check(p) && !is_array(source);
  if (PyLong_Check(p) || (PyIndex_Check(p) && !sequence)) {
    out.is_scalar = true;
    return push(p);
  }
  if (!sequence) return false;
  py::object fast = py::reinterpret_steal<py::object>(PySequence_Fast(p, "expected a sequence"));
  if (!fast) throw py::error_already_set();
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.ptr()); ++i) {
    if (!push(PySequence_Fast_GET_ITEM(fast.ptr(), i))) return false;
  }
  return true;
}

std::vector<int> narrow(const Ints& ints, const char* argument) {
  std::vector<int> result;
  result.reserve(ints.value.size());
  for (int64_t v : ints.value) result.push_back(narrow(v, argument));
  return result;
}

mx::array to_array(py::handle value, std::optional<mx::Dtype> dtype) {
  PyObject* p = value.ptr();
  if (is_array(value)) return value.cast<const mx::array&>();
  if (PyBool_Check(p)) return mx::array(p == Py_True, dtype.value_or(mx::bool_));
  if (PyLong_Check(p)) return array_from_int(value, dtype);
  if (PyFloat_Check(p)) {
    mx::Dtype type = dtype && mx::issubdtype(*dtype, mx::inexact) ? *dtype : mx::float32;
    return mx::array(PyFloat_AS_DOUBLE(p), type);
  }
  if (PyComplex_Check(p)) {
    Py_complex c = PyComplex_AsCComplex(p);
    return mx::array(mx::complex64_t(static_cast<float>(c.real), static_cast<float>(c.imag)),
                     mx::complex64);
  }
  if (py::hasattr(value, "__mlx_array__")) return to_array(value.attr("__mlx_array__")(), dtype);
  return array_from_object(py::reinterpret_borrow<py::object>(value), std::nullopt);
}

std::pair<mx::array, mx::array> to_arrays(const ArrayLike& a, const ArrayLike& b) {
  if (is_array(a.value)) {
    auto x = a.value.cast<const mx::array&>();
    auto y = to_array(b, x.dtype());
    return {std::move(x), std::move(y)};
  }
  if (is_array(b.value)) {
    auto y = b.value.cast<const mx::array&>();
    auto x = to_array(a, y.dtype());
    return {std::move(x), std::move(y)};
  }
  return {to_array(a), to_array(b)};
}

py::list to_list(const std::vector<mx::array>& arrays) {
  py::list result(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) result[i] = py::cast(arrays[i]);
  return result;
}

py::tuple to_tuple(const std::vector<mx::array>& arrays) {
  py::tuple result(arrays.size());
  for (size_t i = 0; i < arrays.size(); ++i) result[i] = py::cast(arrays[i]);
  return result;
}

std::vector<mx::array> to_vector(py::handle arrays, const char* op) {
  if (!PySequence_Check(arrays.ptr()) && !py::isinstance<py::iterable>(arrays)) {
    throw py::type_error(std::string("[") + op + "] Expected a list of arrays but got " +
                         type_name(arrays) + ".");
  }
  std::vector<mx::array> result;
  for (py::handle item : py::reinterpret_borrow<py::object>(arrays)) {
    if (!is_array_like(item)) {
      throw py::type_error(std::string("[") + op + "] Expected a list of arrays but it holds " +
                           type_name(item) + ".");
    }
    result.push_back(to_array(item));
  }
  return result;
}
