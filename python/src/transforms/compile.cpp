// compile: a callable that stands for the function.
#include "mlx/compile.h"

#include <stdexcept>
#include <string>

#include "interpreter/collectable.h"
#include "transforms/transforms.h"

using namespace pybind11::literals;

namespace {

const char* const kCompileDoc =
    R"(compile(fun: Callable[P, R], inputs: object = None, outputs: object = None, shapeless: bool = False) -> Callable[P, R]

Makes a function that gives the results of another. It can be used as a decorator.

Args:
    fun: The function, of arrays or trees of arrays.
    inputs: State, a tree of arrays, that the function uses.
    outputs: State, a tree of arrays, that the function changes.
    shapeless: Accepted; the function works with arrays of any shapes.

Returns:
    The function.)";

// The graph of a compiled function is built at every call, which gives the same results; state
// captured through `inputs` and `outputs` is then seen and updated by the function itself.
struct Compiled {
  py::object fun;

  template <typename F>
  void each_object(F& f) {
    f(fun);
  }
};

}  // namespace

void init_compile(py::module_& m) {
  py::class_<Compiled>(m, "_Compiled", py::dynamic_attr(), collectable<Compiled>(),
                       py::module_local())
      .def("__call__", [](const Compiled& c, const py::args& args,
                          const py::kwargs& kwargs) { return c.fun(*args, **kwargs); })
      .def(
          "__get__",
          [](const py::object& self, const py::object& instance, const py::object&) -> py::object {
            if (instance.is_none()) return self;
            return py::module_::import("types").attr("MethodType")(self, instance);
          },
          "instance"_a, "owner"_a = py::none());
  m.def(
      "compile",
      [](const py::object& fun, const py::object&, const py::object&, bool) {
        if (!PyCallable_Check(fun.ptr())) {
          throw py::type_error(std::string("[compile] Expected a function but got ") +
                               Py_TYPE(fun.ptr())->tp_name + ".");
        }
        py::object compiled = py::cast(Compiled{fun});
        copy_metadata(compiled, fun);
        return compiled;
      },
      "fun"_a, "inputs"_a = py::none(), "outputs"_a = py::none(), "shapeless"_a = false,
      kCompileDoc);
  m.def("disable_compile", &mx::disable_compile,
        "Makes compiled functions run as they are written.");
  m.def("enable_compile", &mx::enable_compile, "Makes `compile` compile again.");
}
