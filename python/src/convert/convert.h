// Conversions between arrays and Python objects.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "convert/array_caster.h"
#include "mlx/array.h"

namespace py = pybind11;
namespace mx = mlx::core;

// The name of a value's type, for messages.
inline std::string type_name(py::handle value) { return Py_TYPE(value.ptr())->tp_name; }

// Converts anything that `mx.array(x, dtype)` accepts.
mx::array array_from_object(const py::object& value, std::optional<mx::Dtype> dtype);

// Converts double precision to single unless a type is given, as everywhere in MLX.
mx::array with_default_dtype(const mx::array& a, std::optional<mx::Dtype> dtype);

// Converts nested lists and tuples of numbers and arrays.
mx::array array_from_sequence(const py::object& value, std::optional<mx::Dtype> dtype);

// Converts objects that export the buffer protocol: NumPy arrays and scalars, array.array,
// memoryview, bytes.
mx::array array_from_buffer(const py::object& value);
bool exports_buffer(py::handle value);

// Converts objects with __dlpack__: tensors of other libraries in host memory.
mx::array array_from_dlpack(const py::object& value);
// A copy has memory of its own.
py::capsule to_dlpack(const mx::array& a, bool versioned, bool copy);

// Checks the extents of an external array; `what` names it in the error if an axis is too long.
mx::Shape shape_from_outside(const int64_t* extents, size_t ndim, const char* what);

// A row-contiguous array with uninitialised memory.
mx::array uninitialized(mx::Shape shape, mx::Dtype dtype);
// A row-contiguous array that holds a copy of the bytes.
mx::array array_from_bytes(const void* data, mx::Shape shape, mx::Dtype dtype);

// Waits until the values are in memory.
void ensure_available(mx::array& a);

// Returns the value of an array of size 1 as a Python number; `what` names the conversion in
// errors.
py::object item(mx::array a);
py::object to_nested_list(mx::array a);

// A NumPy array: a view where possible unless `copy` is true. `dtype` is NumPy's, or None.
py::object to_numpy(const py::object& self, const py::object& dtype, const py::object& copy);

// "array([1, 2, 3], dtype=int32)"
std::string to_text(mx::array a);
