// Reductions, softmax: shapes, derivatives, vmap.
#include "mlx/primitives/reduce.h"

#include <algorithm>

#include "mlx/ops.h"
#include "mlx/ops/build.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

namespace {

Shape with_ones(Shape shape, const std::vector<int>& axes) {
  for (int axis : axes) {
    shape[axis] = 1;
  }
  return shape;
}

// For each element, the product of all other elements in its reduction.
array product_of_others(const array& x, const std::vector<int>& axes, const Stream& s) {
  return along_axes(x, axes, true, s, [&](const array& last) {
    array before = cumprod(last, -1, false, false, s);
    array after = cumprod(last, -1, true, false, s);
    return multiply(before, after, s);
  });
}

// 1 at the maximum (or minimum), divided equally among equal elements.
array share_of_extreme(const array& x, const array& out, const std::vector<int>& axes, Dtype dtype,
                       const Stream& s) {
  array mask = astype(equal(x, out, s), dtype, s);
  return divide(mask, sum(mask, axes, true, s), s);
}

}  // namespace

const char* Reduce::name() const {
  static constexpr const char* names[] = {"And", "Or", "Sum", "Prod", "Min", "Max", "Mean"};
  return names[reduce_type_];
}

std::vector<Shape> Reduce::output_shapes(const std::vector<array>& inputs) {
  return {with_ones(inputs[0].shape(), axes_)};
}

std::vector<array> Reduce::jvp(const std::vector<array>& primals,
                               const std::vector<array>& tangents, const std::vector<int>&) {
  const array& x = primals[0];
  const array& t = tangents[0];
  const Stream& s = stream();
  switch (reduce_type_) {
    case Sum:
      return {sum(t, axes_, true, s)};
    case Mean:
      return {mean(t, axes_, true, s)};
    case Prod:
      return {sum(multiply(t, product_of_others(x, axes_, s), s), axes_, true, s)};
    case Min:
    case Max: {
      array out = reduce_type_ == Min ? min(x, axes_, true, s) : max(x, axes_, true, s);
      return {sum(multiply(t, share_of_extreme(x, out, axes_, t.dtype(), s), s), axes_, true, s)};
    }
    default:
      return {zeros(with_ones(x.shape(), axes_), t.dtype(), s)};
  }
}

std::vector<array> Reduce::vjp(const std::vector<array>& primals,
                               const std::vector<array>& cotangents, const std::vector<int>&,
                               const std::vector<array>& outputs) {
  const array& x = primals[0];
  const Stream& s = stream();
  array cotangent = astype(cotangents[0], x.dtype(), s);
  switch (reduce_type_) {
    case Sum:
      return {broadcast_arrays({cotangent, x}, s)[0]};
    case Mean: {
      const Dtype type = wide(x.dtype());
      const array share = divide(astype(cotangent, type, s), number_along(x, axes_, 0, type, s), s);
      return {broadcast_arrays({astype(share, x.dtype(), s), x}, s)[0]};
    }
    case Prod:
      return {multiply(cotangent, product_of_others(conjugate(x, s), axes_, s), s)};
    case Min:
    case Max:
      return {multiply(cotangent, share_of_extreme(x, outputs[0], axes_, cotangent.dtype(), s), s)};
    default:
      return {zeros_like(x, s)};
  }
}

VmapResult Reduce::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array x = axis_in_front(inputs[0], axes[0], stream());
  auto moved = shifted(axes_);
  switch (reduce_type_) {
    case And:
      return {{all(x, moved, true, stream())}, {0}};
    case Or:
      return {{any(x, moved, true, stream())}, {0}};
    case Sum:
      return {{sum(x, moved, true, stream())}, {0}};
    case Prod:
      return {{prod(x, moved, true, stream())}, {0}};
    case Min:
      return {{min(x, moved, true, stream())}, {0}};
    case Mean:
      return {{mean(x, moved, true, stream())}, {0}};
    default:
      return {{max(x, moved, true, stream())}, {0}};
  }
}

// ---- Variance ----

namespace {

array distances_from_mean(const array& x, const std::vector<int>& axes, const Stream& s) {
  array wider = astype(x, wide(x.dtype()), s);
  return subtract(wider, mean(wider, axes, true, s), s);
}

// 2 / n * x, where n is the number that variances divide by.
array twice_share(const array& x, const array& elements, const std::vector<int>& axes, int ddof,
                  const Stream& s) {
  const array n = number_along(elements, axes, ddof, x.dtype(), s);
  return divide(multiply(scalar(2, x), x, s), n, s);
}

}  // namespace

std::vector<Shape> Variance::output_shapes(const std::vector<array>& inputs) {
  return {with_ones(inputs[0].shape(), axes_)};
}

std::vector<array> Variance::jvp(const std::vector<array>& primals,
                                 const std::vector<array>& tangents, const std::vector<int>&) {
  const array& x = primals[0];
  const Stream& s = stream();
  array moved = multiply(distances_from_mean(x, axes_, s), tangents[0], s);
  array change = twice_share(sum(moved, axes_, true, s), x, axes_, ddof_, s);
  return {astype(change, x.dtype(), s)};
}

std::vector<array> Variance::vjp(const std::vector<array>& primals,
                                 const std::vector<array>& cotangents, const std::vector<int>&,
                                 const std::vector<array>&) {
  const array& x = primals[0];
  const Stream& s = stream();
  const array distances = distances_from_mean(x, axes_, s);
  array share = twice_share(astype(cotangents[0], distances.dtype(), s), x, axes_, ddof_, s);
  return {astype(multiply(distances, share, s), x.dtype(), s)};
}

VmapResult Variance::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array x = axis_in_front(inputs[0], axes[0], stream());
  return {{var(x, shifted(axes_), true, ddof_, stream())}, {0}};
}

// ---- ArgReduce ----

const char* ArgReduce::name() const { return reduce_type_ == ArgMin ? "ArgMin" : "ArgMax"; }

std::vector<Shape> ArgReduce::output_shapes(const std::vector<array>& inputs) {
  return {with_ones(inputs[0].shape(), {axis_})};
}

std::vector<array> ArgReduce::jvp(const std::vector<array>& primals,
                                  const std::vector<array>& tangents, const std::vector<int>&) {
  return {zeros(with_ones(primals[0].shape(), {axis_}), tangents[0].dtype(), stream())};
}

std::vector<array> ArgReduce::vjp(const std::vector<array>& primals, const std::vector<array>&,
                                  const std::vector<int>& argnums, const std::vector<array>&) {
  return zero_cotangents(primals, argnums, stream());
}

VmapResult ArgReduce::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array x = axis_in_front(inputs[0], axes[0], stream());
  array out = reduce_type_ == ArgMin ? argmin(x, axis_ + 1, true, stream())
                                     : argmax(x, axis_ + 1, true, stream());
  return {{out}, {0}};
}

// ---- Softmax ----

namespace {

// The Jacobian of softmax is symmetric: tangents and cotangents have the same rule.
array softmax_derivative(const array& y, const array& t, const Stream& s) {
  array weighted = multiply(y, t, s);
  return subtract(weighted, multiply(y, sum(weighted, -1, true, s), s), s);
}

}  // namespace

std::vector<array> Softmax::jvp(const std::vector<array>& primals,
                                const std::vector<array>& tangents, const std::vector<int>&) {
  return {softmax_derivative(softmax(primals[0], -1, precise_, stream()), tangents[0], stream())};
}

std::vector<array> Softmax::vjp(const std::vector<array>&, const std::vector<array>& cotangents,
                                const std::vector<int>&, const std::vector<array>& outputs) {
  return {softmax_derivative(outputs[0], cotangents[0], stream())};
}

VmapResult Softmax::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {{softmax(axis_in_front(inputs[0], axes[0], stream()), -1, precise_, stream())}, {0}};
}

// ---- LogSumExp ----

std::vector<Shape> LogSumExp::output_shapes(const std::vector<array>& inputs) {
  return {with_ones(inputs[0].shape(), {static_cast<int>(inputs[0].ndim()) - 1})};
}

std::vector<array> LogSumExp::jvp(const std::vector<array>& primals,
                                  const std::vector<array>& tangents, const std::vector<int>&) {
  array weights = softmax(primals[0], -1, true, stream());
  return {sum(multiply(tangents[0], weights, stream()), -1, true, stream())};
}

std::vector<array> LogSumExp::vjp(const std::vector<array>& primals,
                                  const std::vector<array>& cotangents, const std::vector<int>&,
                                  const std::vector<array>&) {
  return {multiply(cotangents[0], softmax(primals[0], -1, true, stream()), stream())};
}

VmapResult LogSumExp::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  return {{logsumexp(axis_in_front(inputs[0], axes[0], stream()), -1, true, stream())}, {0}};
}

}  // namespace mlx::core
