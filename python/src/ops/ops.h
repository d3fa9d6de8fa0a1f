// The families of operations: each binds functions of the module and methods of the class array.
#pragma once

#include <pybind11/pybind11.h>

#include "array/array.h"
#include "convert/arguments.h"

void init_ops_unary(py::module_& m, ArrayClass& cls);
void init_ops_binary(py::module_& m, ArrayClass& cls);
void init_ops_create(py::module_& m, ArrayClass& cls);
void init_ops_shape(py::module_& m, ArrayClass& cls);
void init_ops_join(py::module_& m, ArrayClass& cls);
void init_ops_reduce(py::module_& m, ArrayClass& cls);
void init_ops_scan(py::module_& m, ArrayClass& cls);
void init_ops_index(py::module_& m, ArrayClass& cls);
void init_ops_linear(py::module_& m, ArrayClass& cls);
void init_ops_convolution(py::module_& m, ArrayClass& cls);
void init_ops_grouped(py::module_& m, ArrayClass& cls);
void init_ops_quantized(py::module_& m, ArrayClass& cls);
void init_ops_sort(py::module_& m, ArrayClass& cls);

// `stream=None`, by keyword only.
#define STREAM_KEYWORD py::kw_only(), py::arg("stream") = py::none()
