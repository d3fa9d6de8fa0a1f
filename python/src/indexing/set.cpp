// Updating with subscripts.
#include <numeric>
#include <stdexcept>

#include "convert/arguments.h"
#include "convert/convert.h"
#include "indexing/indexing.h"
#include "mlx/ops.h"
#include "mlx/transforms_impl.h"

namespace {

using Kind = Subscript::Kind;

bool divides_integers(const mx::array& a, Update update) {
  return update == Update::divide && !mx::issubdtype(a.dtype(), mx::inexact);
}

mx::array combine(const mx::array& a, const mx::array& b, Update update) {
  switch (update) {
    case Update::set:
      return mx::broadcast_to(b, a.shape());
    case Update::add:
      return mx::add(a, b);
    case Update::subtract:
      return mx::subtract(a, b);
    case Update::multiply:
      return mx::multiply(a, b);
    case Update::divide:
      return mx::astype(mx::divide(a, b), a.dtype());
    case Update::maximum:
      return mx::maximum(a, b);
    case Update::minimum:
      return mx::minimum(a, b);
  }
  throw std::logic_error("[combine] Unknown update.");
}

mx::array scatter(const mx::array& a, const std::vector<mx::array>& indices,
                  const mx::array& values, const std::vector<int>& axes, Update update) {
  switch (update) {
    case Update::set:
      return mx::scatter(a, indices, values, axes);
    case Update::add:
      return mx::scatter_add(a, indices, values, axes);
    case Update::subtract:
      return mx::scatter_add(a, indices, mx::negative(values), axes);
    case Update::multiply:
      return mx::scatter_prod(a, indices, values, axes);
    case Update::divide:
      return mx::scatter_prod(a, indices, mx::reciprocal(values), axes);
    case Update::maximum:
      return mx::scatter_max(a, indices, values, axes);
    case Update::minimum:
      return mx::scatter_min(a, indices, values, axes);
  }
  throw std::logic_error("[scatter] Unknown update.");
}

// Drops axes of length 1 in front of the target's axes, which do not matter.
mx::array drop_leading_ones(const mx::array& value, size_t ndim) {
  std::vector<int> axes;
  while (value.ndim() - axes.size() > ndim && value.shape(static_cast<int>(axes.size())) == 1) {
    axes.push_back(static_cast<int>(axes.size()));
  }
  return axes.empty() ? value : mx::squeeze(value, axes);
}

mx::array fit(const mx::array& value, const mx::Shape& shape) {
  return mx::broadcast_to(drop_leading_ones(value, shape.size()), shape);
}

mx::array update_basic(const mx::array& a, const std::vector<Subscript>& parts,
                       const mx::array& value, Update update) {
  mx::Shape shape, start, stop, step;
  for (const auto& p : parts) {
    if (p.kind == Kind::new_axis) {
      shape.push_back(1);
      continue;
    }
    int length = a.shape(static_cast<int>(start.size()));
    bool slice = p.kind == Kind::slice;
    if (slice) shape.push_back(p.extent);
    start.push_back(p.start);
    stop.push_back(!slice ? p.start + 1 : p.stop < 0 ? -length - 1 : p.stop);
    step.push_back(slice ? p.step : 1);
  }
  mx::array fitted = fit(value, shape);
  AxisChanges changes = axis_changes(parts);
  if (!changes.added.empty()) fitted = mx::squeeze(fitted, changes.added);
  if (!changes.dropped.empty()) fitted = mx::expand_dims(fitted, changes.dropped);
  mx::array updated =
      update == Update::set ? fitted : combine(basic_slice(a, parts), fitted, update);
  updated = mx::astype(updated, a.dtype());
  if (updated.shape() == a.shape() && start == mx::Shape(a.ndim(), 0) &&
      step == mx::Shape(a.ndim(), 1))
    return updated;
  return mx::slice_update(a, updated, start, stop, step);
}

// The arguments of a scatter for the advanced parts and the slices between them.
struct ScatterPlan {
  std::vector<mx::array>
      indices;  // broadcastable to the array indices' axes, then the partial slices'
  std::vector<int> axes;
  std::vector<int> order;      // of the value's axes: array indices, partial slices, whole slices
  mx::Shape value_shape;       // as the user sees it, with new axes
  std::vector<int> new_axes;   // in value_shape
  std::vector<int> unit_axes;  // to add to the value: one for each indexed axis
};

mx::Shape index_shape_of(const std::vector<Subscript>& parts) {
  mx::Shape shape;
  for (const auto& p : parts) {
    if (p.kind == Kind::array) shape = mx::broadcast_shapes(shape, p.array->shape());
  }
  return shape;
}

// How many of the value's axes come before those of the array indices. In MLX, integers count as
// array indices where elements are read, but not here: a[0, :, [1, 2]] has the indices' axis first,
// and the value of a[0, :, [1, 2]] = value has the slice's.
int axes_before_indices(std::vector<Subscript> parts) {
  std::erase_if(parts,
                [](const Subscript& p) { return p.kind == Kind::integer || p.from_integer; });
  return slices_before_advanced(parts) + new_axes_before_advanced(parts);
}

// Computes the axes of the value as the user sees it.
void plan_value(const std::vector<Subscript>& parts, const mx::Shape& index_shape,
                ScatterPlan& plan) {
  int k = static_cast<int>(index_shape.size());
  int lead = axes_before_indices(parts);
  std::vector<int> partial, whole, index_axes;
  int slices = 0;  // excluding new axes
  auto put_index_axes = [&] {
    for (int extent : index_shape) {
      plan.value_shape.push_back(extent);
      index_axes.push_back(slices++);
    }
  };
  bool placed = false;
  for (const auto& p : parts) {
    if (!placed && static_cast<int>(plan.value_shape.size()) == lead) {
      put_index_axes();
      placed = true;
    }
    if (p.kind == Kind::new_axis) {
      plan.new_axes.push_back(static_cast<int>(plan.value_shape.size()));
      plan.value_shape.push_back(1);
    } else if (p.kind == Kind::slice) {
      plan.value_shape.push_back(p.extent);
      (p.whole ? whole : partial).push_back(slices++);
    }
  }
  if (!placed) put_index_axes();
  plan.order = std::move(index_axes);
  plan.order.insert(plan.order.end(), partial.begin(), partial.end());
  plan.order.insert(plan.order.end(), whole.begin(), whole.end());
  int indexed = k + static_cast<int>(partial.size());
  int axis = 0;
  for (const auto& p : parts) {
    if (p.kind == Kind::new_axis) continue;
    if (p.is_advanced() || !p.whole) plan.unit_axes.push_back(indexed + axis);
    ++axis;
  }
}

void plan_indices(const std::vector<Subscript>& parts, int k, ScatterPlan& plan) {
  int partial = 0, count = 0, axis = 0;
  for (const auto& p : parts) partial += p.kind == Kind::slice && !p.whole;
  for (const auto& p : parts) {
    if (p.kind == Kind::new_axis) continue;
    if (p.kind == Kind::array) {
      mx::Shape shape = p.array->shape();
      shape.insert(shape.end(), partial, 1);
      plan.indices.push_back(mx::reshape(*p.array, shape));
      plan.axes.push_back(axis);
    } else if (p.kind == Kind::integer) {
      plan.indices.push_back(mx::array(p.start));
      plan.axes.push_back(axis);
    } else if (!p.whole) {
      mx::Shape shape(k + partial, 1);
      shape[k + count++] = p.extent;
      std::vector<int> positions(p.extent);
      for (int i = 0; i < p.extent; ++i) positions[i] = p.start + i * p.step;
      plan.indices.push_back(mx::array(positions.data(), shape, mx::int32));
      plan.axes.push_back(axis);
    }
    ++axis;
  }
}

mx::array update_advanced(const mx::array& a, const std::vector<Subscript>& parts,
                          const mx::array& value, Update update) {
  mx::Shape index_shape = index_shape_of(parts);
  ScatterPlan plan;
  plan_value(parts, index_shape, plan);
  plan_indices(parts, static_cast<int>(index_shape.size()), plan);
  mx::array fitted = fit(value, plan.value_shape);
  if (!plan.new_axes.empty()) fitted = mx::squeeze(fitted, plan.new_axes);
  fitted = mx::expand_dims(mx::transpose(fitted, plan.order), plan.unit_axes);
  if (divides_integers(a, update)) {
    return mx::astype(scatter(mx::astype(a, mx::float32), plan.indices,
                              mx::astype(fitted, mx::float32), plan.axes, update),
                      a.dtype());
  }
  return scatter(a, plan.indices, fitted, plan.axes, update);
}

// Whether a function is being recorded for all shapes, and the slices select the same elements in
// all of them. A scatter can say which, but the bounds of a view are those of one shape.
bool is_for_all_shapes(const std::vector<Subscript>& parts) {
  if (!mx::detail::InTracing::in_dynamic_tracing()) return false;
  bool partial = false;
  for (const auto& p : parts) {
    if (p.kind == Kind::slice && !p.whole && !p.fixed) return false;
    partial |= p.kind == Kind::slice && !p.whole;
  }
  return partial;
}

// Each element that the mask selects takes a value of its own. A transformation that records a
// function does not know the mask, and repeats the last value.
void check_enough_values(const mx::array& mask, int values) {
  if (mx::detail::InTracing::in_tracing()) return;
  const int selected = mx::sum(mask).item<int>();
  if (selected > values) {
    throw std::runtime_error("The mask selects " + std::to_string(selected) +
                             " elements, but there are " + std::to_string(values) + " values.");
  }
}

// Updates by a mask among whole slices.
mx::array update_masked(const mx::array& a, const std::vector<Subscript>& parts,
                        const mx::array& value, Update update) {
  int first = 0, after = 0;
  std::optional<mx::array> mask;
  for (const auto& p : parts) {
    if (p.kind == Kind::mask && !mask) {
      mask = p.array;
    } else if (p.kind == Kind::slice && p.whole) {
      ++(mask ? after : first);
    } else {
      throw std::invalid_argument("A boolean mask can only be combined with whole slices.");
    }
  }
  mx::Shape masked_shape(a.shape().begin() + first, a.shape().begin() + first + mask->ndim());
  if (mask->shape() != masked_shape) {
    throw std::invalid_argument("The mask has shape " + mx::shape_to_string(mask->shape()) +
                                " but indexes axes of shape " + mx::shape_to_string(masked_shape) +
                                ".");
  }
  mx::Shape shape(first, 1);
  shape.insert(shape.end(), mask->shape().begin(), mask->shape().end());
  shape.insert(shape.end(), after, 1);
  mx::array condition = mx::reshape(*mask, shape);
  // The value has one axis for all selected elements, before the axes of the slices behind the
  // mask.
  int list_axis = static_cast<int>(value.ndim()) - after - 1;
  mx::array v = value;
  if (list_axis >= 0 && v.shape(list_axis) != 1) {
    if (first > 0 || update != Update::set) {
      throw std::invalid_argument(
          "A list of values can only be assigned to a mask of the leading axes.");
    }
    check_enough_values(*mask, v.shape(list_axis));
    mx::Shape source_shape(a.shape().begin() + mask->ndim(), a.shape().end());
    source_shape.insert(source_shape.begin(), v.shape(list_axis));
    return mx::masked_scatter(a, *mask, mx::astype(fit(v, source_shape), a.dtype()));
  }
  if (list_axis >= 0 && mask->ndim() != 1) {
    v = mx::squeeze(v, list_axis);
    std::vector<int> axes(mask->ndim());
    std::iota(axes.begin(), axes.end(), list_axis);
    if (!axes.empty()) v = mx::expand_dims(v, axes);
  }
  mx::array updated = combine(a, drop_leading_ones(v, a.ndim()), update);
  return mx::where(condition, mx::astype(updated, a.dtype()), a);
}

// The value of an assignment takes the array's type.
mx::array value_array(py::handle value, const mx::array& a) {
  bool scalar_or_array = is_array_like(value);
  return scalar_or_array
             ? to_array(value, a.dtype())
             : array_from_object(py::reinterpret_borrow<py::object>(value), std::nullopt);
}

}  // namespace

mx::array update_item(const mx::array& a, py::handle key, py::handle value, Update update) {
  auto parts = parse_subscripts(a, key);
  mx::array v = value_array(value, a);
  // Every kind of subscript computes in the array's type. Only what divides integers is a fraction.
  if (!divides_integers(a, update)) v = mx::astype(v, a.dtype());
  if (has_kind(parts, Kind::mask)) return update_masked(a, parts, v, update);
  return has_kind(parts, Kind::array) || is_for_all_shapes(parts)
             ? update_advanced(a, parts, v, update)
             : update_basic(a, parts, v, update);
}
