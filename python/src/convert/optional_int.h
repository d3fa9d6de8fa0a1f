// Single numbers as arguments: `int | None`, and conversions that raise TypeError and ValueError.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>

namespace py = pybind11;

// `argument` names it in the error.
inline int narrow(int64_t value, const char* argument) {
  if (value > std::numeric_limits<int>::max() || value < std::numeric_limits<int>::min()) {
    throw std::invalid_argument(std::string(argument) + ": " + std::to_string(value) +
                                " does not fit into 32 bits.");
  }
  return static_cast<int>(value);
}

// An integer of 32 bits.
inline int to_int(py::handle source, const char* argument) {
  Py_ssize_t v = PyNumber_AsSsize_t(source.ptr(), PyExc_ValueError);
  if (v == -1 && PyErr_Occurred()) throw py::error_already_set();
  return narrow(v, argument);
}

inline bool to_bool(py::handle source) {
  int truth = PyObject_IsTrue(source.ptr());
  if (truth < 0) throw py::error_already_set();
  return truth == 1;
}

// Whether it is a single value: arrays of NumPy and ours always have __len__.
inline bool has_length(py::handle source) {
  return py::hasattr(source, "__len__") &&
         !(py::hasattr(source, "ndim") && source.attr("ndim").cast<int>() == 0);
}

// int | None
struct OptionalInt {
  std::optional<int> value;
  explicit operator bool() const { return value.has_value(); }
  int operator*() const { return *value; }
};

namespace pybind11::detail {

template <>
struct type_caster<OptionalInt> {
  PYBIND11_TYPE_CASTER(OptionalInt, const_name("int | None"));
  bool load(handle source, bool) {
    if (source.is_none()) return true;
    if (!PyIndex_Check(source.ptr()) || has_length(source)) return false;
    value.value = to_int(source, "An integer among the arguments");
    return true;
  }
};

}  // namespace pybind11::detail
