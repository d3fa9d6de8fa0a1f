// The user's options for printing arrays.
#include <optional>

#include "mlx/utils.h"
#include "module.h"

using namespace pybind11::literals;
namespace mx = mlx::core;

namespace {

const char* const kSetDoc = R"(Sets how arrays are printed.

Args:
    precision: The decimal places of floating-point numbers. -1 means the default: six digits, without zeros at
        the end.

Example:
    >>> mx.set_printoptions(precision=2)
    >>> mx.array([1.0, 2.345])
    array([1.00, 2.35], dtype=float32)
    >>> mx.set_printoptions())";

const char* const kContextDoc = R"(printoptions(precision: int = -1) -> _PrintOptionsContext

Sets how arrays are printed inside of a `with` block.

Args:
    precision: The decimal places of floating-point numbers. -1 means the default: six digits, without zeros at
        the end.

Returns:
    The context manager.

Example:
    >>> with mx.printoptions(precision=1):
    ...     mx.array([1.0, 2.25])
    array([1.0, 2.2], dtype=float32))";

class PrintOptionsContext {
 public:
  explicit PrintOptionsContext(mx::PrintOptions options) : options_(options) {}

  void enter() {
    const auto before = mx::get_printoptions();
    mx::set_printoptions(options_);
    before_.emplace(before);
  }

  void exit() {
    if (before_) mx::set_printoptions(*before_);
    before_.reset();
  }

 private:
  mx::PrintOptions options_;
  std::optional<mx::PrintOptions> before_;
};

void define_classes(py::module_& m) {
  py::class_<mx::PrintOptions>(m, "PrintOptions", "How arrays are printed.")
      .def(py::init([](int precision) { return mx::PrintOptions{precision}; }), "precision"_a = -1,
           "Args:\n    precision: The decimal places of floating-point numbers, or -1 for the "
           "default.")
      .def_readwrite("precision", &mx::PrintOptions::precision,
                     "int: The decimal places of floating-point numbers, or -1 for the default.");
  py::class_<PrintOptionsContext>(m, "_PrintOptionsContext",
                                  "Sets how arrays are printed for a `with` block.")
      .def(
          "__enter__",
          [](PrintOptionsContext& c) -> PrintOptionsContext& {
            c.enter();
            return c;
          },
          py::return_value_policy::reference,
          "__enter__(self) -> _PrintOptionsContext\n\nSets the options.")
      .def(
          "__exit__", [](PrintOptionsContext& c, const py::args&) { c.exit(); },
          "__exit__(self, *exception: object) -> None\n\nSets what was chosen before.");
}

}  // namespace

void init_print_options(py::module_& m) {
  define_classes(m);
  m.def(
      "get_printoptions", [] { return mx::get_printoptions(); },
      "Tells how arrays are printed.\n\nReturns:\n    The options.");
  m.def(
      "set_printoptions", [](int precision) { mx::set_printoptions(mx::PrintOptions{precision}); },
      "precision"_a = -1, kSetDoc);
  m.def(
      "printoptions",
      [](int precision) { return PrintOptionsContext(mx::PrintOptions{precision}); },
      "precision"_a = -1, kContextDoc);
}
