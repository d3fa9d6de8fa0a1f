// Running reductions: derivatives and vmap.
#include "mlx/ops.h"
#include "mlx/primitives/reduce.h"
#include "mlx/primitives/rules.h"

namespace mlx::core {

const char* Scan::name() const {
  static constexpr const char* names[] = {"CumMax", "CumMin", "CumSum", "CumProd", "CumLogAddExp"};
  return names[reduce_type_];
}

VmapResult Scan::vmap(const std::vector<array>& inputs, const std::vector<int>& axes) {
  array x = axis_in_front(inputs[0], axes[0], stream());
  auto primitive = std::make_shared<Scan>(stream(), reduce_type_, axis_ + 1, reverse_, inclusive_);
  return {{array(x.shape(), x.dtype(), std::move(primitive), {x})}, {0}};
}

namespace {

// The axis and direction of a scan, and the scan in the opposite direction.
struct Direction {
  int axis;
  bool reverse;
  bool inclusive;
  Stream s;

  array forward_sum(const array& x) const { return cumsum(x, axis, reverse, inclusive, s); }
  array backward_sum(const array& x) const { return cumsum(x, axis, !reverse, inclusive, s); }
};

// The running product of the nonzero elements, and the number of zeros: these give the product of
// all elements but one, whether that one is zero or not.
struct RunningProduct {
  array is_zero;
  array nonzero;  // the elements, with 1 for 0
  array product_if_no_zero;
  array product_if_one_zero;

  RunningProduct(const array& x, const Direction& d)
      : is_zero(equal(x, scalar(0, x), d.s)),
        nonzero(where(is_zero, scalar(1, x), x, d.s)),
        product_if_no_zero(x),
        product_if_one_zero(x) {
    array product = cumprod(nonzero, d.axis, d.reverse, d.inclusive, d.s);
    array zeros_so_far = d.forward_sum(astype(is_zero, int32, d.s));
    array zero = scalar(0, x);
    product_if_no_zero = where(equal(zeros_so_far, array(0), d.s), product, zero, d.s);
    product_if_one_zero = where(equal(zeros_so_far, array(1), d.s), product, zero, d.s);
  }
};

array product_jvp(const array& x, const array& t, const Direction& d) {
  RunningProduct p(x, d);
  array zero = scalar(0, t);
  array by_others = d.forward_sum(where(p.is_zero, zero, divide(t, p.nonzero, d.s), d.s));
  array by_zero = d.forward_sum(where(p.is_zero, t, zero, d.s));
  return add(multiply(p.product_if_no_zero, by_others, d.s),
             multiply(p.product_if_one_zero, by_zero, d.s), d.s);
}

array product_vjp(const array& x, const array& cotangent, const Direction& d) {
  RunningProduct p(x, d);
  array of_zeros = d.backward_sum(multiply(cotangent, p.product_if_one_zero, d.s));
  array of_others = d.backward_sum(multiply(cotangent, p.product_if_no_zero, d.s));
  return where(p.is_zero, of_zeros, divide(of_others, p.nonzero, d.s), d.s);
}

// Sums of t weighted by exp(x), relative to exp(y). Positive and negative terms are summed
// separately, as logarithms.
array weighted_jvp(const array& x, const array& y, const array& t, const Direction& d) {
  auto part = [&](const array& terms) {
    array log_sum = logcumsumexp(add(x, log(terms, d.s), d.s), d.axis, d.reverse, d.inclusive, d.s);
    // Where no element is summed yet, y is -inf.
    return where(isneginf(y, d.s), scalar(0, y), exp(subtract(log_sum, y, d.s), d.s), d.s);
  };
  array zero = scalar(0, t);
  return subtract(part(maximum(t, zero, d.s)), part(maximum(negative(t, d.s), zero, d.s)), d.s);
}

array weighted_vjp(const array& x, const array& y, const array& cotangent, const Direction& d) {
  array finite_y = where(isneginf(y, d.s), scalar(0, y), y, d.s);
  auto part = [&](const array& terms) {
    array logs = subtract(log(terms, d.s), finite_y, d.s);
    return exp(add(x, logcumsumexp(logs, d.axis, !d.reverse, d.inclusive, d.s), d.s), d.s);
  };
  array zero = scalar(0, cotangent);
  array c = where(isneginf(y, d.s), zero, cotangent, d.s);
  return subtract(part(maximum(c, zero, d.s)), part(maximum(negative(c, d.s), zero, d.s)), d.s);
}

array part_of(const array& x, int axis, int from, int to, const Stream& s) {
  Shape start(x.ndim(), 0);
  Shape stop = x.shape();
  start[axis] = from;
  stop[axis] = to;
  return slice(x, start, stop, s);
}

// The positions of the running maxima (or minima) for a forward, inclusive scan: the last of equal
// elements.
array extreme_positions(const array& x, bool is_max, int axis, const Stream& s) {
  int n = x.shape(axis);
  array running = is_max ? cummax(x, axis, false, true, s) : cummin(x, axis, false, true, s);
  array before = part_of(running, axis, 0, n - 1, s);
  array after = part_of(x, axis, 1, n, s);
  array better = is_max ? greater_equal(after, before, s) : less_equal(after, before, s);
  Shape first = x.shape();
  first[axis] = 1;
  array is_new = concatenate({ones(first, bool_, s), better}, axis, s);
  Shape shape(x.ndim(), 1);
  shape[axis] = n;
  array index = reshape(arange(n, s), shape, s);
  return stop_gradient(cummax(where(is_new, index, array(0), s), axis, false, true, s), s);
}

// Applies `f` to arrays that are flipped if the scan is reversed, and flips the result back.
template <typename F>
array going_forward(const array& x, const array& t, const Direction& d, F f) {
  if (!d.reverse) {
    return f(x, t);
  }
  return flip(f(flip(x, d.axis, d.s), flip(t, d.axis, d.s)), d.axis, d.s);
}

array extreme_jvp(const array& x, const array& t, bool is_max, const Direction& d) {
  return going_forward(x, t, d, [&](const array& fx, const array& ft) {
    int n = fx.shape(d.axis);
    array out = take_along_axis(ft, extreme_positions(fx, is_max, d.axis, d.s), d.axis, d.s);
    if (d.inclusive) {
      return out;
    }
    Shape first = fx.shape();
    first[d.axis] = 1;
    return concatenate({zeros(first, ft.dtype(), d.s), part_of(out, d.axis, 0, n - 1, d.s)}, d.axis,
                       d.s);
  });
}

array extreme_vjp(const array& x, const array& cotangent, bool is_max, const Direction& d) {
  return going_forward(x, cotangent, d, [&](const array& fx, const array& fc) {
    int n = fx.shape(d.axis);
    array positions = extreme_positions(fx, is_max, d.axis, d.s);
    array c = fc;
    if (!d.inclusive) {
      positions = part_of(positions, d.axis, 0, n - 1, d.s);
      c = part_of(fc, d.axis, 1, n, d.s);
    }
    return scatter_add_axis(zeros_like(fc, d.s), positions, c, d.axis, d.s);
  });
}

}  // namespace

std::vector<array> Scan::jvp(const std::vector<array>& primals, const std::vector<array>& tangents,
                             const std::vector<int>&) {
  const array& x = primals[0];
  const array& t = tangents[0];
  Direction d{axis_, reverse_, inclusive_, stream()};
  if (x.size() == 0) {
    return {t};
  }
  switch (reduce_type_) {
    case Sum:
      return {d.forward_sum(t)};
    case Prod:
      return {product_jvp(x, t, d)};
    case LogAddExp:
      return {weighted_jvp(x, logcumsumexp(x, axis_, reverse_, inclusive_, stream()), t, d)};
    default:
      return {extreme_jvp(x, t, reduce_type_ == Max, d)};
  }
}

std::vector<array> Scan::vjp(const std::vector<array>& primals,
                             const std::vector<array>& cotangents, const std::vector<int>&,
                             const std::vector<array>& outputs) {
  const array& x = primals[0];
  const array& c = cotangents[0];
  Direction d{axis_, reverse_, inclusive_, stream()};
  if (x.size() == 0) {
    return {c};
  }
  switch (reduce_type_) {
    case Sum:
      return {d.backward_sum(c)};
    case Prod:
      return {product_vjp(conjugate(x, stream()), c, d)};
    case LogAddExp:
      return {weighted_vjp(x, outputs[0], c, d)};
    default:
      return {extreme_vjp(x, c, reduce_type_ == Max, d)};
  }
}

}  // namespace mlx::core
