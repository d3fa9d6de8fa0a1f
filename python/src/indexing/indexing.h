// Subscripts of arrays: parsing, reading and updating.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

#include "mlx/array.h"

namespace py = pybind11;
namespace mx = mlx::core;

// One part of a subscript. Each part refers to one axis, except that new axes refer to none, and
// masks to as many as they have.
struct Subscript {
  enum class Kind { integer, slice, new_axis, array, mask };

  Kind kind;
  // slice: as in range(start, stop, step); integer: `start`, not negative.
  int start = 0;
  int stop = 0;
  int step = 1;
  // slice: the number of elements, and whether it is the whole axis in order.
  int extent = 1;
  bool whole = false;
  // slice: whether it has these bounds in any axis that is not shorter: it does not count from the
  // end.
  bool fixed = false;
  std::optional<mx::array> array;
  // array: whether the user gave an integer.
  bool from_integer = false;

  bool is_advanced() const { return kind == Kind::integer || kind == Kind::array; }
};

// Checks a subscript against the array's shape; an Ellipsis and missing axes become whole slices.
std::vector<Subscript> parse_subscripts(const mx::array& a, py::handle key);

// The array after all slices and integers are applied. It keeps all axes of `a`.
mx::array basic_slice(const mx::array& a, const std::vector<Subscript>& parts);

// The axes of `a` that integers drop, and the axes of the result that None adds.
struct AxisChanges {
  std::vector<int> dropped;
  std::vector<int> added;
};
AxisChanges axis_changes(const std::vector<Subscript>& parts);

bool has_kind(const std::vector<Subscript>& parts, Subscript::Kind kind);

// NumPy's rule: the axes of advanced parts come first if another part separates them, else at the
// position of the first advanced part. Returns the number of slices before that position.
int slices_before_advanced(const std::vector<Subscript>& parts);
int new_axes_before_advanced(const std::vector<Subscript>& parts);

mx::array get_item(const mx::array& a, py::handle key);

enum class Update { set, add, subtract, multiply, divide, maximum, minimum };
// Returns the array with the selected elements updated; repeated indices accumulate.
mx::array update_item(const mx::array& a, py::handle key, py::handle value, Update update);
