// mlx.core.metal.check, and the error that says what checked kernels did wrong.
#include "mlx/backend/metal/checks.h"

#include <pybind11/stl.h>

#include <memory>
#include <string>
#include <vector>

#include "devices/device.h"
#include "kernels/kernel_arguments.h"
#include "module.h"

using namespace pybind11::literals;

namespace {

namespace mm = mlx::core::metal;

const char* const kCheckDoc = R"(check(*checks: str) -> CheckContext

Checks kernels that are called or evaluated inside of a `with` block, those of array operations included.
What is wrong is raised as one `KernelCheckError` by the evaluation.

Args:
    *checks: "bounds", "bounds=strict", "barriers", "races", "uninitialised", "numbers",
        "numbers=float64", "apple", "order" or "all", or a list of them with commas. None means
        all, which is without "order".

Returns:
    The context manager.)";

const char* const kErrorDoc =
    "A kernel that failed its checks. `reports` says what is wrong, each a "
    "`CheckReport`; the text shows them as a compiler does.";

// The checks of a `with` block. Blocks may be nested, also those of one object.
class CheckContext {
 public:
  explicit CheckContext(mm::Checks checks) : checks_(checks) {}
  CheckContext(const CheckContext&) = delete;
  CheckContext& operator=(const CheckContext&) = delete;
  void enter() { scopes_.push_back(std::make_unique<mm::CheckScope>(checks_)); }
  void exit() {
    if (!scopes_.empty()) scopes_.pop_back();
  }

 private:
  mm::Checks checks_;
  std::vector<std::unique_ptr<mm::CheckScope>> scopes_;
};

std::unique_ptr<CheckContext> make_context(const py::args& names) {
  return std::make_unique<CheckContext>(
      names.empty() ? ::metal::kAllChecks : to_checks(py::list(names), "[metal.check]"));
}

// The class of the error. It lives as long as the interpreter.
PyObject* error_class() {
  static PyObject* type = PyErr_NewExceptionWithDoc("mlx.core.metal.KernelCheckError", kErrorDoc,
                                                    PyExc_RuntimeError, nullptr);
  return type;
}

void define_report(py::module_& m) {
  using Report = mm::CheckReport;
  py::class_<Report>(m, "CheckReport", "One thing that is wrong with a kernel.")
      .def_readonly("kind", &Report::kind, "str: The check, as it is called in `check`.")
      .def_readonly("kernel", &Report::kernel, "str: The name of the kernel.")
      .def_property_readonly(
          "file", [](const Report& r) { return r.place.file; },
          "str: The source, as the compiler calls it in its messages.")
      .def_property_readonly(
          "line", [](const Report& r) { return r.place.line; },
          "int: The line there; 0 for kernels that come without their source.")
      .def_property_readonly(
          "column", [](const Report& r) { return r.place.column; }, "int: The column.")
      .def_readonly("object", &Report::object,
                    "str: The name of the buffer or variable, or barrier.")
      .def_readonly("index", &Report::index, "int: The element of the object that is touched.")
      .def_readonly("size", &Report::size, "int: How many elements it has; 0 if that is unknown.")
      .def_property_readonly(
          "thread", [](const Report& r) { return to_tuple(r.position.thread); },
          "tuple[int, int, int]: The first thread that did it, in its threadgroup; zeros where it "
          "is no thread's fault.")
      .def_property_readonly(
          "threadgroup", [](const Report& r) { return to_tuple(r.position.threadgroup); },
          "tuple[int, int, int]: Its threadgroup.")
      .def_readonly("count", &Report::count, "int: How often it happened.")
      .def_readonly("message", &Report::message, "str: What is wrong.")
      .def_readonly("note", &Report::note, "str: What happened at another place, or nothing.")
      .def_property_readonly(
          "note_line", [](const Report& r) { return r.note_place.line; }, "int: Its line.")
      .def("__str__", [](const Report& r) { return ::metal::describe(r); })
      .def("__repr__", [](const Report& r) {
        return "<CheckReport " + r.kind + " in " + r.kernel + ", line " +
               std::to_string(r.place.line) + ">";
      });
}

}  // namespace

void raise_check_error(const mm::KernelCheckError& error) {
  py::object instance = py::handle(error_class())(error.what());
  instance.attr("reports") = py::cast(error.reports);
  PyErr_SetObject(error_class(), instance.ptr());
}

void define_checks(py::module_& m) {
  define_report(m);
  m.attr("KernelCheckError") = py::handle(error_class());
  py::dict annotations;
  annotations["reports"] = "list[CheckReport]";
  m.attr("KernelCheckError").attr("__annotations__") = annotations;
  py::class_<CheckContext>(m, "CheckContext", "What `check` returns.")
      .def(
          "__enter__",
          [](py::object self) {
            self.cast<CheckContext&>().enter();
            return self;
          },
          "__enter__(self) -> CheckContext\n\nBegins to check.")
      .def(
          "__exit__", [](CheckContext& context, const py::args&) { context.exit(); },
          "__exit__(self, *args: Any) -> None\n\nEnds it.");
  m.def("check", &make_context, kCheckDoc);
}
