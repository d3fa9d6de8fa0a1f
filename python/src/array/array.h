// The class array: functions that define its parts, each in a file of its own.
#pragma once

#include <pybind11/pybind11.h>

#include "convert/array_caster.h"
#include "mlx/array.h"

namespace py = pybind11;
namespace mx = mlx::core;

using ArrayClass = py::class_<mx::array>;

void init_array_operators(ArrayClass& cls);
void init_array_indexing(py::module_& m, ArrayClass& cls);
