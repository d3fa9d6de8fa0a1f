// mlx.core.metal: the Metal device, captures, and the older names of the memory functions.
#include "mlx/backend/metal/metal.h"

#include <string>

#include "devices/device.h"
#include "module.h"

using namespace pybind11::literals;
namespace mx = mlx::core;

const char* const kMetalDeviceInfoDoc = R"(device_info() -> dict[str, str | int]

Gives facts about the device that runs Metal kernels.

Returns:
    Its name, architecture, memory sizes in bytes and more.)";

const char* const kScalarFallbacksDoc =
    R"(Counts the kernels of this process that run one thread at a time on the CPU: they have no vector code.
`metal_kernel(..., verbose=True)` says which, and why.

Returns:
    The number since the process began. Each size of threadgroups that needs code of its own counts.)";

const char* const kStartCaptureDoc =
    R"(Accepts the path of a GPU trace. Nothing is recorded: there is no tool for it here.

Args:
    path: The path, ending in .gputrace.)";

void define_memory(py::module_& m);
void define_checks(py::module_& m);
void define_coverage(py::module_& m);
void define_profile(py::module_& m);
void define_debugger(py::module_& m);

void init_metal(py::module_& parent) {
  py::module_ m = parent.def_submodule("metal", "The Metal device.");
  m.def("is_available", &mx::metal::is_available,
        "Tells whether Metal kernels can run.\n\nReturns:\n    Whether they can.");
  m.def(
      "device_info", [] { return device_info_dict(mx::Device(mx::Device::gpu)); },
      kMetalDeviceInfoDoc);
  m.def("scalar_fallbacks", &mx::metal::scalar_fallbacks, kScalarFallbacksDoc);
  m.def(
      "start_capture", [](const std::string& path) { mx::metal::start_capture(path); },
      "path"_a = "", kStartCaptureDoc);
  m.def("stop_capture", &mx::metal::stop_capture, "Ends a capture.");
  define_memory(m);
  define_checks(m);
  define_coverage(m);
  define_profile(m);
  define_debugger(m);
}
