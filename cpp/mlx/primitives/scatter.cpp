// Scatters: derivatives and vmap.
#include <algorithm>

#include "mlx/ops.h"
#include "mlx/primitives/indexing.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

namespace {

// The inputs of a scatter: target, indices and updates.
struct ScatterInputs {
  array target;
  std::vector<array> indices;
  array updates;
  std::vector<int> axes;
  Stream s;

  ScatterInputs(const std::vector<array>& inputs, std::vector<int> axes, const Stream& s)
      : target(inputs.front()),
        indices(inputs.begin() + 1, inputs.end() - 1),
        updates(inputs.back()),
        axes(std::move(axes)),
        s(s) {}

  Shape slice_sizes() const {
    return Shape(updates.shape().end() - static_cast<int>(target.ndim()), updates.shape().end());
  }
  // The elements of x at which updates are written.
  array at(const array& x) const { return gather(x, indices, axes, slice_sizes(), s); }
  array added(const array& x, const array& u) const { return scatter_add(x, indices, u, axes, s); }
  array zeros_at(const array& x) const {
    return scatter(x, indices, zeros_like(updates, s), axes, s);
  }

  // d(output) / d(update), for a product.
  array product_slope() const {
    array is_zero = equal(updates, scalar(0, updates), s);
    array nonzero = where(is_zero, scalar(1, updates), updates, s);
    array product = scatter_prod(target, indices, nonzero, axes, s);
    array zeros_there = at(added(zeros(target.shape(), int32, s), astype(is_zero, int32, s)));
    array rest = at(product);
    array zero = scalar(0, rest);
    array of_zeros = where(equal(zeros_there, array(1), s), rest, zero, s);
    array of_others = where(equal(zeros_there, array(0), s), divide(rest, nonzero, s), zero, s);
    return where(is_zero, of_zeros, of_others, s);
  }

  array product_of_updates() const {
    return scatter_prod(ones_like(target, s), indices, updates, axes, s);
  }
};

array combine(const ScatterInputs& p, Scatter::ReduceType type) {
  switch (type) {
    case Scatter::Max:
      return scatter_max(p.target, p.indices, p.updates, p.axes, p.s);
    case Scatter::Min:
      return scatter_min(p.target, p.indices, p.updates, p.axes, p.s);
    case Scatter::Sum:
      return scatter_add(p.target, p.indices, p.updates, p.axes, p.s);
    case Scatter::Prod:
      return scatter_prod(p.target, p.indices, p.updates, p.axes, p.s);
    default:
      return scatter(p.target, p.indices, p.updates, p.axes, p.s);
  }
}

}  // namespace

const char* Scatter::name() const {
  static constexpr const char* names[] = {"ScatterMax", "ScatterMin", "ScatterSum", "ScatterProd",
                                          "Scatter"};
  return names[reduce_type_];
}

std::vector<array> Scatter::jvp(const std::vector<array>& primals,
                                const std::vector<array>& tangents,
                                const std::vector<int>& argnums) {
  refuse_indices(argnums, 1, static_cast<int>(primals.size()) - 1, "scatter");
  ScatterInputs p(primals, axes_, stream());
  const Stream& s = stream();
  int of_target = position(argnums, 0);
  int of_updates = position(argnums, static_cast<int>(primals.size()) - 1);
  array t = of_target < 0 ? zeros_like(p.target, s) : tangents[of_target];
  array u = of_updates < 0 ? zeros_like(p.updates, s) : tangents[of_updates];
  switch (reduce_type_) {
    case None:
      return {scatter(t, p.indices, u, axes_, s)};
    case Sum:
      return {p.added(t, u)};
    case Prod:
      return {p.added(multiply(t, p.product_of_updates(), s), multiply(u, p.product_slope(), s))};
    default: {
      array out = combine(p, reduce_type_);
      array kept = where(equal(p.target, out, s), t, scalar(0, t), s);
      return {p.added(kept, where(equal(p.updates, p.at(out), s), u, scalar(0, u), s))};
    }
  }
}

std::vector<array> Scatter::vjp(const std::vector<array>& primals,
                                const std::vector<array>& cotangents,
                                const std::vector<int>& argnums,
                                const std::vector<array>& outputs) {
  refuse_indices(argnums, 1, static_cast<int>(primals.size()) - 1, "scatter");
  ScatterInputs p(primals, axes_, stream());
  const Stream& s = stream();
  const array& c = cotangents[0];
  array zero = scalar(0, c);
  auto of_target = [&]() {
    switch (reduce_type_) {
      case None:
        return p.zeros_at(c);
      case Sum:
        return c;
      case Prod:
        return multiply(c, p.product_of_updates(), s);
      default:
        return where(equal(p.target, outputs[0], s), c, zero, s);
    }
  };
  auto of_updates = [&]() {
    array there = p.at(c);
    switch (reduce_type_) {
      case None:
      case Sum:
        return there;
      case Prod:
        return multiply(there, p.product_slope(), s);
      default:
        return where(equal(p.updates, p.at(outputs[0]), s), there, zero, s);
    }
  };
  std::vector<array> vjps;
  for (int arg : argnums) {
    vjps.push_back(arg == 0 ? of_target() : of_updates());
  }
  return vjps;
}

VmapResult Scatter::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  const Stream& s = stream();
  size_t count = inputs.size() - 2;
  int n = mapped_length(inputs, axes);
  array target = axis_in_front_or_repeated(inputs[0], axes[0], n, s);
  if (n == 0) return {{target}, {0}};  // an axis of no elements has no place for updates
  array updates = axis_in_front_or_repeated(inputs.back(), axes.back(), n, s);
  int index_rank = count > 0 ? static_cast<int>(inputs[1].ndim()) - (axes[1] >= 0) : 0;

  // Element i of the updates is written to element i of the target: that is one more index.
  Shape batch_shape(index_rank + 1, 1);
  batch_shape[0] = n;
  std::vector<array> indices{reshape(arange(n, s), batch_shape, s)};
  for (size_t i = 1; i <= count; ++i) {
    indices.push_back(axis_in_front_or_new(inputs[i], axes[i], s));
  }
  auto all_axes = shifted(axes_);
  all_axes.insert(all_axes.begin(), 0);
  ScatterInputs p({target, target}, all_axes, s);
  p.indices = indices;
  p.updates = expand_dims(updates, index_rank + 1, s);
  return {{combine(p, reduce_type_)}, {0}};
}

// ---- ScatterAxis ----

const char* ScatterAxis::name() const {
  return reduce_type_ == Sum ? "ScatterAxisSum" : "ScatterAxis";
}

namespace {

array scatter_axis(const array& x, const array& indices, const array& u, int axis, bool sum,
                   const Stream& s) {
  return sum ? scatter_add_axis(x, indices, u, axis, s) : put_along_axis(x, indices, u, axis, s);
}

}  // namespace

std::vector<array> ScatterAxis::jvp(const std::vector<array>& primals,
                                    const std::vector<array>& tangents,
                                    const std::vector<int>& argnums) {
  refuse_indices(argnums, 1, 2, "put_along_axis");
  auto tangent = [&](int arg) {
    int at = position(argnums, arg);
    return at < 0 ? zeros_like(primals[arg], stream()) : tangents[at];
  };
  return {scatter_axis(tangent(0), primals[1], tangent(2), axis_, reduce_type_ == Sum, stream())};
}

std::vector<array> ScatterAxis::vjp(const std::vector<array>& primals,
                                    const std::vector<array>& cotangents,
                                    const std::vector<int>& argnums, const std::vector<array>&) {
  refuse_indices(argnums, 1, 2, "put_along_axis");
  const array& c = cotangents[0];
  std::vector<array> vjps;
  for (int arg : argnums) {
    if (arg == 0) {
      vjps.push_back(reduce_type_ == Sum
                         ? c
                         : put_along_axis(c, primals[1], array(0, c.dtype()), axis_, stream()));
    } else {
      vjps.push_back(take_along_axis(c, primals[1], axis_, stream()));
    }
  }
  return vjps;
}

VmapResult ScatterAxis::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  int n = mapped_length(inputs, axes);
  const Stream& s = stream();
  array x = axis_in_front_or_repeated(inputs[0], axes[0], n, s);
  array indices = axis_in_front_or_repeated(inputs[1], axes[1], n, s);
  array updates = axis_in_front_or_repeated(inputs[2], axes[2], n, s);
  return {{scatter_axis(x, indices, updates, axis_ + 1, reduce_type_ == Sum, s)}, {0}};
}

}  // namespace mlx::core
