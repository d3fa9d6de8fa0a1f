// The module mlx.core.
#include "module.h"

#include "convert/arguments.h"
#include "devices/device.h"
#include "docs/docs.h"
#include "interpreter/wait.h"
#include "metal/driver.h"
#include "mlx/backend/metal/checks.h"
#include "mlx/errors.h"
#include "mlx/fork.h"
#include "mlx/interrupt.h"
#include "mlx/python/build_id.h"
#include "mlx/utils.h"
#include "mlx/version.h"

namespace {

// An exception that is both a ValueError and an IndexError. It is never freed.
PyObject* axis_error() {
  static PyObject* type = PyErr_NewException(
      "mlx.core.AxisError",
      py::make_tuple(py::handle(PyExc_ValueError), py::handle(PyExc_IndexError)).ptr(), nullptr);
  return type;
}

// An exception that is both a ValueError and a TypeError: MLX raises the one where an argument may
// be a number, and the other where it must be an array.
PyObject* operand_error() {
  static PyObject* type = PyErr_NewException(
      "mlx.core.OperandError",
      py::make_tuple(py::handle(PyExc_ValueError), py::handle(PyExc_TypeError)).ptr(), nullptr);
  return type;
}

// Exceptions for arguments of the wrong type in our own conversions, for operands that are none,
// and for axes that are out of range.
void translate_error(std::exception_ptr error) {
  try {
    std::rethrow_exception(error);
  } catch (const pybind11::cast_error& e) {
    PyErr_SetString(PyExc_TypeError, e.what());
  } catch (const mlx::core::AxisError& e) {
    PyErr_SetString(axis_error(), e.what());
  } catch (const OperandError& e) {
    PyErr_SetString(operand_error(), e.what());
  } catch (const mlx::core::metal::KernelCheckError& e) {
    raise_check_error(e);
  }
}

// Python releases its lock while it waits before a fork.
void register_at_fork() {
  using pybind11::arg;
  pybind11::module_::import("os").attr("register_at_fork")(
      arg("before") = pybind11::cpp_function(&mlx::core::before_fork),
      arg("after_in_parent") = pybind11::cpp_function(&mlx::core::after_fork));
}

[[noreturn]] void* refuse_uninitialized(size_t) {
  throw pybind11::type_error(
      "The object was made by __new__ alone: its __init__ has not been called.");
}

// An object that is used before __init__ has uninitialised memory in pybind11. Reading it raises an
// error instead.
void require_init(const pybind11::module_& m) {
  for (const auto& [name, value] : m.attr("__dict__").cast<pybind11::dict>()) {
    if (!PyType_Check(value.ptr())) continue;
    auto* type = pybind11::detail::get_type_info(reinterpret_cast<PyTypeObject*>(value.ptr()));
    if (type) type->operator_new = &refuse_uninitialized;
  }
}

// The AttributeError for a missing name says whether MLX has it.
void name_what_is_lacking(const pybind11::module_& m) {
  m.attr("__getattr__") = pybind11::cpp_function([module = m.attr("__name__").cast<std::string>()](
                                                     const std::string& name) -> pybind11::object {
    const auto lacking = pybind11::module_::import("mlx._lacking");
    throw pybind11::attribute_error(
        lacking.attr("attribute_error")(module, name).cast<std::string>());
  });
}

// NVIDIA's libraries may be Python packages beside this one.
void name_package_folders() {
  std::vector<std::string> folders;
  for (py::handle folder : pybind11::module_::import("sys").attr("path")) {
    if (pybind11::isinstance<pybind11::str>(folder)) folders.push_back(folder.cast<std::string>());
  }
  metal::set_package_folders(std::move(folders));
}

}  // namespace

PYBIND11_MODULE(core, m) {
  pybind11::register_local_exception_translator([](std::exception_ptr error) {
    if (error) {
      translate_error(error);
    }
  });
  mlx::core::get_global_formatter().capitalize_bool = true;
  py::options options;
  options.disable_function_signatures();  // finish_docs adds them
  m.doc() = "Arrays with MLX's API, and Metal kernels that run without Apple hardware.";
  m.attr("__version__") = mlx::core::version();
  m.attr("_build_id") = MLX_BUILD_ID;  // extensions compare it with their own
  m.attr("_AxisError") = py::handle(axis_error());
  m.attr("_OperandError") = py::handle(operand_error());
  make_all_waits_interruptible();
  register_at_fork();
  name_package_folders();
  Py_AtExit(mlx::core::end_work);
  init_dtype(m);
  init_device(m);
  init_array(m);
  init_stream(m);
  init_object_table(m);
  init_memory(m);
  init_metal(m);
  init_print_options(m);
  init_cuda(m);
  init_distributed(m);
  init_constants(m);
  init_ops(m);
  init_random(m);
  init_linalg(m);
  init_fft(m);
  init_io(m);
  init_fast(m);
  init_transforms(m);
  finish_docs(m);
  for (const char* submodule :
       {"cuda", "distributed", "fast", "fft", "linalg", "metal", "random"}) {
    require_init(m.attr(submodule));
    name_what_is_lacking(m.attr(submodule));
  }
  require_init(m);
  name_what_is_lacking(m);
}
