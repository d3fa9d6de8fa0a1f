// Makes the Python objects that C++ objects hold visible to the garbage collector.
#pragma once

#include <pybind11/pybind11.h>

#include <utility>
#include <vector>

#include "interpreter/shared_object.h"

namespace detail {

struct VisitObjects {
  visitproc visit;
  void* argument;
  int result = 0;

  void operator()(const py::object& object) { go(object.ptr()); }
  // An object that graphs share has holders that the collector does not see: it is treated as in
  // use.
  void operator()(const SharedObject& object) {
    if (object.is_unique()) go(object.get().ptr());
  }
  void go(PyObject* object) {
    if (object && result == 0) result = visit(object, argument);
  }
};

// References are dropped only when the collector has cleared all members.
struct ClearObjects {
  std::vector<py::object> objects;
  std::vector<SharedObject> shared;

  void operator()(py::object& object) {
    if (object) objects.push_back(std::exchange(object, py::none()));
  }
  void operator()(SharedObject& object) { shared.push_back(std::exchange(object, {})); }
};

}  // namespace detail

// For py::class_<T> with py::dynamic_attr(): lets the garbage collector find reference cycles
// through objects of the class. T::each_object(f) calls f on every py::object and SharedObject that
// the C++ object holds.
template <typename T>
py::custom_type_setup collectable() {
  return py::custom_type_setup([](PyHeapTypeObject* heap_type) {
    PyTypeObject* type = &heap_type->ht_type;
    type->tp_traverse = [](PyObject* self, visitproc visit, void* argument) {
      detail::VisitObjects visitor{visit, argument};
      if (py::detail::is_holder_constructed(self))
        py::cast<T&>(py::handle(self)).each_object(visitor);
      return visitor.result ? visitor.result : py::detail::pybind11_traverse(self, visit, argument);
    };
    type->tp_clear = [](PyObject* self) {
      detail::ClearObjects cleared;
      if (py::detail::is_holder_constructed(self))
        py::cast<T&>(py::handle(self)).each_object(cleared);
      return py::detail::pybind11_clear(self);
    };
  });
}
