// eval, async_eval, depends.
#include "convert/arguments.h"
#include "interpreter/wait.h"
#include "mlx/ops/graph.h"
#include "mlx/transforms.h"
#include "transforms/transforms.h"

using namespace pybind11::literals;

namespace {

const char* const kEvalDoc = R"(eval(*args: object) -> None

Computes arrays and waits for them.

Args:
    *args: Arrays, or trees of arrays: lists, tuples and dictionaries.

Example:
    >>> a = mx.ones(3) + 1
    >>> mx.eval(a))";

const char* const kAsyncEvalDoc = R"(async_eval(*args: object) -> None

Starts to compute arrays, without waiting for them.

Args:
    *args: Arrays, or trees of arrays: lists, tuples and dictionaries.)";

const char* const kDependsDoc =
    R"(depends(inputs: array | Sequence[array], dependencies: array | Sequence[array]) -> Any

Makes arrays wait for others: they become available when those have been computed.

Args:
    inputs: The arrays to give back.
    dependencies: The arrays to compute first.

Returns:
    The inputs: an array for an array, else a list.)";

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
      kEvalDoc);
  m.def(
      "async_eval",
      [](const py::args& args) {
        Arrays arrays = tree_flatten(args);
        if (!arrays.empty()) wait_interruptibly([&] { mx::async_eval(std::move(arrays)); });
      },
      kAsyncEvalDoc);
  m.def("_register_tree_class", &register_tree_class, "cls"_a, "flatten"_a, "unflatten"_a,
        "Makes the objects of a class inner nodes of trees.");
  m.attr("_tree_classes") = tree_classes();
  m.def("depends", &depends, "inputs"_a, "dependencies"_a, kDependsDoc);
}
