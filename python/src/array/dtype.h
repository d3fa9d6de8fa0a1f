// The Python objects of element types.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

#include "mlx/dtype.h"

namespace py = pybind11;
namespace mx = mlx::core;

// Returns the only object of a type: `a.dtype is mx.float32` holds.
py::object dtype_object(mx::Dtype dtype);

// "float32", "bool": the name in Python without the module.
std::string dtype_name(mx::Dtype dtype);
