// The families of operations: each binds functions of the module and methods of the class array.
#pragma once

#include <pybind11/pybind11.h>

#include "arguments.h"
#include "mlx/array.h"

using ArrayClass = py::class_<mx::array>;

void init_ops_unary(py::module_& m, ArrayClass& cls);
void init_ops_binary(py::module_& m, ArrayClass& cls);
void init_ops_create(py::module_& m, ArrayClass& cls);
void init_ops_shape(py::module_& m, ArrayClass& cls);
void init_ops_join(py::module_& m, ArrayClass& cls);
void init_ops_reduce(py::module_& m, ArrayClass& cls);
void init_ops_scan(py::module_& m, ArrayClass& cls);
void init_ops_index(py::module_& m, ArrayClass& cls);
void init_ops_linear(py::module_& m, ArrayClass& cls);
void init_ops_sort(py::module_& m, ArrayClass& cls);

// The parts of the class array itself.
void init_array_operators(ArrayClass& cls);
void init_array_conversions(ArrayClass& cls);
void init_array_indexing(py::module_& m, ArrayClass& cls);

// `stream=None`, by keyword only.
#define STREAM_KEYWORD py::kw_only(), py::arg("stream") = py::none()
