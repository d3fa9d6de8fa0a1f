// Subscripts of the class array, iteration, and the indexer `at`.
#include <stdexcept>
#include <string>

#include "array/array.h"
#include "indexing/indexing.h"
#include "mlx/ops/indexing.h"

using namespace pybind11::literals;

namespace {

const char* const kGetItemDoc = R"(__getitem__(self, key: object) -> array

Selects elements.

Args:
    key: An int, a slice, None (a new axis), `...` or an array of integers; or a tuple of these.

Returns:
    The selected elements.

Example:
    >>> a = mx.arange(6).reshape(2, 3)
    >>> a[1, ::2]
    array([3, 5], dtype=int32)
    >>> a[:, mx.array([2, 0])]
    array([[2, 0],
           [5, 3]], dtype=int32)
    >>> a.at[0, mx.array([1, 1])].add(10)  # a repeated index counts twice
    array([[0, 21, 2],
           [3, 4, 5]], dtype=int32)
)";

// Iterates over the first axis.
struct Iterator {
  mx::array array;
  int next = 0;
};

// The object `a.at[idx]`: the array and, after subscription, the elements to update.
struct ArrayAt {
  mx::array array;
  py::object indices;

  mx::array update(const py::object& value, Update how) const {
    if (!indices) throw std::invalid_argument("Must provide indices to array.at first.");
    return update_item(array, indices, value, how);
  }
};

void define_at(py::module_& m, ArrayClass& cls) {
  py::class_<ArrayAt> at(
      m, "ArrayAt",
      "Updates of selected elements that give a new array; repeated indices accumulate.");
  at.def(
      "__getitem__",
      [](const ArrayAt& self, py::object indices) {
        return ArrayAt{self.array, std::move(indices)};
      },
      "indices"_a,
      "__getitem__(self, indices: object) -> ArrayAt\n\nSelects elements as `array[indices]` does."
      "\n\nArgs:\n    indices: As for the array itself.\n\nReturns:\n    The indexer of these "
      "elements.");
  auto define = [&](const char* name, Update how, const char* doc) {
    at.def(
        name,
        [how](const ArrayAt& self, const py::object& value) { return self.update(value, how); },
        "value"_a,
        (std::string(name) + "(self, value: scalar | array) -> array\n\n" + doc +
         "\n\nArgs:\n    value: The operand, broadcast to the shape of the selection.\n\n"
         "Returns:\n    A changed copy of the array.")
            .c_str());
  };
  define("add", Update::add, "Adds to the selected elements.");
  define("subtract", Update::subtract, "Subtracts from the selected elements.");
  define("multiply", Update::multiply, "Multiplies the selected elements.");
  define("divide", Update::divide, "Divides the selected elements.");
  define("maximum", Update::maximum, "The larger of the selected elements and the value.");
  define("minimum", Update::minimum, "The smaller of the selected elements and the value.");
  cls.def_property_readonly(
      "at", [](const mx::array& a) { return ArrayAt{a, py::object()}; },
      "ArrayAt: Updates of selected elements, `a.at[index].add(value)`: every index counts, even "
      "if it "
      "repeats.");
}

void define_iteration(py::module_& m, ArrayClass& cls) {
  py::class_<Iterator>(m, "ArrayIterator", "Goes through the first axis of an array.",
                       py::module_local())
      .def(
          "__iter__", [](Iterator& it) -> Iterator& { return it; },
          py::return_value_policy::reference, "__iter__(self) -> ArrayIterator")
      .def(
          "__next__",
          [](Iterator& it) {
            if (it.next >= it.array.shape(0)) throw py::stop_iteration();
            return get_item(it.array, py::int_(it.next++));
          },
          "__next__(self) -> array\n\nGives the next slice.");
  cls.def(
      "__iter__",
      [](const mx::array& a) {
        if (a.ndim() == 0) throw py::type_error("iteration over a 0-d array");
        return Iterator{a};
      },
      "__iter__(self) -> Iterator[array]\n\nGoes through the first axis.");
}

}  // namespace

void init_array_indexing(py::module_& m, ArrayClass& cls) {
  cls.def(
      "__getitem__", [](const mx::array& a, py::handle key) { return get_item(a, key); }, "key"_a,
      kGetItemDoc);
  cls.def(
      "__setitem__",
      [](mx::array& a, py::handle key, py::handle value) {
        a.overwrite_descriptor(update_item(a, key, value, Update::set));
      },
      "key"_a, "value"_a,
      "__setitem__(self, key: object, value: scalar | array | Sequence[Any] | DLPackCompatible) -> "
      "None\n\nReplaces elements.");
  define_at(m, cls);
  define_iteration(m, cls);
}
