// Subscripts of arrays: their parsed form, reading and updating.
#pragma once

#include <pybind11/pybind11.h>

#include <optional>
#include <vector>

#include "mlx/array.h"

namespace py = pybind11;
namespace mx = mlx::core;

// One part of a subscript. Except for new axes each part stands for one axis; a mask stands for as
// many as it has.
struct Subscript {
  enum class Kind { integer, slice, new_axis, array, mask };

  Kind kind;
  // slice: as range(start, stop, step) takes them; integer: `start`, not negative.
  int start = 0;
  int stop = 0;
  int step = 1;
  // slice: the number of elements; whether it is the whole axis in order.
  int extent = 1;
  bool whole = false;
  std::optional<mx::array> array;

  bool is_advanced() const { return kind == Kind::integer || kind == Kind::array; }
};

// Checks a subscript against the array's shape; Ellipsis and missing axes become whole slices.
std::vector<Subscript> parse_subscripts(const mx::array& a, py::handle key);

// The array of whole slices and integers that the basic parts select, with every axis of `a` still
// there.
mx::array basic_slice(const mx::array& a, const std::vector<Subscript>& parts);

// Where the axes that integers drop lie in `a`, and those that None adds lie in the result.
struct AxisChanges {
  std::vector<int> dropped;
  std::vector<int> added;
};
AxisChanges axis_changes(const std::vector<Subscript>& parts);

bool has_kind(const std::vector<Subscript>& parts, Subscript::Kind kind);

// NumPy's rule: results of advanced parts go first if something separates the parts, else to the
// first one's place. The number of whole and partial slices before that place.
int slices_before_advanced(const std::vector<Subscript>& parts);
int new_axes_before_advanced(const std::vector<Subscript>& parts);

mx::array get_item(const mx::array& a, py::handle key);

enum class Update { set, add, subtract, multiply, divide, maximum, minimum };
// The array with the selected elements updated by the value; indices that repeat accumulate.
mx::array update_item(const mx::array& a, py::handle key, py::handle value, Update update);
