// Helpers for transformations, and their registration.
#include "transforms/transforms.h"

#include "module.h"

py::object call_with(py::handle fun, py::handle args_and_kwargs) {
  auto pair = py::reinterpret_borrow<py::tuple>(args_and_kwargs);
  return fun(*py::tuple(pair[0]), **py::dict(pair[1]));
}

FlatFunction::FlatFunction(py::object fun, py::object inputs)
    : fun_(std::move(fun)),
      inputs_(std::move(inputs)),
      outputs_(std::make_shared<SharedObject>()) {}

Arrays FlatFunction::operator()(const Arrays& inputs) const {
  py::gil_scoped_acquire acquire;
  py::object outputs = call_with(fun_.get(), tree_from_structure(inputs_.get(), inputs));
  *outputs_ = SharedObject(tree_structure(outputs));
  return tree_flatten(outputs);
}

void copy_metadata(py::handle wrapper, py::handle wrapped) {
  py::module_::import("functools").attr("update_wrapper")(wrapper, wrapped);
}

void init_transforms(py::module_& m) {
  init_trees(m);
  init_eval(m);
  init_grad(m);
  init_vmap(m);
  init_custom_function(m);
  init_compile(m);
  init_export(m);
}
