// Traverses and rebuilds trees.
#include "transforms/trees.h"

#include <functional>
#include <stdexcept>
#include <string>

#include "convert/arguments.h"
#include "convert/convert.h"

namespace {

bool is_named_tuple(py::handle h) { return PyTuple_Check(h.ptr()) && py::hasattr(h, "_fields"); }

py::object map_sequence(py::handle tree, const std::function<py::object(py::handle)>& map) {
  py::list items;
  for (py::handle item : tree) items.append(tree_map(item, map));
  if (PyList_Check(tree.ptr())) return std::move(items);
  py::tuple tuple(items);
  return is_named_tuple(tree) ? py::type::of(tree)(*tuple) : py::object(std::move(tuple));
}

// A class of its own, so that it differs from every leaf of the user's.
struct ArrayMarker {};

py::object marker() {
  static PyObject* object = py::cast(ArrayMarker{}).release().ptr();
  return py::reinterpret_borrow<py::object>(object);
}

}  // namespace

py::handle tree_classes() {
  static PyObject* dict = PyDict_New();
  return dict;
}

std::optional<RegisteredNode> registered_node(py::handle tree) {
  PyObject* rules =
      PyDict_GetItem(tree_classes().ptr(), reinterpret_cast<PyObject*>(Py_TYPE(tree.ptr())));
  if (!rules) return std::nullopt;
  py::object parts = py::handle(PyTuple_GET_ITEM(rules, 0))(tree);
  if (!PyTuple_Check(parts.ptr()) || py::len(parts) != 2) {
    throw std::invalid_argument(
        std::string("[register_tree_class] flatten must return a pair, children and rest, for a ") +
        type_name(tree) + ".");
  }
  return RegisteredNode{parts[py::int_(0)], parts[py::int_(1)], PyTuple_GET_ITEM(rules, 1)};
}

void init_trees(py::module_& m) {
  const py::class_<ArrayMarker> type(m, "_ArrayMarker", py::module_local());
  tree_classes();
  marker();
}

void register_tree_class(const py::type& type, py::object flatten, py::object unflatten) {
  if (!PyCallable_Check(flatten.ptr()) || !PyCallable_Check(unflatten.ptr())) {
    throw py::type_error("[register_tree_class] flatten and unflatten must be functions.");
  }
  tree_classes().cast<py::dict>()[type] = py::make_tuple(std::move(flatten), std::move(unflatten));
}

py::object tree_children(py::handle tree) {
  auto node = registered_node(tree);
  return node ? node->children : py::object();
}

void tree_visit(py::handle tree, const std::function<void(py::handle)>& visit) {
  if (exact_array(tree)) {
    visit(tree);
  } else if (PyTuple_CheckExact(tree.ptr())) {  // such as arguments: needs no iterator
    const auto tuple = py::reinterpret_borrow<py::tuple>(tree);
    for (py::ssize_t i = 0; i < PyTuple_GET_SIZE(tree.ptr()); ++i)
      tree_visit(PyTuple_GET_ITEM(tree.ptr(), i), visit);
  } else if (PyList_Check(tree.ptr()) || PyTuple_Check(tree.ptr())) {
    for (py::handle item : tree) tree_visit(item, visit);
  } else if (PyDict_Check(tree.ptr())) {
    for (auto item : py::reinterpret_borrow<py::dict>(tree)) tree_visit(item.second, visit);
  } else if (auto children = tree_children(tree)) {
    tree_visit(children, visit);
  } else {
    visit(tree);
  }
}

py::object tree_map(py::handle tree, const std::function<py::object(py::handle)>& map) {
  if (PyList_Check(tree.ptr()) || PyTuple_Check(tree.ptr())) return map_sequence(tree, map);
  if (!PyDict_Check(tree.ptr())) {
    auto node = registered_node(tree);
    return node ? node->unflatten(tree_map(node->children, map), node->rest) : map(tree);
  }
  py::dict result;
  for (auto item : py::reinterpret_borrow<py::dict>(tree))
    result[item.first] = tree_map(item.second, map);
  return std::move(result);
}

Arrays tree_flatten(py::handle tree, bool strict, const char* op) {
  Arrays arrays;
  const auto visit = [&](py::handle leaf) {
    if (is_array(leaf)) {
      arrays.push_back(array_of(leaf));
    } else if (strict) {
      throw std::invalid_argument(std::string("[") + op +
                                  "] The argument should contain only arrays, but it holds a " +
                                  type_name(leaf) + ".");
    }
  };
  tree_visit(tree, std::ref(visit));
  return arrays;
}

py::object tree_unflatten(py::handle tree, const Arrays& arrays, size_t& position) {
  return tree_map(tree, [&](py::handle leaf) {
    return is_array(leaf) ? py::cast(arrays.at(position++))
                          : py::reinterpret_borrow<py::object>(leaf);
  });
}

py::object tree_unflatten(py::handle tree, const Arrays& arrays) {
  size_t position = 0;
  return tree_unflatten(tree, arrays, position);
}

py::object tree_structure(py::handle tree) {
  return tree_map(tree, [](py::handle leaf) {
    return is_array(leaf) ? marker() : py::reinterpret_borrow<py::object>(leaf);
  });
}

bool is_array_marker(py::handle leaf) { return leaf.is(marker()); }

py::object tree_from_structure(py::handle structure, const Arrays& arrays) {
  size_t position = 0;
  return tree_map(structure, [&](py::handle leaf) {
    return is_array_marker(leaf) ? py::cast(arrays.at(position++))
                                 : py::reinterpret_borrow<py::object>(leaf);
  });
}

size_t count_arrays(py::handle structure) {
  size_t count = 0;
  tree_visit(structure, [&](py::handle leaf) { count += is_array_marker(leaf); });
  return count;
}
