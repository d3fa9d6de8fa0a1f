// eval, async_eval, depends.
#include "arguments.h"
#include "mlx/ops/graph.h"
#include "mlx/transforms.h"
#include "transforms.h"
#include "wait.h"

using namespace pybind11::literals;

namespace {

py::object depends(const py::object& inputs, const py::object& dependencies) {
  auto arrays = [](const py::object& o) {
    return is_array(o) ? Arrays{o.cast<mx::array>()} : to_vector(o, "depends");
  };
  Arrays results = mx::depends(arrays(inputs), arrays(dependencies));
  if (is_array(inputs)) return py::cast(results[0]);
  return to_list(results);
}

}  // namespace

void init_eval(py::module_& m) {
  m.def(
      "eval",
      [](const py::args& args) {
        Arrays arrays = tree_flatten(args);
        if (!arrays.empty()) wait_interruptibly([&] { mx::eval(std::move(arrays)); });
      },
      "Computes arrays, alone or in trees (lists, tuples, dictionaries), and waits for them.");
  m.def(
      "async_eval",
      [](const py::args& args) {
        Arrays arrays = tree_flatten(args);
        if (!arrays.empty()) wait_interruptibly([&] { mx::async_eval(std::move(arrays)); });
      },
      "Starts to compute arrays, alone or in trees, without waiting for them.");
  m.def("_register_tree_class", &register_tree_class, "cls"_a, "flatten"_a, "unflatten"_a,
        "Makes the objects of a class inner nodes of trees.");
  m.attr("_tree_classes") = tree_classes();
  m.def("depends", &depends, "inputs"_a, "dependencies"_a,
        "The inputs, which become available only after the dependencies have been computed.");
}
