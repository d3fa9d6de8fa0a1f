// Reading with subscripts.
#include <algorithm>
#include <numeric>
#include <stdexcept>

#include "indexing/indexing.h"
#include "mlx/ops/indexing.h"
#include "mlx/ops/shape.h"

namespace {

using Kind = Subscript::Kind;

mx::array get_basic(const mx::array& a, const std::vector<Subscript>& parts) {
  mx::array result = basic_slice(a, parts);
  AxisChanges changes = axis_changes(parts);
  if (!changes.dropped.empty()) result = mx::squeeze(result, changes.dropped);
  if (!changes.added.empty()) result = mx::expand_dims(result, changes.added);
  return result;
}

struct Gathered {
  mx::array array;  // the indices' axes, then one for every axis of the source
  int index_axes;
};

Gathered gather_parts(const mx::array& sliced, const std::vector<Subscript>& parts) {
  std::vector<mx::array> indices;
  std::vector<int> axes;
  mx::Shape sizes = sliced.shape(), index_shape;
  int axis = 0;
  for (const auto& p : parts) {
    if (p.kind == Kind::new_axis) continue;
    if (p.kind == Kind::array) {
      indices.push_back(*p.array);
      index_shape = mx::broadcast_shapes(index_shape, p.array->shape());
      axes.push_back(axis);
      sizes[axis] = 1;
    }
    ++axis;
  }
  return {mx::gather(sliced, indices, axes, sizes), static_cast<int>(index_shape.size())};
}

// Moves the indices' axes behind the slices that come before the advanced parts, and adds new axes.
mx::array place_index_axes(mx::array result, const std::vector<Subscript>& parts, int index_axes) {
  int before = slices_before_advanced(parts);
  if (before > 0) {
    std::vector<int> order(result.ndim());
    std::iota(order.begin(), order.end(), 0);
    std::rotate(order.begin(), order.begin() + index_axes, order.begin() + index_axes + before);
    result = mx::transpose(result, order);
  }
  int lead = before + new_axes_before_advanced(parts);
  std::vector<int> added;
  int out = 0;
  bool past = lead == 0;
  if (past) out = index_axes;
  for (const auto& p : parts) {
    if (p.is_advanced()) continue;
    if (!past && out == lead) {
      out += index_axes;
      past = true;
    }
    if (p.kind == Kind::new_axis) added.push_back(out);
    ++out;
  }
  return added.empty() ? result : mx::expand_dims(result, added);
}

mx::array get_advanced(const mx::array& a, const std::vector<Subscript>& parts) {
  mx::array sliced = basic_slice(a, parts);
  auto [result, index_axes] = gather_parts(sliced, parts);
  std::vector<int> consumed;
  int axis = index_axes;
  for (const auto& p : parts) {
    if (p.is_advanced()) consumed.push_back(axis);
    axis += p.kind != Kind::new_axis;
  }
  return place_index_axes(mx::squeeze(result, consumed), parts, index_axes);
}

}  // namespace

mx::array basic_slice(const mx::array& a, const std::vector<Subscript>& parts) {
  mx::Shape start, stop, step;
  bool whole = true;
  for (const auto& p : parts) {
    if (p.kind == Kind::new_axis) continue;
    int length = a.shape(static_cast<int>(start.size()));
    if (p.kind == Kind::slice) {
      start.push_back(p.start);
      // A negative stop here means "before the first element"; but -1 would mean the last one.
      stop.push_back(p.stop < 0 ? -length - 1 : p.stop);
      step.push_back(p.step);
      whole &= p.whole;
    } else if (p.kind == Kind::integer) {
      start.push_back(p.start);
      stop.push_back(p.start + 1);
      step.push_back(1);
      whole = false;
    } else {
      start.push_back(0);
      stop.push_back(length);
      step.push_back(1);
    }
  }
  return whole ? a : mx::slice(a, start, stop, step);
}

mx::array get_item(const mx::array& a, py::handle key) {
  auto parts = parse_subscripts(a, key);
  if (has_kind(parts, Kind::mask))
    throw std::invalid_argument("boolean indices are not yet supported");
  return has_kind(parts, Kind::array) ? get_advanced(a, parts) : get_basic(a, parts);
}
