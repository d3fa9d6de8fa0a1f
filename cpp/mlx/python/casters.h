// For pybind11 bindings of extensions: after including this, functions can take and return arrays,
// streams, devices and element types. Importing the module imports mlx.core.
#pragma once

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstring>
#include <string>

#include "mlx/array.h"
#include "mlx/python/build_id.h"
#include "mlx/utils.h"

namespace mlx::core::python {

// Imports mlx.core, whose classes the casters use, and checks that both were built compatibly.
// Returns false with an ImportError set if not.
inline bool fits_core() {
  PyObject* core = PyImport_ImportModule("mlx.core");
  if (!core) return false;
  PyObject* attribute = PyObject_GetAttrString(core, "_build_id");
  Py_DECREF(core);
  const char* found = attribute ? PyUnicode_AsUTF8(attribute) : nullptr;
  bool fits = found && std::strcmp(found, MLX_BUILD_ID) == 0;
  if (!fits) {
    std::string text = std::string("This module was built against mlx-anywhere ") + MLX_BUILD_ID +
                       ", but the one that is installed is " + (found ? found : "unknown") +
                       ". Build the module again.";
    PyErr_Clear();
    PyErr_SetString(PyExc_ImportError, text.c_str());
  }
  Py_XDECREF(attribute);
  return fits;
}

// The check that pybind11 itself makes here.
inline bool fits_interpreter() {
  const std::string compiled = MLX_STRINGIFY(PY_MAJOR_VERSION) "." MLX_STRINGIFY(PY_MINOR_VERSION);
  const std::string running = Py_GetVersion();
  if (running.rfind(compiled, 0) == 0 &&
      !(running[compiled.size()] >= '0' && running[compiled.size()] <= '9')) {
    return true;
  }
  PyErr_Format(PyExc_ImportError, "This module was built for Python %s, but this is Python %s.",
               compiled.c_str(), running.c_str());
  return false;
}

}  // namespace mlx::core::python

// PYBIND11_MODULE calls this first: an incompatible module is rejected with a message, before calls
// could fail or crash.
#undef PYBIND11_CHECK_PYTHON_VERSION
#define PYBIND11_CHECK_PYTHON_VERSION \
  if (!mlx::core::python::fits_interpreter() || !mlx::core::python::fits_core()) return nullptr;

namespace pybind11::detail {

// Converts None, a stream, a ThreadLocalStream, a device, or a kind of device such as mx.gpu.
template <>
struct type_caster<mlx::core::StreamOrDevice> {
  PYBIND11_TYPE_CASTER(
      mlx::core::StreamOrDevice,
      const_name("mlx.core.Stream | mlx.core.ThreadLocalStream | mlx.core.Device | "
                 "mlx.core.DeviceType | None"));

  bool load(handle source, bool) {
    using mlx::core::Device;
    if (source.is_none()) {
      value = {};
    } else if (isinstance<mlx::core::Stream>(source)) {
      value = source.cast<mlx::core::Stream>();
    } else if (isinstance<mlx::core::ThreadLocalStream>(source)) {
      value = source.cast<mlx::core::ThreadLocalStream>();
    } else if (isinstance<Device>(source)) {
      value = source.cast<Device>();
    } else if (isinstance<Device::DeviceType>(source)) {
      value = Device(source.cast<Device::DeviceType>());
    } else {
      return false;
    }
    return true;
  }

  static handle cast(const mlx::core::StreamOrDevice& source, return_value_policy policy,
                     handle parent) {
    if (auto* stream = std::get_if<mlx::core::Stream>(&source)) {
      return pybind11::cast(*stream, policy, parent).release();
    }
    if (auto* local = std::get_if<mlx::core::ThreadLocalStream>(&source)) {
      return pybind11::cast(*local, policy, parent).release();
    }
    if (auto* device = std::get_if<mlx::core::Device>(&source)) {
      return pybind11::cast(*device, policy, parent).release();
    }
    return none().release();
  }
};

}  // namespace pybind11::detail
