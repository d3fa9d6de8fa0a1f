// Enumerations that are not integers.
#pragma once

#include <pybind11/pybind11.h>

namespace py = pybind11;

// pybind11's enumerations are integers: `mx.sum(x, mx.cpu)` would sum along axis 0. These raise
// TypeError where a number is expected, as MLX's do.
template <typename Enum>
void forget_numbers(py::enum_<Enum>& type) {
  auto define = [&](const char* name, auto function) {
    type.attr(name) = py::cpp_function(function, py::name(name), py::is_method(type));
  };
  auto number = [](Enum value) { return static_cast<int>(value); };
  define("__hash__", number);
  define("__getstate__", number);
  define("__repr__", [](const py::object& self) { return py::str(self); });
  py::delattr(type, "__int__");
  py::delattr(type, "__index__");
}
