// mlx.core.metal: the Metal device, captures, and the older home of the memory functions.
#include "device.h"
#include "module.h"

#if __has_include("mlx/backend/metal/metal.h")
#include "mlx/backend/metal/metal.h"
#endif

using namespace pybind11::literals;
namespace mx = mlx::core;

void define_memory(py::module_& m);

void init_metal(py::module_& parent) {
  py::module_ m = parent.def_submodule("metal", "The Metal device.");
  m.def("is_available", [] { return mx::is_available(mx::Device(mx::Device::gpu)); }, "Whether Metal kernels can run.");
  m.def("device_info", [] { return device_info_dict(mx::Device(mx::Device::gpu)); }, "Facts about the Metal device.");
  define_memory(m);
}
