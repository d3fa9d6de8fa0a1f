// Matches gradients and axes with the structure of arguments.
#include "transforms/custom_rules.h"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "convert/arguments.h"
#include "convert/convert.h"
#include "convert/optional_int.h"
#include "mlx/ops/creation.h"
#include "mlx/ops/shape.h"

namespace {

bool is_sequence(py::handle h) { return PyList_Check(h.ptr()) || PyTuple_Check(h.ptr()); }

[[noreturn]] void mismatch(py::handle gradient) {
  throw std::invalid_argument(std::string("[custom_function] The rule returned a ") +
                              type_name(gradient) +
                              " where the structure of the arguments has something else.");
}

// Whether an array of this shape stands for one of the other shape, as it does in arithmetic.
bool stretches_to(const mx::Shape& from, const mx::Shape& to) {
  return from.size() <= to.size() &&
         std::equal(from.rbegin(), from.rend(), to.rbegin(),
                    [](auto length, auto wanted) { return length == wanted || length == 1; });
}

void append_leaf(py::handle gradient, const mx::array& primal, Arrays& out) {
  if (gradient.is_none()) {
    out.push_back(mx::zeros_like(primal));
    return;
  }
  if (is_sequence(gradient) && py::len(gradient) == 1)  // as kernels do
    return append_leaf(py::object(gradient[py::int_(0)]), primal, out);
  if (!is_array_like(gradient)) mismatch(gradient);
  mx::array g = to_array(gradient, primal.dtype());
  if (!stretches_to(g.shape(), primal.shape())) {
    throw std::invalid_argument("[custom_function] The rule returned a gradient of shape " +
                                mx::shape_to_string(g.shape()) + " for an argument of shape " +
                                mx::shape_to_string(primal.shape()) + ".");
  }
  out.push_back(mx::broadcast_to(g, primal.shape()));
}

// The gradients of the positional arguments. A rule may return the gradient of the first argument
// without a tuple. Unless `all` are needed, it may leave out those of the last arguments.
py::object positional_gradients(py::handle args_structure, py::handle result, bool all,
                                const char* op) {
  size_t count = py::len(args_structure);
  bool sequence = is_sequence(result);
  if (count == 1) {
    // (g,) is the gradient in a tuple, unless the argument itself is a sequence of one element.
    py::object only = args_structure[py::int_(0)];
    bool one_of_one = is_sequence(only) && py::len(only) == 1;
    bool wrapped = sequence && py::len(result) == 1 &&
                   (!one_of_one || is_sequence(py::object(result[py::int_(0)])));
    return wrapped ? py::reinterpret_borrow<py::object>(result) : py::make_tuple(result);
  }
  if (result.is_none()) return py::none();
  py::object given = sequence ? py::reinterpret_borrow<py::object>(result) : py::make_tuple(result);
  if (py::len(given) > count || (all && py::len(given) < count)) {
    throw std::invalid_argument(std::string("[") + op + "] Expected " + std::to_string(count) +
                                " gradients, one for each positional argument, but got " +
                                std::to_string(py::len(given)) + ".");
  }
  return given;
}

// (gradients by position, {name: gradient}): the result of rules with keyword arguments.
bool has_keyword_part(py::handle kwargs_structure, py::handle result) {
  if (py::len(kwargs_structure) == 0 || !is_sequence(result) || py::len(result) != 2) return false;
  py::object last = result[py::int_(1)];
  if (!PyDict_Check(last.ptr())) return false;
  auto names = py::reinterpret_borrow<py::dict>(kwargs_structure);
  for (auto item : py::reinterpret_borrow<py::dict>(last)) {
    if (!names.contains(item.first)) return false;
  }
  return true;
}

}  // namespace

void append_gradients(py::handle structure, py::handle gradient, const Arrays& primals,
                      size_t& position, Arrays& out) {
  if (is_array_marker(structure)) return append_leaf(gradient, primals.at(position++), out);
  if (is_sequence(structure)) {
    bool all = gradient.is_none();
    if (!all && (!is_sequence(gradient) || py::len(gradient) != py::len(structure)))
      mismatch(gradient);
    for (size_t i = 0; i < py::len(structure); ++i) {
      py::object g = all ? py::none() : py::object(gradient[py::int_(i)]);
      append_gradients(py::object(structure[py::int_(i)]), g, primals, position, out);
    }
  } else if (PyDict_Check(structure.ptr())) {
    bool all = gradient.is_none();
    if (!all && !PyDict_Check(gradient.ptr())) mismatch(gradient);
    for (auto item : py::reinterpret_borrow<py::dict>(structure)) {
      bool given = !all && py::reinterpret_borrow<py::dict>(gradient).contains(item.first);
      py::object g = given ? py::object(gradient[item.first]) : py::none();
      append_gradients(item.second, g, primals, position, out);
    }
  } else if (auto children = tree_children(structure)) {
    py::object given = tree_children(gradient);
    append_gradients(children, given ? given : gradient, primals, position, out);
  }
}

Arrays flatten_rule_result(py::handle inputs_structure, py::handle result, const Arrays& primals,
                           const char* op) {
  py::object args = inputs_structure[py::int_(0)];
  py::object kwargs = inputs_structure[py::int_(1)];
  bool split = has_keyword_part(kwargs, result);
  py::object by_position =
      split ? py::object(result[py::int_(0)]) : py::reinterpret_borrow<py::object>(result);
  py::object by_name = split ? py::object(result[py::int_(1)]) : py::none();
  Arrays gradients;
  size_t position = 0;
  if (py::len(args) > 0) {
    // Gradients of keyword arguments follow those of all positional ones.
    py::object given = positional_gradients(args, by_position, count_arrays(kwargs) > 0, op);
    if (!given.is_none()) args = args[py::slice(0, py::ssize_t(py::len(given)), 1)];
    append_gradients(args, given, primals, position, gradients);
  }
  append_gradients(kwargs, by_name, primals, position, gradients);
  return gradients;
}

void append_axes(py::handle structure, py::handle axes, std::vector<int>& out) {
  if (axes.is_none() || PyIndex_Check(axes.ptr())) {
    size_t count = count_arrays(structure);
    out.insert(out.end(), count, axes.is_none() ? -1 : to_int(axes, "[custom_function] axes"));
  } else if (is_sequence(structure) && is_sequence(axes) && py::len(structure) == py::len(axes)) {
    for (size_t i = 0; i < py::len(structure); ++i) {
      append_axes(py::object(structure[py::int_(i)]), py::object(axes[py::int_(i)]), out);
    }
  } else if (PyDict_Check(structure.ptr()) && PyDict_Check(axes.ptr())) {
    for (auto item : py::reinterpret_borrow<py::dict>(structure))
      append_axes(item.second, py::object(axes[item.first]), out);
  } else {
    throw std::invalid_argument(
        "[custom_function] The axes that the vmap rule returned do not match its outputs.");
  }
}

py::object axes_tree(py::handle structure, const std::vector<int>& axes) {
  size_t position = 0;
  return tree_map(structure, [&](py::handle leaf) -> py::object {
    if (!is_array_marker(leaf)) return py::none();
    int axis = axes.at(position++);
    return axis < 0 ? py::object(py::none()) : py::object(py::int_(axis));
  });
}
