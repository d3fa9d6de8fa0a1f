// Docstrings of bound functions, in the form that Python's tools read.
//
// A binding writes a sentence, and sections where they help:
//
//     Sums the elements along axes.
//
//     Args:
//         axis: The axes to reduce; None means all of them.
//
//     Returns:
//         The sums.
//
//     Example:
//         >>> mx.sum(mx.array([1, 2])).item()
//         3
//
// `finish_docs` puts the signature in front: pybind11's own, or the one that the docstring starts
// with where pybind11 knows too little (`object`, `*args`). It takes the types in "Args:" and
// "Returns:" from there, and describes the arguments that mean the same everywhere.
#pragma once

#include <pybind11/pybind11.h>

#include <string>

namespace py = pybind11;

// Call it when everything is bound. It covers all functions of a module, of its classes and its
// submodules.
void finish_docs(const py::module_& m);

// Makes the docstring of an elementwise function of one array, or of such a method, from a
// sentence.
std::string unary_doc(const char* sentence);
// Makes that of an elementwise function of two arrays or scalars.
std::string binary_doc(const char* sentence);
