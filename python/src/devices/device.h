// Conversions of devices for other bindings.
#pragma once

#include <pybind11/pybind11.h>

#include "mlx/device.h"

namespace mlx::core::metal {
class KernelCheckError;
}

pybind11::dict device_info_dict(const mlx::core::Device& d);

// Sets Python's error.
void raise_check_error(const mlx::core::metal::KernelCheckError& error);
