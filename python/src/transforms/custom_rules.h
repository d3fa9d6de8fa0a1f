// Converts the results of rules of custom functions to flat arrays.
#pragma once

#include "transforms/trees.h"

// Appends one gradient for each array marker in `structure`: None anywhere in the gradient means
// zeros. `primals` are all arrays of the structure's tree; this part begins at `position`, which is
// advanced.
void append_gradients(py::handle structure, py::handle gradient, const Arrays& primals,
                      size_t& position, Arrays& out);

// The gradients for the positional and keyword arguments that a vjp rule returned. Those of the
// last positional arguments may be missing if no keyword argument is an array.
Arrays flatten_rule_result(py::handle inputs_structure, py::handle result, const Arrays& primals,
                           const char* op);

// Appends the axis of every array marker; an int or None applies to all markers below it. None
// becomes -1.
void append_axes(py::handle structure, py::handle axes, std::vector<int>& out);
// The structure with the axes in place of the markers; -1 becomes None.
py::object axes_tree(py::handle structure, const std::vector<int>& axes);
