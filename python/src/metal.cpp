// mlx.core.metal: the Metal device, captures, and the older home of the memory functions.
#include "mlx/backend/metal/metal.h"

#include <string>

#include "device.h"
#include "module.h"

using namespace pybind11::literals;
namespace mx = mlx::core;

void define_memory(py::module_& m);

void init_metal(py::module_& parent) {
  py::module_ m = parent.def_submodule("metal", "The Metal device.");
  m.def("is_available", &mx::metal::is_available, "Whether Metal kernels can run.");
  m.def(
      "device_info", [] { return device_info_dict(mx::Device(mx::Device::gpu)); },
      "Facts about the Metal device.");
  m.def(
      "scalar_fallbacks", &mx::metal::scalar_fallbacks,
      R"(How many kernels of this process run one thread at a time on the CPU because they have no vector
form. ``metal_kernel(..., verbose=True)`` says which, and why.

Returns:
  int: The number since the process began; each size of threadgroups that needs code of its own counts.)");
  m.def(
      "start_capture", [](const std::string& path) { mx::metal::start_capture(path); },
      "path"_a = "",
      "Accepts the path of a GPU trace (.gputrace); there is no tool to record one here.");
  m.def("stop_capture", &mx::metal::stop_capture, "Ends a capture.");
  define_memory(m);
}
