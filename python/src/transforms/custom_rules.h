// Conversions between what rules of custom functions return and flat arrays.
#pragma once

#include "transforms/trees.h"

// Appends one gradient for each array marker in `structure`: None anywhere in the gradient stands
// for zeros. `primals` are all arrays of the structure's tree; `position` is where this part
// begins, and is advanced.
void append_gradients(py::handle structure, py::handle gradient, const Arrays& primals,
                      size_t& position, Arrays& out);

// The gradients by the positional and keyword arguments that a vjp rule returned.
Arrays flatten_rule_result(py::handle inputs_structure, py::handle result, const Arrays& primals,
                           const char* op);

// Appends the axis of every array marker; an int or None counts for all below it. None is -1.
void append_axes(py::handle structure, py::handle axes, std::vector<int>& out);
// The structure with the axes in place of the markers, None for -1.
py::object axes_tree(py::handle structure, const std::vector<int>& axes);
