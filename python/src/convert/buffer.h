// The buffer protocol of arrays.
#pragma once

#include <pybind11/pybind11.h>

// Makes objects of the type export their memory. The view keeps the memory alive even if the array
// object is assigned to.
void install_buffer_protocol(PyHeapTypeObject* type);
