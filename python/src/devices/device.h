// Conversions of devices for other bindings.
#pragma once

#include <pybind11/pybind11.h>

#include "mlx/device.h"

pybind11::dict device_info_dict(const mlx::core::Device& d);
