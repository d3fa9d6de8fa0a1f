// Keys of trees, and replacing the arrays in them.
#include "transforms/state_trees.h"

#include <stdexcept>
#include <unordered_set>

#include "convert/arguments.h"
#include "convert/convert.h"

namespace {

void append_text(py::handle value, char kind, std::string& key) {
  const std::string text = py::str(value);
  key.push_back(kind);
  key.append(std::to_string(text.size())).push_back(':');
  key += text;
}

// Returns false if the leaf is not a constant.
bool append_constant(py::handle leaf, std::string& key) {
  PyObject* object = leaf.ptr();
  if (leaf.is_none()) {
    key.push_back('N');
  } else if (PyBool_Check(object) || PyLong_Check(object)) {
    append_text(leaf, PyBool_Check(object) ? 'b' : 'i', key);
  } else if (PyFloat_Check(object) || PyComplex_Check(object)) {
    append_text(py::repr(leaf), PyFloat_Check(object) ? 'f' : 'c', key);
  } else if (PyUnicode_Check(object)) {
    append_text(leaf, 's', key);
  } else {
    return false;
  }
  return true;
}

// Writes the key of a tree and collects its arrays.
class KeyWriter {
 public:
  // Without an operation to name, leaves that are neither arrays nor constants are ignored.
  KeyWriter(const char* op, std::string& key, Arrays& arrays)
      : op_(op), key_(key), arrays_(arrays) {}

  void append(py::handle tree) { append_tree(tree, &KeyWriter::append_leaf); }

 private:
  void append_tree(py::handle tree, void (KeyWriter::*leaf)(py::handle)) {
    const bool is_list = PyList_Check(tree.ptr());
    if (is_list || PyTuple_Check(tree.ptr())) {
      key_.push_back(is_list ? '[' : '(');
      for (py::handle item : tree) append_tree(item, leaf);
      key_.push_back(']');
    } else if (PyDict_Check(tree.ptr())) {
      key_.push_back('{');
      for (auto item : py::reinterpret_borrow<py::dict>(tree)) {
        append_text(item.first, 'k', key_);
        append_tree(item.second, leaf);
      }
      key_.push_back('}');
    } else if (auto node = registered_node(tree)) {
      append_text(py::type::of(tree), 'o', key_);
      append_tree(node->children, leaf);
      append_tree(node->rest, &KeyWriter::append_rest);
    } else {
      (this->*leaf)(tree);
    }
  }

  void append_leaf(py::handle h) {
    if (is_array(h)) {
      arrays_.push_back(h.cast<const mx::array&>());
      key_.push_back('A');
    } else if (op_ && !append_constant(h, key_)) {
      throw std::invalid_argument(std::string("[") + op_ +
                                  "] The arguments must be trees of arrays and constants (numbers, "
                                  "strings, None), but one is a " +
                                  type_name(h) + ".");
    }
  }

  // What a registered object has besides its children is a constant of the recorded graph, so the
  // key has the values of its arrays. This evaluates them.
  void append_rest(py::handle h) {
    if (is_array(h)) {
      append_text(h.attr("dtype"), 'd', key_);
      append_text(h.attr("shape"), 'h', key_);
      const auto values = py::reinterpret_steal<py::object>(PyBytes_FromObject(h.ptr()));
      if (!values) throw py::error_already_set();
      key_ += values.cast<std::string_view>();
    } else if (py::isinstance<mx::Dtype>(h)) {
      append_text(h, 'd', key_);
    } else if (op_ && !append_constant(h, key_)) {
      throw std::invalid_argument(
          std::string("[") + op_ +
          "] What an object of a registered class has besides its children must be arrays, types "
          "and constants (numbers, strings, None), but something is a " +
          type_name(h) + ".");
    }
  }

  const char* op_;
  std::string& key_;
  Arrays& arrays_;
};

// Sets items of lists and dictionaries, and passes the places to `on_set`.
class Replacer {
 public:
  using OnSet = std::function<void(ReplacedPlace)>;
  Replacer(const Arrays& arrays, OnSet on_set, bool copy_repeated = false)
      : arrays_(arrays), on_set_(std::move(on_set)), copy_repeated_(copy_repeated) {}

  // Returns the tree's replacement: itself, if it could be changed in place.
  py::object operator()(py::handle tree) {
    if (is_array(tree)) return py::cast(arrays_.at(next_++));
    if (copy_repeated_ && repeated(tree)) return tree_unflatten(tree, arrays_, next_);
    if (PyList_Check(tree.ptr())) {
      for (size_t i = 0; i < py::len(tree); ++i) set(tree, py::int_(i));
    } else if (PyDict_Check(tree.ptr())) {
      py::list keys;
      for (auto item : py::reinterpret_borrow<py::dict>(tree)) keys.append(item.first);
      for (py::handle key : keys) set(tree, py::reinterpret_borrow<py::object>(key));
    } else if (PyTuple_Check(tree.ptr()) || tree_children(tree)) {
      return rebuilt(tree);
    }
    return py::reinterpret_borrow<py::object>(tree);
  }

 private:
  bool repeated(py::handle tree) {
    const bool plain = PyList_CheckExact(tree.ptr()) || PyDict_CheckExact(tree.ptr());
    return plain && !seen_.insert(tree.ptr()).second;
  }

  void set(py::handle container, const py::object& key) {
    py::object old = item(container, key);
    py::object now = (*this)(old);
    if (now.is(old)) return;
    on_set_({py::reinterpret_borrow<py::object>(container), key, old, now});
    set_item(container, key, now);
  }

  // A new tuple, or object of a registered class, with other arrays. Lists and dictionaries in it
  // are changed in place.
  py::object rebuilt(py::handle tree) {
    if (!PyTuple_Check(tree.ptr())) {
      return tree_map(tree, [&](py::handle leaf) { return (*this)(leaf); });
    }
    py::list items;
    bool changed = false;
    for (py::handle item : tree) {
      items.append((*this)(item));
      changed = changed || !py::object(items[py::len(items) - 1]).is(item);
    }
    if (!changed) return py::reinterpret_borrow<py::object>(tree);
    const py::tuple tuple(items);
    return py::hasattr(tree, "_fields") ? py::type::of(tree)(*tuple) : py::object(tuple);
  }

 public:
  // Bypasses __getitem__ of classes derived from list and dict.
  static py::object item(py::handle container, const py::object& key) {
    PyObject* found = PyList_Check(container.ptr())
                          ? PyList_GetItem(container.ptr(), key.cast<Py_ssize_t>())
                          : PyDict_GetItemWithError(container.ptr(), key.ptr());
    if (!found) throw py::error_already_set();
    return py::reinterpret_borrow<py::object>(found);
  }
  static bool has(py::handle container, const py::object& key, py::handle value) {
    if (PyList_Check(container.ptr())) {
      const auto index = key.cast<Py_ssize_t>();
      return index < PyList_GET_SIZE(container.ptr()) && item(container, key).is(value);
    }
    PyObject* found = PyDict_GetItemWithError(container.ptr(), key.ptr());
    if (!found && PyErr_Occurred()) throw py::error_already_set();
    return found == value.ptr();
  }
  static void set_item(py::handle container, const py::object& key, const py::object& value) {
    const int failed =
        PyList_Check(container.ptr())
            ? PyList_SetItem(container.ptr(), key.cast<Py_ssize_t>(), value.inc_ref().ptr())
            : PyDict_SetItem(container.ptr(), key.ptr(), value.ptr());
    if (failed) throw py::error_already_set();
  }

 private:
  const Arrays& arrays_;
  OnSet on_set_;
  bool copy_repeated_;
  std::unordered_set<PyObject*> seen_;
  size_t next_ = 0;
};

void replace(py::handle state, const Arrays& arrays, Replacer::OnSet on_set) {
  if (state.is_none()) return;
  if (!Replacer(arrays, std::move(on_set))(state).is(state)) {
    throw std::invalid_argument(
        "[compile] State must be a list or a dictionary, or a tuple of these, so that its arrays "
        "can "
        "be replaced.");
  }
}

// Puts the old items back where `wanted` says so. `op` is whose error is reported.
template <typename Wanted>
void restore(const std::vector<ReplacedPlace>& places, const char* op, Wanted wanted) {
  py::error_scope pending;  // restores the function's own error afterwards
  // Backwards, for a container that occurs twice and was replaced twice.
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    try {
      if (wanted(*place)) Replacer::set_item(place->container, place->key, place->old);
    } catch (py::error_already_set& error) {
      error.discard_as_unraisable(op);
    }
  }
}

}  // namespace

void append_key(py::handle arguments, const char* op, std::string& key, Arrays& arrays) {
  KeyWriter(op, key, arrays).append(arguments);
}

void append_state_key(py::handle state, std::string& key, Arrays& arrays) {
  KeyWriter(nullptr, key, arrays).append(state);
}

void set_state(py::handle state, const Arrays& arrays) {
  replace(state, arrays, [](const ReplacedPlace&) {});
}

StateScope::StateScope(py::handle state, const Arrays& arrays) {
  replace(state, arrays, [&](ReplacedPlace place) { places_.push_back(std::move(place)); });
}

StateScope::~StateScope() {
  restore(places_, "compile", [](const ReplacedPlace&) { return true; });
}

ArgumentScope::ArgumentScope(const py::list& arguments, const Arrays& arrays) {
  auto on_set = [&](ReplacedPlace place) { places_.push_back(std::move(place)); };
  Replacer(arrays, on_set, true)(arguments);
}

ArgumentScope::~ArgumentScope() {
  restore(places_, "grad", [](const ReplacedPlace& place) {
    return Replacer::has(place.container, place.key, place.now);
  });
}
