// custom_function and custom_vjp: functions with custom rules for transformations.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "convert/arguments.h"
#include "convert/convert.h"
#include "interpreter/collectable.h"
#include "mlx/ops/creation.h"
#include "mlx/transforms.h"
#include "transforms/custom_rules.h"
#include "transforms/transforms.h"

using namespace pybind11::literals;

namespace {

const char* const kCustomCallDoc = "__call__(self, *args: Any, **kwargs: Any) -> Any";
const char* const kCustomGetDoc = "__get__(self, instance: object, owner: object = None) -> Any";

void check_callable(py::handle fun, const char* op) {
  if (!PyCallable_Check(fun.ptr())) {
    throw py::type_error(std::string("[") + op + "] Expected a function but got " + type_name(fun) +
                         ".");
  }
}

// The argument of a rule for the positional arguments: a single one is passed without a tuple.
py::object rule_arguments(const py::object& args) {
  return py::len(args) == 1 ? py::object(args[py::int_(0)]) : args;
}

// The function and its rules, shared by the Python object and the graphs made with it.
struct Rules {
  SharedObject vjp, jvp, vmap;
};

using VjpRule = std::function<Arrays(const Arrays&, const Arrays&, const Arrays&)>;
using JvpRule = std::function<Arrays(const Arrays&, const Arrays&, const std::vector<int>&)>;
using VmapRule =
    std::function<std::pair<Arrays, std::vector<int>>(const Arrays&, const std::vector<int>&)>;

VjpRule make_vjp(const FlatFunction& flat, const SharedObject& rule) {
  return [flat, rule](const Arrays& primals, const Arrays& cotangents, const Arrays& outputs) {
    py::gil_scoped_acquire acquire;
    py::tuple inputs = tree_from_structure(flat.input_structure(), primals);
    py::object result = rule.get()(
        rule_arguments(inputs[0]), tree_from_structure(flat.output_structure(), cotangents),
        tree_from_structure(flat.output_structure(), outputs), **py::dict(inputs[1]));
    return flatten_rule_result(flat.input_structure(), result, primals, "custom_function");
  };
}

// Tangents as a tree like the arguments; None for arguments without one.
py::tuple tangent_tree(const FlatFunction& flat, const Arrays& tangents,
                       const std::vector<int>& argnums) {
  int position = 0;
  return tree_map(flat.input_structure(), [&](py::handle leaf) -> py::object {
    if (!is_array_marker(leaf)) return py::none();
    int index = position++;
    for (size_t i = 0; i < argnums.size(); ++i) {
      if (argnums[i] == index) return py::cast(tangents.at(i));
    }
    return py::none();
  });
}

// The arrays that a rule returned: at least as many as the function returned.
Arrays flatten_outputs(const FlatFunction& flat, py::handle result, const char* rule) {
  Arrays arrays = tree_flatten(result, true, "custom_function");
  const size_t expected = count_arrays(flat.output_structure());
  if (arrays.size() < expected) {
    throw std::invalid_argument(
        std::string("[custom_function] Expected ") + std::to_string(expected) + " arrays of the " +
        rule + " rule, one for each output, but got " + std::to_string(arrays.size()) + ".");
  }
  return arrays;
}

JvpRule make_jvp(const FlatFunction& flat, const SharedObject& rule) {
  return
      [flat, rule](const Arrays& primals, const Arrays& tangents, const std::vector<int>& argnums) {
        py::gil_scoped_acquire acquire;
        py::tuple inputs = tree_from_structure(flat.input_structure(), primals);
        py::tuple moved = tangent_tree(flat, tangents, argnums);
        py::object result =
            rule.get()(rule_arguments(inputs[0]), rule_arguments(moved[0]), **py::dict(inputs[1]));
        return flatten_outputs(flat, result, "jvp");
      };
}

VmapRule make_vmap(const FlatFunction& flat, const SharedObject& rule) {
  return [flat, rule](const Arrays& arrays,
                      const std::vector<int>& axes) -> std::pair<Arrays, std::vector<int>> {
    py::gil_scoped_acquire acquire;
    py::tuple inputs = tree_from_structure(flat.input_structure(), arrays);
    py::tuple axis_tree = axes_tree(flat.input_structure(), axes);
    py::object result =
        rule.get()(rule_arguments(inputs[0]), rule_arguments(axis_tree[0]), **py::dict(inputs[1]));
    if (!PyTuple_Check(result.ptr()) || py::len(result) != 2) {
      throw std::invalid_argument(
          "[custom_function] The vmap rule must return a pair: outputs and their axes.");
    }
    py::object outputs = result[py::int_(0)];
    std::vector<int> out_axes;
    append_axes(tree_structure(outputs), py::object(result[py::int_(1)]), out_axes);
    return {flatten_outputs(flat, outputs, "vmap"), out_axes};
  };
}

class CustomFunction {
 public:
  explicit CustomFunction(py::object fun) : fun_(std::move(fun)) {
    check_callable(fun_, "custom_function");
  }

  py::object call(const py::args& args, const py::kwargs& kwargs) const {
    if (!rules_.vjp && !rules_.jvp && !rules_.vmap) return fun_(*args, **kwargs);
    py::tuple inputs = py::make_tuple(args, kwargs);
    FlatFunction flat(fun_, tree_structure(inputs));
    auto custom = mx::custom_function(
        [flat](const Arrays& arrays) { return flat(arrays); },
        rules_.vjp ? std::optional<VjpRule>(make_vjp(flat, rules_.vjp)) : std::nullopt,
        rules_.jvp ? std::optional<JvpRule>(make_jvp(flat, rules_.jvp)) : std::nullopt,
        rules_.vmap ? std::optional<VmapRule>(make_vmap(flat, rules_.vmap)) : std::nullopt);
    Arrays outputs = custom(tree_flatten(inputs));
    return tree_from_structure(flat.output_structure(), outputs);
  }

  // Each is a decorator that returns the function with the rule: the rule may have the function's
  // name.
  CustomFunction& set_vjp(py::object rule) { return set(rules_.vjp, std::move(rule)); }
  CustomFunction& set_jvp(py::object rule) { return set(rules_.jvp, std::move(rule)); }
  CustomFunction& set_vmap(py::object rule) { return set(rules_.vmap, std::move(rule)); }

  template <typename F>
  void each_object(F& f) {
    f(fun_), f(rules_.vjp), f(rules_.jvp), f(rules_.vmap);
  }

 private:
  CustomFunction& set(SharedObject& slot, py::object rule) {
    check_callable(rule, "custom_function");
    slot = SharedObject(std::move(rule));
    return *this;
  }

  py::object fun_;
  Rules rules_;
};

// A function with a pair of functions as its derivative: fwd also returns the residuals for bwd.
class CustomVjp {
 public:
  explicit CustomVjp(py::object fun) : fun_(std::move(fun)) { check_callable(fun_, "custom_vjp"); }

  void defvjp(py::object forward, py::object backward) {
    check_callable(forward, "custom_vjp");
    check_callable(backward, "custom_vjp");
    forward_ = SharedObject(std::move(forward));
    backward_ = SharedObject(std::move(backward));
  }

  py::object call(const py::args& args, const py::kwargs& kwargs) const {
    py::tuple inputs = py::make_tuple(args, kwargs);
    Arrays arrays = tree_flatten(inputs);
    bool traced =
        std::any_of(arrays.begin(), arrays.end(), [](const mx::array& a) { return a.is_tracer(); });
    if (!forward_ || !traced) return fun_(*args, **kwargs);
    // The residuals become outputs, so that the forward pass runs once.
    FlatFunction flat(py::reinterpret_borrow<py::object>(forward_.get()), tree_structure(inputs));
    auto checked = [flat](const Arrays& in) {
      Arrays out = flat(in);
      py::gil_scoped_acquire acquire;
      py::handle structure = flat.output_structure();
      if (!PyTuple_Check(structure.ptr()) || py::len(structure) != 2) {
        throw std::invalid_argument(
            "[custom_vjp] The forward function must return a pair: the output and residuals.");
      }
      return out;
    };
    Arrays outputs = mx::custom_function(checked, make_backward(flat, backward_))(arrays);
    py::tuple pair = tree_from_structure(flat.output_structure(), outputs);
    return pair[0];
  }

  template <typename F>
  void each_object(F& f) {
    f(fun_), f(forward_), f(backward_);
  }

 private:
  static VjpRule make_backward(const FlatFunction& flat, const SharedObject& backward) {
    return
        [flat, backward](const Arrays& primals, const Arrays& cotangents, const Arrays& outputs) {
          py::gil_scoped_acquire acquire;
          py::tuple values = tree_from_structure(flat.output_structure(), outputs);
          py::tuple moved = tree_from_structure(flat.output_structure(), cotangents);
          py::object result = backward.get()(values[1], moved[0]);
          return flatten_rule_result(flat.input_structure(), result, primals, "custom_vjp");
        };
  }

  py::object fun_;
  SharedObject forward_, backward_;
};

// Methods of classes can be decorated too: access through an instance binds the object to it.
py::object bind(const py::object& self, const py::object& instance) {
  if (instance.is_none()) return self;
  return py::module_::import("types").attr("MethodType")(self, instance);
}

// Objects of the class get the name, documentation and signature of the function that they wrap.
template <typename T>
void keep_metadata(py::class_<T>& cls) {
  py::object construct = cls.attr("__init__");
  cls.attr("__init__") = py::cpp_function(
      [construct](const py::object& self, const py::object& f) {
        construct(self, f);
        copy_metadata(self, f);
      },
      py::name("init"), py::is_method(cls), "f"_a,
      "__init__(self, f: Callable[..., Any]) -> None\n\nArgs:\n    f: The function.");
}

}  // namespace

void init_custom_function(py::module_& m) {
  py::class_<CustomFunction> custom_function(
      m, "custom_function", py::dynamic_attr(), collectable<CustomFunction>(),
      "A decorator for functions with rules of their own: `f.vjp`, `f.jvp` and `f.vmap` are "
      "decorators that set them. Rules that are not set follow from the operations inside.");
  custom_function.def(py::init<py::object>(), "f"_a)
      .def("__call__", &CustomFunction::call, kCustomCallDoc)
      .def(
          "__get__",
          [](const py::object& self, const py::object& instance, const py::object&) {
            return bind(self, instance);
          },
          "instance"_a, "owner"_a = py::none(), kCustomGetDoc)
      .def("vjp", &CustomFunction::set_vjp, "f"_a, py::return_value_policy::reference,
           "vjp(self, f: Callable[..., Any]) -> custom_function\n\nSets the rule of the "
           "vector-Jacobian product.\n\nArgs:\n    f: (primals, cotangents, outputs) -> "
           "gradients.\n\nReturns:\n    The function itself.")
      .def("jvp", &CustomFunction::set_jvp, "f"_a, py::return_value_policy::reference,
           "jvp(self, f: Callable[..., Any]) -> custom_function\n\nSets the rule of the "
           "Jacobian-vector product.\n\nArgs:\n    f: (primals, tangents) -> tangents of the "
           "outputs.\n\nReturns:\n    The function itself.")
      .def("vmap", &CustomFunction::set_vmap, "f"_a, py::return_value_policy::reference,
           "vmap(self, f: Callable[..., Any]) -> custom_function\n\nSets the rule of "
           "vmap.\n\nArgs:\n    f: (inputs, axes) -> (outputs, axes of the outputs).\n\nReturns:\n "
           "   The function itself.");
  keep_metadata(custom_function);
  py::class_<CustomVjp> custom_vjp(
      m, "custom_vjp", py::dynamic_attr(), collectable<CustomVjp>(),
      "A decorator for functions whose derivative `defvjp(fwd, bwd)` gives: fwd returns the output "
      "and "
      "residuals, bwd(residuals, cotangent) the gradients (None: no gradient).");
  custom_vjp.def(py::init<py::object>(), "f"_a)
      .def("__call__", &CustomVjp::call, kCustomCallDoc)
      .def(
          "__get__",
          [](const py::object& self, const py::object& instance, const py::object&) {
            return bind(self, instance);
          },
          "instance"_a, "owner"_a = py::none(), kCustomGetDoc)
      .def("defvjp", &CustomVjp::defvjp, "fwd"_a, "bwd"_a,
           "defvjp(self, fwd: Callable[..., Any], bwd: Callable[..., Any]) -> None\n\nSets the "
           "functions that give the derivative.\n\nArgs:\n    fwd: The forward function. It "
           "returns the output and residuals.\n    bwd: (residuals, cotangent) -> gradients.");
  keep_metadata(custom_vjp);
}
