// The buffer protocol of arrays.
#pragma once

#include <pybind11/pybind11.h>

// Makes objects of the type export their memory. A view keeps it alive even if the array is
// assigned to.
void install_buffer_protocol(PyHeapTypeObject* type);
