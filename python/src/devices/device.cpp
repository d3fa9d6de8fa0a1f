// Device, DeviceType, and information about devices.
#include "devices/device.h"

#include <pybind11/native_enum.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <variant>

#include "convert/arguments.h"
#include "mlx/device.h"
#include "module.h"

using namespace pybind11::literals;

namespace {

const char* const kSetDefaultDeviceDoc = R"(set_default_device(device: Device | DeviceType) -> None

Makes operations run on a device by default.

Args:
    device: The device.)";

const char* const kIsAvailableDoc = R"(is_available(device: Device | DeviceType) -> bool

Tells whether operations can run on a device.

Args:
    device: The device.

Returns:
    Whether they can.)";

const char* const kDeviceCountDoc = R"(Counts the devices of a type.

Args:
    device_type: The type.

Returns:
    The number of devices.)";

const char* const kDeviceInfoDoc =
    R"(device_info(d: Device | DeviceType | None = None) -> dict[str, str | int]

Gives facts about a device.

Args:
    d: The device. None means the default one.

Returns:
    Its name, architecture, memory sizes in bytes and more.)";

using DeviceType = mx::Device::DeviceType;

// Of the CPU and the GPU: Python has a single object for each.
PyObject* type_objects[2] = {};

const char* device_type_name(DeviceType type) { return type == DeviceType::cpu ? "cpu" : "gpu"; }

std::string device_repr(const mx::Device& d) {
  return "Device(" + std::string(device_type_name(d.type)) + ", " + std::to_string(d.index) + ")";
}

// Equality with a Device or a DeviceType; nullopt for anything else.
std::optional<bool> equal(const mx::Device& d, py::handle other) {
  if (py::isinstance<mx::Device>(other)) return d == other.cast<mx::Device>();
  if (const auto type = device_type_of(other)) return d == mx::Device(*type);
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

void define_device_classes(py::module_& m) {
  py::native_enum<DeviceType>(m, "DeviceType", "enum.Enum", "The kinds of devices.")
      .value("cpu", DeviceType::cpu)
      .value("gpu", DeviceType::gpu)
      .export_values()
      .finalize();
  const py::object type = m.attr("DeviceType");
  type.attr("__repr__") = type.attr("__str__");
  for (DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    type_objects[static_cast<int>(kind)] = py::cast(kind).release().ptr();
  }
  // A member equals itself only, but `mx.gpu == mx.default_device()` must hold as well.
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
      .def(py::init<DeviceType, int>(), "type"_a, "index"_a = 0,
           "Args:\n    type: The type of the device.\n    index: Its number among those of the "
           "type.")
      .def_readonly("type", &mx::Device::type, "DeviceType: The type of the device.")
      .def_readonly("index", &mx::Device::index,
                    "int: The number of the device among those of its type.")
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
  define_device_classes(m);
  m.def(
      "default_device", [] { return mx::default_device(); },
      "Finds the device that operations run on by default.\n\nReturns:\n    The device.");
  m.def(
      "set_default_device", [](const mx::Device& d) { mx::set_default_device(d); }, "device"_a,
      kSetDefaultDeviceDoc);
  m.def(
      "is_available", [](const mx::Device& d) { return mx::is_available(d); }, "device"_a,
      kIsAvailableDoc);
  m.def(
      "device_count", [](DeviceType type) { return mx::device_count(type); }, "device_type"_a,
      kDeviceCountDoc);
  m.def(
      "device_info", [](const mx::Device* d) { return facts(d ? *d : mx::default_device()); },
      "d"_a = py::none(), kDeviceInfoDoc);
}

std::optional<DeviceType> device_type_of(py::handle object) {
  for (DeviceType kind : {DeviceType::cpu, DeviceType::gpu}) {
    if (object.ptr() == type_objects[static_cast<int>(kind)]) return kind;
  }
  return std::nullopt;
}

py::dict device_info_dict(const mx::Device& d) { return facts(d); }
