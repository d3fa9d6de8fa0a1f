// mx.array: chooses the conversion for an object.
#include "convert/convert.h"

#include <cstring>
#include <limits>
#include <stdexcept>
#include <string>

#include "convert/arguments.h"
#include "interpreter/wait.h"
#include "mlx/ops.h"

namespace {

mx::array with_dtype(mx::array a, std::optional<mx::Dtype> dtype) {
  if (!dtype || a.dtype() == *dtype) return a;
  // Only the host has double precision.
  bool host = a.dtype() == mx::float64 || *dtype == mx::float64;
  return host ? mx::astype(a, *dtype, mx::Device(mx::Device::cpu)) : mx::astype(a, *dtype);
}

bool is_scalar(py::handle h) {
  PyObject* p = h.ptr();
  return PyFloat_Check(p) || PyLong_Check(p) || PyComplex_Check(p);
}

// An explicit type overrides the kind of a scalar, unlike in arithmetic; integers wrap.
mx::array array_from_scalar(const py::object& value, std::optional<mx::Dtype> dtype) {
  bool wraps = dtype && PyLong_Check(value.ptr()) && !PyBool_Check(value.ptr()) &&
               (mx::issubdtype(*dtype, mx::integer) || *dtype == mx::bool_);
  return with_dtype(wraps ? to_array(value) : to_array(value, dtype), dtype);
}

// Objects that only NumPy can read.
mx::array array_from_numpy_interface(const py::object& value, std::optional<mx::Dtype> dtype) {
  py::object numpy_array = py::module_::import("numpy").attr("asarray")(value);
  if (!exports_buffer(numpy_array)) {
    throw std::invalid_argument("[array] Cannot convert a " + type_name(value) + " to an array.");
  }
  return with_default_dtype(array_from_buffer(numpy_array), dtype);
}

// NumPy arrays of ml_dtypes.bfloat16 have no buffer format.
bool is_numpy_bfloat16(const py::object& value) {
  if (!py::hasattr(value, "__array_interface__") || !py::hasattr(value, "dtype")) return false;
  return py::str(value.attr("dtype")).cast<std::string>() == "bfloat16";
}

mx::array array_from_numpy_bfloat16(const py::object& value) {
  py::object words = py::module_::import("numpy").attr("asarray")(value).attr("view")("uint16");
  return mx::view(array_from_buffer(words), mx::bfloat16);
}

}  // namespace

mx::array with_default_dtype(const mx::array& a, std::optional<mx::Dtype> dtype) {
  if (a.dtype() != mx::float64) return with_dtype(a, dtype);
  mx::Dtype type = dtype.value_or(mx::float32);
  return type == mx::float64 ? a : mx::array(a.data<double>(), a.shape(), type);
}

mx::array array_from_object(const py::object& value, std::optional<mx::Dtype> dtype) {
  if (is_array(value)) return with_dtype(value.cast<mx::array>(), dtype);
  if (is_scalar(value)) return array_from_scalar(value, dtype);
  if (PyList_Check(value.ptr()) || PyTuple_Check(value.ptr()))
    return array_from_sequence(value, dtype);
  if (py::hasattr(value, "__mlx_array__")) {
    return with_dtype(value.attr("__mlx_array__")().cast<mx::array>(), dtype);
  }
  if (is_numpy_bfloat16(value)) return with_dtype(array_from_numpy_bfloat16(value), dtype);
  if (exports_buffer(value)) {
    return with_default_dtype(array_from_buffer(value), dtype);
  }
  if (py::hasattr(value, "__dlpack__")) {
    return with_default_dtype(array_from_dlpack(value), dtype);
  }
  if (py::hasattr(value, "__array__") || py::hasattr(value, "__array_interface__")) {
    return array_from_numpy_interface(value, dtype);
  }
  const std::string error =
      "[array] Cannot make an array of a " + type_name(value) +
      "; allowed are numbers, nested lists and tuples, arrays, and objects with the buffer "
      "protocol or __dlpack__.";
  if (value.is_none()) throw py::type_error(error);  // as in MLX
  throw std::invalid_argument(error);
}

mx::Shape shape_from_outside(const int64_t* extents, size_t ndim, const char* what) {
  mx::Shape shape;
  for (size_t axis = 0; axis < ndim; ++axis) {
    int64_t extent = extents[axis];
    if (extent < 0 || extent > std::numeric_limits<mx::ShapeElem>::max()) {
      throw std::invalid_argument(std::string(what) + " has " + std::to_string(extent) +
                                  " elements along axis " + std::to_string(axis) +
                                  ": an axis may have at most " +
                                  std::to_string(std::numeric_limits<mx::ShapeElem>::max()) + ".");
    }
    shape.push_back(static_cast<mx::ShapeElem>(extent));
  }
  return shape;
}

mx::array uninitialized(mx::Shape shape, mx::Dtype dtype) {
  mx::array result(std::move(shape), dtype, nullptr, {});  // throws if the array is too large
  result.set_data(mx::allocator::malloc(result.nbytes()));
  result.set_status(mx::array::Status::available);
  return result;
}

mx::array array_from_bytes(const void* data, mx::Shape shape, mx::Dtype dtype) {
  mx::array result = uninitialized(std::move(shape), dtype);
  if (result.nbytes() > 0) std::memcpy(result.data<char>(), data, result.nbytes());
  return result;
}

void ensure_available(mx::array& a) {
  if (!a.is_available()) wait_interruptibly([&] { a.eval(); });
}
