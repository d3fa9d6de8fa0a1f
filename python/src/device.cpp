// Device, DeviceType and what can be asked about devices.
#include "device.h"

#include <optional>
#include <stdexcept>
#include <string>
#include <variant>

#include "arguments.h"
#include "mlx/device.h"
#include "module.h"
#include "plain_enum.h"

using namespace pybind11::literals;

namespace {

using DeviceType = mx::Device::DeviceType;

const char* type_name(DeviceType type) { return type == DeviceType::cpu ? "cpu" : "gpu"; }

std::string device_repr(const mx::Device& d) {
  return "Device(" + std::string(type_name(d.type)) + ", " + std::to_string(d.index) + ")";
}

// Equality with a Device or a DeviceType; nullopt for anything else.
std::optional<bool> equal(const mx::Device& d, py::handle other) {
  if (py::isinstance<mx::Device>(other)) return d == other.cast<mx::Device>();
  if (py::isinstance<DeviceType>(other)) return d == mx::Device(other.cast<DeviceType>());
  return std::nullopt;
}

py::dict facts(const mx::Device& d) {
  py::dict result;
  for (const auto& [key, value] : mx::device_info(d)) {
    if (auto* text = std::get_if<std::string>(&value)) {
      result[py::str(key)] = *text;
    } else {
      result[py::str(key)] = std::get<size_t>(value);
    }
  }
  return result;
}

void define_classes(py::module_& m) {
  auto type = py::enum_<DeviceType>(m, "DeviceType", "The kinds of devices.")
                  .value("cpu", DeviceType::cpu)
                  .value("gpu", DeviceType::gpu)
                  .export_values();
  forget_numbers(type);
  // pybind11's comparison is false for every other type; `mx.gpu == mx.default_device()` must hold
  // as well.
  type.attr("__eq__") = py::cpp_function(
      [](DeviceType self, py::handle other) {
        return equal(mx::Device(self), other).value_or(false);
      },
      py::name("__eq__"), py::is_method(type));
  type.attr("__ne__") = py::cpp_function(
      [](DeviceType self, py::handle other) {
        return !equal(mx::Device(self), other).value_or(false);
      },
      py::name("__ne__"), py::is_method(type));

  py::class_<mx::Device>(m, "Device", "A device to run operations on.")
      .def(py::init<DeviceType, int>(), "type"_a, "index"_a = 0)
      .def_readonly("type", &mx::Device::type)
      .def_readonly("index", &mx::Device::index)
      .def("__repr__", &device_repr)
      .def("__hash__",
           [](const mx::Device& d) { return (static_cast<Py_hash_t>(d.type) << 16) + d.index + 1; })
      .def("__eq__", [](const mx::Device& d, py::handle o) { return equal(d, o).value_or(false); })
      .def("__ne__", [](const mx::Device& d, py::handle o) { return !equal(d, o).value_or(false); })
      .def(py::pickle(
          [](const mx::Device& d) { return py::make_tuple(d.type == DeviceType::gpu, d.index); },
          [](const py::tuple& t) {
            return mx::Device(t[0].cast<bool>() ? DeviceType::gpu : DeviceType::cpu,
                              t[1].cast<int>());
          }));
  py::implicitly_convertible<DeviceType, mx::Device>();
}

}  // namespace

void init_device(py::module_& m) {
  define_classes(m);
  m.def(
      "default_device", [] { return mx::default_device(); },
      "The device that operations run on by default.");
  m.def(
      "set_default_device", [](const mx::Device& d) { mx::set_default_device(d); }, "device"_a,
      "Makes operations run on `device` by default.");
  m.def(
      "is_available", [](const mx::Device& d) { return mx::is_available(d); }, "device"_a,
      "Whether operations can run on `device`.");
  m.def(
      "device_count", [](DeviceType type) { return mx::device_count(type); }, "device_type"_a,
      "The number of devices of a type.");
  m.def(
      "device_info", [](const mx::Device* d) { return facts(d ? *d : mx::default_device()); },
      "d"_a = py::none(), "Facts about a device: its name, architecture, memory and more.");
}

py::dict device_info_dict(const mx::Device& d) { return facts(d); }
