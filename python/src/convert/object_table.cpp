// What modules that are not made with pybind11 call to exchange objects with mlx.core.
#include "mlx/python/object_table.h"

#include <optional>

#include "convert/array_caster.h"
#include "devices/device.h"
#include "mlx/array.h"
#include "mlx/device.h"
#include "mlx/dtype.h"
#include "mlx/stream.h"
#include "module.h"

namespace mx = mlx::core;

namespace {

using DeviceType = mx::Device::DeviceType;

// What lives as long as the module, for a kind of device such as mx.gpu: that kind, whose Python
// object has no C++ object inside, or the first device of the kind, for which it stands.
void* value_of_kind(DeviceType kind, const std::type_info& type) {
  static mx::Device devices[] = {mx::Device::cpu, mx::Device::gpu};
  mx::Device& first = devices[kind == DeviceType::cpu ? 0 : 1];
  if (type == typeid(DeviceType)) return &first.type;
  return type == typeid(mx::Device) ? &first : nullptr;
}

void* value_of(void* object, const std::type_info& type) {
  py::handle source(static_cast<PyObject*>(object));
  if (source.is_none()) return nullptr;
  if (const auto kind = device_type_of(source)) return value_of_kind(*kind, type);
  py::detail::type_caster_generic caster(type);
  return caster.load(source, /*convert=*/false) ? caster.value : nullptr;
}

template <typename T>
bool copy_if(const void* value, const std::type_info& type, py::object& copy) {
  if (type != typeid(T)) return false;
  copy = py::cast(*static_cast<const T*>(value), py::return_value_policy::copy);
  return true;
}

void* object_of(const void* value, const std::type_info& type) {
  try {
    py::object copy;
    if (copy_if<mx::array>(value, type, copy) || copy_if<mx::Dtype>(value, type, copy) ||
        copy_if<mx::Device>(value, type, copy) || copy_if<DeviceType>(value, type, copy) ||
        copy_if<mx::Stream>(value, type, copy) ||
        copy_if<mx::ThreadLocalStream>(value, type, copy)) {
      return copy.release().ptr();
    }
    PyErr_SetString(PyExc_TypeError, "mlx.core has no class for this type.");
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

}  // namespace

void init_object_table(py::module_& m) {
  static const mx::python::ObjectTable table = {value_of, object_of};
  m.attr(mx::python::kObjectTableAttribute) = py::capsule(&table, mx::python::kObjectTableName);
}
