// vjp, jvp, grad, value_and_grad and checkpoint.
#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <string>

#include "convert/arguments.h"
#include "convert/convert.h"
#include "interpreter/collectable.h"
#include "mlx/transforms.h"
#include "transforms/state_trees.h"
#include "transforms/transforms.h"

using namespace pybind11::literals;

namespace {

const char* const kVjpDoc =
    R"(vjp(fun: Callable[..., Any], primals: Sequence[array], cotangents: Sequence[array]) -> tuple[list[array], list[array]]

Multiplies cotangents with the Jacobian of a function.

Args:
    fun: A function of arrays that returns an array or a sequence of arrays.
    primals: The arguments.
    cotangents: The vectors, one of the shape of each output. More of them are ignored.

Returns:
    The outputs, and a product of the shape of each argument.

Example:
    >>> _, (product,) = mx.vjp(mx.square, [mx.array(3.0)], [mx.array(1.0)])
    >>> product.item()
    6.0)";

const char* const kJvpDoc =
    R"(jvp(fun: Callable[..., Any], primals: Sequence[array], tangents: Sequence[array]) -> tuple[list[array], list[array]]

Multiplies the Jacobian of a function with tangents.

Args:
    fun: A function of arrays that returns an array or a sequence of arrays.
    primals: The arguments.
    tangents: The vectors, one of the shape of each argument.

Returns:
    The outputs, and a product of the shape of each output.)";

const char* const kValueAndGradDoc =
    R"(value_and_grad(fun: Callable[P, R], argnums: int | Sequence[int] | None = None, argnames: str | Sequence[str] = ()) -> Callable[P, tuple[R, Any]]

Makes a function that returns the value of another and its gradient.

Args:
    fun: The function.
    argnums: The positions of the arguments to differentiate by. None means the first, unless `argnames`
        names others. Arguments may be trees of arrays. Gradients come in the order of the arguments.
    argnames: The names of keyword arguments to differentiate by.

Returns:
    A function with the arguments of `fun`. If `fun` returns a tuple, its first element is differentiated.

Example:
    >>> value, gradient = mx.value_and_grad(lambda x: x * x)(mx.array(3.0))
    >>> value.item(), gradient.item()
    (9.0, 6.0))";

const char* const kGradDoc =
    R"(grad(fun: Callable[P, R], argnums: int | Sequence[int] | None = None, argnames: str | Sequence[str] = ()) -> Callable[P, Any]

Makes a function that returns the gradient of another, which must return a scalar.

Args:
    fun: The function.
    argnums: The positions of the arguments to differentiate by. None means the first, unless `argnames`
        names others. Arguments may be trees of arrays.
    argnames: The names of keyword arguments to differentiate by.

Returns:
    A function with the arguments of `fun`. It returns a gradient, or a tuple with one for each argument.

Example:
    >>> mx.grad(mx.sin)(mx.array(0.0)).item()
    1.0)";

const char* const kCheckpointDoc = R"(checkpoint(fun: Callable[P, R]) -> Callable[P, R]

Makes a function that needs less memory for its gradient: it computes intermediate values again.

Args:
    fun: The function.

Returns:
    A function with the results of `fun`.)";

// The arguments to differentiate with respect to.
struct Selection {
  std::vector<int> positions;
  std::vector<std::string> names;
  bool one_position = false;  // the gradient is returned without a tuple
};

Selection select(const py::object& argnums, const py::object& argnames, const std::string& op) {
  Selection s;
  auto add_name = [&](py::handle name) {
    if (!py::isinstance<py::str>(name)) throw py::type_error(op + " argnames must be strings.");
    s.names.push_back(name.cast<std::string>());
  };
  if (py::isinstance<py::str>(argnames)) {
    add_name(argnames);
  } else if (!argnames.is_none()) {
    for (py::handle name : argnames) add_name(name);
  }
  if (argnums.is_none()) {
    if (s.names.empty()) s.positions = {0};
  } else {
    Ints ints;
    if (!load_ints(argnums, ints))
      throw py::type_error(op + " argnums must be an int or a sequence of ints.");
    s.positions = narrow(ints, (op + " argnums").c_str());
  }
  if (s.positions.empty() && s.names.empty())
    throw std::invalid_argument(op + " Gradient wrt no argument requested.");
  s.one_position = s.positions.size() == 1;
  std::sort(s.positions.begin(), s.positions.end());
  for (auto it = s.positions.begin(); it != s.positions.end(); ++it) {
    if (std::count(it, s.positions.end(), *it) > 1) {
      throw std::invalid_argument(op + " Argument index " + std::to_string(*it) +
                                  " is given more than once.");
    }
  }
  for (int p : s.positions) {
    if (p < 0) {
      throw std::invalid_argument(op + " Can't compute the gradient of negative argument index " +
                                  std::to_string(p) + ".");
    }
  }
  return s;
}

void check_arguments(const Selection& s, const py::tuple& args, const py::dict& kwargs,
                     const std::string& op) {
  for (int p : s.positions) {
    if (p >= static_cast<int>(args.size())) {
      throw std::invalid_argument(op + " Can't compute the gradient of argument index " +
                                  std::to_string(p) + " because the function is called with only " +
                                  std::to_string(args.size()) + " positional arguments.");
    }
  }
  for (const auto& name : s.names) {
    if (!kwargs.contains(name)) {
      throw std::invalid_argument(op + " Can't compute the gradient of keyword argument '" + name +
                                  "' because the function is called with the keyword arguments " +
                                  py::repr(py::list(kwargs)).cast<std::string>() + ".");
    }
  }
}

// The function must return a scalar array, or, if its value is wanted, a tuple that begins with
// one.
void check_result(py::handle result, bool with_value, const std::string& op) {
  bool tuple = with_value && PyTuple_Check(result.ptr()) && py::len(result) > 0;
  py::object first =
      tuple ? py::object(result[py::int_(0)]) : py::reinterpret_borrow<py::object>(result);
  if (is_array(first)) return;
  throw std::invalid_argument(
      op + " The function must return a scalar array" +
      (with_value ? ", or a tuple that begins with one, not a " : ", not a ") + type_name(first) +
      (tuple ? " first" : "") + ".");
}

class ValueAndGrad {
 public:
  ValueAndGrad(py::object fun, Selection selection, std::string op, bool with_value)
      : fun_(std::move(fun)),
        selection_(std::move(selection)),
        op_(std::move(op)),
        with_value_(with_value) {}

  // The gradients, in a pair with the value if that is wanted.
  py::object operator()(const py::args& args, const py::kwargs& kwargs) const {
    check_arguments(selection_, args, kwargs, op_);
    const py::list selected = selected_arguments(args, kwargs);
    Arrays inputs = tree_flatten(selected, true, op_.substr(1, op_.size() - 2).c_str());
    if (inputs.empty()) {
      throw std::invalid_argument(op_ + " The arguments to differentiate by hold no arrays.");
    }
    std::vector<int> argnums(inputs.size());
    std::iota(argnums.begin(), argnums.end(), 0);
    // The function may change its arguments.
    const py::object structure = tree_structure(selected);
    py::object result;
    auto flat = [&](const Arrays& arrays) {
      py::gil_scoped_acquire acquire;
      const ArgumentScope scope(selected, arrays);
      auto [new_args, new_kwargs] = with_selected(args, kwargs, selected);
      result = fun_(*new_args, **new_kwargs);
      check_result(result, with_value_, op_);
      return tree_flatten(result);
    };
    auto [values, gradients] = mx::value_and_grad(flat, argnums)(inputs);
    py::object tree = gradients_tree(tree_from_structure(structure, gradients));
    return with_value_ ? py::make_tuple(tree_unflatten(result, values), tree) : tree;
  }

  template <typename F>
  void each_object(F& f) {
    f(fun_);
  }

 private:
  py::list selected_arguments(const py::tuple& args, const py::dict& kwargs) const {
    py::list selected;
    for (int p : selection_.positions) selected.append(args[p]);
    for (const auto& name : selection_.names) selected.append(kwargs[py::str(name)]);
    return selected;
  }

  std::pair<py::tuple, py::dict> with_selected(const py::tuple& args, const py::dict& kwargs,
                                               const py::list& selected) const {
    py::list new_args(args);
    py::dict new_kwargs;
    for (auto item : kwargs) new_kwargs[item.first] = item.second;
    size_t next = 0;
    for (int p : selection_.positions) new_args[p] = selected[next++];
    for (const auto& name : selection_.names) new_kwargs[py::str(name)] = selected[next++];
    return {py::tuple(new_args), new_kwargs};
  }

  py::object gradients_tree(const py::list& gradients) const {
    size_t next = 0;
    py::list positional;
    while (next < selection_.positions.size()) positional.append(gradients[next++]);
    py::object by_position =
        selection_.one_position ? py::object(positional[0]) : py::object(py::tuple(positional));
    if (selection_.names.empty()) return by_position;
    py::dict by_name;
    for (const auto& name : selection_.names) by_name[py::str(name)] = gradients[next++];
    if (selection_.positions.empty()) by_position = py::none();
    return py::make_tuple(by_position, by_name);
  }

  py::object fun_;
  Selection selection_;
  std::string op_;
  bool with_value_;
};

py::object make_value_and_grad(const py::object& fun, const py::object& argnums,
                               const py::object& argnames, bool with_value) {
  std::string op = with_value ? "[value_and_grad]" : "[grad]";
  return named_like(ValueAndGrad(fun, select(argnums, argnames, op), op, with_value), fun);
}

// Wraps fun(*arrays) -> array or sequence of arrays as a function of flat arrays.
auto flat_function(const py::object& fun, const char* op) {
  return [fun, op](const Arrays& inputs) -> Arrays {
    py::gil_scoped_acquire acquire;
    py::object result = fun(*to_tuple(inputs));
    if (is_array(result)) return {result.cast<mx::array>()};
    return tree_flatten(result, true, op);
  };
}

Arrays array_list(const py::object& value, const char* op) {
  if (is_array(value)) return {value.cast<mx::array>()};
  return to_vector(value, op);
}

// A function that recomputes intermediate values.
struct Checkpoint {
  py::object fun;

  py::object operator()(const py::args& args, const py::kwargs& kwargs) const {
    py::tuple inputs = py::make_tuple(args, kwargs);
    FlatFunction flat(fun, tree_structure(inputs));
    Arrays outputs =
        mx::checkpoint([flat](const Arrays& arrays) { return flat(arrays); })(tree_flatten(inputs));
    return tree_from_structure(flat.output_structure(), outputs);
  }

  template <typename F>
  void each_object(F& f) {
    f(fun);
  }
};

void check_callable(const py::object& fun, const char* op) {
  if (!PyCallable_Check(fun.ptr())) {
    throw py::type_error(std::string("[") + op + "] Expected a function but got " + type_name(fun) +
                         ".");
  }
}

}  // namespace

void init_grad(py::module_& m) {
  py::class_<ValueAndGrad>(m, "_ValueAndGrad", py::dynamic_attr(), collectable<ValueAndGrad>(),
                           py::module_local())
      .def("__call__", &ValueAndGrad::operator());
  py::class_<Checkpoint>(m, "_Checkpoint", py::dynamic_attr(), collectable<Checkpoint>(),
                         py::module_local())
      .def("__call__", &Checkpoint::operator());
  m.def(
      "vjp",
      [](const py::object& fun, const py::object& primals, const py::object& cotangents) {
        auto [outputs, products] = mx::vjp(flat_function(fun, "vjp"), array_list(primals, "vjp"),
                                           array_list(cotangents, "vjp"));
        return py::make_tuple(to_list(outputs), to_list(products));
      },
      "fun"_a, "primals"_a, "cotangents"_a, kVjpDoc);
  m.def(
      "jvp",
      [](const py::object& fun, const py::object& primals, const py::object& tangents) {
        auto [outputs, products] = mx::jvp(flat_function(fun, "jvp"), array_list(primals, "jvp"),
                                           array_list(tangents, "jvp"));
        return py::make_tuple(to_list(outputs), to_list(products));
      },
      "fun"_a, "primals"_a, "tangents"_a, kJvpDoc);
  m.def(
      "value_and_grad",
      [](const py::object& fun, const py::object& argnums, const py::object& argnames) {
        check_callable(fun, "value_and_grad");
        return make_value_and_grad(fun, argnums, argnames, true);
      },
      "fun"_a, "argnums"_a = py::none(), "argnames"_a = py::make_tuple(), kValueAndGradDoc);
  m.def(
      "grad",
      [](const py::object& fun, const py::object& argnums, const py::object& argnames) {
        check_callable(fun, "grad");
        return make_value_and_grad(fun, argnums, argnames, false);
      },
      "fun"_a, "argnums"_a = py::none(), "argnames"_a = py::make_tuple(), kGradDoc);
  m.def(
      "checkpoint",
      [](const py::object& fun) {
        check_callable(fun, "checkpoint");
        return named_like(Checkpoint{fun}, fun);
      },
      "fun"_a, kCheckpointDoc);
}
