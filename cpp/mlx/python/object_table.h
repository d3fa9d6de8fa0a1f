// How modules that are not made with pybind11 exchange objects with mlx.core: functions that
// mlx.core has in a capsule.
#pragma once

#include <typeinfo>

#include "mlx/version.h"

namespace mlx::core::python {

// Of array, Dtype, Device, Device::DeviceType, Stream and ThreadLocalStream.
struct ObjectTable {
  // The C++ value of a Python object. Null if the object is of another class.
  void* (*value_of)(void* object, const std::type_info& type);
  // A new Python object with a copy of a value. Null, with an error set, if there is none.
  void* (*object_of)(const void* value, const std::type_info& type);
};

constexpr const char* kObjectTableAttribute = "_object_table";
// The name of the capsule. A module fits the core whose version it was built against.
constexpr const char* kObjectTableName = "mlx.core._object_table " MLX_ANYWHERE_VERSION;

}  // namespace mlx::core::python
