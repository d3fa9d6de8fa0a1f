// Functions that bind the parts of the module mlx.core.
#pragma once

#include <pybind11/pybind11.h>

namespace py = pybind11;

void init_dtype(py::module_& m);
void init_device(py::module_& m);
void init_stream(py::module_& m);
void init_memory(py::module_& m);
void init_cuda(py::module_& m);
void init_distributed(py::module_& m);
void init_metal(py::module_& m);
void init_array(py::module_& m);
void init_object_table(py::module_& m);
void init_print_options(py::module_& m);
void init_constants(py::module_& m);
void init_ops(py::module_& m);
void init_random(py::module_& m);
void init_linalg(py::module_& m);
void init_fft(py::module_& m);
void init_io(py::module_& m);
void init_fast(py::module_& m);
void init_transforms(py::module_& m);
