// Trees of Python objects (lists, tuples, dictionaries, objects of registered classes) with arrays
// among their leaves.
#pragma once

#include <pybind11/pybind11.h>

#include <functional>
#include <optional>
#include <vector>

#include "convert/array_caster.h"
#include "mlx/array.h"

namespace py = pybind11;
namespace mx = mlx::core;

using Arrays = std::vector<mx::array>;

// Makes the objects of a class inner nodes: flatten(object) -> (children, rest), where `children`
// is a tree and `rest` stays as it is, and unflatten(children, rest) -> object.
void register_tree_class(const py::type& type, py::object flatten, py::object unflatten);
// Returns the dictionary of all these: type -> (flatten, unflatten). It is never freed.
py::handle tree_classes();

// Call it before any of the others, on one thread: it creates their static objects.
void init_trees(py::module_& m);

// An object of a registered class, as its flatten returns it.
struct RegisteredNode {
  py::object children;
  py::object rest;
  py::handle unflatten;
};
// Returns nothing if the object's class is not registered.
std::optional<RegisteredNode> registered_node(py::handle tree);

// Returns the children of an object whose class is registered; null for any other.
py::object tree_children(py::handle tree);

// Calls `visit` on every leaf in order.
void tree_visit(py::handle tree, const std::function<void(py::handle)>& visit);

// The tree with every leaf replaced by what `map` returns for it.
py::object tree_map(py::handle tree, const std::function<py::object(py::handle)>& map);

// Returns the arrays among the leaves, in order. In a strict tree other leaves are an error.
Arrays tree_flatten(py::handle tree, bool strict = false, const char* op = "tree_flatten");

// The tree with its arrays replaced by others, taken in order from `position` on (which is
// advanced).
py::object tree_unflatten(py::handle tree, const Arrays& arrays, size_t& position);
py::object tree_unflatten(py::handle tree, const Arrays& arrays);

// Returns the tree with a marker in place of every array, so that it can be kept without the
// arrays.
py::object tree_structure(py::handle tree);
bool is_array_marker(py::handle leaf);
// Returns the tree with arrays in place of the markers.
py::object tree_from_structure(py::handle structure, const Arrays& arrays);
size_t count_arrays(py::handle structure);
