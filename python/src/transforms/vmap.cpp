// vmap over trees of arrays.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "convert/arguments.h"
#include "convert/convert.h"
#include "convert/optional_int.h"
#include "interpreter/collectable.h"
#include "mlx/errors.h"
#include "mlx/transforms_impl.h"
#include "transforms/transforms.h"

using namespace pybind11::literals;

namespace {

const char* const kVmapDoc =
    R"(vmap(fun: Callable[P, R], in_axes: object = 0, out_axes: object = 0) -> Callable[P, R]

Makes a function that applies another to every slice along an axis of its arguments.

Args:
    fun: The function of one slice of each argument.
    in_axes: The axis of each argument: an int for all, or a tree of ints like the arguments, or like the
        argument if there is one only. None means that an argument has no such axis.
    out_axes: The axis of each output, in the same form.

Returns:
    The mapped function.

Example:
    >>> mx.vmap(mx.sum)(mx.array([[1, 2], [3, 4]]))
    array([3, 7], dtype=int32))";

constexpr int kUnmapped = -1;

[[noreturn]] void mismatch(const char* what) {
  throw std::invalid_argument(std::string("[vmap] The structure of ") + what +
                              " does not match that of the arrays.");
}

int normalize(py::handle axes, int ndim, const char* what) {
  int axis = to_int(axes, (std::string("[vmap] ") + what).c_str());
  if (axis < -ndim || axis >= ndim) {
    throw mx::AxisError(std::string("[vmap] Axis ") + std::to_string(axis) + " of " + what +
                        " is out of range for an array with " + std::to_string(ndim) +
                        " dimensions.");
  }
  return axis < 0 ? axis + ndim : axis;
}

// Appends the axis of every array in the tree; an int or None applies to all arrays below it.
// Mapped arrays have `extra` more axes than those in the tree.
void collect_axes(py::handle tree, py::handle axes, const char* what, int extra,
                  std::vector<int>& out) {
  bool is_leaf =
      !PyList_Check(tree.ptr()) && !PyTuple_Check(tree.ptr()) && !PyDict_Check(tree.ptr());
  if (axes.is_none() || PyIndex_Check(axes.ptr())) {
    tree_visit(tree, [&](py::handle leaf) {
      if (!is_array(leaf)) return;
      int ndim = static_cast<int>(leaf.cast<const mx::array&>().ndim()) + extra;
      out.push_back(axes.is_none() ? kUnmapped : normalize(axes, ndim, what));
    });
  } else if (is_leaf) {
    mismatch(what);
  } else if (PyDict_Check(tree.ptr())) {
    if (!PyDict_Check(axes.ptr()) || py::len(axes) != py::len(tree)) mismatch(what);
    auto dict = py::reinterpret_borrow<py::dict>(axes);
    for (auto item : py::reinterpret_borrow<py::dict>(tree)) {
      if (!dict.contains(item.first)) mismatch(what);
      collect_axes(item.second, dict[item.first], what, extra, out);
    }
  } else {
    bool sequence = PyList_Check(axes.ptr()) || PyTuple_Check(axes.ptr());
    if (!sequence || py::len(axes) != py::len(tree)) mismatch(what);
    for (size_t i = 0; i < py::len(tree); ++i) {
      collect_axes(py::object(tree[py::int_(i)]), py::object(axes[py::int_(i)]), what, extra, out);
    }
  }
}

// Whether the axes match the structure of the tree, or of its upper part.
bool is_prefix(py::handle axes, py::handle tree) {
  if (axes.is_none() || PyIndex_Check(axes.ptr())) return true;
  auto is_sequence = [](py::handle h) { return PyList_Check(h.ptr()) || PyTuple_Check(h.ptr()); };
  if (PyDict_Check(axes.ptr()) && PyDict_Check(tree.ptr())) {
    auto dict = py::reinterpret_borrow<py::dict>(axes);
    auto items = py::reinterpret_borrow<py::dict>(tree);
    return py::len(dict) == py::len(items) &&
           std::all_of(items.begin(), items.end(), [&](const auto& item) {
             return dict.contains(item.first) && is_prefix(dict[item.first], item.second);
           });
  }
  if (!is_sequence(axes) || !is_sequence(tree) || py::len(axes) != py::len(tree)) return false;
  for (size_t i = 0; i < py::len(tree); ++i) {
    if (!is_prefix(py::object(axes[py::int_(i)]), py::object(tree[py::int_(i)]))) return false;
  }
  return true;
}

// A mapped function.
struct Vmap {
  py::object fun, in_axes, out_axes;

  py::object operator()(const py::args& args) const;

  template <typename F>
  void each_object(F& f) {
    f(fun), f(in_axes), f(out_axes);
  }
};

py::object Vmap::operator()(const py::args& args) const {
  Arrays inputs = tree_flatten(args);
  std::vector<int> in;
  // The axes of a single argument may be given without a tuple.
  const bool of_argument = args.size() == 1 && is_prefix(in_axes, args[0]);
  collect_axes(of_argument ? py::object(args[0]) : py::object(args), in_axes, "in_axes", 0, in);
  py::object result;
  auto flat = [&](const Arrays& arrays) {
    py::gil_scoped_acquire acquire;
    result = fun(*py::tuple(tree_unflatten(args, arrays)));
    return tree_flatten(result, true, "vmap");
  };
  auto [traced_inputs, traced_outputs] = mx::detail::vmap_trace(flat, inputs, in);
  std::vector<int> out;
  collect_axes(result, out_axes, "out_axes", 1, out);
  Arrays outputs = mx::detail::vmap_replace(inputs, traced_inputs, traced_outputs, in, out);
  return tree_unflatten(result, outputs);
}

}  // namespace

void init_vmap(py::module_& m) {
  py::class_<Vmap>(m, "_Vmap", py::dynamic_attr(), collectable<Vmap>(), py::module_local())
      .def("__call__", &Vmap::operator());
  m.def(
      "vmap",
      [](const py::object& fun, const py::object& in_axes, const py::object& out_axes) {
        if (!PyCallable_Check(fun.ptr())) {
          throw py::type_error("[vmap] Expected a function but got " + type_name(fun) + ".");
        }
        return named_like(Vmap{fun, in_axes, out_axes}, fun);
      },
      "fun"_a, "in_axes"_a = 0, "out_axes"_a = 0, kVmapDoc);
}
