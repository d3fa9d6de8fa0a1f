// Helpers for transformations, and functions that bind them.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <string>

#include "interpreter/shared_object.h"
#include "transforms/trees.h"

void init_eval(py::module_& m);
void init_grad(py::module_& m);
void init_vmap(py::module_& m);
void init_custom_function(py::module_& m);
void init_compile(py::module_& m);
void init_export(py::module_& m);

// Calls a function with the arguments in an (args, kwargs) tree.
py::object call_with(py::handle fun, py::handle args_and_kwargs);

// Wraps a Python function of trees as one of flat arrays; it stores the structure of the result.
class FlatFunction {
 public:
  // `inputs`: the structure of (args, kwargs).
  FlatFunction(py::object fun, py::object inputs);

  Arrays operator()(const Arrays& inputs) const;
  // The structure of the outputs of the last call.
  py::handle output_structure() const { return outputs_->get(); }
  py::handle input_structure() const { return inputs_.get(); }
  const std::shared_ptr<SharedObject>& shared_output_structure() const { return outputs_; }

 private:
  SharedObject fun_;
  SharedObject inputs_;
  std::shared_ptr<SharedObject> outputs_;
};

// Makes a callable carry the name, documentation and attributes of the function it wraps.
void copy_metadata(py::handle wrapper, py::handle wrapped);
template <typename T>
py::object named_like(T wrapper, const py::object& wrapped) {
  py::object named = py::cast(std::move(wrapper));
  copy_metadata(named, wrapped);
  return named;
}
