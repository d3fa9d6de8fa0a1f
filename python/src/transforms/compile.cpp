// compile: functions of trees whose graph is recorded once.
#include "mlx/compile.h"

#include <stdexcept>
#include <string>

#include "convert/arguments.h"
#include "convert/convert.h"
#include "interpreter/collectable.h"
#include "transforms/state_trees.h"
#include "transforms/transforms.h"

using namespace pybind11::literals;

namespace {

const char* const kCompileDoc =
    R"(compile(fun: Callable[P, R], inputs: object = None, outputs: object = None, shapeless: bool = False) -> Callable[P, R]

Makes a function that records the graph of another and runs it simplified: what is computed twice
is computed once, and chains of elementwise operations become one kernel. It can be used as a decorator.

The function is called again for arguments with other shapes, types, structure or numbers that are no
arrays. It must not evaluate its arrays; arrays that it captures are constants, unless they are in
``inputs``.

Args:
    fun: The function. Its arguments are trees of arrays, numbers, strings and None; it returns a tree.
    inputs: State that the function uses: a tree of arrays, read at every call.
    outputs: State that the function changes: a list, tuple or dictionary whose arrays every call replaces.
    shapeless: Record once for all shapes of the same ranks. Functions that depend on a shape, as by
        ``reshape``, then fail or give the results of the first one.

Returns:
    The compiled function.

Example:
    >>> gelu = mx.compile(lambda x: x * (1 + mx.erf(x / 2**0.5)) / 2)
    >>> gelu(mx.array([0.0, 1.0]))
    array([0, 0.841345], dtype=float32))";

// The result when the graph was recorded.
struct Recorded {
  py::object result;         // its structure
  size_t result_arrays = 0;  // the other outputs are the state's
};

// A graph may keep it on any thread.
std::shared_ptr<void> shared_note(Recorded recorded) {
  return {new Recorded(std::move(recorded)), [](Recorded* note) {
            py::gil_scoped_acquire acquire;
            delete note;
          }};
}

struct Compiled {
  py::object fun, inputs, outputs;
  std::shared_ptr<mx::detail::CompileCache> cache;

  py::object operator()(const py::args& args, const py::kwargs& kwargs) const;

  template <typename F>
  void each_object(F& f) {
    f(fun), f(inputs), f(outputs);
  }

 private:
  std::shared_ptr<const mx::detail::RecordedGraph> record(const std::string& key,
                                                          const py::object& arguments,
                                                          const Arrays& arrays, size_t own) const;
};

std::shared_ptr<const mx::detail::RecordedGraph> Compiled::record(const std::string& key,
                                                                  const py::object& arguments,
                                                                  const Arrays& arrays,
                                                                  size_t own) const {
  Recorded recorded;
  auto flat = [&](const Arrays& tracers) {
    StateScope state(inputs, {tracers.begin() + own, tracers.end()});
    const Arrays own_tracers(tracers.begin(), tracers.begin() + own);
    py::object result = call_with(fun, tree_unflatten(arguments, own_tracers));
    Arrays results = tree_flatten(result);
    recorded = {tree_structure(result), results.size()};
    const Arrays changed = tree_flatten(outputs);
    results.insert(results.end(), changed.begin(), changed.end());
    return results;
  };
  return cache->record(key, flat, arrays, [&] { return shared_note(std::move(recorded)); });
}

py::object Compiled::operator()(const py::args& args, const py::kwargs& kwargs) const {
  if (mx::detail::compile_is_disabled()) return fun(*args, **kwargs);
  const py::object arguments = py::make_tuple(args, kwargs);
  std::string structure;
  Arrays arrays;
  append_key(arguments, "compile", structure, arrays);
  const size_t own = arrays.size();
  append_state_key(inputs, structure, arrays);

  const std::string key = cache->key_of(arrays, structure);
  auto graph = cache->find(key);
  if (!graph) graph = record(key, arguments, arrays, own);
  const auto& recorded = *static_cast<const Recorded*>(mx::detail::note_of(*graph).get());
  const Arrays all = mx::detail::replay(*graph, arrays);
  const auto split = all.begin() + static_cast<ptrdiff_t>(recorded.result_arrays);
  if (!outputs.is_none()) set_state(outputs, {split, all.end()});
  return tree_from_structure(recorded.result, {all.begin(), split});
}

py::object compile(const py::object& fun, const py::object& inputs, const py::object& outputs,
                   bool shapeless) {
  if (!PyCallable_Check(fun.ptr())) {
    throw py::type_error("[compile] Expected a function but got " + type_name(fun) + ".");
  }
  return named_like(
      Compiled{fun, inputs, outputs, std::make_shared<mx::detail::CompileCache>(shapeless)}, fun);
}

}  // namespace

void init_compile(py::module_& m) {
  py::class_<Compiled>(m, "_Compiled", py::dynamic_attr(), collectable<Compiled>(),
                       py::module_local())
      .def("__call__", &Compiled::operator())
      .def(
          "__get__",
          [](const py::object& self, const py::object& instance, const py::object&) -> py::object {
            if (instance.is_none()) return self;
            return py::module_::import("types").attr("MethodType")(self, instance);
          },
          "instance"_a, "owner"_a = py::none());
  m.def("compile", &compile, "fun"_a, "inputs"_a = py::none(), "outputs"_a = py::none(),
        "shapeless"_a = false, kCompileDoc);
  m.def("disable_compile", &mx::disable_compile,
        "Makes compiled functions run as they are written.");
  m.def("enable_compile", &mx::enable_compile, "Makes `compile` compile again.");
}
