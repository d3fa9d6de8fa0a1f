// Conversion of Python arguments: streams, scalars, shapes and lists of arrays.
#include "convert/arguments.h"

#include <limits>
#include <stdexcept>
#include <string>

#include "convert/convert.h"
#include "convert/optional_int.h"
#include "devices/device.h"
#include "mlx/dtype_utils.h"
#include "mlx/ops.h"

namespace {

// Whether it is a NumPy scalar or array, which is not a Python number.
bool is_numpy_scalar_or_array(py::handle h) { return py::hasattr(h, "__array_interface__"); }

// Whether another class converts to a number, as fractions do. Arrays of one element convert too,
// but are not numbers.
bool is_number(py::handle h) {
  PyObject* p = h.ptr();
  const PyNumberMethods* methods = Py_TYPE(p)->tp_as_number;
  bool readable = PyIndex_Check(p) || (methods && methods->nb_float) ||
                  py::hasattr(py::type::handle_of(h), "__complex__");
  return readable && !py::hasattr(h, "__array__") && !py::hasattr(h, "__dlpack__");
}

// Converts to Python's int, float or complex: the first that works.
py::object python_number(py::handle h) {
  PyObject* p = h.ptr();
  const PyNumberMethods* methods = Py_TYPE(p)->tp_as_number;
  PyObject* number = PyIndex_Check(p) ? PyNumber_Index(p)
                     : (methods && methods->nb_float)
                         ? PyNumber_Float(p)
                         : PyObject_CallOneArg(reinterpret_cast<PyObject*>(&PyComplex_Type), p);
  if (!number) throw py::error_already_set();
  return py::reinterpret_steal<py::object>(number);
}

[[noreturn]] void refuse_integer(py::handle value, std::optional<mx::Dtype> dtype) {
  const std::string number = py::str(value).cast<std::string>();
  if (!dtype || !mx::issubdtype(*dtype, mx::integer)) {
    throw std::invalid_argument("[array] The integer " + number + " does not fit into 64 bits.");
  }
  throw std::invalid_argument("[array] Converting " + number + " to " +
                              mx::dtype_to_string(*dtype) + " would result in overflow.");
}

// Whether the integer type holds the value; true for types of more than 32 bits.
bool holds(mx::Dtype dtype, int64_t value) {
  const int bits = 8 * dtype.size();
  if (bits > 32 || !mx::issubdtype(dtype, mx::integer)) return true;
  if (mx::issubdtype(dtype, mx::unsignedinteger)) return value >= 0 && (value >> bits) == 0;
  return value >= -(int64_t{1} << (bits - 1)) && value < (int64_t{1} << (bits - 1));
}

// Python ints outside int64 exist as uint64 only.
mx::array array_from_int(py::handle value, std::optional<mx::Dtype> dtype) {
  if (dtype == mx::bool_) dtype.reset();
  int overflow = 0;
  long long v = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  if (v == -1 && PyErr_Occurred()) throw py::error_already_set();
  if (overflow > 0) {
    unsigned long long u = PyLong_AsUnsignedLongLong(value.ptr());
    const bool too_large = PyErr_Occurred();
    PyErr_Clear();
    const mx::Dtype type = dtype.value_or(mx::uint64);
    if (too_large || (type != mx::uint64 && mx::issubdtype(type, mx::integer)))
      refuse_integer(value, dtype);
    return mx::array(static_cast<uint64_t>(u), type);
  }
  if (overflow < 0) refuse_integer(value, dtype);
  bool small = v >= std::numeric_limits<int32_t>::min() && v <= std::numeric_limits<int32_t>::max();
  mx::Dtype type = dtype.value_or(small ? mx::int32 : mx::int64);
  if (!holds(type, v)) refuse_integer(value, type);
  return mx::array(static_cast<int64_t>(v), type);
}

}  // namespace

bool load_stream(py::handle source, mx::StreamOrDevice& out) {
  if (source.is_none()) {
    out = {};
  } else if (py::isinstance<mx::Stream>(source)) {
    out = source.cast<mx::Stream>();
  } else if (py::isinstance<mx::ThreadLocalStream>(source)) {
    out = source.cast<mx::ThreadLocalStream>();
  } else if (py::isinstance<mx::Device>(source)) {
    out = source.cast<mx::Device>();
  } else if (const auto type = device_type_of(source)) {
    out = mx::Device(*type);
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

bool is_operand(py::handle h) { return is_array_like(h) || is_number(h); }

bool check_operand(py::handle h) {
  if (is_operand(h) || exports_buffer(h)) return true;
  if (h.is_none()) return false;
  throw OperandError("A " + type_name(h) + " cannot be an operand, only numbers and " +
                     "arrays can: mx.array makes arrays of lists and tuples.");
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
  // Arrays have __index__ too, but only those of one element support it.
  bool sequence = PySequence_Check(p) && !PyUnicode_Check(p) && !PyBytes_Check(p);
  if (is_array(source)) sequence = source.cast<const mx::array&>().ndim() > 0;
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

mx::Shape to_shape(const Ints& ints, const char* argument) {
  try {
    return narrow(ints, argument);
  } catch (const std::invalid_argument& error) {
    throw std::overflow_error(error.what());
  }
}

mx::array to_array(py::handle value, std::optional<mx::Dtype> dtype) {
  PyObject* p = value.ptr();
  if (is_array(value)) return array_of(value);
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
  if (!is_numpy_scalar_or_array(value) && is_number(value))
    return to_array(python_number(value), dtype);
  return array_from_object(py::reinterpret_borrow<py::object>(value), std::nullopt);
}

mx::array to_operand(py::handle value, mx::Dtype dtype) {
  if (is_array(value)) return array_of(value);
  mx::array a = to_array(value, dtype);
  PyObject* p = value.ptr();
  bool number = PyFloat_Check(p) || PyLong_Check(p) || !is_numpy_scalar_or_array(value);
  return number ? a : mx::astype(a, dtype);
}

std::pair<mx::array, mx::array> to_arrays(const ArrayLike& a, const ArrayLike& b) {
  if (is_array(a.value)) {
    auto x = array_of(a.value);
    auto y = to_operand(b.value, x.dtype());
    return {std::move(x), std::move(y)};
  }
  if (is_array(b.value)) {
    auto y = array_of(b.value);
    auto x = to_operand(a.value, y.dtype());
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
