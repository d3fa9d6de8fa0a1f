// SharedObject: a Python object that C++ structures, such as graphs, can hold.
#pragma once

#include <pybind11/pybind11.h>

#include <memory>

namespace py = pybind11;

// A Python object that C++ may copy and drop on any thread.
class SharedObject {
 public:
  SharedObject() = default;
  explicit SharedObject(py::object object);
  explicit operator bool() const { return holder_ != nullptr; }
  py::handle get() const;
  bool is_unique() const { return holder_.use_count() == 1; }  // no copy holds the object too

 private:
  struct Holder;
  std::shared_ptr<Holder> holder_;
};
