// Conversions of devices and positions for other bindings.
#pragma once

#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <tuple>

#include "mlx/device.h"

namespace mlx::core::metal {
class KernelCheckError;
}

// The kind of devices that the object is, such as `mx.gpu`; nullopt for anything else. It is
// quicker than pybind11's conversion, which asks for the value in Python code.
std::optional<mlx::core::Device::DeviceType> device_type_of(pybind11::handle object);

pybind11::dict device_info_dict(const mlx::core::Device& d);

// Sets Python's error.
void raise_check_error(const mlx::core::metal::KernelCheckError& error);

// Along x, y and z.
inline std::tuple<uint32_t, uint32_t, uint32_t> to_tuple(const uint32_t (&value)[3]) {
  return {value[0], value[1], value[2]};
}
